"""The kinds of tables that are read piece by piece: what each of them is stored as."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile, give_pages_back
from franet.exceptions import Column, DataError
from franet.pairs.columns._base import Columns

# Chunks are read in both directions if a strip of them takes no more than this.
_STRIP = 1 << 25
# A strip of them is read at a time if it takes no more than this.
_LARGEST = 1 << 29
# Pieces of a dask array that are computed together.
_AT_ONCE = 64


class ArrayColumns(Columns):
    """A table that can be sliced; one in memory, if not of another kind.

    Parameters
    ----------
    X : ndarray or object
        The table; anything with a shape and a type that can be sliced.
    names : sequence of str, optional
        The names of the columns.
    """

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X.shape, X.dtype, names)
        self._X = X

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        with self.reading():
            return self._numbers(self._X[:, start:stop])

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        with self.reading():
            return self._numbers(self._X[start:stop])

    def _numbers(self, part: Any) -> NDArray[Any]:
        """Return a part as numbers of the right type; a view of it, where it can be."""
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            return np.asarray(part).astype(self.dtype, copy=False)


def is_mapped(X: Any) -> bool:
    """Return whether an array lies in a file, which nobody else keeps in memory."""
    if not isinstance(X, np.memmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return False
    # Changes to a private copy of the file (mode "c") exist in memory only.
    return isinstance(getattr(X, "_mmap", None), mmap.mmap) and X.mode != "c"


class MappedColumns(ArrayColumns):
    """A table in a mapped file.

    What was read is copied, and its pages are given back: otherwise all of the file
    would in the end count as memory of the process.
    """

    def __init__(self, X: Any, names: Any = None) -> None:
        super().__init__(X, names)
        down, across = (abs(stride) for stride in X.strides)
        self.has_rows = down >= across
        self.has_columns = not self.has_rows

    def _numbers(self, part: Any) -> NDArray[Any]:
        with np.errstate(all="ignore"):
            copy = np.array(part, self.dtype, order="K", subok=False)
        give_pages_back(self._X)
        return copy


class ChunkedColumns(ArrayColumns):
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
        super().__init__(X, names)
        m, n = self.shape
        # A row is contiguous where there are no chunks.
        self.steps = (1, n) if chunks is None else (int(chunks[0]), int(chunks[1]))
        down, across = map(min, self.steps, self.shape)
        strip = 8 * max(down * n, across * m)
        self.has_rows = strip <= _STRIP or across * m >= down * n
        self.has_columns = strip <= _STRIP or not self.has_rows
        self.has_strips = 8 * down * n <= _LARGEST

    def piece_size(self, nbytes: int, whole_rows: bool) -> tuple[int, int]:
        """Return rows and columns of what is read at a time, no part of it twice."""
        (m, n), most = self.shape, nbytes // 8
        down, across = map(min, self.steps, self.shape)
        if not whole_rows and most < down * n:
            # Chunks side by side; all of a column of chunks, if that is not too large.
            rows = m if most >= across * m else down
            return rows, max(most // rows // across, 1) * across
        return max(most // n // down, 1) * down, n

    def read_piece(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return some rows of some columns."""
        with self.reading():
            return self._numbers(self._X[rows, columns])


