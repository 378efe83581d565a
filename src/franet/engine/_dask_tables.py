"""Where a table lies, so that every worker of a cluster can open it by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.pairs.coded import CodedTable
from franet.pairs.columns import Columns, open_columns
from franet.pairs.columns._kinds import (
    ChunkedColumns,
    DaskColumns,
    MappedColumns,
    is_mapped,
)

__all__ = ["TableFile", "deposit", "find_file"]

# What is read at a time while a table is copied.
_PIECE = 1 << 25


@dataclass(frozen=True)
class TableFile(ABC):
    """A table in a file."""

    path: str

    @abstractmethod
    def open(self) -> Any:
        """Return the table: `Columns` whose values are still to be checked, or not."""


@dataclass(frozen=True)
class ArrayFile(TableFile):
    """A checked array in a .npy file, which is mapped."""

    def open(self) -> NDArray[Any]:
        # The kernels are compiled for plain arrays.
        return np.load(self.path, mmap_mode="r").view(np.ndarray)


@dataclass(frozen=True)
class SparseFile(TableFile):
    """A checked sparse table in a .npz file."""

    def open(self) -> Any:
        return sparse.load_npz(self.path)


@dataclass(frozen=True)
class CodedFile(TableFile):
    """A checked table with categories in a .npz file; names of levels are left out."""

    def open(self) -> CodedTable:
        with np.load(self.path, allow_pickle=False) as file:
            values, is_category = file["values"], file["is_category"]
        return CodedTable(values, is_category, (None,) * len(is_category))


@dataclass(frozen=True)
class MappedFile(TableFile):
    """An array that the user has mapped.

    `lazy` says whether its values are still to be checked.
    """

    dtype: str
    shape: tuple[int, ...]
    offset: int
    order: str
    lazy: bool

    def open(self) -> Any:
        order: Any = self.order
        X = np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order)
        return MappedColumns(X) if self.lazy else X.view(np.ndarray)


@dataclass(frozen=True)
class CopiedFile(TableFile):
    """An array in a .npy file that was copied piece by piece, not checked yet."""

    def open(self) -> Any:
        return open_columns(np.load(self.path, mmap_mode="r"))


@dataclass(frozen=True)
class HdfFile(TableFile):
    """A dataset of an HDF5 file."""

    name: str

    def open(self) -> Any:
        import h5py

        return open_columns(h5py.File(self.path, "r")[self.name])


@dataclass(frozen=True)
class ZarrFile(TableFile):
    """An array of a zarr store in a folder."""

    name: str

    def open(self) -> Any:
        import zarr

        if not Path(self.path).exists():
            raise FileNotFoundError(self.path)
        return open_columns(zarr.open_array(self.path, path=self.name, mode="r"))


def find_file(X: Any, table: Any) -> TableFile | None:
    """Return the file that a table lies in, if every reader can open it there.

    Parameters
    ----------
    X : object
        The table as the user has given it.
    table : ndarray, sparse array, CodedTable or Columns
        The same, as :func:`franet.estimators._validation.check_table` returns it.
    """
    lazy = isinstance(table, Columns)
    if isinstance(table, MappedColumns):
        return _mapped(table._X, lazy)
    if isinstance(table, ChunkedColumns) and not isinstance(table, DaskColumns):
        return _stored(table._X)
    if is_mapped(X) and isinstance(table, np.ndarray) and table.dtype == X.dtype:
        return _mapped(X, lazy)
    return None


def _mapped(X: Any, lazy: bool) -> TableFile | None:
    order = "C" if X.flags.c_contiguous else "F"
    if X.filename is None or not X.flags.forc:
        return None
    # A part of a mapped array goes by the offset of the whole.
    start = np.frombuffer(X._mmap, np.uint8).ctypes.data
    granularity = _granularity()
    offset = X.offset - X.offset % granularity + X.ctypes.data - start
    return MappedFile(str(X.filename), X.dtype.str, X.shape, offset, order, lazy)


def _granularity() -> int:
    import mmap

    return mmap.ALLOCATIONGRANULARITY


def _stored(X: Any) -> TableFile | None:
    """Return the file of an HDF5 dataset or of a zarr array."""
    if hasattr(X, "file"):
        # What was written may not be in the file yet, and HDF5 locks it.
        if X.file.mode != "r" or not Path(X.file.filename).is_file():
            return None
        return HdfFile(str(Path(X.file.filename).resolve()), X.name)
    folder = getattr(getattr(X, "store", None), "root", None)
    if folder is None or not Path(folder).is_dir():
        return None
    return ZarrFile(str(Path(folder).resolve()), X.path)


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
    path = folder / "table.npy"
    if isinstance(table, np.ndarray):
        np.save(path, table)
        return ArrayFile(str(path))
    if isinstance(table, Columns) and not table.is_sparse:
        _copy(table, path, client)
        return CopiedFile(str(path))
    if isinstance(table, Columns):
        table = table.load()
    path = folder / "table.npz"
    if isinstance(table, CodedTable):
        np.savez(path, values=table.values, is_category=table.is_category)
        return CodedFile(str(path))
    sparse.save_npz(path, table, compressed=False)
    return SparseFile(str(path))


def _copy(table: Columns, path: Path, client: Any) -> None:
    file = np.lib.format.open_memmap(path, "w+", table.dtype, table.shape)
    if isinstance(table, DaskColumns) and client is not None:
        import dask.array

        region: Any = _Region(str(path))
        dask.array.store(table._X, region, lock=False, scheduler=client.get)
    elif table.has_columns:
        for at, part in table.pieces(_PIECE):
            file[:, at : at + part.shape[1]] = part
    else:
        for at, part in table.row_pieces(_PIECE):
            file[at : at + len(part)] = part
    file.flush()


@dataclass(frozen=True)
class _Region:
    """A .npy file into which chunks are written by anybody."""

    path: str

    def __setitem__(self, at: Any, chunk: Any) -> None:
        file = np.load(self.path, mmap_mode="r+")
        file[at] = chunk
        file.flush()
