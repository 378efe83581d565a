"""Arrays in memory, and arrays in files that are mapped into it."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import give_pages_back
from franet.pairs.columns._base import Columns

__all__ = ["ArrayColumns", "MappedColumns", "is_mapped"]


class ArrayColumns(Columns):
    """A table in memory: pieces of it are views."""

    def __init__(self, X: NDArray[Any], names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._X = X

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self._X[:, start:stop].astype(self.dtype, copy=False)

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self._X[start:stop].astype(self.dtype, copy=False)


def is_mapped(X: Any) -> bool:
    """Return whether an array lies in a file, which nobody else keeps in memory."""
    if not isinstance(X, np.memmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return False
    # Changes to a private copy of the file (mode "c") exist in memory only.
    return isinstance(getattr(X, "_mmap", None), mmap.mmap) and X.mode != "c"


class MappedColumns(Columns):
    """A table in a mapped file.

    What was read is copied, and its pages are given back: otherwise all of the file
    would in the end count as memory of the process.
    """

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._X = X
        down, across = (abs(stride) for stride in X.strides)
        self.has_rows = down >= across
        self.has_columns = not self.has_rows

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self._copy(self._X[:, start:stop])

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self._copy(self._X[start:stop])

    def _copy(self, view: Any) -> NDArray[Any]:
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            copy = np.array(view, self.dtype, order="K", subok=False)
        give_pages_back(self._X)
        return copy
