"""Sparse matrices, in files as AnnData keeps them, or in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.columns._base import Columns

__all__ = ["FilledColumns", "SparseColumns", "check_indices"]


def check_indices(X: Any) -> None:
    """Raise a ValueError where a sparse matrix points outside itself.

    SciPy's conversions trust every index, and its own check trusts the pointers of a
    matrix without entries.
    """
    if hasattr(X, "indptr") and (np.diff(X.indptr) < 0).any():
        raise ValueError("its pointers do not ascend")
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)


class SparseColumns(Columns):
    """A CSR or CSC matrix in a file; pieces of it are dense.

    Parameters
    ----------
    X : anndata.abc.CSRDataset or CSCDataset
        The matrix.
    names : sequence of str, optional
        The names of the columns.
    """

    is_sparse = True

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._X, self._stored = X, self.dtype
        # As where a sparse table in memory is made dense.
        self.dtype = np.dtype(np.float64)
        self.has_rows = X.format == "csr"
        self.has_columns = not self.has_rows
        self.n_filled = int(X.group["indices"].shape[0])
        self.nbytes = (self._stored.itemsize + 8) * self.n_filled

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self._filled((slice(None), slice(start, stop)))

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self._filled(slice(start, stop))

    def load(self) -> Any:
        """Return the whole matrix, sparse."""
        with self.reading():
            X = self._X.to_memory()
            check_indices(X)
            return X.astype(self._stored, copy=False)

    def _filled(self, at: Any) -> NDArray[Any]:
        with self.reading():
            part = self._X[at]
            check_indices(part)
            return part.toarray().astype(self.dtype, copy=False)


class FilledColumns(Columns):
    """A sparse matrix in memory that is worked on as dense pieces.

    Parameters
    ----------
    X : CSC array
        The matrix.
    names : sequence of str, optional
        The names of the columns.
    """

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._down = X
        self._across: Any = None

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self._down[:, start:stop].toarray()

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        if self._across is None:
            self._across = self._down.tocsr()
        return self._across[start:stop].toarray()
