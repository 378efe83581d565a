"""One row per feature: rank, score, community, and what it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from franet.report._columns import distribution
from franet.report._numbers import number

__all__ = ["NAMED", "NEIGHBORS", "communities_of", "rows"]

NEIGHBORS = 10
NAMED = 12  # of the features that one stands for
_COMMUNITIES = 30


def rows(
    ranker: Any, table: Any | None, names: Sequence[str], top: int
) -> list[dict[str, Any]]:
    """Return the best features as plain dicts, best first."""
    order = np.argsort(ranker.ranking_, kind="stable")[:top]
    return [_row(ranker, table, names, int(j)) for j in order]


def _row(
    ranker: Any, table: Any | None, names: Sequence[str], j: int
) -> dict[str, Any]:
    why = ranker.network_.explain(j)
    above = _linked(why.redundant_with[:1], names)
    return {
        "rank": why.rank,
        "name": names[j],
        "index": j,
        "score": number(why.score),
        "gain": None,
        "selected": bool(ranker.support_[j]),
        "community": why.community,
        "n_neighbors": why.n_neighbors,
        "representative": above[0] if above else None,
        "members": {
            "count": len(why.members),
            "features": [names[item.index] for item in why.members[:NAMED]],
            "mean": None,
        },
        "neighbors": _linked(ranker.network_.neighbors(j, top=NEIGHBORS), names),
        "distribution": None if table is None else distribution(table, j),
    }


def _linked(found: Sequence[Any], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": names[item.index],
            "index": int(item.index),
            "weight": number(item.similarity, 6),
        }
        for item in found
    ]


def communities_of(communities: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the largest communities as plain dicts."""
    return {
        "method": str(communities.method),
        "count": len(communities.size),
        "largest": [
            {
                "label": label,
                "size": int(communities.size[label]),
                "hub": names[int(communities.hub[label])],
                "hub_index": int(communities.hub[label]),
                "mean_similarity": number(communities.mean_similarity[label], 6),
            }
            for label in range(min(len(communities.size), _COMMUNITIES))
        ],
    }
