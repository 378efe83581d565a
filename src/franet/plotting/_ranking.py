"""Pictures of a ranking: scores, similarities, quality, what picks explain."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from franet._common.checked import NETWORK, RANKER, WHOLE
from franet.exceptions import UsageError
from franet.network._origin import similarities
from franet.pairs.alike import cluster_order
from franet.plotting._style import (
    DASHED,
    INK,
    MUTED,
    PALETTE,
    add_legend,
    add_star,
    add_title,
    best_of,
    colors_of,
    network_of,
    new_axes,
    picture,
    short,
    tidy,
)

_TITLES = {"rqh": "RQH", "gini": "Gini", "cv": "variation", "entropy": "entropy"}
# Names of more features than this would lie on each other.
_MOST_NAMED = 60
_WIDEST = 84  # characters of a title
_SMALL: dict[str, Any] = {"fontsize": 7, "color": MUTED}
_POINTS = "offset points"


@picture(ranker=NETWORK, top=WHOLE)
def plot_scores(ranker: Any, *, top: int = 25, ax: Any = None) -> Any:
    """Draw the scores of the best features, colored by community.

    Parameters
    ----------
    ranker : FRANe or AttributeNetwork
        A fitted ranker, or a network.
    top : int, default=25
        How many features.
    {ax_to_axes}

    Raises
    ------
    UsageError
        Where picks represent the others, as after `Cover`: see `plot_explained`.

    Examples
    --------
    >>> from franet.plotting import plot_scores
    >>> ax = plot_scores(ranker, top=40)  # doctest: +SKIP
    """
    net = network_of(ranker)
    if net.representation is not None:
        raise UsageError(
            "plot_scores shows how central features are; picks of Cover are not "
            "compared by their scores. plot_explained shows how much of the table they "
            "explain."
        )
    best = best_of(net, top)
    ax = new_axes(ax, (6.5, max(2.0, 0.6 + 0.22 * len(best))))
    from matplotlib.patches import Patch

    at, scores = np.arange(len(best)), net.scores[best]
    # The communities of the best features come first in the palette.
    label = net.communities().labels[best]
    seen = {c: i for i, c in enumerate(dict.fromkeys(label[label >= 0].tolist()))}
    place = np.array([seen.get(c, -1) for c in label.tolist()])
    ax.barh(at, scores, color=colors_of(place), height=0.72)
    ax.set_yticks(at, [short(net.names[j], 32) for j in best], fontsize=8)
    ax.set_ylim(len(best) - 0.4, -0.6)
    ax.set_xlim(0.0, float(scores.max()) * 1.12 or 1.0)
    for y, score in zip(at, scores, strict=True):
        text, near = f"{score:.3g}", {"xytext": (3, 0), "textcoords": _POINTS}
        ax.annotate(text, (score, y), **near, va="center", **_SMALL)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("score", color=INK)
    even = 1.0 / len(net)
    if even <= ax.get_xlim()[1] and np.isclose(net.scores.sum(), 1.0):
        ax.axvline(even, color=MUTED, lw=0.8, ls=(0, (3, 3)))
        ax.annotate(
            "equal shares",
            (even, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, 2),
            textcoords=_POINTS,
            **_SMALL,
        )
    add_legend(
        ax,
        net,
        label,
        place,
        Patch,
        lambda name, size: f"{short(name, 18)} ({size:,})",
        others="other or none",
        fontsize=7,
        title="Community: best feature (size)",
        loc="lower right",
    )
    return ax


@picture(ranker=NETWORK, top=WHOLE)
def plot_similarity(
    ranker: Any, X: Any = None, *, top: int = 40, ax: Any = None
) -> Any:
    """Draw the similarities of the best features, similar ones side by side.

    Parameters
    ----------
    ranker : FRANe or AttributeNetwork
        A fitted ranker, or a network.
    X : array-like or sparse matrix, optional
        The table of the fit. Without it, pairs that make no edge are left blank.
    top : int, default=40
        How many features.
    {ax_to_axes}

    Examples
    --------
    >>> from franet.plotting import plot_similarity
    >>> ax = plot_similarity(ranker, X, top=60)  # doctest: +SKIP
    """
    net = network_of(ranker)
    best = best_of(net, top)
    values = similarities(net, best, X)
    order = cluster_order(values, gap=0.5)
    values, best = values[np.ix_(order, order)], best[order]
    ax = new_axes(ax, (7.0, 6.0))
    ax.set_facecolor("#eef0f2")
    image = ax.imshow(
        np.ma.masked_invalid(values), cmap="YlGnBu", interpolation="nearest"
    )
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02)
    bar.outline.set_visible(False)
    what = "similarity" if net.representation is None else "|r|"
    bar.set_label(what if X is not None else f"{what}; blank: no edge")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    named = best if len(best) <= _MOST_NAMED else best[:0]
    names = [short(net.names[j]) for j in named]
    size = 8 if len(best) <= 30 else 6
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
    ax.set_yticks(range(len(names)), names, fontsize=size)
    add_title(ax, f"the {len(best):,} best features, similar ones side by side")
    return ax


@picture(ranker=RANKER)
def plot_quality(ranker: Any, ax: Any = None) -> Any:
    """Draw the quality of the ranking, and the number of edges, at each threshold.

    Candidates that were discarded by proof show the bound that their quality stays
    below. The winner is marked.

    Parameters
    ----------
    ranker : FRANe
        A fitted ranker.
    {ax}

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes of the quality; those of the edges are their twin.

    Raises
    ------
    UsageError
        Where the ranker is a `Cover`: see `plot_explained`.

    Examples
    --------
    >>> from franet.plotting import plot_quality
    >>> ax = plot_quality(ranker)  # doctest: +SKIP
    """
    if network_of(ranker).representation is not None:
        raise UsageError(
            "plot_quality shows thresholds, and Cover has none. "
            "plot_explained shows how much of the table its picks explain."
        )
    ax = new_axes(ax, (7.5, 4.5))
    quality = ranker.quality
    title = getattr(quality, "__name__", "own")
    if isinstance(quality, str):
        title = _TITLES.get(quality, quality)
    ax.set_xlabel("threshold: the smallest similarity that makes an edge")
    ax.set_ylabel(f"quality of the ranking ({title})")
    tidy(ax)
    if not len(ranker.thresholds_):
        ax.set(xticks=[], yticks=[])
        middle = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no threshold to choose from", color=MUTED, **middle)
        return ax
    _draw_sparse(ax, ranker)
    twin = _draw_edges(ax, ranker)
    _draw_quality(ax, ranker)
    _draw_winner(ax, ranker, title)
    # Sparse to dense, as the search goes.
    ax.invert_xaxis()
    ax.set_zorder(twin.get_zorder() + 1)
    ax.patch.set_visible(False)
    handles, names = ax.get_legend_handles_labels()
    more_handles, more_names = twin.get_legend_handles_labels()
    ax.legend(
        handles + more_handles,
        names + more_names,
        frameon=False,
        fontsize=8,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        borderaxespad=0.2,
        columnspacing=1.2,
    )
    return ax


def _draw_quality(ax: Any, ranker: Any) -> None:
    x, y, bound = ranker.thresholds_, ranker.quality_, ranker.quality_bound_
    solved = np.isfinite(y)
    lost = ~solved & np.isfinite(bound)
    style = {"color": PALETTE[0], "lw": 1.2, "marker": "o", "ms": 4}
    ax.plot(x[solved], y[solved], label="solved", zorder=3, **style)
    if lost.any():
        style = {"color": PALETTE[1], "marker": "v", "ms": 5, "mfc": "none"}
        label = "discarded: proven to lie below"
        ax.plot(x[lost], bound[lost], ls="", label=label, zorder=2, **style)
    values = np.concatenate([y[solved], bound[lost]])
    if len(values) and values.min() > 0 and values.max() > 30 * values.min():
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis)
    elif len(values):
        # Bounds of no use would press everything else to the floor.
        ax.margins(y=0.15)


def _draw_edges(ax: Any, ranker: Any) -> Any:
    twin = ax.twinx()
    edges = np.maximum(ranker.n_edges_, 1)
    label = "edges (right)"
    twin.plot(ranker.thresholds_, edges, lw=1.0, alpha=0.8, label=label, **DASHED)
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
    label = f"winner: {x:.4g}, {ranker.n_edges_[i]:,} edges"
    if np.isfinite(y):
        label = f"{label}, {title} {y:.4g}"
    else:  # nothing was rated: the winner was drawn by lot
        y = np.nan
    add_star(ax, x, y, label)


def _plain_numbers(axis: Any) -> None:
    """Write 60, not 6 × 10¹, and not more numbers than fit."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(lambda value, _: f"{value:,.4g}")
    axis.set_minor_formatter(NullFormatter())


