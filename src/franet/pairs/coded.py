"""Tables with text and categories: every column as numbers, and which are levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import Column, DataError

_NUMBERS = "biuf"
# How pandas calls what is not there, besides None and NaN.
_MISSING = ("NAType", "NaTType")


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table in which some columns are categories.

    It is sliced like an array: ``table[rows]``, ``table[:, columns]``.

    Attributes
    ----------
    values : ndarray of shape (m, n)
        Numbers as they are; of a category the number of the level, counted from 0 in
        the order of first appearance.
    is_category : ndarray of bool of shape (n,)
        Which columns are categories.
    levels : tuple of n lists or None
        The levels of each category, None for numbers.
    """

    values: NDArray[np.float64]
    is_category: NDArray[np.bool_]
    levels: tuple[list[Any] | None, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    def __getitem__(self, at: Any) -> CodedTable:
        columns: Any = at[1] if isinstance(at, tuple) else slice(None)
        kept = np.atleast_1d(np.arange(self.shape[1])[columns]).ravel()
        return CodedTable(
            self.values[at],
            self.is_category[kept],
            tuple(self.levels[j] for j in kept),
        )


def column_at(j: int, names: Any) -> Column:
    """Return a column as messages name it; `names` may be None."""
    return Column(j, None if names is None else names[j])


def too_large(column: Column, err: Exception) -> DataError:
    """Return the error for a column with a whole number that no float can hold."""
    return DataError(
        "{} holds too large a number ({}).", column, err, remedy="Scale or drop it."
    )


def code_table(X: Any) -> CodedTable | None:
    """Return a table with its text as levels; None if there is no text in it.

    Parameters
    ----------
    X : array-like or data frame
        The table. Text, and pandas or polars categories, are levels. Booleans are the
        numbers 0 and 1. Cells that hold neither text nor numbers are errors.
    """
    names = getattr(X, "columns", None)
    values, levels = [], []
    for j, column in enumerate(_columns(X)):
        numbers, found = _code(column, column_at(j, names))
        values.append(numbers)
        levels.append(found)
    is_category = np.array([found is not None for found in levels], bool)
    if not is_category.any():
        return None
    return CodedTable(np.array(values).T, is_category, tuple(levels))


def _columns(X: Any) -> Iterator[Any]:
    """Yield the columns of a table in which there may be text."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes"):  # pandas
        if X.ndim == 2 and any(kind.kind not in _NUMBERS for kind in X.dtypes):
            yield from (X.iloc[:, j] for j in range(X.shape[1]))
    elif hasattr(X, "get_columns"):  # polars
        if not all(_polars_number(kind) for kind in X.dtypes):
            yield from X.get_columns()
    elif isinstance(X, np.ndarray | list | tuple):
        if isinstance(X, np.ndarray) and X.dtype.kind not in "OTU":
            return
        # Not as numpy would like it: next to text, numbers become text.
        try:
            cells = np.asarray(X, dtype=object)
        except ValueError:  # what it is instead of a table is said later
            return
        if cells.ndim == 2:
            yield from cells.T


def _polars_number(kind: Any) -> bool:
    return bool(kind.is_numeric() or str(kind) == "Boolean")


def _code(column: Any, name: Column) -> tuple[NDArray[np.float64], list[Any] | None]:
    """Return a column as numbers, and its levels if it is a category."""
    if hasattr(column, "get_chunks"):  # polars
        if _polars_number(column.dtype):
            return column.cast(float).to_numpy(), None
        return _code_cells(np.array(column.to_list(), dtype=object), name)
    kind = column.dtype
    if hasattr(column, "cat") and str(kind) == "category":
        codes, used = column.factorize()
        if (codes < 0).any():
            raise _missing(name, int(np.argmax(codes < 0)))
        return codes.astype(np.float64), [used.categories[code] for code in used.codes]
    if kind.kind in _NUMBERS:
        return column.to_numpy(dtype=np.float64, na_value=np.nan), None
    cells = column.to_numpy(dtype=object) if hasattr(column, "iloc") else column
    return _code_cells(cells, name)


def _code_cells(
    cells: NDArray[Any], name: Column
) -> tuple[NDArray[np.float64], list[Any] | None]:
    """Return the numbers of a column of objects, or of its levels if they are text."""
    kinds = set(map(type, cells))
    text = [issubclass(kind, str) for kind in kinds]
    if not any(text):
        return _to_numbers(cells, name), None
    if not all(text):
        _refuse_others(cells, name)
    found: dict[str, int] = {}
    codes = (found.setdefault(cell, len(found)) for cell in cells)
    return np.fromiter(codes, np.float64, len(cells)), list(found)


def _to_numbers(cells: NDArray[Any], name: Column) -> NDArray[np.float64]:
    try:
        return np.where([_is_missing(cell) for cell in cells], np.nan, cells).astype(
            np.float64
        )
    except OverflowError as err:
        raise too_large(name, err) from None
    except (TypeError, ValueError) as err:
        # scikit-learn expects a TypeError where Python raises one.
        kind = DataError if isinstance(err, ValueError) else TypeError
        raise kind(
            f"{name} holds neither numbers nor text ({err}). Drop or encode it first."
        ) from None


def _refuse_others(cells: NDArray[Any], name: Column) -> None:
    """Raise an error about the first cell of a column of text that is not text."""
    row = next(i for i, cell in enumerate(cells) if not isinstance(cell, str))
    if _is_missing(cells[row]):
        raise _missing(name, row)
    raise DataError(
        "{} holds text, but {!r} in row {}.",
        name,
        cells[row],
        row,
        remedy="Make it all text or all numbers first.",
    )


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in _MISSING:
        return True
    return isinstance(cell, float | np.floating) and bool(np.isnan(cell))


def _missing(name: Column, row: int) -> DataError:
    return DataError(
        f"{{}} holds no value in row {row}.",
        name,
        remedy="Drop the row, or fill it with a level of its own, such as 'unknown'.",
    )
