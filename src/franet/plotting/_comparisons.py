"""Pictures of a benchmark: curves, critical differences, the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common import checked as kinds
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM
from franet.evaluation.results import Results
from franet.evaluation.statistics.ranks import (
    PostHoc,
    average_ranks,
    check_scores,
    from_ranks,
)
from franet.exceptions import DataError, Setting, UsageError
from franet.plotting._style import (
    DASHED,
    INK,
    MUTED,
    PALETTE,
    new_axes,
    picture,
    short,
    tidy,
)

if TYPE_CHECKING:
    from franet.evaluation.statistics import Comparison

# Beyond the palette colors repeat with another line.
_DASHES = ("-", "--", ":", "-.")
# Heights in rows of text; the axis is at 0, and down is positive.
_RULER = -1.25
_FIRST_BAR = 0.45
_BAR = 0.42
# Characters of a name.
_LONGEST = 32
_HEIGHT = np.sqrt(3.0) / 2.0
# Where the first is better, where both are equal, where the second is better.
CORNERS = np.array([[0.0, 0.0], [0.5, _HEIGHT], [1.0, 0.0]])


@picture(
    results=kinds.RESULTS,
    dataset=kinds.optional(kinds.TEXT),
    measure=kinds.TEXT,
    rankers=kinds.optional(kinds.SEVERAL),
)
def plot_curves(
    results: Results,
    dataset: str | None = None,
    *,
    measure: str = "rmae",
    rankers: list[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a measure of every ranker as the number of features grows.

    Parameters
    ----------
    results : Results
        Where the curves are.
    dataset : str, optional
        The data set; may be left out if there is only one.
    measure : str, default="rmae"
        A name from `franet.evaluation.MEASURES`.
    rankers : list of str, optional
        Which to draw; by default all that finished.
    {ax}

    Returns
    -------
    ax : matplotlib.axes.Axes
        With the picture: the mean over the folds, a band of its standard error, and
        random columns in grey.
    """
    dataset = results._one(dataset)
    names = results.rankers if rankers is None else rankers
    names = [name for name in names if results.has(dataset, name, measure)]
    if not names:
        raise DataError(f"{measure!r} is not measured for any ranker on {dataset!r}")
    ax = new_axes(ax, (7.2, 4.4))
    others = [name for name in names if name != RANDOM]
    for name in names:
        curve, style = results.curve(name, dataset, measure), DASHED
        if name != RANDOM:
            repeat, at = divmod(others.index(name), len(PALETTE))
            style = {"color": PALETTE[at], "ls": _DASHES[repeat % len(_DASHES)]}
        x, mean, error = curve.counts, curve.mean, curve.error
        ax.plot(x, mean, lw=1.8, marker="o", ms=3, label=short(name), **style)
        band = {"color": style["color"], "alpha": 0.12, "lw": 0}
        ax.fill_between(x, mean - error, mean + error, **band)
    counts = np.array(ax.lines[0].get_xdata())
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [f"{k:,}" for k in counts], rotation=45 * (len(counts) > 9))
    ax.minorticks_off()
    ax.set_xlabel("features", color=INK)
    ax.set_ylabel(MEASURES[measure].title, color=INK)
    ax.set_title(short(dataset, 60), loc="left", color=INK)
    ax.legend(frameon=False, fontsize="small", ncols=1 + (len(names) > 8))
    tidy(ax)
    return ax


@picture(
    alpha=kinds.NUMBER, n_sets=kinds.optional(kinds.WHOLE), lower_is_better=kinds.FLAG
)
def plot_critical_difference(
    scores: Any,
    names: Any = None,
    *,
    alpha: float = 0.05,
    control: Any = None,
    n_sets: int | None = None,
    lower_is_better: bool = True,
    ax: Any = None,
) -> Any:
    """Draw average ranks; bars join rankers that do not differ significantly.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers) or (n_rankers,)
        A score of each ranker on each data set; or average ranks, with `n_sets`.
    names : sequence of str, optional
        Names of the rankers; by default the columns of a data frame, or numbers.
    alpha : float, default=0.05
        The level of the test.
    control : int or str, optional
        A ranker that the others are compared with, by Bonferroni and Dunn. By default
        all pairs are compared, by Nemenyi.
    n_sets : int, optional
        The number of data sets behind average ranks.
    lower_is_better : bool, default=True
        Whether scores are errors.
    {ax_to_axes}

    Examples
    --------
    >>> from franet.plotting import plot_critical_difference
    >>> ax = plot_critical_difference(
    ...     [1.9, 3.1, 3.4, 4.8], ["FRANe", "Laplace", "NDFS", "SPEC"], n_sets=26
    ... )  # doctest: +SKIP
    """
    mean, n_sets = _ranks_of(scores, n_sets, lower_is_better)
    labels = _names_of(scores, names, len(mean))
    found = from_ranks(mean, n_sets, alpha=alpha, control=_column(control, labels))
    bars = _levels(found)
    depth = _FIRST_BAR + _BAR * (1 + max(bars.values(), default=0)) + 0.5
    rows = (len(mean) + 1) // 2
    longest = max(len(short(name, _LONGEST)) for name in labels)
    ax = new_axes(ax, (6.5 + 0.12 * longest, 1.0 + 0.27 * (depth + rows)))
    low, high = _limits(found)
    _draw_axis(ax, low, high)
    _draw_ruler(ax, found, low)
    _draw_bars(ax, found, bars)
    _draw_names(ax, found, labels, (low, high), depth)
    ax.set_ylim(depth + rows + 0.1, _RULER - 1.3)
    ax.set_axis_off()
    return ax


