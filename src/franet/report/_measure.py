"""What the weight of an edge says, and the weights between some features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.alike import dissimilarities

__all__ = ["describe", "pair_weights", "top_weight"]

# The weight of an edge is the value that people know, plus this.
_KNOWN = {
    "correlation": ("r", -1.0, -1.0, 1.0),
    "spearman": ("ρ", -1.0, -1.0, 1.0),
    "abs-correlation": ("|r|", 0.0, 0.0, 1.0),
    "mixed": ("similarity", 0.0, 0.0, 1.0),
}


def describe(ranker: Any) -> dict[str, Any]:
    """Return how weights are shown: ``symbol = weight + offset``, and their range."""
    name = ranker.similarity if isinstance(ranker.similarity, str) else "function"
    plain: dict[str, Any] = {
        "name": name,
        "symbol": "weight" if ranker.variant == "reference" else "similarity",
        "offset": 0.0,
        "low": None,
        "high": None,
        "weighted": bool(ranker.weighted),
        "least": None,  # of what counts as like it: edges tell
    }
    if ranker.variant == "paper" and name in _KNOWN:
        symbol, offset, low, high = _KNOWN[name]
        plain |= {"symbol": symbol, "offset": offset, "low": low, "high": high}
    return plain


def pair_weights(
    ranker: Any, table: Any, features: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return the k × k weights between some features; None if they are not known."""
    if ranker.similarity == "precomputed":
        rows = table[features][:, features]
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, float)
    d, top = _dissimilarities(ranker, table, features), _top(ranker, table)
    return None if top is None else top - d


def top_weight(ranker: Any, table: Any | None) -> float | None:
    """Return the weight between a feature and its copy; None if there is no such."""
    if ranker.similarity == "precomputed" or callable(ranker.similarity):
        return None
    if not ranker.weighted:
        return None
    return _top(ranker, table)


def _top(ranker: Any, table: Any | None) -> float | None:
    """Return ``w + d``, which is the same for all pairs."""
    known = {"correlation": 2.0, "spearman": 2.0, "abs-correlation": 1.0, "mixed": 1.0}
    if callable(ranker.similarity):
        return 0.0
    if ranker.variant == "paper" and ranker.similarity in known:
        return known[ranker.similarity]
    edges = ranker.network_.adjacency
    if table is None or edges.nnz == 0 or not ranker.weighted:
        return None
    # It is the largest d of all pairs. One edge, whose weight we have, tells it.
    at = int(np.argmax(edges.data))
    j = int(np.searchsorted(edges.indptr, at, side="right") - 1)
    pair = np.array([j, edges.indices[at]])
    return float(edges.data[at] + _dissimilarities(ranker, table, pair)[0, 1])


def _dissimilarities(
    ranker: Any, table: Any, features: NDArray[np.intp]
) -> NDArray[np.float64]:
    return dissimilarities(
        table,
        features,
        ranker.similarity,
        p=ranker.p,
        variant=ranker.variant,
        pairwise=ranker.missing == "pairwise",
    )
