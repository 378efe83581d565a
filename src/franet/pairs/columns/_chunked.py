"""Arrays in files: h5py datasets, zarr arrays, dask arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.columns._base import Columns

__all__ = ["ChunkedColumns", "DaskColumns"]

# Chunks are read in both directions if a strip of them takes no more than this.
_STRIP = 1 << 25


class ChunkedColumns(Columns):
    """A table that is stored in rectangular chunks, or row by row.

    Parameters
    ----------
    X : h5py.Dataset or zarr.Array
        The table; anything that can be sliced to arrays.
    chunks : pair of int or None
        Rows and columns of a chunk; None: rows lie one after the other.
    names : sequence of str, optional
        The names of the columns.
    """

    def __init__(self, X: Any, chunks: Any, names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._X = X
        m, n = self.shape
        # A row is contiguous where there are no chunks.
        self.steps = (1, n) if chunks is None else (int(chunks[0]), int(chunks[1]))
        down, across = (
            min(s, size) for s, size in zip(self.steps, (m, n), strict=True)
        )
        strip = 8 * max(down * n, across * m)
        self.has_rows = strip <= _STRIP or across * m >= down * n
        self.has_columns = strip <= _STRIP or not self.has_rows

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        with self.reading():
            return self._numbers(self._X[:, start:stop])

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        with self.reading():
            return self._numbers(self._X[start:stop])

    def _numbers(self, part: Any) -> NDArray[Any]:
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            return np.asarray(part).astype(self.dtype, copy=False)


class DaskColumns(ChunkedColumns):
    """A dask array: only what a piece needs is computed."""

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X, [max(sizes, default=1) for sizes in X.chunks], names)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let errors through: they are those of the user's own graph."""
        yield

    def _numbers(self, part: Any) -> NDArray[Any]:
        return super()._numbers(part.compute())