def _ranks_of(
    scores: Any, n_sets: int | None, lower_is_better: bool
) -> tuple[NDArray[np.float64], int]:
    """Return average ranks, and the number of data sets."""
    given = Setting("n_sets", n_sets)
    if np.ndim(scores) != 1:
        table = check_scores(scores)
        if n_sets is not None and n_sets != len(table):
            raise UsageError(f"{{}}: the table has {len(table)} data sets.", given)
        return average_ranks(table, lower_is_better=lower_is_better), len(table)
    if n_sets is None or n_sets < 1:
        raise UsageError("{}: average ranks need the number of data sets.", given)
    if not lower_is_better:
        raise UsageError(
            "{} applies to scores of each data set, not to scores that are "
            "average ranks, of which 1 is best.",
            Setting("lower_is_better", False),
            remedy="Leave it out.",
        )
    return check_scores([scores], "average ranks")[0], n_sets


def _names_of(scores: Any, names: Any, k: int) -> list[str]:
    given = getattr(scores, "columns", range(1, k + 1)) if names is None else names
    out = [str(name) for name in given]
    if len(out) != k:
        raise UsageError(
            f"{{}}: there are {len(out)} names for {k} rankers.", Setting("names")
        )
    return out


def _column(control: Any, names: list[str]) -> int | None:
    if not isinstance(control, str):
        return control if control is None else int(control)
    known = f"there is no such ranker. Choose one of {', '.join(names)}."
    kinds.check_value("control", control, control in names, known)
    return names.index(control)


def _limits(found: PostHoc) -> tuple[float, float]:
    """Return whole ranks around all of them, at least a critical difference apart."""
    k = len(found.ranks)
    low, high = float(np.floor(found.ranks.min())), float(np.ceil(found.ranks.max()))
    while high - low < found.critical_difference and (low > 1 or high < k):
        low, high = max(1.0, low - 1), min(float(k), high + 1)
    return low, max(high, low + 1)


def _levels(found: PostHoc) -> dict[tuple[int, ...], int]:
    """Return a height for each group: the first at which its bar touches no other."""
    ends: list[float] = []
    out: dict[tuple[int, ...], int] = {}
    for group in found.groups():
        left, right = found.ranks[group[0]], found.ranks[group[-1]]
        free = (level for level, end in enumerate(ends) if end < left - 0.05)
        level = next(free, len(ends))
        ends[level : level + 1] = [right]
        out[tuple(group)] = level
    return out


def _write(ax: Any, x: float, y: float, text: str, **style: Any) -> None:
    ax.text(x, y, text, color=INK, **({"ha": "center", "va": "bottom"} | style))


def _draw_axis(ax: Any, low: float, high: float) -> None:
    ax.plot([low, high], [0, 0], color=INK, lw=1.0)
    for tick in np.arange(low, high + 0.25, 0.5):
        whole = float(tick).is_integer()
        ax.plot([tick, tick], [0, -0.3 if whole else -0.18], color=INK, lw=1.0)
        if whole:
            _write(ax, tick, -0.42, f"{tick:g}", fontsize=9)


def _draw_ruler(ax: Any, found: PostHoc, low: float) -> None:
    width = found.critical_difference
    ax.plot([low, low + width], [_RULER, _RULER], color=INK, lw=1.4)
    for end in (low, low + width):
        ax.plot([end, end], [_RULER - 0.15, _RULER + 0.15], color=INK, lw=1.4)
    text = f"critical difference {width:.2f}"
    _write(ax, low + width / 2, _RULER - 0.22, text, fontsize=8.5)


