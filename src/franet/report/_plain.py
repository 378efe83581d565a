"""What a report says of a ranker without a network: all of it from the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.alike import REDUNDANT, correlations, redundant_among
from franet.pairs.similarity._sparse import constant_in
from franet.report._columns import distribution
from franet.report._features import NAMED, NEIGHBORS
from franet.report._heat import SHOWN, clustered
from franet.report._numbers import number
from franet.report._warnings import duplicates, missing_values, plain_notes, some

__all__ = ["plain_part"]

_MEASURE = {
    "name": "correlation",
    "symbol": "r",
    "offset": 0.0,
    "low": -1.0,
    "high": 1.0,
    "weighted": True,
    "least": REDUNDANT,
}


def plain_part(
    ranker: Any, table: Any | None, names: Sequence[str], top: int
) -> dict[str, Any]:
    """Return the keys of the summary that depend on the kind of ranker.

    Parameters
    ----------
    ranker : FeatureRanker
        The fitted ranker.
    table : ndarray or CSC array of shape (m, n), optional
        The table; without it nothing is known of values and similarities.
    names : sequence of str
        The names of the features.
    top : int
        How many features, best first, are listed.
    """
    order = np.argsort(ranker.ranking_, kind="stable")[:top]
    r = None if table is None else correlations(table, order)
    data = _data(ranker, table, names, order, r)
    return {
        "n_edges": None,
        "n_isolated": None,
        "n_constant": data["constant"]["count"],
        "truncated": None,
        "threshold": None,
        "quality": None,
        "n_examples": None if table is None else int(table.shape[0]),
        "measure": dict(_MEASURE),
        "warnings": plain_notes(ranker, data),
        "data": data,
        "features": _rows(ranker, table, names, order, r),
        "communities": None,
        "map": None,
        "thresholds": None,
        "cover": None,
        "heat": None if r is None else _heat(r),
    }


def _data(
    ranker: Any,
    table: Any | None,
    names: Sequence[str],
    order: NDArray[np.intp],
    r: NDArray[np.float64] | None,
) -> dict[str, Any]:
    constant = getattr(ranker, "constant_", None)
    if table is not None:
        constant = constant_in(table)
    found: dict[str, Any] = {
        "constant": {"count": None, "features": []},
        "isolated": {"count": None, "features": []},
        "duplicates": {"count": None, "features": [], "groups": None},
        "missing": missing_values(table, names),
    }
    if constant is not None:
        found["constant"] = some(np.flatnonzero(constant), names)
    if r is not None:
        at = np.argwhere(r >= 1.0 - 1e-9)
        found["duplicates"] = duplicates(order[at], names)
    return found


def _rows(
    ranker: Any,
    table: Any | None,
    names: Sequence[str],
    order: NDArray[np.intp],
    r: NDArray[np.float64] | None,
) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [
        {
            "rank": int(ranker.ranking_[j]),
            "name": names[j],
            "index": int(j),
            "score": number(ranker.scores_[j]),
            "gain": None,
            "selected": bool(ranker.support_[j]),
            "community": None,
            "n_neighbors": None,
            "representative": None,
            "members": None,
            "neighbors": None,
            "distribution": None if table is None else distribution(table, int(j)),
        }
        for j in order
    ]
    if r is not None:
        _add_relations(made, r)
    return made


def _add_relations(rows: list[dict[str, Any]], r: NDArray[np.float64]) -> None:
    """Add to each row which other listed features it is like."""

    def linked(at: int, other: int) -> dict[str, Any]:
        there = rows[other]
        return {
            "name": there["name"],
            "index": there["index"],
            "weight": number(r[at, other], 6),
        }

    partner, _ = redundant_among(r)
    nearest = np.argsort(-np.abs(np.nan_to_num(r)), axis=1, kind="stable")
    for at, row in enumerate(rows):
        below = np.flatnonzero(partner == at)
        if partner[at] >= 0:
            row["representative"] = linked(at, int(partner[at]))
        row["members"] = {
            "count": len(below),
            "features": [rows[k]["name"] for k in below[:NAMED]],
            "mean": None,
        }
        near = [int(k) for k in nearest[at, :NEIGHBORS] if np.isfinite(r[at, k])]
        row["neighbors"] = [linked(at, k) for k in near]


def _heat(r: NDArray[np.float64]) -> dict[str, Any] | None:
    """Return the similarities of the best features; None if fewer than two vary."""
    best = r[:SHOWN, :SHOWN]
    row = np.flatnonzero(np.isfinite(best).any(axis=1))
    if len(row) < 2:
        return None
    return clustered(row, best[np.ix_(row, row)], "data")
