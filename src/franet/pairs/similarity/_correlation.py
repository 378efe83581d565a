"""Pearson, absolute and Spearman correlation as tiles of ``d = 1 - r``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.pairs.similarity.kernels import pair_products
from franet.pairs.tiles import PairSource, block_size

# Square tiles that fit the second-level cache: 1 MB in float32, 0.5 MB in float64.
BLOCK = {np.dtype(np.float32): 512, np.dtype(np.float64): 256}
# Bytes of features in a group of blocks. The order of sums depends on it: a constant,
# and so small that two groups fit wherever a large table is to be ranked.
GROUP = 1 << 25


def to_dissimilarity(R: NDArray[Any], absolute: bool) -> NDArray[Any]:
    """Turn correlations into ``1 - r`` (or ``1 - |r|``) in place."""
    if absolute:
        np.abs(R, out=R)
    return np.subtract(1, R, out=R)


def block_bytes(block: int, m: int, dtype: Any) -> int:
    """Return what a block of features takes: float64, and float32 beside it."""
    return block * m * (12 if dtype == np.float32 else 8)


def group_size(m: int, dtype: Any) -> int:
    """Return how many blocks of features make a group."""
    return max(1, GROUP // block_bytes(BLOCK[np.dtype(dtype)], m, dtype))


class CorrelationSource(PairSource):
    """Tiles of ``1 - pearson`` between standardized columns.

    Parameters
    ----------
    X : ndarray of shape (m, n_columns)
        The table, float32 or float64.
    columns : ndarray of int
        The columns that take part, none of them constant.
    absolute : bool, default=False
        Whether the sign of the correlation is dropped.
    """

    scale = 1.0

    def __init__(
        self, X: NDArray[Any], columns: NDArray[np.intp], absolute: bool = False
    ) -> None:
        n, block = len(columns), block_size(len(columns), BLOCK[X.dtype])
        rows = feature_rows(X, columns, -(-n // block) * block, np.float64)
        standardize(rows)
        self._describe(n, block, X.shape[0], X.dtype, absolute)
        self._hold(rows)

    @classmethod
    def of_rows(
        cls, rows: NDArray[np.float64], n: int, block: int, dtype: Any, absolute: bool
    ) -> Self:
        """Return the source of features that are standardized and padded already."""
        source = cls.__new__(cls)
        source._describe(n, block, rows.shape[1], dtype, absolute)
        source._hold(rows)
        return source

    def _describe(self, n: int, block: int, m: int, dtype: Any, absolute: bool) -> None:
        """Set what does not depend on where the features lie."""
        self.n = n
        self.absolute = absolute
        self.top = 1.0 if absolute else 2.0
        self.block = block
        self.group = group_size(m, dtype)
        # Two rounded factors and a sum of m products, each of relative size u.
        self.error = (m + 4) * 2.0**-24 if dtype == np.float32 else 0.0

    def _hold(self, rows: NDArray[np.float64]) -> None:
        # What is decided in float32 is recomputed from these.
        self._exact = rows
        self._work = rows.astype(np.float32) if self.error else rows
        self.nbytes = rows.nbytes + (self._work.nbytes if self.error else 0)

    def _pair(self, i: int, j: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return two blocks of features, each in float64 and as tiles use it."""
        a, b = self._rows(i), self._rows(j)
        return (self._exact[a], self._work[a]), (self._exact[b], self._work[b])

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        (_, A), (_, B) = self._pair(i, j)
        return to_dissimilarity(A @ B.T, self.absolute)

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        (A, _), (B, _) = self._pair(i, j)
        return to_dissimilarity(A @ B.T, self.absolute)

    def refine(
        self,
        i: int,
        j: int,
        rows: NDArray[np.int32],
        cols: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the float64 dissimilarities at some positions of a tile."""
        if self.error == 0.0:
            return values
        r = np.empty(len(rows))
        (A, _), (B, _) = self._pair(i, j)
        pair_products(A, B, rows, cols, out=r)
        return to_dissimilarity(r, self.absolute)


class PairwiseCorrelationSource(PairSource):
    """Tiles of ``1 - pearson`` over the rows in which neither value is missing.

    Pairs with fewer than three common rows, or constant on them, count as
    uncorrelated: two points always lie on a line.

    Parameters
    ----------
    X : ndarray of shape (m, n_columns)
        The table; NaN is missing.
    columns : ndarray of int
        The columns that take part, none of them constant.
    absolute : bool, default=False
        Whether the sign of the correlation is dropped.
    """

    scale = 1.0
    min_rows = 3

    def __init__(
        self, X: NDArray[Any], columns: NDArray[np.intp], absolute: bool = False
    ) -> None:
        self.n = len(columns)
        self.absolute = absolute
        self.top = 1.0 if absolute else 2.0
        self.block = block_size(self.n)
        padded = -(-self.n // self.block) * self.block
        rows = feature_rows(X, columns, padded, np.float64)
        present = ~np.isnan(rows)
        present[self.n :] = False
        # Standardized over what is there, so that the sums below hardly cancel.
        largest = np.abs(rows).max(axis=1, where=present, initial=0.0)
        rows *= powers_of_two(largest)[:, None]
        count = np.maximum(present.sum(axis=1), 1)
        for _ in range(2):
            rows -= (rows.sum(axis=1, where=present) / count)[:, None]
        rows[~present] = 0.0
        spread = np.abs(rows).max(axis=1, initial=0.0)
        rows /= np.where(spread > 0.0, spread, 1.0)[:, None]
        self._values = rows
        self._present = present.astype(np.float64)
        self.nbytes = rows.nbytes + self._present.nbytes

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the dissimilarities of block `i` against block `j`."""
        a, b = self._rows(i), self._rows(j)
        A, P = self._values[a], self._present[a]
        B, Q = self._values[b].T, self._present[b].T
        N = P @ Q
        few = self.min_rows > N
        N[few] = 1.0
        sa, sb = A @ Q, P @ B
        va = (A * A) @ Q - sa * sa / N
        vb = P @ (B * B) - sb * sb / N
        # Sums of squares below rounding mean constant on the common rows.
        few |= (va <= 1e-13 * N) | (vb <= 1e-13 * N)
        va[few] = vb[few] = 1.0
        R = (A @ B - sa * sb / N) / np.sqrt(va * vb)
        R[few] = 0.0
        np.clip(R, -1.0, 1.0, out=R)
        return to_dissimilarity(R, self.absolute)


def rank_columns(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the average ranks of each column, as float64."""
    from scipy.stats import rankdata

    ranks = np.empty(X.shape, np.float64)
    for at in range(0, X.shape[1], 1024):
        ranks[:, at : at + 1024] = rankdata(X[:, at : at + 1024], axis=0)
    return ranks