class DaskColumns(ChunkedColumns):
    """A dask array: only what a piece needs is computed."""

    def __init__(self, X: Any, names: Any = None) -> None:
        if np.isnan(X.shape).any():
            raise DataError(
                "The dask array does not know how many rows and columns it has. Call "
                "X.compute_chunk_sizes() first."
            )
        super().__init__(X, [max(sizes, default=1) for sizes in X.chunks], names)
        self.has_strips = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let errors through: they are those of the user's own graph."""
        yield

    def reduced(
        self, reduce: Callable[..., Any], nbytes: int, whole_rows: bool
    ) -> Iterator[tuple[slice, slice, Any]]:
        """Reduce pieces where they are computed: on the workers of a cluster."""
        from dask.base import compute
        from dask.delayed import delayed

        X, n = self._X, self.shape[1]
        # Chunks are joined to whole rows where that does not take too much.
        if whole_rows or 8 * n * self.steps[0] <= nbytes:
            X = X.rechunk({1: n})
        X = X.rechunk({0: _steps(X.chunks[0], nbytes // (8 * max(X.chunks[1])))})
        places = list(product(*map(_places, X.chunks)))
        tasks = [
            delayed(_reduced)(reduce, part, self.dtype, *place)
            for place, part in zip(places, X.to_delayed().ravel(), strict=True)
        ]
        for first in range(0, len(tasks), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            for place, found in zip(places[some], compute(*tasks[some]), strict=True):
                yield *place, found

    def _numbers(self, part: Any) -> NDArray[Any]:
        return super()._numbers(_dense(part.compute()))


def _dense(part: Any) -> Any:
    """Return a chunk of a dask array, which may be sparse, as a dense one."""
    return part.toarray() if hasattr(part, "toarray") else part


def _places(sizes: tuple[int, ...]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _steps(sizes: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Return chunks of rows that are cut where they are too long."""
    most = max(most, 1)
    cut = ((size, min(most, size)) for size in sizes)
    return tuple(
        min(step, size - at) for size, step in cut for at in range(0, size, step or 1)
    )


def _reduced(
    reduce: Callable[..., Any], part: Any, dtype: Any, rows: slice, columns: slice
) -> Any:
    part = np.asarray(_dense(part)).astype(dtype, copy=False)
    return reduce(part, rows=rows, columns=columns)


def check_indices(X: Any) -> None:
    """Raise a ValueError where a sparse matrix points outside itself.

    SciPy's conversions trust every index, and its own check trusts the pointers of a
    matrix without entries.
    """
    if hasattr(X, "indptr") and (np.diff(X.indptr) < 0).any():
        raise ValueError("its pointers do not ascend")
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)


class SparseColumns(ArrayColumns):
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
        super().__init__(X, names)
        self._stored = self.dtype
        # As where a sparse table in memory is made dense.
        self.dtype = np.dtype(np.float64)
        self.has_rows = X.format == "csr"
        self.has_columns, self.has_strips = not self.has_rows, self.has_rows
        self.n_filled = int(X.group["indices"].shape[0])
        self.nbytes = (self._stored.itemsize + 8) * self.n_filled

    def load(self) -> Any:
        """Return the whole matrix, sparse."""
        with self.reading():
            X = self._X.to_memory()
            check_indices(X)
            return X.astype(self._stored, copy=False)

    def _numbers(self, part: Any) -> NDArray[Any]:
        check_indices(part)
        return super()._numbers(part.toarray())


class FilledColumns(ArrayColumns):
    """A sparse matrix in memory that is worked on as dense pieces.

    Parameters
    ----------
    X : CSC array
        The matrix.
    """

    @cached_property
    def _by_rows(self) -> Any:
        return self._X.tocsr()

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self._numbers(self._by_rows[start:stop])

    def _numbers(self, part: Any) -> NDArray[Any]:
        return part.toarray()


class FileColumns(Columns):
    """Columns that lie one after the other in a temporary file.

    Parameters
    ----------
    columns : Columns
        The table that is to be put into the file.
    """

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns.shape, np.float64, columns.names)
        self.file = RowFile(self.shape[0])

    def fill(self, columns: Columns, nbytes: int) -> None:
        """Copy a table, in pieces of about so many bytes."""
        if columns.has_columns:
            for at, part in columns.pieces(nbytes):
                self.file.write(at, part.T.astype(np.float64, order="C"))
            return
        for at, part in columns.row_pieces(nbytes):
            self.file.write_columns(at, part.T.astype(np.float64, order="C"))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        return self.file.read(start, stop).T

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self.file.read_columns(self.shape[1], start, stop).T


class ChosenColumns(Columns):
    """Some columns of a table, in any order.

    Parameters
    ----------
    table : Columns
        The table.
    columns : ndarray of int
        Their positions in it.
    """

    def __init__(self, table: Columns, columns: NDArray[np.intp]) -> None:
        names = None if table.names is None else table.names[columns]
        super().__init__((table.shape[0], len(columns)), table.dtype, names)
        self._table, self._columns = table, columns
        self.has_columns, self.has_rows = table.has_columns, table.has_rows
        self.for_gaps, self.source = table.for_gaps, table.source

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        columns = self._columns[start:stop]
        return np.hstack([self._table.read(int(j), int(j) + 1) for j in columns])

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self._table.read_rows(start, stop)[:, self._columns]


class ParquetColumns(Columns):
    """The columns of a parquet file; missing values are NaN.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file, open.
    columns : sequence of str, optional
        Which columns; all by default.
    """

    has_rows = False

    def __init__(self, file: Any, columns: Any = None) -> None:
        schema = file.schema_arrow
        names = list(schema.names if columns is None else columns)
        kinds = [self._kind(schema.field(name), j) for j, name in enumerate(names)]
        one = len(set(kinds)) == 1 and kinds[0] == np.float32
        shape = file.metadata.num_rows, len(names)
        super().__init__(shape, np.float32 if one else np.float64, names)
        self._file, self._fields = file, names

    @staticmethod
    def _kind(field: Any, j: int) -> np.dtype[Any]:
        try:
            kind = np.dtype(field.type.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            kind = np.dtype(object)
        if kind.kind not in "buif":
            raise DataError(
                "{} does not hold numbers ({}).",
                Column(j, field.name),
                field.type,
                remedy="Drop or encode it first.",
            )
        return kind

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns."""
        names = self._fields[start:stop]
        with self.reading():
            return self._numbers(self._file.read(columns=names))

    def _numbers(self, table: Any) -> NDArray[Any]:
        part = np.empty(table.shape, self.dtype, order="F")
        for k in range(table.num_columns):
            part[:, k] = np.asarray(table.column(k))
        return part

    def parts(
        self, nbytes: int, whole_rows: bool
    ) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
        """Yield whole rows batch by batch, others as `Columns` does."""
        if not whole_rows:
            yield from super().parts(nbytes, False)
            return
        at, (size, n) = 0, self.piece_size(nbytes, True)
        with self.reading():
            for batch in self._file.iter_batches(size, columns=self._fields):
                rows = slice(at, at := at + len(batch))
                yield rows, slice(0, n), self._numbers(batch)

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows."""
        return self.read(0, self.shape[1])[start:stop]
