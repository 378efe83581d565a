"""A number for each column, from its content."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.coded import CodedTable
from franet.pairs.similarity._standardize import powers_of_two, standardize

# Values of which there is a copy at a time, and digits that are not rounding.
_VALUES = 1 << 20
_DIGITS = 9


def content_keys(table: Any) -> NDArray[np.float64]:
    """Return the third absolute moment of each column, standardized.

    Neither units nor sign, name, position nor the order of rows matter, rounding aside;
    nor does what levels of categories are called. Constant columns have 0.

    Parameters
    ----------
    table : ndarray, CSC array or CodedTable of shape (m, n)
        The table; NaN is missing.
    """
    m, n = table.shape
    keys = np.empty(n)
    step = max(1, _VALUES // m)
    for at in range(0, n, step):
        rows = _features(table, slice(at, at + step))
        absent = np.isnan(rows)
        largest = np.abs(rows).max(axis=1, where=~absent, initial=0.0)
        rows *= powers_of_two(largest)[:, None]
        count = np.maximum(m - absent.sum(axis=1), 1)
        mean = rows.sum(axis=1, where=~absent) / count
        rows = np.where(absent, mean[:, None], rows)
        standardize(rows)
        np.abs(rows, out=rows)
        keys[at : at + step] = np.einsum("ji,ji,ji->j", rows, rows, rows) * m**0.5
    return keys.round(_DIGITS)


def _features(table: Any, part: slice) -> NDArray[np.float64]:
    """Return some columns as rows; categories as the shares of their levels."""
    if not isinstance(table, CodedTable):
        columns = table[:, part]
        columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
        return columns.T.astype(np.float64, order="C")
    rows = table.values[:, part].T.astype(np.float64, order="C")
    for row, is_category in zip(rows, table.is_category[part], strict=True):
        if is_category:
            _, level, size = np.unique(row, return_inverse=True, return_counts=True)
            row[:] = size[level] / len(row)
    return rows
