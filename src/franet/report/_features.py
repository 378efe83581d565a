"""One row per feature: rank, score, community, and the features that are like it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.network import CoverExplanation
from franet.pairs.alike import redundant_among
from franet.report._data import Listing, distribution
from franet.report._text import number, numbers

_NEIGHBORS = 10
_NAMED = 12  # of the features that one represents
_COMMUNITIES = 30
_RELATIONS = ("community", "n_neighbors", "representative", "members", "neighbors")


def rows(listing: Listing) -> list[dict[str, Any]]:
    """Return the listed features as plain dicts, best first."""
    ranker, table = listing.ranker, listing.table
    gains: dict[int, float | None] = {}
    if listing.is_cover:
        picks = ranker.order_[: ranker.n_ranked_].tolist()
        gains = dict(zip(picks, numbers(ranker.gains_), strict=True))
    order, relations = listing.order.tolist(), _relations(listing)
    return [
        {
            "rank": int(ranker.ranking_[j]),
            "name": listing.names[j],
            "index": j,
            "score": number(ranker.scores_[j]),
            "gain": gains.get(j),
            "selected": bool(ranker.support_[j]),
            **related,
            "distribution": None if table is None else distribution(table, j),
        }
        for j, related in zip(order, relations, strict=True)
    ]


def _relations(listing: Listing) -> list[dict[str, Any]]:
    """Return for each listed feature which others it is like, None if not known."""
    if listing.network is not None:
        return [_by_edges(listing, j) for j in listing.order.tolist()]
    if listing.r is not None:
        return _by_correlations(listing, listing.r)
    return [dict.fromkeys(_RELATIONS) for _ in listing.order]


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
            _link(
                listing,
                k.index,
                k.similarity if k.correlation is None else k.correlation,
            )
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
        found.append(
            {
                "community": None,
                "n_neighbors": None,
                "representative": _link(listing, order[by], weight[at])
                if by >= 0
                else None,
                "members": _members(listing, order[partner == at], None),
                "neighbors": [_link(listing, order[k], r[at, k]) for k in near],
            }
        )
    return found


def _link(listing: Listing, k: int, weight: Any) -> dict[str, Any]:
    return {"name": listing.names[k], "index": int(k), "weight": number(weight, 6)}


def _members(listing: Listing, features: Any, mean: float | None) -> dict[str, Any]:
    return {
        "count": len(features),
        "features": [listing.names[k] for k in features[:_NAMED]],
        "mean": None if mean is None else number(mean, 6),
    }


def communities_of(listing: Listing, communities: Any) -> dict[str, Any]:
    """Return the largest communities as plain dicts."""
    names = listing.names
    return {
        "method": str(communities.method),
        "count": len(communities.size),
        "largest": [
            {
                "label": label,
                "size": int(communities.size[label]),
                "hub": names[communities.hub[label]],
                "hub_index": int(communities.hub[label]),
                "mean_similarity": number(communities.mean_similarity[label], 6),
            }
            for label in range(min(len(communities.size), _COMMUNITIES))
        ],
    }
