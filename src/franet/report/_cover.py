"""What a report says of picks that stand for the other features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.alike import correlations
from franet.report._columns import distribution
from franet.report._features import NAMED, NEIGHBORS, communities_of
from franet.report._heat import SHOWN, clustered
from franet.report._map import network_map
from franet.report._numbers import number, numbers, words
from franet.report._warnings import duplicates, missing_values, plain_notes, some

__all__ = ["cover_part", "is_cover"]

# Features this close to 1 or -1 are copies of each other.
_COPY = 1e-9


def is_cover(ranker: Any) -> bool:
    """Return whether a fitted ranker picked features that stand for the others."""
    net = getattr(ranker, "network_", None)
    return getattr(net, "representation", None) is not None


def cover_part(
    ranker: Any, table: Any | None, names: Sequence[str], top: int
) -> dict[str, Any]:
    """Return the keys of the summary that depend on the kind of ranker.

    Parameters
    ----------
    ranker : FRANe
        The fitted ranker, a `Cover`.
    table : ndarray or CSC array of shape (m, n), optional
        The table; without it correlations are known at edges only.
    names : sequence of str
        The names of the features.
    top : int
        How many features, best first, are listed.
    """
    net = ranker.network_
    communities = net.communities()
    order = np.argsort(ranker.ranking_, kind="stable")[:top]
    measure = _measure(ranker)
    r = None if table is None else correlations(table, order, measure["name"])
    data = _data(ranker, table, names, order, r)
    return {
        "n_edges": int(net.n_edges),
        "n_isolated": data["isolated"]["count"],
        "n_constant": data["constant"]["count"],
        "truncated": False,
        "threshold": None,
        "quality": None,
        "n_examples": None if table is None else int(table.shape[0]),
        "measure": measure,
        "warnings": [*_notes(ranker), *plain_notes(ranker, data)],
        "data": data,
        "features": _rows(ranker, table, names, order),
        "communities": communities_of(communities, names),
        "map": network_map(net, communities, len(order)),
        "thresholds": None,
        "cover": _cover(ranker, names),
        "heat": _heat(ranker, order, r),
    }


def _measure(ranker: Any) -> dict[str, Any]:
    ranks = ranker.similarity == "spearman"
    return {
        "name": "spearman" if ranks else "correlation",
        "symbol": "ρ" if ranks else "r",
        "offset": 0.0,
        "low": -1.0,
        "high": 1.0,
        "weighted": True,
        "least": None,
    }


def _cover(ranker: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return what the picks cover, and how many are enough."""
    found = ranker.suggestion_
    n_picked = ranker.n_ranked_
    counted = min(ranker.n_features_, n_picked)
    return {
        "text": str(found),
        "n_suggested": found.count,
        "low": found.low,
        "high": found.high,
        "more": bool(found.more),
        "share": number(found.share),
        "n_picked": n_picked,
        "n_representatives": len(ranker.members_),
        "covered": {
            "count": counted,
            "share": number(ranker.coverage_[counted - 1], 5),
        },
        "pick": [names[int(j)] for j in ranker.order_[:n_picked]],
        "gain": numbers(ranker.gains_, 5),
        "coverage": numbers(ranker.coverage_, 5),
        "kept": numbers(found.kept, 5) if np.any(found.kept) else None,
    }


def _notes(ranker: Any) -> list[str]:
    """Return why the ranking says little, or how far it was picked."""
    found, n_picked = ranker.suggestion_, ranker.n_ranked_
    said = []
    if found.count is None:
        left = ranker.scores_[ranker.order_[n_picked:]]
        advice = " More can be picked: set n_ranked." if (left > 0.0).any() else ""
        advice = advice if found.more else ""
        said.append(f"{found}.{advice}")
    if ranker.n_features_ > n_picked:
        said.append(
            f"{words(ranker.n_features_, 'feature is', 'features are')} selected, of "
            f"which the first {n_picked:,} were picked one after another. The others "
            "follow by what each alone would add. To pick more, set n_ranked."
        )
    return said


def _data(
    ranker: Any,
    table: Any | None,
    names: Sequence[str],
    order: NDArray[np.intp],
    r: NDArray[np.float64] | None,
) -> dict[str, Any]:
    constant = ranker.constant_
    alone = (np.diff(ranker.network_.adjacency.indptr) == 0) & ~constant
    copies: dict[str, Any] = {"count": None, "features": [], "groups": None}
    if r is not None:
        # One that moves against another tells the same.
        copies = duplicates(order[np.argwhere(np.abs(r) >= 1.0 - _COPY)], names)
    return {
        "constant": some(np.flatnonzero(constant), names),
        "isolated": some(np.flatnonzero(alone), names),
        "duplicates": copies,
        "missing": missing_values(table, names),
    }


def _rows(
    ranker: Any, table: Any | None, names: Sequence[str], order: NDArray[np.intp]
) -> list[dict[str, Any]]:
    picks = ranker.order_[: ranker.n_ranked_].tolist()
    gain = dict(zip(picks, numbers(ranker.gains_), strict=True))
    return [
        _row(ranker, names, int(j))
        | {
            "gain": gain.get(int(j)),
            "distribution": None if table is None else distribution(table, int(j)),
        }
        for j in order
    ]


def _row(ranker: Any, names: Sequence[str], j: int) -> dict[str, Any]:
    why = ranker.network_.explain(j)
    by = int(ranker.representative_[j])

    def linked(k: int, r: float) -> dict[str, Any]:
        return {"name": names[k], "index": k, "weight": number(r, 6)}

    near = ranker.network_.neighbors(j, top=NEIGHBORS)
    mean = why.mean_correlation
    return {
        "rank": why.rank,
        "name": names[j],
        "index": j,
        "score": number(why.score),
        "selected": bool(ranker.support_[j]),
        "community": why.community,
        "n_neighbors": why.n_neighbors,
        "representative": None if by in (-1, j) else linked(by, why.correlation),
        "members": {
            "count": len(why.members),
            "features": [names[item.index] for item in why.members[:NAMED]],
            "mean": None if mean is None else number(mean, 6),
        },
        "neighbors": [linked(item.index, item.correlation) for item in near],
    }


def _heat(
    ranker: Any, order: NDArray[np.intp], r: NDArray[np.float64] | None
) -> dict[str, Any] | None:
    """Return the correlations of the best features; None if none is known."""
    row = np.flatnonzero(~ranker.constant_[order[:SHOWN]])
    best = order[row]
    if r is not None:
        weights, source = r[np.ix_(row, row)], "data"
    else:
        found, source = ranker.network_.representation, "network"
        linked = ranker.network_.adjacency[best][:, best].toarray() > 0.0
        weights = np.where(linked, found.between(best[:, None], best), np.nan)
    if not np.isfinite(weights).any():
        return None
    return clustered(row, weights, source, absolute=True)
