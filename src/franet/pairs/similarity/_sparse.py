"""Correlation between the columns of a sparse table, without making it dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.similarity._correlation import CorrelationTiles
from franet.pairs.similarity._standardize import constant_columns, powers_of_two
from franet.pairs.similarity.kernels import add_products
from franet.pairs.tiles import block_size


def moments(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and squared norms of the centred columns of a float64 CSC table."""
    m = X.shape[0]
    filled = np.diff(X.indptr)
    column = np.repeat(np.arange(X.shape[1]), filled)
    mean = np.bincount(column, X.data, X.shape[1]) / m
    rest = X.data - mean[column]
    squares = np.bincount(column, rest * rest, X.shape[1])
    return mean, squares + (m - filled) * mean * mean


def _tame(X: Any) -> Any:
    """Return the columns scaled to a largest value of one, full ones centred.

    ``r = (x·y − m μ ν) / (s t)`` loses precision where a mean dwarfs the spread. That
    takes a column without empty cells, and such a column can be centred.
    """
    X = X.copy()
    m, n = X.shape
    filled = np.diff(X.indptr)
    column = np.repeat(np.arange(n), filled)
    X.data *= powers_of_two(_largest(X))[column]
    for _ in range(2):
        mean = np.where(filled == m, np.bincount(column, X.data, n) / m, 0.0)
        X.data -= mean[column]
    largest = _largest(X)
    X.data /= np.where(largest > 0.0, largest, 1.0)[column]
    return X


def _largest(X: Any) -> NDArray[np.float64]:
    return np.asarray(abs(X).max(axis=0).toarray()).ravel()


def constant_in(X: Any) -> NDArray[np.bool_]:
    """Return which columns of a checked table, dense or sparse, are constant."""
    if isinstance(X, np.ndarray):
        return constant_columns(X)
    lo, hi = X.min(axis=0).toarray(), X.max(axis=0).toarray()
    return np.asarray(lo == hi).ravel()


class SparseCorrelationSource(CorrelationTiles):
    """Tiles of ``1 - pearson`` from products of sparse columns.

    Parameters
    ----------
    X : CSC array of shape (m, n)
        The columns that take part, float64, none of them constant.
    absolute : bool, default=False
        Whether the sign of the correlation is dropped.
    """

    def __init__(self, X: Any, absolute: bool = False) -> None:
        self.m, n = X.shape
        super().__init__(n, block_size(n), absolute)
        X = _tame(X)
        mean, squares = moments(X)
        norm = np.sqrt(squares)
        self._mean = np.zeros(self._n_padded)
        self._mean[: self.n] = mean / norm
        # Entries divided by the norm: the product below is r plus a product of means.
        X.data /= np.repeat(norm, np.diff(X.indptr))
        self._down = X
        self._across = [
            X[:, at : at + self.block].tocsr() for at in range(0, self.n, self.block)
        ]
        # Both copies, and the row pointers of each block.
        self.nbytes = 32 * X.nnz + 8 * self.m * len(self._across)

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the dissimilarities of block `i` against block `j`."""
        a, b = self._rows(i), self._rows(j)
        R = np.outer(-self.m * self._mean[a], self._mean[b])
        X, Y = self._down, self._across[j]
        starts = X.indptr[a.start : min(a.stop, self.n) + 1]
        add_products(starts, X.indices, X.data, Y.indptr, Y.indices, Y.data, out=R)
        return self._dissimilarity(R)


def rank_sparse_columns(X: Any) -> Any:
    """Return average ranks, shifted so that an empty cell keeps the value 0.

    Correlation does not see the shift, and the table stays sparse.
    """
    from scipy.stats import rankdata

    X = X.copy()
    m = X.shape[0]
    for j in range(X.shape[1]):
        part = slice(X.indptr[j], X.indptr[j + 1])
        values = X.data[part]
        empty = m - len(values)
        # One zero stands for all empty cells: those above it are shifted by the rest.
        ranks = rankdata(np.append(values, 0.0) if empty else values)
        if empty:
            # Zeros that are stored share the ranks of the empty cells.
            ranks = ranks[:-1] + (empty - 1) / 2 * (1.0 + np.sign(values))
            ranks -= (values < 0.0).sum() + (empty + (values == 0.0).sum() + 1) / 2
        X.data[part] = ranks
    return X