@picture(ranker=RANKER)
def plot_explained(ranker: Any, X: Any = None, ax: Any = None) -> Any:
    """Draw the share of the table that the first pick, the first two, … explain.

    The suggested number of features is marked, and so is the selected one.

    Parameters
    ----------
    ranker : Cover
        A fitted ranker.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        The table of the fit, to draw what as many principal components explain, too.
    {ax_to_axes}

    Raises
    ------
    UsageError
        Where the ranker does not pick: the paper's method has no such curve.

    Examples
    --------
    >>> from franet.plotting import plot_explained
    >>> ax = plot_explained(ranker)  # doctest: +SKIP
    """
    if network_of(ranker).representation is None:
        raise UsageError(
            "plot_explained needs a fitted Cover, whose picks explain "
            "the table one by one."
        )
    ax = new_axes(ax, (7.5, 4.5))
    explained = ranker.explained_
    at = np.arange(1, len(explained) + 1)
    few = len(at) <= 40  # more points than that are a line
    style = {"color": PALETTE[0], "lw": 1.6, "marker": "o" if few else "", "ms": 4}
    ax.plot(at, explained, label="explained by the picks", zorder=3, **style)
    if X is not None:
        components = ranker.explained_by_components(X)
        label = "by as many principal components"
        ax.plot(at, components, lw=1.0, label=label, zorder=2, **DASHED)
    n, count = ranker.n_features_, ranker.n_features_suggested_
    if count is not None:
        share = explained[count - 1]
        label = f"suggested: {count:,}, which explain {share:.0%}"
        add_star(ax, count, share, label)
    if n <= len(explained) and n != count:  # else not all were picked one by one
        label = f"selected: {n:,}, which explain {explained[n - 1]:.0%}"
        ring = {"marker": "o", "ms": 9, "mfc": "none", "mec": INK, "mew": 1.2}
        ax.plot([n], [explained[n - 1]], ls="", label=label, zorder=4, **ring)
    ax.set_xlabel("features, in the order in which they were picked", color=INK)
    ax.set_ylabel("share of the table, each sample left out", color=INK)
    ax.set_ylim(min(0.0, float(explained.min())), 1.04)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    add_title(ax, fill(ranker.summary(), _WIDEST))
    tidy(ax)
    ax.legend(frameon=False, fontsize=8, loc="best")
    return ax
