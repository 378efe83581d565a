"""Where a table lies, so that every worker of a cluster can open it by itself."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from franet.pairs.coded import CodedTable
from franet.pairs.columns import Columns, open_columns
from franet.pairs.columns._kinds import (
    ChunkedColumns,
    DaskColumns,
    MappedColumns,
    is_mapped,
)

# What is read at a time while a table is copied.
_PIECE = 1 << 25


@dataclass(frozen=True)
class TableFile:
    """A table in a file, and the function that opens it.

    What it returns is a checked table, or `Columns` whose values are still to be
    checked.
    """

    path: str
    opener: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def open(self) -> Any:
        """Return the table."""
        return self.opener(self.path, *self.arguments)


def _open_mapped(path: str, lazy: bool, *layout: Any) -> Any:
    """Map an array that the user has mapped: dtype, mode, offset, shape, order.

    Without these, a .npy file.
    """
    X = np.memmap(path, *layout) if layout else np.load(path, mmap_mode="r")
    # The kernels are compiled for plain arrays.
    return MappedColumns(X) if lazy else X.view(np.ndarray)


def _open_coded(path: str) -> CodedTable:
    """Read a table with categories; names of levels are left out."""
    with np.load(path, allow_pickle=False) as file:
        values, is_category = file["values"], file["is_category"]
    return CodedTable(values, is_category, (None,) * len(is_category))


def _open_hdf5(path: str, name: str) -> Any:
    import h5py

    return open_columns(h5py.File(path, "r")[name])


def _open_zarr(path: str, name: str) -> Any:
    import zarr

    if not Path(path).exists():
        raise FileNotFoundError(path)
    return open_columns(zarr.open_array(path, path=name, mode="r"))


def find_file(X: Any, table: Any) -> TableFile | None:
    """Return the file that a table lies in, if every reader can open it there.

    Parameters
    ----------
    X : object
        The table as the user has given it.
    table : ndarray, sparse array, CodedTable or Columns
        The same, checked.
    """
    if isinstance(table, MappedColumns):
        return _mapped(table._X, True)
    if isinstance(table, ChunkedColumns) and not isinstance(table, DaskColumns):
        return _stored(table._X)
    if is_mapped(X) and isinstance(table, np.ndarray) and table.dtype == X.dtype:
        return _mapped(X, False)
    return None


def _mapped(X: Any, lazy: bool) -> TableFile | None:
    if X.filename is None or not X.flags.forc:
        return None
    # A part of a mapped array goes by the offset of the whole.
    start = np.frombuffer(X._mmap, np.uint8).ctypes.data
    offset = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + X.ctypes.data - start
    order = "C" if X.flags.c_contiguous else "F"
    layout = (X.dtype.str, "r", offset, X.shape, order)
    return TableFile(str(X.filename), _open_mapped, (lazy, *layout))


def _stored(X: Any) -> TableFile | None:
    """Return the file of an HDF5 dataset or of a zarr array."""
    if hasattr(X, "file"):
        # What was written may not be in the file yet, and HDF5 locks it.
        if X.file.mode != "r" or not Path(X.file.filename).is_file():
            return None
        path = str(Path(X.file.filename).resolve())
        return TableFile(path, _open_hdf5, (X.name,))
    folder = getattr(getattr(X, "store", None), "root", None)
    if folder is None or not Path(folder).is_dir():
        return None
    return TableFile(str(Path(folder).resolve()), _open_zarr, (X.path,))


def deposit(table: Any, folder: Path, client: Any = None) -> TableFile:
    """Put a table into a file of a folder.

    Parameters
    ----------
    table : ndarray, sparse array, CodedTable or Columns
        The table.
    folder : path
        Where the file goes.
    client : distributed.Client, optional
        Whose workers see the folder: they write the chunks of a dask array into it.
    """
    path = str(folder / "table.npy")
    if isinstance(table, np.ndarray):
        np.save(path, table)
        return TableFile(path, _open_mapped, (False,))
    if isinstance(table, Columns) and not table.is_sparse:
        _copy(table, path, client)
        return TableFile(path, _open_mapped, (True,))
    path = str(folder / "table.npz")
    if isinstance(table, CodedTable):
        np.savez(path, values=table.values, is_category=table.is_category)
        return TableFile(path, _open_coded)
    X = table.load() if isinstance(table, Columns) else table
    sparse.save_npz(path, X, compressed=False)
    return TableFile(path, sparse.load_npz)


def _copy(table: Columns, path: str, client: Any) -> None:
    file = np.lib.format.open_memmap(path, "w+", table.dtype, table.shape)
    if isinstance(table, DaskColumns) and client is not None:
        import dask.array

        region: Any = _Region(path)
        dask.array.store(table._X, region, lock=False, scheduler=client.get)
    else:
        for rows, columns, part in table.parts(_PIECE, whole_rows=False):
            file[rows, columns] = part
    file.flush()


@dataclass(frozen=True)
class _Region:
    """A .npy file into which chunks are written by anybody."""

    path: str

    def __setitem__(self, at: Any, chunk: Any) -> None:
        file = np.load(self.path, mmap_mode="r+")
        file[at] = chunk
        file.flush()
