"""The distances between columns, as tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.similarity import kernels
from franet.pairs.similarity._sparse import moments
from franet.pairs.similarity._standardize import feature_rows
from franet.pairs.tiles import PairSource, block_size

DISTANCES: dict[str, Callable[..., None]] = {
    "canberra": kernels.canberra,
    "chebyshev": kernels.chebyshev,
    "euclidean": kernels.euclidean,
    "manhattan": kernels.manhattan,
    "minkowski": kernels.minkowski,
    "seuclidean": kernels.euclidean,
    "sqeuclidean": kernels.squares,
}


def length_of_rows(
    rows: NDArray[np.float64], measure: str, p: float
) -> NDArray[np.float64]:
    """Return the distance of each row to zero."""
    match measure:
        case "canberra":
            return np.count_nonzero(rows, axis=1).astype(np.float64)
        case "chebyshev":
            return np.abs(rows).max(axis=1)
        case "manhattan":
            return np.abs(rows).sum(axis=1)
        case "sqeuclidean":
            return np.asarray((rows * rows).sum(axis=1))
        case "minkowski":
            # As the kernel: neither do large powers overflow, nor small ones vanish.
            size = np.abs(rows)
            top = size.max(axis=1).clip(kernels.TINY, kernels.HUGE)
            powers = (size / top[:, None]) ** p
            return np.asarray(top * powers.sum(axis=1) ** (1.0 / p))
        case _:
            return np.sqrt((rows * rows).sum(axis=1))


def row_deviations(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each row over the features, 1 where it is 0."""
    from scipy import sparse

    if sparse.issparse(X):
        _, norm = moments(X.T.tocsc())
        deviation = norm / np.sqrt(X.shape[1] - 1)
    else:
        deviation = X.std(axis=1, ddof=1, dtype=np.float64)
    return np.where(deviation > 0.0, deviation, 1.0)


class DistanceSource(PairSource):
    """Tiles of a distance between columns, in float64.

    Parameters
    ----------
    X : ndarray or CSC array of shape (m, n)
        The table. A sparse one is made dense block by block.
    measure : str
        A key of `DISTANCES`.
    p : float, default=2
        The exponent of ``measure="minkowski"``.
    unit : bool, default=False
        Whether each feature is first divided by its own distance to zero.
    """

    def __init__(
        self, X: Any, measure: str, p: float = 2.0, unit: bool = False
    ) -> None:
        self.n = X.shape[1]
        self.block = block_size(self.n)
        self._measure = measure
        self._p = float(p)
        self._unit = unit
        self._X = X
        self._divisor = row_deviations(X) if measure == "seuclidean" else None
        self._dense: NDArray[np.float64] | None = None
        if isinstance(X, np.ndarray):
            rows = feature_rows(X, np.arange(self.n), self._n_padded, np.float64)
            self._dense = self._prepare(rows)
            self.nbytes = rows.nbytes

    def _prepare(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._divisor is not None:
            rows /= self._divisor
        if self._unit:
            length = length_of_rows(rows, self._measure, self._p)
            usable = (length > 0.0) & np.isfinite(length)
            rows /= np.where(usable, length, 1.0)[:, None]
        return rows

    def features(self) -> NDArray[np.float64]:
        """Return the features of a dense table, as they are compared, in rows."""
        assert self._dense is not None
        return self._dense[: self.n]

    def _features(self, i: int) -> NDArray[np.float64]:
        if self._dense is not None:
            return self._dense[self._rows(i)]
        part = self._X[:, self._rows(i)].toarray().T
        rows = np.zeros((self.block, part.shape[1]))
        rows[: len(part)] = part
        return self._prepare(rows)

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the distances of block `i` against block `j`."""
        D = np.empty((self.block, self.block))
        across = np.ascontiguousarray(self._features(j).T)
        DISTANCES[self._measure](self._features(i), across, self._p, out=D)
        return D
