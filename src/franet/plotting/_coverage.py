"""How much of the table the first picks cover."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from franet._common.checked import AXES, RANKER, checked, optional
from franet.exceptions import UsageError
from franet.plotting._style import INK, MUTED, PALETTE, network_of, new_axes, star, tidy

__all__ = ["plot_coverage"]

_WIDEST = 84


@checked(ranker=RANKER, ax=optional(AXES))
def plot_coverage(ranker: Any, ax: Any = None) -> Any:
    """Draw the share of the table that the first pick, the first two, … cover.

    The suggested number of features is marked, with its band, and the curve from
    which it comes: the share of what can be kept, on examples not looked at.

    Parameters
    ----------
    ranker : Cover
        A fitted ranker.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Raises
    ------
    UsageError
        Where the ranker does not pick: the paper's method has no such curve.

    Examples
    --------
    >>> from franet.plotting import plot_coverage
    >>> ax = plot_coverage(ranker)  # doctest: +SKIP
    """
    if network_of(ranker).representation is None or not hasattr(ranker, "coverage_"):
        raise UsageError(
            "plot_coverage needs a fitted Cover, whose picks cover "
            "the table one by one."
        )
    ax = new_axes(ax, (7.5, 4.5))
    _draw_curves(ax, ranker)
    _draw_suggestion(ax, ranker)
    _draw_selected(ax, ranker)
    ax.set_xlabel("features, in the order in which they were picked", color=INK)
    ax.set_ylabel("share", color=INK)
    ax.set_ylim(0.0, 1.04)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_title(
        fill(f"{ranker.suggestion_}.", _WIDEST), fontsize=10, color=MUTED, loc="left"
    )
    tidy(ax)
    ax.legend(frameon=False, fontsize=8, loc="best")
    return ax


def _draw_curves(ax: Any, ranker: Any) -> None:
    coverage, kept = ranker.coverage_, ranker.suggestion_.kept
    at = np.arange(1, len(coverage) + 1)
    few = len(at) <= 40  # more points than that are a line
    ax.plot(
        at,
        coverage,
        color=PALETTE[0],
        lw=1.6,
        marker="o" if few else "",
        ms=4,
        label="of the table covered (mean r² with the closest pick)",
        zorder=3,
    )
    if kept.any():
        # Too few picks do not tell what could be kept.
        what = "is" if ranker.suggestion_.more else "can be"
        ax.plot(
            at,
            kept,
            color=MUTED,
            lw=1.0,
            ls=(0, (4, 2)),
            label=f"of what {what} kept, on examples not looked at",
            zorder=2,
        )


def _draw_suggestion(ax: Any, ranker: Any) -> None:
    """Mark how many are suggested; a lower bound if more picks are needed to tell."""
    found, count = ranker.suggestion_, ranker.n_features_suggested_
    if count is None:
        if found.low is not None:
            ax.axvline(
                found.low,
                color=PALETTE[5],
                lw=1.0,
                ls=":",
                label=f"needed: at least {found.low:,}",
                zorder=1,
            )
        return
    if found.low < found.high:
        ax.axvspan(
            found.low,
            found.high,
            color=PALETTE[5],
            alpha=0.12,
            lw=0,
            zorder=0,
            label=f"band: {found.low:,}–{found.high:,}",
        )
    covered = ranker.coverage_[count - 1]
    star(ax, count, covered, f"suggested: {count:,}, which cover {covered:.0%}")


def _draw_selected(ax: Any, ranker: Any) -> None:
    n = ranker.n_features_
    if n > len(ranker.coverage_):  # not all of them were picked one by one
        return
    covered = ranker.coverage_[n - 1]
    ax.plot(
        [n],
        [covered],
        marker="o",
        ms=9,
        mfc="none",
        mec=INK,
        mew=1.2,
        ls="",
        label=f"selected: {n:,}, which cover {covered:.0%}",
        zorder=4,
    )
