"""A measure as the number of features grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from franet._common.checked import AXES, RESULTS, SEVERAL, TEXT, checked, optional
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM
from franet.evaluation.results import Results
from franet.exceptions import DataError
from franet.plotting._style import INK, MUTED, PALETTE, new_axes, short, tidy

__all__ = ["plot_curves"]

# Beyond the palette colours repeat with another line.
_DASHES = ("-", "--", ":", "-.")


@checked(
    results=RESULTS,
    dataset=optional(TEXT),
    measure=TEXT,
    rankers=optional(SEVERAL),
    ax=optional(AXES),
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
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib axes
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
        curve = results.curve(name, dataset, measure)
        at = others.index(name) if name != RANDOM else -1
        color = MUTED if at < 0 else PALETTE[at % len(PALETTE)]
        style = (0, (4, 2)) if at < 0 else _DASHES[at // len(PALETTE) % len(_DASHES)]
        mean, error = curve.mean, curve.error
        ax.plot(
            curve.counts,
            mean,
            color=color,
            linestyle=style,
            linewidth=1.8,
            marker="o",
            markersize=3,
            label=short(name),
        )
        ax.fill_between(
            curve.counts, mean - error, mean + error, color=color, alpha=0.12, lw=0
        )
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
