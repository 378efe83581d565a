"""The map of the network."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from franet._common.checked import FLAG, NETWORK, SEED, WHOLE, optional
from franet._common.features import edges_of
from franet.network import AttributeNetwork, Representation, layout
from franet.network._layout import backbone
from franet.plotting._style import (
    INK,
    OTHER,
    add_legend,
    add_title,
    best_of,
    colors_of,
    network_of,
    new_axes,
    picture,
    short,
)

Array = NDArray[np.float64]


@picture(
    network=NETWORK,
    top=WHOLE,
    max_edges=optional(WHOLE),
    labels=WHOLE,
    legend=FLAG,
    seed=SEED,
)
def plot_network(
    network: Any,
    *,
    top: int = 200,
    max_edges: int | None = None,
    labels: int = 15,
    legend: bool = True,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the best features and their strongest edges, communities apart.

    After `Cover` each feature is joined with its representative; a
    dashed line is a negative correlation.

    Parameters
    ----------
    network : AttributeNetwork or FRANe
        The network, or a fitted ranker.
    top : int, default=200
        How many features are drawn.
    max_edges : int, optional
        How many edges are drawn: those that hold the communities together, then the
        strongest. By default two for each feature.
    labels : int, default=15
        How many features are named, the hubs first; names that would lie on each
        other are left out.
    legend : bool, default=True
        Whether communities are listed.
    seed : int, default=0
        The seed of the layout.
    {ax_to_axes}

    Examples
    --------
    >>> from franet.plotting import plot_network
    >>> ax = plot_network(ranker.network_, top=300)  # doctest: +SKIP
    """
    net = network_of(network)
    best = best_of(net, top)
    ax = new_axes(ax, (8.0, 7.0))
    part = net.subgraph(top=top)
    member = net.communities().labels[best]
    drawn = backbone(part.adjacency, 2 * len(part) if max_edges is None else max_edges)
    linked = np.diff(drawn.indptr) > 0
    places = layout(drawn, _by_size(member, linked), seed=seed)
    # The communities with most features in the picture differ in color.
    shown = _by_size(member)
    colors = colors_of(shown)
    _draw_edges(ax, drawn, places, colors, part.representation)
    dots = ax.scatter(*places.T, c=colors, edgecolors="white", lw=0.6, zorder=3)
    if legend:
        from matplotlib.lines import Line2D

        add_legend(
            ax,
            net,
            member,
            shown,
            partial(Line2D, [], [], marker="o", linestyle=""),
            lambda name, size: f"{short(name)} and {size - 1:,} more",
            others="others",
            fontsize=8,
            title="Communities, by their best feature"
            if net.representation is None
            else "Groups, by their representative",
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
        )
    add_title(
        ax,
        f"{len(part):,} of {len(net):,} features · {drawn.nnz // 2:,} of "
        f"{part.n_edges:,} edges between them",
    )
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.06)
    ax.figure.draw_without_rendering()  # so that lengths in points are known
    size = _sizes(ax, part.scores, places)
    dots.set_sizes(size)
    _name(ax, part, places, size, member, labels)
    return ax


def _by_size(member: NDArray[np.intp], counted: Any = True) -> NDArray[np.intp]:
    """Return labels 0, 1, … by size; features that are not counted have none, -1."""
    out = np.full(len(member), -1, np.intp)
    there = (member >= 0) & counted
    _, part, size = np.unique(member[there], return_inverse=True, return_counts=True)
    place = np.empty(len(size), np.intp)
    place[np.argsort(-size, kind="stable")] = np.arange(len(size))
    out[there] = place[part]
    return out


def _sizes(ax: Any, scores: Array, places: Array) -> Array:
    """Return areas of nodes, by score; the largest just touch their neighbours."""
    low, high = float(scores.min()), float(scores.max())
    share = (scores - low) / (high - low) if high > low else np.full(len(scores), 0.5)
    gap = 20.0
    if len(places) > 1:
        shown = ax.transData.transform(places) * 72.0 / ax.figure.dpi
        near = cKDTree(shown).query(shown, 2)[0][:, 1]
        gap = float(np.clip(np.median(near), 3.0, 20.0))
    return gap**2 * (0.2 + 0.8 * share)


def _draw_edges(
    ax: Any, drawn: Any, places: Array, colors: list[str], signs: Representation | None
) -> None:
    """Draw the edges; dashed where a correlation is negative and the weight not."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    j, k, w = edges_of(drawn)
    if not len(w):
        return
    order = np.argsort(w, kind="stable")  # the strongest lie on top
    j, k, w = j[order], k[order], w[order]
    spread = float(w[-1] - w[0])
    share = (w - w[0]) / spread if spread else np.full(len(w), 0.5)
    lines = np.stack([places[j], places[k]], axis=1)
    rgba = np.array(
        [
            to_rgba(colors[a] if colors[a] == colors[b] else OTHER)
            for a, b in zip(j.tolist(), k.tolist(), strict=True)
        ]
    )
    rgba[:, 3] = 0.18 + 0.37 * share
    negative = np.zeros(len(w), bool) if signs is None else signs.between(j, k) < 0.0
    ax.add_collection(
        LineCollection(
            list(lines),
            colors=rgba,
            linewidths=0.4 + 1.2 * share,
            linestyles=["--" if flag else "-" for flag in negative],
            zorder=1,
        )
    )


def _name(
    ax: Any,
    part: AttributeNetwork,
    places: Array,
    size: Array,
    member: NDArray[np.intp],
    most: int,
) -> None:
    """Name features, the best of each community first, without overlaps."""
    from matplotlib.patheffects import withStroke

    if most < 1:
        return
    first = np.zeros(len(part), bool)  # the features are in the order of their ranks
    first[np.unique(member, return_index=True)[1]] = True
    first[member < 0] = False
    taken: list[Any] = []
    for i in np.lexsort((np.arange(len(part)), ~first)).tolist():
        text = ax.annotate(
            short(part.names[i]),
            places[i],
            xytext=(0, 2 + np.sqrt(size[i]) / 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=INK,
            zorder=4,
            annotation_clip=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
        box = text.get_window_extent().padded(2)
        if any(box.overlaps(other) for other in taken):
            text.remove()
            continue
        taken.append(box)
        if len(taken) >= most:
            break
