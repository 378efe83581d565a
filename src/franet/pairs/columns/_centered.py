"""A table less the means of its batches, so that what differs between them is gone."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.pairs.columns._base import Columns


class CenteredColumns(Columns):
    """A table in memory, each column centered within each batch.

    A sparse one stays so: pieces of it are dense.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        The table; its values are finite.
    batches : ndarray of int of shape (m,)
        The batch of each row: 0, 1, …, each of them there.
    names : sequence of str, optional
        The names of the columns.
    """

    def __init__(self, X: Any, batches: NDArray[np.intp], names: Any = None) -> None:
        super().__init__(X.shape, np.float64, names)
        self._X = X.tocsr() if sparse.issparse(X) else X
        self._batches = batches
        self._means = np.stack(
            [_mean(self._X[batches == b]) for b in range(batches.max() + 1)]
        )

    @cached_property
    def _by_columns(self) -> Any:
        return self._X.tocsc() if sparse.issparse(self._X) else self._X

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        part = _dense(self._by_columns[:, start:stop])
        return part - self._means[self._batches, start:stop]

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        part = _dense(self._X[start:stop])
        return part - self._means[self._batches[start:stop]]


def _dense(part: Any) -> NDArray[np.float64]:
    return np.asarray(part.toarray() if sparse.issparse(part) else part, np.float64)


def _mean(part: Any) -> NDArray[np.float64]:
    """Return the means of columns; of a constant one its value, to the last bit."""
    if sparse.issparse(part):
        low, high = (each(axis=0).toarray().ravel() for each in (part.min, part.max))
        mean = np.asarray(part.sum(axis=0, dtype=np.float64)).ravel() / part.shape[0]
    else:
        low, high = part.min(axis=0), part.max(axis=0)
        mean = part.mean(axis=0, dtype=np.float64)
    return np.where(low == high, low, mean)
