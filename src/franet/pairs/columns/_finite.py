"""The error for a value that is missing or infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.exceptions import DataError, Setting
from franet.pairs.coded import column_at

# What FRANe can do about missing values.
PAIRWISE = Setting("missing", "pairwise")


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
