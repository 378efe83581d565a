"""The rows of a table from which features are picked: all, or some drawn by content.

A table of many rows, sparse or larger than memory, is read three times: for means and
deviations, for a number of each row that depends on its content, and for the rows that
are drawn by it. Only those are dense and in memory. Where squares of values overflow,
or vanish, it is read once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.memory import available_bytes
from franet.cover._order import bits_of
from franet.cover.kernels import (
    add_keys,
    add_moments,
    add_sparse_extremes,
    add_sparse_keys,
    add_sparse_moments,
    hash_rows,
)
from franet.exceptions import Setting, UsageError
from franet.pairs.columns import Columns
from franet.pairs.columns._base import bad_value, check_finite, first_bad
from franet.pairs.columns._kinds import ArrayColumns, FileColumns
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import powers_of_two

# The most rows that are used, and the fewest that are drawn.
MOST, LEAST = 4096, 512
# Entries of a drawn sample of a table that is not dense in memory: half a gigabyte.
_ENTRIES = 2**26
# Up to so many features, all their products are those of all rows.
FEW_FEATURES = 1024
# Bytes of what a fit keeps for each entry of the sample: the entry as it is and
# standardized, and twice what is left of it in float32; and as much again for a moment.
BYTES = 32
# Bytes of a piece that is read at a time, and how often all are.
_PIECE, _PASSES = 2**25, 3
# Deviations of which squares neither overflow nor vanish.
_FINE = 1e-120, 1e120
# Numbers of rows that differ by less are equal: sums round.
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows from which features are picked.

    Attributes
    ----------
    X : ndarray of shape (n_drawn, n)
        The rows, all of the table or some of them.
    n_rows : int
        The number of rows of the table.
    constant : ndarray of bool of shape (n,)
        The columns that are constant, in all of its rows.
    correlations : ndarray of shape (n, n) or None
        Those of all rows, if some are drawn and features are few.
    """

    X: NDArray[Any]
    n_rows: int
    constant: NDArray[np.bool_]
    correlations: NDArray[np.float64] | None = None


