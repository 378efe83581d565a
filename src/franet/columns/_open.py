"""Which kind of storage a table has."""

from __future__ import annotations

from typing import Any

import numpy as np

from franet.columns._array import MappedColumns, is_mapped
from franet.columns._base import Columns
from franet.columns._chunked import ChunkedColumns, DaskColumns
from franet.columns._parquet import ParquetColumns
from franet.columns._sparse import SparseColumns

__all__ = ["as_numpy", "in_memory", "open_columns"]


def open_columns(X: Any) -> Columns | None:
    """Return a table that is to be read piece by piece; None if it lies in memory.

    Parameters
    ----------
    X : object
        A `Columns`, np.memmap, h5py.Dataset, zarr.Array, dask array, ParquetFile of
        pyarrow, AnnData in backed mode, or the matrix of one. Anything else is None.
    """
    if isinstance(X, Columns):
        return X
    if _kind(X) == "anndata.AnnData":
        # A view of a file is read when it is looked at.
        lazy = X.isbacked and not X.is_view
        return _open(X.X, X.var_names) if lazy else None
    return _open(X, None)


def _open(X: Any, names: Any) -> Columns | None:
    if is_mapped(X):
        return MappedColumns(X, names)
    kind = _kind(X)
    if kind == "h5py.Dataset":
        return ChunkedColumns(X, X.chunks, names)
    if kind == "zarr.Array":
        return ChunkedColumns(X, getattr(X, "shards", None) or X.chunks, names)
    if kind == "dask.Array":
        return DaskColumns(X, names)
    if kind == "pyarrow.ParquetFile":
        return ParquetColumns(X)
    if kind in ("anndata.CSRDataset", "anndata.CSCDataset"):
        return SparseColumns(X, names)
    return None


def _kind(X: Any) -> str:
    """Return package and class, as a user knows it, without importing anything."""
    for kind in type(X).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in ("anndata", "dask", "h5py", "pyarrow", "torch", "zarr"):
            return f"{package}.{kind.__name__.lstrip('_')}"
    return ""


def in_memory(X: Any) -> tuple[Any, Any]:
    """Return a table that scikit-learn understands, and its names if these get lost.

    Arrays of other libraries become NumPy's; AnnData in memory is its X.
    """
    if _kind(X) == "anndata.AnnData":
        return X.X, np.array(X.var_names, object)
    return as_numpy(X), None


def as_numpy(X: Any) -> Any:
    """Return an array of torch or of the array API as one of NumPy; others as is."""
    if _kind(X).startswith("torch.") and hasattr(X, "detach"):
        X = X.detach().cpu()
        if str(X.dtype) == "torch.bfloat16":  # which NumPy does not know
            X = X.float()
        return X.numpy()
    if not hasattr(X, "__array_namespace__") or isinstance(X, np.ndarray):
        return X
    # CuPy hands nothing over unless it is asked to copy.
    return X.get() if hasattr(X, "get") else np.asarray(X)
