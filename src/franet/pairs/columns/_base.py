"""What a table has to offer to be read piece by piece, and what it must not hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.memory import own_pages
from franet._common.threads import read_ahead
from franet.exceptions import DataError, Setting
from franet.pairs.coded import column_at

# What FRANe can do about missing values.
PAIRWISE = Setting("missing", "pairwise")


def number_type(kind: Any) -> np.dtype[Any]:
    """Return float32 for float32 and float64 for every other type of numbers."""
    kind = np.dtype(kind)
    if kind.kind == "c":
        raise DataError(
            "Complex data not supported. Pass the real part, the imaginary part or the "
            "modulus, such as numpy.abs(X)."
        )
    if kind.kind not in "buif":
        raise DataError(
            f"The table holds {kind} values, not numbers. Convert it to float64 first."
        )
    return np.dtype(np.float32 if kind == np.float32 else np.float64)


def check_dimensions(shape: Any) -> None:
    """Raise a DataError where a table has not two dimensions."""
    if len(shape) != 2:
        raise DataError(
            f"Expected a table with rows and columns, got {len(shape)} dimension(s) "
            f"(shape {tuple(shape)}). Pass samples in rows and features in columns."
        )


class Columns(ABC):
    """A table of numbers that need not lie in memory.

    A kind of storage implements `read`, `read_rows` or both, and says which of them
    reads no more than what is asked for.

    Parameters
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    dtype : dtype
        The type of the numbers in storage.
    names : sequence of str, optional
        The names of the columns.

    Attributes
    ----------
    dtype : dtype
        float32 or float64: the type of what is read.
    has_columns, has_rows : bool
        Whether some columns, some rows, can be read without reading the others.
    steps : tuple of int
        Rows and columns that are stored together.
    has_strips : bool
        Whether strips of whole rows can be read one after the other, no part of the
        storage twice.
    is_sparse : bool
        Whether `load` returns a sparse matrix.
    nbytes : int
        What the table takes in memory.
    for_gaps : Setting or None
        What else can be done about a missing value, for messages.
    source : str
        What the table is called where it cannot be read: the name of its file.
    """

    has_columns: bool = True
    has_rows: bool = True
    has_strips: bool = True
    steps: tuple[int, int] = (1, 1)
    is_sparse: ClassVar[bool] = False
    for_gaps: Setting | None = None
    source: str = "The table"

    def __init__(self, shape: Any, dtype: Any, names: Any = None) -> None:
        check_dimensions(shape)
        self.shape = int(shape[0]), int(shape[1])
        self.dtype = number_type(dtype)
        self.names = None if names is None else np.array(list(names), object)
        self.nbytes = self.dtype.itemsize * self.shape[0] * self.shape[1]

    @abstractmethod
    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some columns, of shape (m, stop - start)."""

    @abstractmethod
    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows, of shape (stop - start, n)."""

    def load(self) -> Any:
        """Return the whole table, as an array or a sparse matrix in memory."""
        return self.read(0, self.shape[1])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what a library says of a damaged file into one line."""
        try:
            yield
        except DataError:
            raise
        except MemoryError as err:
            raise DataError(
                f"{self.source}: a piece of it does not fit into memory; store it in "
                "smaller chunks"
            ) from err
        except Exception as err:
            reason = " ".join(str(err).split())[:200] or type(err).__name__
            raise DataError(
                f"{self.source}: cannot be read ({reason}); it is cut off or damaged, "
                "write it again"
            ) from err

    def pieces(self, nbytes: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the columns from left to right, each piece with its first column.

        The next piece is read while the present one is worked on.

        Parameters
        ----------
        nbytes : int
            The size of a piece, about, in float64.
        """
        m, n = self.shape
        with read_ahead(self.read, _cuts(n, nbytes // (8 * m), self.steps[1])) as read:
            yield from read

    def row_pieces(self, nbytes: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the rows from top to bottom, each piece with its first row.

        Parameters
        ----------
        nbytes : int
            The size of a piece, about, in float64.
        """
        m, n = self.shape
        cuts = _cuts(m, nbytes // (8 * n), self.steps[0])
        with read_ahead(self.read_rows, cuts) as read:
            yield from read

    def piece_size(self, nbytes: int, whole_rows: bool) -> tuple[int, int]:
        """Return rows and columns of what is read at a time, no part of it twice.

        Parameters
        ----------
        nbytes : int
            Its size, about, in float64: larger where storage has larger chunks.
        whole_rows : bool
            Whether it has to hold all columns.
        """
        (m, n), (down, across) = self.shape, self.steps
        if whole_rows or self.has_rows:
            return min(_width(nbytes // (8 * n), down, down), m), n
        return m, min(_width(nbytes // (8 * m), across, across), n)

    def read_piece(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return some rows of some columns, all of the rows or of the columns."""
        if columns == slice(0, self.shape[1]):
            return self.read_rows(rows.start, rows.stop)
        return self.read(columns.start, columns.stop)

    def parts(
        self, nbytes: int, whole_rows: bool
    ) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
        """Yield rows and columns of each piece, and the piece, as storage has them.

        Parameters
        ----------
        nbytes : int
            The size of a piece, about, in float64.
        whole_rows : bool
            Whether pieces have to hold all columns.
        """
        (m, n), (height, width) = self.shape, self.piece_size(nbytes, whole_rows)
        cuts = product(_slices(m, height), _slices(n, width))
        step = max(nbytes // (8 * width), 1)

        def read(rows: slice, columns: slice) -> Any:
            return columns, self.read_piece(rows, columns)

        with read_ahead(read, cuts) as pieces:
            for rows, (columns, part) in pieces:
                for some in _slices(len(part), step):
                    at = slice(rows.start + some.start, rows.start + some.stop)
                    yield at, columns, part[some]

    def reduced(
        self, reduce: Callable[..., Any], nbytes: int, whole_rows: bool
    ) -> Iterator[tuple[slice, slice, Any]]:
        """Yield rows and columns of each piece, and what it is reduced to.

        Parameters
        ----------
        reduce : callable
            It takes a piece, and where it is as the keywords `rows` and `columns`.
        nbytes : int
            The size of a piece, about, in float64.
        whole_rows : bool
            Whether pieces have to hold all columns.
        """
        for rows, columns, part in self.parts(nbytes, whole_rows):
            yield rows, columns, reduce(part, rows=rows, columns=columns)

    def chunks(self, rows: int, nbytes: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the rows in chunks of one size, the last one aside.

        Parameters
        ----------
        rows : int
            Rows of a chunk.
        nbytes : int
            The size of what is read at a time, about, in float64.
        """
        m, n = self.shape
        chunk, filled = None, 0
        for at, part in self.row_pieces(nbytes):
            start = 0
            while start < len(part):
                if chunk is None and len(part) - start >= rows:
                    yield at + start, part[start : start + rows]
                    start += rows
                    continue
                if chunk is None:
                    chunk = own_pages((min(rows, m - at - start), n), self.dtype)
                some = part[start : start + len(chunk) - filled]
                chunk[filled : filled + len(some)] = some
                filled, start = filled + len(some), start + len(some)
                if filled == len(chunk):
                    yield at + start - filled, chunk
                    chunk, filled = None, 0


def _cuts(size: int, most: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces start and stop: where storage does, if that fits."""
    width = _width(most, step, 1)
    for start in range(0, size, width):
        yield start, min(start + width, size)


def _width(most: int, step: int, least: int) -> int:
    return max(most - most % step if most > step else most, least)


def _slices(size: int, step: int) -> list[slice]:
    return [slice(at, min(at + step, size)) for at in range(0, size, step)]


def bad_value(
    value: float, row: int, j: int, names: Any, for_gaps: Setting | None
) -> DataError:
    """Return the error for a bad value in a row of column `j`.

    Parameters
    ----------
    value : float
        NaN or infinity.
    row, j : int
        Where it is.
    names : sequence of str or None
        The names of the columns.
    for_gaps : Setting or None
        What else can be done about a missing value.
    """
    kind, remedy = "infinity (inf)", "Clip or drop it."
    if np.isnan(value):
        kind, remedy = "NaN", "Fill or drop it."
        if for_gaps is not None:
            remedy = "Fill or drop it, or use {3}."
    where = (column_at(j, names), kind, row, for_gaps)
    return DataError("{} holds {} in row {}.", *where, remedy=remedy)


def check_rows(
    rows: NDArray[np.float64], lo: Any, hi: Any, first: int, table: Any
) -> None:
    """Raise for the first bad value of columns that lie as rows.

    Parameters
    ----------
    rows : ndarray of shape (b, m)
        The values of b columns.
    lo, hi : ndarray of shape (b,)
        Their extremes, which are not finite if a value is not.
    first : int
        Which column the first of them is.
    table : Columns
        The table, for its names.
    """
    if np.isfinite(lo).all() and np.isfinite(hi).all():
        return
    if bad := first_bad(rows.T, False):
        row, j = bad
        raise bad_value(rows[j, row], row, first + j, table.names, table.for_gaps)


def check_finite(
    X: Any, names: Any, allow_missing: bool, for_gaps: Setting | None
) -> None:
    """Raise for the first bad value of a table in memory, column by column.

    Parameters
    ----------
    X : ndarray or sparse array
        The table.
    names : sequence of str or None
        The names of its columns.
    allow_missing : bool
        Whether NaN is let through.
    for_gaps : Setting or None
        What else can be done about a missing value.
    """
    if bad := first_bad(X, allow_missing):
        row, j = bad
        raise bad_value(X[row, j], row, j, names, for_gaps)


def first_bad(X: Any, allow_missing: bool) -> tuple[int, int] | None:
    """Return row and column of the first bad value, column by column."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return None
    # The sum is not finite as soon as one value is not: one pass, no mask.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return None
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not bad.any():
        return None
    if sparse.issparse(X):
        rows, columns = (at[bad] for at in X.tocoo().coords)
    else:
        rows, columns = np.nonzero(bad)
    first = np.lexsort((rows, columns))[0]
    return int(rows[first]), int(columns[first])
