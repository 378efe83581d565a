"""The similarities between the best features, similar ones side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from franet.report._measure import pair_weights
from franet.report._numbers import numbers

__all__ = ["SHOWN", "clustered", "heat_map"]

SHOWN = 40


def heat_map(ranker: Any, table: Any | None, shown: int) -> dict[str, Any]:
    """Return the weights between the best features in clustered order.

    Parameters
    ----------
    ranker : FRANe
        The fitted ranker.
    table : ndarray or CSC array, optional
        The table; without it only pairs with an edge have a value.
    shown : int
        How many features, best first, have a row in the report.

    Returns
    -------
    dict
        ``row`` (of each feature, in the list of features), ``weight`` (a list of
        lists, None where it is not known) and ``source``, "data" or "network".
    """
    order = np.argsort(ranker.ranking_, kind="stable")[: min(shown, SHOWN)]
    row = np.flatnonzero(~ranker.constant_[order])
    weights = None if table is None else pair_weights(ranker, table, order[row])
    source = "data"
    if weights is None:
        source = "network"
        weights = ranker.network_.adjacency[order[row]][:, order[row]].toarray()
        weights[weights == 0.0] = np.nan
    np.fill_diagonal(weights, np.nan)
    return clustered(row, weights, source)


def clustered(
    row: NDArray[np.intp],
    weights: NDArray[np.float64],
    source: str,
    *,
    absolute: bool = False,
) -> dict[str, Any]:
    """Return the weights between some features, similar ones side by side.

    Parameters
    ----------
    row : ndarray of int
        The place of each feature in the list of features.
    weights : ndarray of shape (k, k)
        NaN where a weight is not known.
    source : {"data", "network"}
        Where the weights come from.
    absolute : bool, default=False
        Whether features with opposite signs are similar too.
    """
    along = _along(np.abs(weights) if absolute else weights)
    return {
        "row": row[along].tolist(),
        "weight": [numbers(line, 4) for line in weights[np.ix_(along, along)]],
        "source": source,
    }


def _along(weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order in which similar features stand side by side."""
    if len(weights) < 3:
        return np.arange(len(weights))
    known = weights[np.isfinite(weights)]
    if not len(known):
        return np.arange(len(weights))
    low, high = float(known.min()), float(known.max())
    apart = np.where(np.isfinite(weights), high - weights, high - low)
    np.fill_diagonal(apart, 0.0)
    apart = np.maximum(apart, apart.T)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), np.intp)
