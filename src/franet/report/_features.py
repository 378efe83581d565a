"""Features, communities and the map of the network as plain dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common import sentences
from franet._common.features import edges_of
from franet.network import CoverExplanation, layout
from franet.network._layout import backbone
from franet.pairs.alike import redundant_among
from franet.report._data import Listing, distribution
from franet.report._text import number, numbers

_NEIGHBORS = 10
_NAMED = 12  # of the features that one represents
_COMMUNITIES = 30
# What can still be told apart on a screen.
_NODES = 300
_EDGES_PER_NODE = 1.7
_FEW_EDGES = 400
_STEPS = 60
_UNKNOWN: dict[str, Any] = dict.fromkeys(
    ("community", "n_neighbors", "representative", "members", "neighbors")
)

_UNEXPLAINED: dict[str, Any] = dict.fromkeys(
    ("explained", "increase", "is_pick", "is_left")
)


def rows(listing: Listing) -> list[dict[str, Any]]:
    """Return the listed features as plain dicts, best first."""
    ranker, table = listing.ranker, listing.table
    explained = _explained(ranker) if listing.is_cover else None
    order, relations = listing.order.tolist(), _relations(listing)
    return [
        {
            "rank": int(ranker.ranking_[j]),
            "name": listing.names[j],
            "index": j,
            "score": number(ranker.scores_[j]),
            **(_UNEXPLAINED if explained is None else explained[j]),
            "selected": bool(ranker.support_[j]),
            **related,
            "distribution": None if table is None else distribution(table, j),
        }
        for j, related in zip(order, relations, strict=True)
    ]


def _explained(ranker: Any) -> list[dict[str, Any]]:
    """Return for each feature what it explains, and whether a pick represents it."""
    explained = np.full(ranker.n_features_in_, np.nan)
    increase, by = explained.copy(), ranker.representative_
    picks = ranker.order_[: ranker.n_ranked_]
    explained[picks] = ranker.explained_
    increase[picks] = sentences.increases(ranker.explained_)
    left = (by < 0) & ~ranker.constant_
    return [
        {
            "explained": number(explained[j], 5),
            "increase": number(increase[j], 5),
            "is_pick": bool(by[j] == j),
            "is_left": bool(left[j]),
        }
        for j in range(len(by))
    ]


def _relations(listing: Listing) -> list[dict[str, Any]]:
    """Return for each listed feature which others it is like, None if not known."""
    if listing.network is not None:
        return [_by_edges(listing, j) for j in listing.order.tolist()]
    if listing.r is not None:
        return _by_correlations(listing, listing.r)
    return [_UNKNOWN] * len(listing.order)


def _by_edges(listing: Listing, j: int) -> dict[str, Any]:
    net: Any = listing.network
    why = net.explain(j)
    above = [_link(listing, k.index, k.similarity) for k in why.redundant_with[:1]]
    mean = None
    if isinstance(why, CoverExplanation):
        by, mean = int(net.representation.by[j]), why.mean_correlation
        above = [] if by in (-1, j) else [_link(listing, by, why.correlation)]
    return {
        "community": why.community,
        "n_neighbors": why.n_neighbors,
        "representative": above[0] if above else None,
        "members": _members(listing, [k.index for k in why.members], mean),
        "neighbors": [
            _link(listing, k.index, k.correlation or k.similarity)
            for k in net.neighbors(j, top=_NEIGHBORS)
        ],
    }


def _by_correlations(listing: Listing, r: NDArray[np.float64]) -> list[dict[str, Any]]:
    order = listing.order
    partner, weight = redundant_among(r)
    nearest = np.argsort(-np.abs(np.nan_to_num(r)), axis=1, kind="stable")
    found = []
    for at, by in enumerate(partner.tolist()):
        near = [k for k in nearest[at, :_NEIGHBORS] if np.isfinite(r[at, k])]
        better = _link(listing, order[by], weight[at]) if by >= 0 else None
        related = {
            "representative": better,
            "members": _members(listing, order[partner == at], None),
            "neighbors": [_link(listing, order[k], r[at, k]) for k in near],
        }
        found.append(_UNKNOWN | related)
    return found


def _link(listing: Listing, k: int, weight: Any) -> dict[str, Any]:
    return {"name": listing.names[k], "index": int(k), "weight": number(weight, 6)}


def _members(listing: Listing, features: Any, mean: float | None) -> dict[str, Any]:
    return {
        "count": len(features),
        "features": [listing.names[k] for k in features[:_NAMED]],
        "mean": None if mean is None else number(mean, 6),
    }


def communities_of(listing: Listing) -> dict[str, Any] | None:
    """Return the largest communities as plain dicts; None without a network."""
    if listing.network is None:
        return None
    found = listing.network.communities()
    return {
        "method": str(found.method),
        "count": len(found.size),
        "largest": [
            {
                "label": label,
                "size": int(found.size[label]),
                "hub": listing.names[found.hub[label]],
                "hub_index": int(found.hub[label]),
                "mean_similarity": number(found.mean_similarity[label], 6),
            }
            for label in range(min(len(found.size), _COMMUNITIES))
        ],
    }


def network_map(listing: Listing) -> dict[str, Any] | None:
    """Return the drawn part of a network: some of the listed features.

    Returns
    -------
    dict or None
        ``row`` (of each node, in the list of features), ``x``, ``y``, ``a`` and
        ``b`` (nodes of each edge), ``weight``, ``negative`` (which correlations are;
        None if weights say it), ``n_between`` (edges between the nodes, drawn or
        not) and ``steps`` of the slider: ``weight`` that an edge needs, ``n_edges``
        of the whole network and ``n_connected`` features then. None without a
        network.
    """
    net, order = listing.network, listing.order
    if net is None:
        return None
    row = np.flatnonzero(np.diff(net.adjacency.indptr)[order] > 0)[:_NODES]
    nodes = order[row]
    within = net.adjacency[nodes][:, nodes].tocsr()
    limit = max(_FEW_EDGES, int(_EDGES_PER_NODE * len(nodes)))
    a, b, weight = edges_of(backbone(within, limit))
    strongest = np.lexsort((b, a, -weight))
    a, b, weight = a[strongest], b[strongest], weight[strongest]
    negative = None
    if net.representation is not None:
        negative = (net.representation.between(nodes[a], nodes[b]) < 0.0).tolist()
    xy = layout(within, net.communities().labels[nodes])
    return {
        "row": row.tolist(),
        "x": numbers(xy[:, 0], 5),
        "y": numbers(xy[:, 1], 5),
        "a": a.tolist(),
        "b": b.tolist(),
        "weight": numbers(weight, 6),
        "negative": negative,
        "n_between": within.nnz // 2,
        "steps": _steps(net, weight),
    }


def _steps(net: Any, drawn: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return the thresholds of the slider: each hides as many of the drawn edges."""
    if not len(drawn):
        return []
    limits = np.unique(np.quantile(drawn, np.linspace(0, 1, _STEPS), method="lower"))
    lowest = net.threshold if np.isfinite(net.threshold) else limits[0]
    limits = np.concatenate([[min(lowest, limits[0])], limits[1:]])
    edges = net.adjacency
    weights = np.sort(edges.data)
    starts = edges.indptr[:-1][np.diff(edges.indptr) > 0]
    # Of every feature that has an edge.
    strongest = np.sort(np.maximum.reduceat(edges.data, starts))
    # What is rounded for the page must not hide the edge it was taken from.
    slack = 1e-9 * max(1.0, float(np.abs(drawn).max()))
    at = np.searchsorted(weights, limits - slack)
    apart = np.searchsorted(strongest, limits - slack)
    return [
        {
            "weight": number(limit, 7),
            "n_edges": int((len(weights) - i) // 2),
            "n_connected": int(len(strongest) - j),
        }
        for limit, i, j in zip(limits, at, apart, strict=True)
    ]
