"""Checks that all statistics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import DataError, UsageError

__all__ = ["check_between", "check_rope", "check_scores"]


def check_scores(
    scores: Any, what: str = "scores", columns: str = "ranker"
) -> NDArray[np.float64]:
    """Return a table of numbers, one row per data set; name what is missing."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what}: not a table of numbers") from None
    if table.ndim != 2:
        raise DataError(
            f"{what}: the shape is {table.shape}, but a table is needed with a row for "
            f"each data set and a column for each {columns}"
        )
    if not table.size:
        raise DataError(f"{what}: the table is empty, its shape is {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0].tolist()
        more = f" ({len(bad)} such values in all)" if len(bad) > 1 else ""
        raise DataError(
            f"{what}: data set {_name(scores, 'index', i)}, {columns} "
            f"{_name(scores, 'columns', j)} is {table[i, j]}{more}: "
            f"leave out the data set or the {columns}"
        )
    return table


def _name(scores: Any, axis: str, at: int) -> str:
    """Return the label that a data frame has for a row or a column, else its number."""
    labels = getattr(scores, axis, None)
    if labels is None or callable(labels):  # list.index is a method
        return str(at)
    return repr(labels[at])


def check_between(
    name: str, value: float, low: float, high: float, *, equal: bool = False
) -> float:
    """Return a number between two others; the lower one itself where equal."""
    inside = low <= value < high if equal else low < value < high
    if not inside:  # NaN is not inside either
        least = "at least" if equal else "above"
        raise UsageError(f"{name}={value!r}: give a number {least} {low}, below {high}")
    return float(value)


def check_rope(rope: float) -> float:
    """Return the half width of the region of practical equivalence."""
    return check_between("rope", rope, 0.0, np.inf, equal=True)
