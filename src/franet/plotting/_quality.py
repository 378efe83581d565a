"""How good the ranking is at each threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from franet._common.checked import AXES, RANKER, checked, optional
from franet.exceptions import UsageError
from franet.plotting._style import MUTED, PALETTE, network_of, new_axes, star, tidy

__all__ = ["plot_quality"]

_TITLES = {"rqh": "RQH", "gini": "Gini", "cv": "variation", "entropy": "entropy"}


@checked(ranker=RANKER, ax=optional(AXES))
def plot_quality(ranker: Any, ax: Any = None) -> Any:
    """Draw the quality of the ranking, and the number of edges, at each threshold.

    Candidates that were discarded by proof show the bound that their quality stays
    below. The winner is marked.

    Parameters
    ----------
    ranker : FRANe
        A fitted ranker.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes of the quality; those of the edges are their twin.

    Raises
    ------
    UsageError
        Where the ranker is a `Cover`: see `plot_coverage`.

    Examples
    --------
    >>> from franet.plotting import plot_quality
    >>> ax = plot_quality(ranker)  # doctest: +SKIP
    """
    _check(ranker)
    ax = new_axes(ax, (7.5, 4.5))
    title = _title(ranker.quality)
    ax.set_xlabel("threshold: the smallest similarity that makes an edge")
    ax.set_ylabel(f"quality of the ranking ({title})")
    tidy(ax)
    if not len(ranker.thresholds_):
        ax.set_xticks([])
        ax.set_yticks([])
        ax.text(
            0.5,
            0.5,
            "no threshold to choose from",
            transform=ax.transAxes,
            ha="center",
            va="center",
            color=MUTED,
        )
        return ax
    _draw_sparse(ax, ranker)
    twin = _draw_edges(ax, ranker)
    _draw_quality(ax, ranker)
    _draw_winner(ax, ranker, title)
    # Sparse to dense, as the search goes.
    ax.invert_xaxis()
    ax.set_zorder(twin.get_zorder() + 1)
    ax.patch.set_visible(False)
    handles, names = (
        a + b
        for a, b in zip(
            ax.get_legend_handles_labels(),
            twin.get_legend_handles_labels(),
            strict=True,
        )
    )
    ax.legend(
        handles,
        names,
        frameon=False,
        fontsize=8,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        borderaxespad=0.2,
        columnspacing=1.2,
    )
    return ax


def _check(ranker: Any) -> None:
    if network_of(ranker).representation is not None:
        raise UsageError(
            "plot_quality shows thresholds, and Cover has none. "
            "plot_coverage shows how much of the table its picks cover."
        )


def _title(quality: Any) -> str:
    if isinstance(quality, str):
        return _TITLES.get(quality, quality)
    return str(getattr(quality, "__name__", "own"))


def _draw_quality(ax: Any, ranker: Any) -> None:
    x, y, bound = ranker.thresholds_, ranker.quality_, ranker.quality_bound_
    solved = np.isfinite(y)
    lost = ~solved & np.isfinite(bound)
    ax.plot(
        x[solved],
        y[solved],
        color=PALETTE[0],
        lw=1.2,
        marker="o",
        ms=4,
        label="solved",
        zorder=3,
    )
    if lost.any():
        ax.plot(
            x[lost],
            bound[lost],
            color=PALETTE[1],
            ls="",
            marker="v",
            ms=5,
            mfc="none",
            label="discarded: proven to lie below",
            zorder=2,
        )
    values = np.concatenate([y[solved], bound[lost]])
    if len(values) and values.min() > 0 and values.max() > 30 * values.min():
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis)
    elif len(values):
        # Bounds of no use would press everything else to the floor.
        ax.margins(y=0.15)


def _draw_edges(ax: Any, ranker: Any) -> Any:
    twin = ax.twinx()
    twin.plot(
        ranker.thresholds_,
        np.maximum(ranker.n_edges_, 1),
        color=MUTED,
        lw=1.0,
        ls=(0, (4, 2)),
        alpha=0.8,
        label="edges (right)",
    )
    twin.set_yscale("log")
    twin.set_ylabel("edges", color=MUTED)
    tidy(twin)
    twin.tick_params(labelcolor=MUTED)
    return twin


def _draw_sparse(ax: Any, ranker: Any) -> None:
    sparse = np.flatnonzero(ranker.too_sparse_)
    if not len(sparse):
        return
    x = ranker.thresholds_
    last = int(sparse[-1])
    end = (x[last] + x[last + 1]) / 2 if last + 1 < len(x) else x[last]
    ax.axvspan(end, x[0], color="#f1f2f4", lw=0, zorder=0, label="too sparse")


def _draw_winner(ax: Any, ranker: Any, title: str) -> None:
    i = ranker.winner_
    if i is None:
        return
    x, y = ranker.thresholds_[i], ranker.quality_[i]
    words = f"winner: {x:.4g}, {ranker.n_edges_[i]:,} edges"
    if np.isfinite(y):
        words = f"{words}, {title} {y:.4g}"
    else:  # nothing was rated: the winner was drawn by lot
        y = np.nan
    star(ax, x, y, words)


def _plain_numbers(axis: Any) -> None:
    """Write 60, not 6 × 10¹, and not more numbers than fit."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}"))
    axis.set_minor_formatter(NullFormatter())
