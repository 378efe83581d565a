"""Which kind of storage a table has."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from franet.exceptions import DataError
from franet.pairs.columns._base import Columns
from franet.pairs.columns._kinds import (
    ChunkedColumns,
    DaskColumns,
    MappedColumns,
    ParquetColumns,
    SparseColumns,
    is_mapped,
)
from franet.pairs.columns._zarr import check_arrays

# Whose tables have a way of their own.
_PACKAGES = (
    "anndata", "dask", "h5py", "pandas", "polars", "pyarrow", "torch", "zarr",
)  # fmt: skip
# Frames of which scikit-learn cannot read all.
_ARROW = ("pyarrow.RecordBatch", "pyarrow.Table")
_SPARSE = ("anndata.CSRDataset", "anndata.CSCDataset")
_FRAMES = ("pandas.DataFrame", "polars.LazyFrame", *_ARROW)


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
    check_stored(X)
    if kind == "h5py.Dataset":
        return ChunkedColumns(X, X.chunks, names)
    if kind == "zarr.Array":
        return ChunkedColumns(X, getattr(X, "shards", None) or X.chunks, names)
    if kind == "dask.Array":
        return DaskColumns(X, names)
    if kind == "pyarrow.ParquetFile":
        return ParquetColumns(X)
    if kind in _SPARSE:
        return SparseColumns(X, names)
    return None


def check_stored(X: Any) -> None:
    """Raise a DataError where reading a table could run code or open other files.

    Parameters
    ----------
    X : object
        Anything. Arrays and groups of h5py and zarr are checked, and what AnnData
        keeps in a file: also a view of it, which is read as soon as X is looked at.
    """
    kind = _kind(X)
    if kind == "anndata.AnnData":
        if not X.isbacked:
            return
        if not X.file.is_open:
            X.file.open()
        if "X" in X.file:
            check_stored(X.file["X"])
    if kind in _SPARSE:
        X, kind = X.group, _kind(X.group)
    if kind.startswith("zarr."):
        what = kind.partition(".")[2].lower()
        check_arrays(f"The zarr {what} {X.path!r}", X)
    elif kind in ("h5py.Dataset", "h5py.Group"):
        for dataset in X.values() if kind == "h5py.Group" else [X]:
            if elsewhere := where_else(dataset):
                raise DataError(f"{elsewhere}. Save the values themselves in one file.")


def where_else(dataset: Any) -> str | None:
    """Return what to say of a HDF5 dataset whose values lie in other files."""
    if dataset.is_virtual:
        return f"{dataset.name} is a virtual dataset, which reads other datasets"
    if dataset.external:
        return f"{dataset.name} keeps its values in another file (external storage)"
    return None


def known_files(X: Any) -> list[str | os.PathLike[str]]:
    """Return the files, or folders, in which a table is known to lie."""
    if isinstance(X, Columns):
        return [X.source, *known_files(getattr(X, "_X", None))]
    found = (
        getattr(X, "filename", None),  # of a memmap, of AnnData in backed mode
        getattr(getattr(X, "file", None), "filename", None),  # of h5py
        getattr(getattr(X, "store", None), "root", None),  # of zarr
    )
    return [path for path in found if isinstance(path, str | os.PathLike)]


def _kind(X: Any) -> str:
    """Return package and class, as a user knows it, without importing anything."""
    for kind in type(X).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in _PACKAGES:
            return f"{package}.{kind.__name__.lstrip('_')}"
    return ""


def in_memory(X: Any) -> tuple[Any, Any]:
    """Return a table that scikit-learn understands, and its names if these get lost.

    Arrays of other libraries become NumPy's, see `as_numpy`; AnnData is its X.
    """
    check_stored(X)
    if _kind(X) != "anndata.AnnData":
        return as_numpy(X), None
    matrix = X.X
    if matrix is None:
        raise DataError(
            "adata has no X. Set it, or pass a layer as a frame: adata.to_df(layer)."
        )
    # A sparse matrix in a file.
    matrix = matrix.to_memory() if hasattr(matrix, "to_memory") else matrix
    return as_numpy(matrix), np.array(X.var_names, object)


def as_numpy(X: Any) -> Any:
    """Return an array of torch or of the array API as one of NumPy; others as is.

    Frames that scikit-learn cannot read become dense ones of pandas, names kept.
    Values that are masked, which it would read, become NaN.
    """
    check_stored(X)
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        return _filled(X)
    kind = _kind(X)
    if kind in _FRAMES:
        return _as_frame(X, kind)
    if kind.startswith("torch.") and hasattr(X, "detach"):
        X = X.detach().cpu()
        if str(X.dtype) == "torch.bfloat16":  # which NumPy does not know
            X = X.float()
        return X.numpy()
    if not hasattr(X, "__array_namespace__") or isinstance(X, np.ndarray):
        return X
    # CuPy hands nothing over unless it is asked to copy.
    return X.get() if hasattr(X, "get") else np.asarray(X)


def _filled(X: Any) -> Any:
    """Return a masked array as a plain one, with NaN where it is masked."""
    if X.dtype.kind in "mMV":  # dates and records, which are refused anyway
        return X
    wider = {"b": float, "i": float, "u": float, "S": object, "U": object}
    return X.astype(wider.get(X.dtype.kind, X.dtype)).filled(np.nan)


def _as_frame(X: Any, kind: str) -> Any:
    """Return a frame that scikit-learn can read."""
    if kind == "polars.LazyFrame":
        raise DataError(
            "A LazyFrame of polars holds no values yet. Pass X.collect() instead."
        )
    if kind in _ARROW:
        from franet._common.optional import require

        require("pandas", f"A {kind}", "pandas")
        return X.to_pandas()
    # Sparse columns are taken for those of a sparse matrix, where the rest is 0.
    fills = [getattr(dtype, "fill_value", None) for dtype in X.dtypes]
    other = None not in fills and any(fill != 0 for fill in fills)
    return X.sparse.to_dense() if other else X