def n_drawn(table: Any, max_memory: int | None = None) -> int:
    """Return how many rows of a table are used.

    Parameters
    ----------
    table : ndarray, sparse array or Columns
        The table.
    max_memory : int, optional
        The bytes that may be used.
    """
    m, n = table.shape
    in_memory = isinstance(table, np.ndarray)
    entries = MOST * n if in_memory else _ENTRIES
    if max_memory is not None:
        entries = max_memory // BYTES
    least = min(LEAST, m)
    room = available_bytes() if max_memory is None else max_memory
    if BYTES * least * n > room and not (in_memory and max_memory is None):
        limit: Any = f"the {room / 1e9:.3g} GB that are free"
        remedy = "Pass fewer columns."
        if max_memory is not None:
            limit = Setting("max_memory", max_memory)
            remedy = "Raise it, or pass fewer columns."
        raise UsageError(
            f"Cover needs {BYTES * least * n / 1e9:.3g} GB for {least} rows of {n:,} "
            "features, more than {}.",
            limit,
            remedy=remedy,
        )
    return min(m, MOST, max(entries // n, LEAST))


def draw_rows(table: Any, max_memory: int | None = None) -> Rows:
    """Return the rows of a table from which features are picked.

    Parameters
    ----------
    table : ndarray, sparse array or Columns
        The table. The values of `Columns` are checked here.
    max_memory : int, optional
        The bytes that may be used.
    """
    m, n = table.shape
    k = n_drawn(table, max_memory)
    if k == m:
        X = table
        if isinstance(table, Columns):
            X = table.load()
            check_finite(X, table.names, False, table.for_gaps)
        X = X if isinstance(X, np.ndarray) else X.toarray()
        return Rows(X, m, constant_in(X))
    passes = (_Sparse if sparse.issparse(table) else _Dense)(table)
    mean, deviation, constant = passes.moments()
    inverse = np.divide(1.0, deviation, out=np.zeros(n), where=~constant)
    keys, hashes, products = passes.keys(mean, inverse)
    order = np.lexsort((hashes, np.round(np.nan_to_num(keys) / n, _DIGITS)))
    drawn = np.random.default_rng(0).choice(m, k, replace=False)
    return Rows(passes.take(np.sort(order[drawn])), m, constant, products)


def take_rows(table: Columns, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return some rows of a table that is not in memory, ascending ones."""
    return _Dense(table).take(rows)


def reading_seconds(table: Any) -> float:
    """Return how long it takes to draw rows, by a part of the table."""
    return (_Sparse if sparse.issparse(table) else _Dense)(table).seconds()


class _Dense:
    """Passes over a table that is dense, or not in memory.

    Parts of it are reduced where they are: on the workers of a cluster, where the table
    is a dask array.
    """

    def __init__(self, table: Any) -> None:
        self._table = table if isinstance(table, Columns) else ArrayColumns(table)
        self.m, self.n = table.shape
        # With products of features every piece holds whole rows.
        self._few = self.n <= FEW_FEATURES
        self._factor: Any = None

    def _map(self, reduce: Callable[..., Any]) -> Iterator[tuple[slice, slice, Any]]:
        """Yield rows and columns of each piece, and what it is reduced to."""
        table = self._table
        if self._few and not table.has_strips:
            # Read once, column by column.
            self._table = spool = FileColumns(table)
            spool.fill(table, _PIECE)
            spool.for_gaps = table.for_gaps
        return self._table.reduced(reduce, _PIECE, self._few)

    def seconds(self) -> float:
        """Return how long all passes take, by one piece of the table."""
        table, size = self._table, self.m * self.n
        height, width = table.piece_size(_PIECE, self._few)
        start = time.perf_counter()
        _, columns, part = next(iter(table.parts(_PIECE, self._few)))
        read = time.perf_counter() - start
        start, mean = time.perf_counter(), np.zeros(self.n)
        _moments(part, None, columns)
        _keys(part, mean, mean, None, self._few, columns)
        work = time.perf_counter() - start
        return _PASSES * read * size / (height * width) + work * size / part.size

    def moments(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Return means and deviations of columns, and which of them are constant."""
        mean, deviation, lo, hi = self._moments()
        constant = lo == hi
        small, large = _FINE
        fine = constant | ((small < deviation) & (deviation < large))
        if not fine.all():
            # Squares overflow, or vanish: once more, with values of about one.
            largest = np.maximum(np.abs(lo), np.abs(hi))
            self._factor = np.where(fine, 1.0, powers_of_two(largest))
            mean, deviation, *_ = self._moments()
        return mean, deviation, constant

    def _moments(self) -> tuple[NDArray[np.float64], ...]:
        mean, squares = np.zeros(self.n), np.zeros(self.n)
        lo, hi = np.full(self.n, np.inf), np.full(self.n, -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            reduce = partial(_moments, factor=self._factor)
            for rows, columns, (own, more, low, high) in self._map(reduce):
                if not np.isfinite(own).all():
                    self._refuse(rows, columns)
                # Pieces of the same columns come from top to bottom.
                size = rows.stop - rows.start
                step = (own - mean[columns]) * (size / rows.stop)
                squares[columns] += more + step * (own - mean[columns]) * rows.start
                mean[columns] += step
                lo[columns] = np.minimum(lo[columns], low)
                hi[columns] = np.maximum(hi[columns], high)
        return mean, np.sqrt(squares / self.m), lo, hi

    def _refuse(self, rows: slice, columns: slice) -> None:
        """Raise an error for the first bad value of a piece, if there is one."""
        table = self._table
        part = table.read_piece(rows, columns)
        if bad := first_bad(part, False):
            where = rows.start + bad[0], columns.start + bad[1]
            raise bad_value(part[bad], *where, table.names, table.for_gaps)

    def keys(self, mean: NDArray[Any], inverse: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Return numbers of rows, hashes of them, and correlations of few features."""
        keys, hashes = np.zeros(self.m), np.zeros(self.m, np.uint64)
        products = np.zeros((self.n, self.n)) if self._few else None
        reduce = partial(
            _keys,
            mean=mean,
            inverse=inverse,
            factor=self._factor,
            products=self._few,
        )
        for rows, _, (own, more, Q) in self._map(reduce):
            keys[rows] += own
            hashes[rows] += more
            if products is not None:
                products += Q
        return keys, hashes, None if products is None else products / self.m

    def take(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows, ascending ones."""
        out = np.empty((len(rows), self.n), self._table.dtype)
        for piece, columns, found in self._map(partial(_rows_of, drawn=rows)):
            first, last = np.searchsorted(rows, [piece.start, piece.stop])
            out[first:last, columns] = found
        return out


def _moments(part: Any, factor: Any, columns: slice, **_: Any) -> tuple[Any, ...]:
    X = _scaled(part, factor, columns)
    n = X.shape[1]
    mean, squares = np.zeros(n), np.zeros(n)
    lo, hi = np.full(n, np.inf), np.full(n, -np.inf)
    add_moments(X, mean=mean, squares=squares, lo=lo, hi=hi)
    return mean, squares, lo, hi


def _scaled(part: Any, factor: Any, columns: slice) -> NDArray[np.float64]:
    X = np.ascontiguousarray(part, np.float64)
    return X if factor is None else X * factor[columns]


def _keys(
    part: Any,
    mean: NDArray[Any],
    inverse: NDArray[Any],
    factor: Any,
    products: bool,
    columns: slice,
    **_: Any,
) -> tuple[Any, Any, Any]:
    X = _scaled(part, factor, columns)
    keys, hashes = np.zeros(len(X)), np.zeros(len(X), np.uint64)
    with np.errstate(over="ignore"):
        hash_rows(bits_of(part), _places(len(mean))[columns], out=hashes)
    add_keys(X, mean[columns], inverse[columns], keys=keys)
    Q = 0.0
    if products:
        D = (X - mean) * inverse
        Q = D.T @ D
    return keys, hashes, Q


def _rows_of(part: Any, drawn: NDArray[np.intp], rows: slice, **_: Any) -> NDArray[Any]:
    first, last = np.searchsorted(drawn, [rows.start, rows.stop])
    return np.asarray(part)[drawn[first:last] - rows.start]


def _places(n: int) -> NDArray[np.uint64]:
    """Return what tells columns apart in the hash of a row."""
    return np.arange(1, n + 1, dtype=np.uint64) << np.uint64(32)


class _Sparse:
    """Passes over a sparse table in memory: only over what is filled."""

    def __init__(self, table: Any) -> None:
        self._X = table.tocsr()
        self.m, self.n = table.shape

    def moments(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Return means and deviations of columns, and which of them are constant."""
        X, mean, squares = self._X, np.zeros(self.n), np.zeros(self.n)
        lo, hi = np.full(self.n, np.inf), np.full(self.n, -np.inf)
        filled = np.zeros(self.n, np.intp)
        add_sparse_extremes(X.indices, X.data, filled=filled, lo=lo, hi=hi)
        self._full = filled == self.m
        lo = np.where(self._full, lo, np.minimum(lo, 0.0))
        hi = np.where(self._full, hi, np.maximum(hi, 0.0))
        # Squares of values of about one neither overflow nor vanish.
        self._factor = powers_of_two(np.maximum(np.abs(lo), np.abs(hi)))
        known = X.indices, X.data, self._factor, filled, self.m
        add_sparse_moments(*known, mean=mean, squares=squares)
        return mean, np.sqrt(squares / self.m), lo == hi

    def keys(self, mean: NDArray[Any], inverse: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Return numbers of rows, hashes of them, and correlations of few features."""
        X, keys = self._X, np.zeros(self.m)
        hashes = np.zeros(self.m, np.uint64)
        # What an empty cell adds.
        empty = np.where(self._full, 0.0, (mean * inverse) ** 2)
        arrays = X.indptr, X.indices, X.data, self._factor, mean, inverse
        with np.errstate(over="ignore"):
            add_sparse_keys(*arrays, empty, _places(self.n), keys=keys, hashes=hashes)
        if self.n > FEW_FEATURES:
            return keys, hashes, None
        X = X.astype(np.float64)
        # A mean that dwarfs the deviation takes a column without empty cells, which can
        # be centered.
        centers = np.where(self._full, mean, 0.0)
        X.data *= self._factor[X.indices]
        X.data -= centers[X.indices]
        mean = mean - centers
        products = (X.T @ X).toarray() / self.m - np.outer(mean, mean)
        return keys, hashes, products * np.outer(inverse, inverse)

    def seconds(self) -> float:
        """Return how long all passes take, by a part of the table."""
        size = -(-self.m // 10)
        start = time.perf_counter()
        part = _Sparse(self._X[:size])
        mean, deviation, _ = part.moments()
        part.keys(mean, deviation)
        return (time.perf_counter() - start) * self.m / size

    def take(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows, dense."""
        return np.asarray(self._X[rows].toarray())
