"""Similarities that the user brings: a matrix, or a function of two blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import DataError
from franet.pairs.tiles import PairSource


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