def _draw_bars(ax: Any, found: PostHoc, bars: dict[tuple[int, ...], int]) -> None:
    ranks = found.ranks
    if found.control is not None:
        middle, reach = ranks[found.control], found.critical_difference
        ends = [max(1.0, middle - reach), min(float(len(ranks)), middle + reach)]
        style = {"color": PALETTE[1], "solid_capstyle": "butt"}
        ax.plot(ends, [_FIRST_BAR] * 2, lw=4, zorder=3, **style)
        return
    style = {"color": PALETTE[0], "solid_capstyle": "round"}
    for group, level in bars.items():
        ends = [ranks[group[0]] - 0.03, ranks[group[-1]] + 0.03]
        ax.plot(ends, [_FIRST_BAR + _BAR * level] * 2, lw=4, zorder=3, **style)


def _draw_names(
    ax: Any,
    found: PostHoc,
    names: list[str],
    limits: tuple[float, float],
    depth: float,
) -> None:
    """Draw a line from each rank to its name: the outermost ranks stand highest."""
    low, high = limits
    order = np.argsort(found.ranks, kind="stable").tolist()
    half = (len(order) + 1) // 2
    reach = 0.04 * (high - low)
    # Half a row between the sides, else two lines of close ranks look like one.
    sides = (
        (order[:half], low - reach, "right", 0.0),
        (order[half:][::-1], high + reach, "left", 0.5),
    )
    for members, edge, align, offset in sides:
        for row, j in enumerate(members):
            y = depth + row + offset
            rank, is_control = found.ranks[j], j == found.control
            color = PALETTE[1] if is_control else MUTED
            ax.plot([rank, rank, edge], [0, y, y], color=color, lw=0.9, zorder=2)
            parts = [short(names[j], _LONGEST), f"{rank:.2f}"]
            text = "  ".join(parts if align == "right" else parts[::-1])
            x = edge + (-0.2 if align == "right" else 0.2) * reach
            weight = "bold" if is_control else "normal"
            _write(ax, x, y, text, ha=align, va="center", fontsize=9, weight=weight)


@picture(comparison=kinds.COMPARISON)
def plot_simplex(comparison: Comparison, *, ax: Any = None) -> Any:
    """Draw each draw of a comparison by its probabilities of the three regions.

    The nearer a draw is to a corner, the more probable that region. Grey lines part the
    triangle by the most probable region; the numbers are the shares of draws in each.

    Parameters
    ----------
    comparison : Comparison
        What `franet.evaluation.statistics.hierarchical` returned.
    {ax_to_axes}

    Examples
    --------
    >>> from franet.plotting import plot_simplex
    >>> ax = plot_simplex(comparison)  # doctest: +SKIP
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.patches import Polygon

    ax = new_axes(ax, (6.0, 5.4))
    frame = Polygon(CORNERS, closed=True, fc="#f7f8fa", ec=INK, lw=1.2, zorder=1)
    ax.add_patch(frame)
    places = project(comparison.regions)
    shades = LinearSegmentedColormap.from_list("draws", ["#b9d7ea", PALETTE[0], INK])
    cells = ax.hexbin(
        *places.T,
        gridsize=(48, 24),
        extent=(0.0, 1.0, 0.0, _HEIGHT),
        mincnt=1,
        cmap=shades,
        norm=LogNorm(),
        linewidths=0.1,
        zorder=2,
    )
    # Cells at an edge may stick out a little, else draws along it would not be seen.
    middle = CORNERS.mean(axis=0)
    grown = middle + (CORNERS - middle) * (1.0 + 2.0 * np.sqrt(3.0) * 0.012)
    cells.set_clip_path(Polygon(grown, closed=True, transform=ax.transData))
    for side in (CORNERS + np.roll(CORNERS, -1, axis=0)) / 2.0:
        ax.plot(*np.transpose([middle, side]), color=MUTED, lw=1.0, ls="--", zorder=3)
    _label(ax, comparison)
    ax.set(xlim=(-0.22, 1.22), ylim=(-0.17, _HEIGHT + 0.15), aspect="equal")
    ax.set_axis_off()
    return ax


def project(regions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points of the triangle whose distances to the sides are these."""
    return np.asarray(regions @ CORNERS)


def _label(ax: Any, comparison: Comparison) -> None:
    first, second = (short(name, 20) for name in comparison.names)
    texts = (
        (f"{first} better", comparison.p_first, CORNERS[0], -0.03),
        (f"equal within {comparison.rope:g}", comparison.p_equal, CORNERS[1], 0.03),
        (f"{second} better", comparison.p_second, CORNERS[2], -0.03),
    )
    for text, p, (x, y), away in texts:
        side = "top" if away < 0 else "bottom"
        _write(ax, x, y + away, f"{text}\n{p:.3f}", va=side, fontsize=10)
