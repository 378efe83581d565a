"""What is not a correlation: distances, or what the user brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import DataError
from franet.pairs.similarity import kernels
from franet.pairs.similarity._sparse import moments
from franet.pairs.similarity._standardize import feature_rows
from franet.pairs.tiles import PairSource, block_size

DISTANCES: dict[str, Callable[..., None]] = {
    "canberra": kernels.canberra,
    "chebyshev": kernels.chebyshev,
    "euclidean": kernels.squares,
    "manhattan": kernels.manhattan,
    "minkowski": kernels.minkowski,
    "seuclidean": kernels.squares,
    "sqeuclidean": kernels.squares,
}
_ORDERS = {"chebyshev": np.inf, "manhattan": 1}  # of norms; others have 2


def length_of_rows(
    rows: NDArray[np.float64], measure: str, p: float
) -> NDArray[np.float64]:
    """Return the distance of each row to zero."""
    match measure:
        case "canberra":
            return np.count_nonzero(rows, axis=1).astype(np.float64)
        case "sqeuclidean":
            return np.asarray((rows * rows).sum(axis=1))
        case "minkowski":
            # As the kernel: neither do large powers overflow, nor small ones vanish.
            size = np.abs(rows)
            top = size.max(axis=1).clip(kernels.TINY, kernels.HUGE)
            powers = (size / top[:, None]) ** p
            return np.asarray(top * powers.sum(axis=1) ** (1.0 / p))
        case _:
            return np.linalg.norm(rows, _ORDERS.get(measure, 2), axis=1)


def row_deviations(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each row over the features, 1 where it is 0."""
    from scipy import sparse

    if sparse.issparse(X):
        deviation = np.sqrt(moments(X.T.tocsc())[1]) / np.sqrt(X.shape[1] - 1)
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
        is_root = self._measure in ("euclidean", "seuclidean")
        return np.sqrt(D, out=D) if is_root else D


class _GivenSource(PairSource):
    """A similarity ``w`` is spoken of as ``d = -w``: the order is all that counts."""

    top = 0.0
    has_zero = False

    def _padded(self, W: NDArray[Any]) -> NDArray[np.float64]:
        D = np.zeros((self.block, self.block))
        np.multiply(W, -1.0, out=D[: W.shape[0], : W.shape[1]])
        return D


class PrecomputedSource(_GivenSource):
    """Tiles of a similarity matrix.

    Parameters
    ----------
    W : ndarray of shape (n, n)
        Symmetric, non-negative similarities; the diagonal is not read.
    """

    def __init__(self, W: NDArray[Any]) -> None:
        self.n = W.shape[0]
        self._W = W

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the negative similarities of block `i` against block `j`."""
        return self._padded(self._W[self._rows(i), self._rows(j)])


def check_precomputed(W: NDArray[Any]) -> None:
    """Refuse a matrix that is not square, symmetric and non-negative."""
    n = W.shape[0]
    if W.shape[1] != n:
        raise DataError(
            f"A precomputed similarity must be square, got {n} rows and "
            f"{W.shape[1]} columns. Pass the n × n matrix, or choose another "
            "similarity."
        )
    tolerance = 1e-9 * max(float(np.abs(W).max(initial=0.0)), 1e-300)
    step = max(1, (1 << 22) // n)
    for at in range(0, n, step):
        part = W[at : at + step].astype(np.float64)
        np.fill_diagonal(part[:, at:], 0.0)
        if part.min(initial=0.0) < 0.0:
            j, k = np.argwhere(part < 0.0)[0]
            raise DataError(
                "Negative values in data passed as a precomputed similarity: row "
                f"{at + j}, column {k} holds {part[j, k]:g}. Shift or clip it first."
            )
        other = W[:, at : at + step].T.astype(np.float64)
        np.fill_diagonal(other[:, at:], 0.0)
        if np.abs(part - other).max(initial=0.0) > tolerance:
            j, k = np.argwhere(np.abs(part - other) > tolerance)[0]
            raise DataError(
                f"A precomputed similarity must be symmetric: row {at + j}, column "
                f"{k} differs from its mirror image. Use (W + W.T) / 2."
            )


class CallableSource(_GivenSource):
    """Tiles of a function ``f(A, B)`` of two blocks of columns.

    Parameters
    ----------
    X : ndarray or CSC array of shape (m, n)
        The table; a sparse one is handed over as dense blocks.
    function : callable
        Returns the similarities, a × b, of the a columns of A and the b columns of B.
    """

    def __init__(
        self, X: Any, function: Callable[[NDArray[Any], NDArray[Any]], Any]
    ) -> None:
        self.n = X.shape[1]
        self._X = X
        self._function = function

    def _columns(self, i: int) -> NDArray[Any]:
        part = self._X[:, self._rows(i)]
        # A copy: what the function does to its arguments stays there.
        return part.copy() if isinstance(part, np.ndarray) else part.toarray()

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the negative similarities of block `i` against block `j`."""
        A, B = self._columns(i), self._columns(j)
        returned = self._function(A, B)
        try:
            W = np.asarray(returned)
        except ValueError:  # rows of different lengths
            W = np.asarray(None)
        wanted = (A.shape[1], B.shape[1])
        if W.shape != wanted or W.dtype.kind not in "fiub":
            raise DataError(
                f"The similarity function must return numbers of shape {wanted} for "
                f"blocks of {wanted[0]} and {wanted[1]} columns, got an array of shape "
                f"{W.shape} and type {W.dtype}."
            )
        W = W.astype(np.float64)
        bad = ~(np.isfinite(W) & (W >= 0.0))
        if i == j:
            np.fill_diagonal(bad, False)
        if bad.any():
            a, b = np.argwhere(bad)[0]
            raise DataError(
                "The similarity function must return finite values that are not "
                f"negative, got {W[a, b]} for columns {i * self.block + a} and "
                f"{j * self.block + b}."
            )
        return self._padded(W)
