"""Standardized features of any table, in memory or in a temporary file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile
from franet.pairs.columns import Columns
from franet.pairs.columns._file import FileColumns
from franet.pairs.columns._finite import check_rows
from franet.pairs.similarity._standardize import standardize

__all__ = ["rank_rows", "rows_in_memory", "rows_on_disk"]

# Values of features in work at a time: what is copied on the way stays small.
_IN_WORK = 1 << 21


def rank_rows(rows: NDArray[np.float64]) -> None:
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
    # Of constant columns only zeros are kept, which take no memory at the end.
    rows = np.zeros((-(-n // block) * block, m))
    if table.has_columns:
        for at, part in table.pieces(piece):
            rows[at : at + part.shape[1]] = part.T
    else:
        for at, part in table.row_pieces(piece):
            rows[:n, at : at + len(part)] = part.T
    constant = np.zeros(n, bool)
    kept = 0
    step = max(1, _IN_WORK // m)
    for at in range(0, n, step):
        part = rows[at : min(at + step, n)]
        found = _prepare(part, at, table, ranks, constant)
        if found is not part:
            rows[kept : kept + len(found)] = found
        elif kept < at:
            rows[kept : kept + len(found)] = found.copy()
        kept += len(found)
    padded = -(-kept // block) * block
    rows[kept:padded] = 0.0
    return rows[:padded], constant


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
        constant = np.zeros(table.shape[1], bool)
        kept = 0
        pieces = (table if table.has_columns else spool).pieces(piece)
        for at, part in pieces:
            rows = part.T.astype(np.float64, order="C")
            found = _prepare(rows, at, table, ranks, constant)
            # Never beyond what has been read already.
            file.write(kept, found)
            kept += len(found)
        nothing = np.zeros((1, table.shape[0]))
        for row in range(kept, -(-kept // block) * block):
            file.write(row, nothing)
        return file, constant
    except BaseException:
        file.close()
        raise


def _prepare(
    rows: NDArray[np.float64],
    first: int,
    table: Columns,
    ranks: bool,
    constant: NDArray[np.bool_],
) -> Any:
    """Return some features, checked and standardized, without constant ones."""
    lo, hi = rows.min(axis=1), rows.max(axis=1)
    check_rows(rows, lo, hi, first, table)
    # Peak to peak, because variance rounds for constant columns.
    same = lo == hi
    constant[first : first + len(rows)] = same
    if same.any():
        rows = rows[~same]
    if ranks:
        rank_rows(rows)
    standardize(rows)
    return rows
