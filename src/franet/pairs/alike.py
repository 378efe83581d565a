"""How alike some features are, and which repeat a better one, from the table alone."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.coded import CodedTable
from franet.pairs.similarity import CORRELATIONS, open_source
from franet.pairs.similarity._sparse import constant_in

# Features that are correlated at least so much repeat each other.
REDUNDANT = 0.8


def dissimilarities(
    X: Any, features: NDArray[np.intp], similarity: Any, **options: Any
) -> NDArray[np.float64]:
    """Return the k × k dissimilarities of some features.

    Parameters
    ----------
    X : ndarray or CSC array of shape (m, n)
        The table.
    features : ndarray of int
        The k columns.
    similarity : str or callable
        As `franet.pairs.similarity.open_source` takes it.
    **options : dict
        Its other arguments.

    Returns
    -------
    d : ndarray of shape (k, k)
        NaN where a column is constant and the similarity leaves it out.
    """
    alone = similarity in CORRELATIONS or callable(similarity)
    if alone:  # what others there are does not matter
        X = X[:, features]
        features = np.arange(len(features))
    source, constant = open_source(X, similarity, **options)
    at = np.where(constant, -1, np.cumsum(~constant) - 1)[features]
    d = np.full((len(features), len(features)), np.nan)
    block = np.where(at < 0, -1, at // source.block)
    for i, j in combinations_with_replacement(np.unique(block[at >= 0]), 2):
        tile = source.exact_tile(int(i), int(j))
        rows, cols = np.flatnonzero(block == i), np.flatnonzero(block == j)
        part = tile[np.ix_(at[rows] % source.block, at[cols] % source.block)]
        d[np.ix_(rows, cols)] = part
        d[np.ix_(cols, rows)] = part.T
    np.fill_diagonal(d, 0.0 if source.has_zero else np.nan)
    return d


def correlations(
    X: Any, features: NDArray[np.intp], kind: str = "correlation"
) -> NDArray[np.float64]:
    """Return correlations of some features; NaN on the diagonal and for constants.

    Of a table with categories, the mixed similarity.

    Parameters
    ----------
    X : ndarray, sparse array or CodedTable of shape (m, n)
        The table, float32 or float64, without missing values.
    features : ndarray of int
        The columns.
    kind : {"correlation", "spearman"}, default="correlation"
        Pearson's r, or that of ranks.
    """
    if isinstance(X, CodedTable):
        s = 1.0 - dissimilarities(X, features, "mixed")
        np.fill_diagonal(s, np.nan)
        return s
    columns = (X if isinstance(X, np.ndarray) else X.tocsc())[:, features]
    r = np.full((len(features), len(features)), np.nan)
    varied = np.flatnonzero(~constant_in(columns))
    if len(varied) > 1:
        r[np.ix_(varied, varied)] = 1.0 - dissimilarities(columns, varied, kind)
        np.fill_diagonal(r, np.nan)
    return r


def redundant_among(
    r: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return for each of some features the better one that it repeats most.

    Parameters
    ----------
    r : ndarray of shape (k, k)
        Their correlations, best feature first.

    Returns
    -------
    partner : ndarray of int
        The position of another one before it; -1 if none is correlated enough.
    weight : ndarray of float
        Their correlation; NaN if there is none.
    """
    k = len(r)
    partner, weight = np.full(k, -1, np.intp), np.full(k, np.nan)
    strength = np.abs(np.nan_to_num(r))
    for at in range(1, k):
        best = int(np.argmax(strength[at, :at]))
        if strength[at, best] >= REDUNDANT:
            partner[at], weight[at] = best, r[at, best]
    return partner, weight


def cluster_order(values: NDArray[np.float64], *, gap: float = 0.0) -> NDArray[np.intp]:
    """Return an order in which similar features are side by side.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Similarities; not finite where nothing is known, which counts as least similar.
    gap : float, default=0.0
        How much less similar than the least known similarity that is, as a share of
        their range.
    """
    n, known = len(values), np.isfinite(values)
    if n < 3 or not known.any():
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage

    low, high = values[known].min(), values[known].max()
    floor = low - gap * max(high - low, abs(high) * 0.1)
    distance = high - np.where(known, values, floor)
    pairs = np.maximum(distance, distance.T)[np.triu_indices(n, 1)]
    tree = linkage(pairs, "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), np.intp)
