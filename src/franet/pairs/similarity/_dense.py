"""Which way the correlations of a dense table go: by its shape, and by the memory.

Standardized features lie in memory or in a temporary file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile, available_bytes
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.columns._base import Columns, check_rows
from franet.pairs.columns._kinds import ArrayColumns, FileColumns
from franet.pairs.similarity._correlation import (
    BLOCK,
    CorrelationSource,
    StoredCorrelationSource,
    block_bytes,
    group_size,
)
from franet.pairs.similarity._gram import GramSource, Moments, chunk_rows, suits_gram
from franet.pairs.similarity._standardize import standardize
from franet.pairs.tiles import PairSource, block_size

# What is read at a time, unless memory is scarce.
_PIECE = 1 << 25
# Values that are ranked at a time: what is copied on the way stays small.
_IN_WORK = 1 << 21
# Edges that are kept at first; see `TileEngine`.
_EDGES = 5_000_000
# A tile of a matrix of products, and how many times a table is read for all of them.
_TILE = 8 * 256 * 256
_PASSES = 32

# The source of a table's similarities, and which columns it leaves out.
Opened = tuple[PairSource, NDArray[np.bool_]]


class Budget(NamedTuple):
    """How much memory there is for the features, besides what a search needs.

    Attributes
    ----------
    most : int
        Bytes in all.
    n_thresholds, n_threads : int
        What the search will need depends on them.
    """

    most: int
    n_thresholds: int = 100
    n_threads: int = 1

    @classmethod
    def of(cls, most: int | None, n_thresholds: int, n_threads: int) -> Budget:
        """Return the budget; None is half of the memory that is free."""
        half = available_bytes() // 2
        return cls(half if most is None else most, n_thresholds, n_threads)

    def reserved(self, n: int, block: int) -> int:
        """Return what a search needs besides the features."""
        # Counts and weighted degrees of each feature in each graph, and tiles in work.
        return 28 * n * self.n_thresholds + 40 * block**2 * self.n_threads

    def edges(self, n: int) -> int:
        """Return what is left to edges: mapped files count as memory as well."""
        return min(12 * min(n * (n - 1) // 2, _EDGES), self.most // 2)

    @property
    def slack(self) -> int:
        """What buffers take that nobody counts."""
        return self.most // 8

    @property
    def piece(self) -> int:
        """Bytes that are read at a time."""
        return min(_PIECE, max(1 << 18, self.most // 16))


def too_little(n: int, budget: Budget, needed: int) -> UsageError:
    """Return the error for a table that is too large for the memory."""
    return UsageError(
        f"{{}} is too little for {n} features and {budget.n_thresholds} thresholds: "
        f"at least {needed / 1e9:.3g} GB are needed.",
        Setting("max_memory", f"{budget.most / 1e9:.3g} GB"),
        remedy="Raise it, or take fewer thresholds.",
    )


def open_dense(
    table: Columns, absolute: bool, ranks: bool, budget: Budget, rough: bool = False
) -> Opened:
    """Return the source of the correlations, and which columns are constant.

    Parameters
    ----------
    table : Columns
        The table.
    absolute : bool
        Whether the sign of a correlation is dropped.
    ranks : bool
        Whether values are replaced by their ranks first.
    budget : Budget
        The memory.
    rough : bool, default=False
        Whether tiles are float32, whatever the type of the table.
    """
    if suits_gram(table.shape):
        return _open_gram(table, absolute, ranks, budget)
    m, n = table.shape
    dtype = np.dtype(np.float64) if ranks else table.dtype
    if rough:
        dtype = np.dtype(np.float32)
    block = block_size(n, BLOCK[dtype])
    size = block_bytes(block, m, dtype)
    room = budget.most - budget.reserved(n, block)
    n_blocks = -(-n // block)
    if n_blocks * size <= room:
        rows, constant = rows_in_memory(table, block, ranks, budget.piece)
        n = int((~constant).sum())
        return CorrelationSource(rows, n, block, dtype, absolute), constant
    room -= budget.slack
    # Two groups at hand, or the pieces that are read on the way to them.
    at_hand = min(n_blocks, 2 * group_size(m, dtype))
    least = max(at_hand * size, 6 * 8 * m)
    if least > room:
        raise too_little(n, budget, (least + budget.reserved(n, block)) * 8 // 7)
    file, constant = rows_on_disk(table, block, ranks, budget.piece)
    n = int((~constant).sum())
    capacity = max(at_hand, (room - budget.edges(n)) // size)
    source = StoredCorrelationSource(file, n, block, m, dtype, absolute, capacity)
    source.nbytes += budget.slack
    return source, constant


def check_not_all(constant: NDArray[np.bool_]) -> None:
    """Raise if no column takes part."""
    if constant.all():
        raise DataError(
            "All columns are constant: there is nothing to correlate.",
            Setting("similarity", "euclidean"),
            remedy="Drop them, or use a distance such as {}.",
        )


def _open_gram(table: Columns, absolute: bool, ranks: bool, budget: Budget) -> Opened:
    n = table.shape[1]
    rows = chunk_rows(n)
    # The chunk in work, the next one, and what is read meanwhile.
    work = 8 * rows * (2 * n + -(-n // 256) * 256) + 3 * budget.piece
    room = budget.most - work - budget.reserved(n, 256)
    # Each time that the room is full, all of the table is read again.
    least = _TILE * max(16, -((-n // 256) ** 2) // (2 * _PASSES))
    if room < least:
        raise too_little(n, budget, budget.most - room + least)
    with _by_rows(table, ranks, budget.piece) as table:
        moments = Moments.of(table, rows, budget.piece)
        check_not_all(moments.constant)
        source = GramSource(
            table, moments, absolute, room, budget.piece, budget.n_threads
        )
    return source, moments.constant


@contextmanager
def _by_rows(table: Columns, ranks: bool, piece: int) -> Iterator[Columns]:
    """Give a table whose rows can be read, in a temporary file if need be."""
    if table.has_rows and not ranks:
        yield table
        return
    m, n = table.shape
    spool = FileColumns(table)
    try:
        spool.fill(table, piece)
        step = max(1, piece // (8 * m))
        for at in range(0, n if ranks else 0, step):
            values = spool.file.read(at, min(at + step, n))
            # A bad value would get a rank.
            check_rows(values, values.min(axis=1), values.max(axis=1), at, table)
            _rank_rows(values)
            spool.file.write(at, values)
        yield spool
    finally:
        spool.file.close()


def _rank_rows(rows: NDArray[np.float64]) -> None:
    """Replace the values of each row by their average ranks."""
    from scipy.stats import rankdata

    step = max(1, _IN_WORK // rows.shape[1])
    for at in range(0, len(rows), step):
        rows[at : at + step] = rankdata(rows[at : at + step], axis=1)


def rows_in_memory(
    table: Columns, block: int, ranks: bool, piece: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the standardized features as rows, and which columns are constant.

    Parameters
    ----------
    table : Columns
        The table.
    block : int
        Rows are padded with zeros to a multiple of this.
    ranks : bool
        Whether values are replaced by their ranks first.
    piece : int
        Bytes that are read at a time.
    """
    m, n = table.shape
    rows = np.zeros((-(-n // block) * block, m))
    columns = table
    if not table.has_columns:
        for at, part in table.row_pieces(piece):
            rows[:n, at : at + len(part)] = part.T
        columns = ArrayColumns(rows[:n].T)

    def write(at: int, part: NDArray[np.float64]) -> None:
        rows[at : at + len(part)] = part

    constant = _prepare(columns, table, block, ranks, piece, write)
    return rows[: -(-np.count_nonzero(~constant) // block) * block], constant


def rows_on_disk(
    table: Columns, block: int, ranks: bool, piece: int
) -> tuple[RowFile, NDArray[np.bool_]]:
    """Return the same in a temporary file, read and written piece by piece."""
    spool = FileColumns(table)
    file = spool.file
    try:
        # Rows are written across the file first; columns can be worked on at once.
        if not table.has_columns:
            spool.fill(table, piece)
        columns = table if table.has_columns else spool
        return file, _prepare(columns, table, block, ranks, piece, file.write)
    except BaseException:
        file.close()
        raise


def _prepare(
    columns: Columns,
    table: Columns,
    block: int,
    ranks: bool,
    piece: int,
    write: Callable[[int, NDArray[np.float64]], None],
) -> NDArray[np.bool_]:
    """Write features, checked and standardized, and return which are constant.

    Constant ones are left out. What is written may lie where `columns` are read:
    never beyond what has been read already.
    """
    constant = np.zeros(table.shape[1], bool)
    kept = 0
    for at, part in columns.pieces(piece):
        rows = part.T.astype(np.float64, order="C")
        lo, hi = rows.min(axis=1), rows.max(axis=1)
        check_rows(rows, lo, hi, at, table)
        # Peak to peak, because variance rounds for constant columns.
        same = lo == hi
        constant[at : at + len(rows)] = same
        if same.any():
            rows = rows[~same]
        if ranks:
            _rank_rows(rows)
        standardize(rows)
        write(kept, rows)
        kept += len(rows)
    check_not_all(constant)
    write(kept, np.zeros((-kept % block, table.shape[0])))
    return constant
