"""The critical-difference diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import AXES, FLAG, NUMBER, WHOLE, checked, optional
from franet.evaluation.statistics.ranks import (
    PostHoc,
    average_ranks,
    check_scores,
    from_ranks,
)
from franet.exceptions import DataError, UsageError
from franet.plotting._style import INK, MUTED, PALETTE, new_axes, short

__all__ = ["plot_critical_difference"]

# Heights in rows of text; the axis is at 0, and down is positive.
RULER = -1.25
FIRST_BAR = 0.45
BAR = 0.42
# Characters of a name.
LONGEST = 32


@checked(alpha=NUMBER, n_sets=optional(WHOLE), lower_is_better=FLAG, ax=optional(AXES))
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
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

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
    depth = FIRST_BAR + BAR * (1 + max(bars.values(), default=0)) + 0.5
    rows = (len(mean) + 1) // 2
    longest = max(len(short(name, LONGEST)) for name in labels)
    ax = new_axes(ax, (6.5 + 0.12 * longest, 1.0 + 0.27 * (depth + rows)))
    low, high = _limits(found)
    _draw_axis(ax, low, high)
    _draw_ruler(ax, found, low)
    _draw_bars(ax, found, bars)
    _draw_names(ax, found, labels, (low, high), depth)
    ax.set_ylim(depth + rows + 0.1, RULER - 1.3)
    ax.set_axis_off()
    return ax


def _ranks_of(
    scores: Any, n_sets: int | None, lower_is_better: bool
) -> tuple[NDArray[np.float64], int]:
    """Return average ranks, and the number of data sets."""
    if np.ndim(scores) != 1:
        table = check_scores(scores)
        if n_sets is not None and n_sets != len(table):
            raise UsageError(f"n_sets={n_sets}: the table has {len(table)} data sets")
        mean = average_ranks(table, lower_is_better=lower_is_better)
        n_sets = len(table)
    else:
        if n_sets is None or n_sets < 1:
            raise UsageError(
                f"n_sets={n_sets}: average ranks need the number of data sets"
            )
        if not lower_is_better:
            raise UsageError(
                "lower_is_better=False applies to scores of each data set, not to "
                "scores that are average ranks, of which 1 is best. Leave it out."
            )
        mean = check_scores([scores], "average ranks")[0]
    if len(mean) < 2:
        raise DataError(f"scores: there is {len(mean)} ranker, a comparison needs two")
    return mean, n_sets


def _names_of(scores: Any, names: Any, k: int) -> list[str]:
    given = getattr(scores, "columns", range(1, k + 1)) if names is None else names
    out = [str(name) for name in given]
    if len(out) != k:
        raise UsageError(f"names: there are {len(out)} names for {k} rankers")
    return out


def _column(control: Any, names: list[str]) -> int | None:
    if isinstance(control, str):
        if control not in names:
            raise UsageError(
                f"control={control!r}: there is no such ranker, choose one of "
                f"{', '.join(names)}"
            )
        return names.index(control)
    return control if control is None else int(control)


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
        free = [level for level, end in enumerate(ends) if end < left - 0.05]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [right]
        out[tuple(group)] = level
    return out


def _draw_axis(ax: Any, low: float, high: float) -> None:
    ax.plot([low, high], [0, 0], color=INK, lw=1.0)
    for tick in np.arange(low, high + 0.25, 0.5):
        whole = float(tick).is_integer()
        ax.plot([tick, tick], [0, -0.3 if whole else -0.18], color=INK, lw=1.0)
        if whole:
            ax.text(
                tick,
                -0.42,
                f"{tick:g}",
                ha="center",
                va="bottom",
                fontsize=9,
                color=INK,
            )


def _draw_ruler(ax: Any, found: PostHoc, low: float) -> None:
    width = found.critical_difference
    ax.plot([low, low + width], [RULER, RULER], color=INK, lw=1.4)
    for end in (low, low + width):
        ax.plot([end, end], [RULER - 0.15, RULER + 0.15], color=INK, lw=1.4)
    ax.text(
        low + width / 2,
        RULER - 0.22,
        f"critical difference {width:.2f}",
        ha="center",
        va="bottom",
        fontsize=8.5,
        color=INK,
    )


def _draw_bars(ax: Any, found: PostHoc, bars: dict[tuple[int, ...], int]) -> None:
    if found.control is not None:
        middle, reach = found.ranks[found.control], found.critical_difference
        ends = [max(1.0, middle - reach), min(float(len(found.ranks)), middle + reach)]
        ax.plot(
            ends,
            [FIRST_BAR] * 2,
            color=PALETTE[1],
            lw=4,
            solid_capstyle="butt",
            zorder=3,
        )
        return
    for group, level in bars.items():
        ends = [found.ranks[group[0]] - 0.03, found.ranks[group[-1]] + 0.03]
        ax.plot(
            ends,
            [FIRST_BAR + BAR * level] * 2,
            color=PALETTE[0],
            lw=4,
            solid_capstyle="round",
            zorder=3,
        )


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
            rank = found.ranks[j]
            colour = PALETTE[1] if j == found.control else MUTED
            ax.plot([rank, rank, edge], [0, y, y], color=colour, lw=0.9, zorder=2)
            name, number = short(names[j], LONGEST), f"{rank:.2f}"
            text = f"{name}  {number}" if align == "right" else f"{number}  {name}"
            ax.text(
                edge + (-0.2 if align == "right" else 0.2) * reach,
                y,
                text,
                ha=align,
                va="center",
                fontsize=9,
                color=INK,
                fontweight="bold" if j == found.control else "normal",
            )
