"""Which decimal sign a text table has, from all of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from franet._common.files import is_number
from franet.exceptions import DataError
from franet.io._cells import decimal_signs, to_number

__all__ = ["check_dots", "decimal_sign"]

# What a cell shows, by example: 1,234.5 · 3,14 · 1,234 · 1.234,5 · 2.5 · 1.234
_DOT, _COMMA, _EITHER, _GROUPS, _PLAIN, _PLAIN_EITHER = range(6)
_STATE = "state the decimal sign by --decimal . or --decimal , (decimal='.' or ',')"

# Returns the line and the column of a cell, as text.
Place = Callable[[str], str]


def decimal_sign(columns: Iterable[Any], quoted: bool, place: Place) -> str:
    """Return the decimal sign that the cells show, or raise where it is not clear.

    Parameters
    ----------
    columns : iterable of column
        The columns that are not plain numbers; columns of words do not count.
    quoted : bool
        Whether cells with commas are in quotes, because commas separate cells.
    place : callable
        Returns where a cell is.
    """
    shown = _shown(columns)
    if _DOT in shown and _COMMA in shown:
        _refuse_both(shown[_COMMA], shown[_DOT], place)
    if _COMMA in shown:
        if quoted and _GROUPS not in shown:
            raise _unclear(shown[_COMMA], "a number or text", place)
        return ","
    if _EITHER in shown and _DOT not in shown:
        cell = shown[_EITHER]
        values = (f"{to_number(cell, sign):.12g}" for sign in ".,")
        raise _unclear(cell, " or ".join(values), place)
    return "."


def check_dots(columns: Iterable[Any], place: Place) -> None:
    """Raise where a table with decimal commas has decimal dots, too.

    Parameters
    ----------
    columns : iterable of column
        All columns, as text.
    place : callable
        Returns where a cell is.
    """
    shown = _shown(columns)
    # A dot separates thousands only where another cell proves it.
    kinds = (_PLAIN,) if _GROUPS in shown else (_PLAIN, _PLAIN_EITHER)
    for kind in kinds:
        if kind in shown:
            _refuse_both(shown[_COMMA], shown[kind], place)


def _shown(columns: Iterable[Any]) -> dict[int, str]:
    """Return the first cell of each kind in the columns that may be numbers."""
    shown: dict[int, str] = {}
    for column in columns:
        shown = {**_shown_in(column), **shown}
    return shown


def _shown_in(column: Iterable[Any]) -> dict[int, str]:
    shown: dict[int, str] = {}
    for cell in column:
        if not isinstance(cell, str):
            continue
        if "," not in cell and is_number(cell):
            if "." in cell:
                either = len(decimal_signs(cell)) > 1
                shown.setdefault(_PLAIN_EITHER if either else _PLAIN, cell)
            continue
        signs = decimal_signs(cell)
        if not signs and to_number(cell) is None:
            return {}
        if signs == ".":
            shown.setdefault(_DOT, cell)
        elif signs == ",":
            shown.setdefault(_COMMA, cell)
            if "." in cell:
                shown.setdefault(_GROUPS, cell)
        elif signs:
            shown.setdefault(_EITHER, cell)
    return shown


def _unclear(cell: str, readings: str, place: Place) -> DataError:
    return DataError(f"{place(cell)}: {cell.strip()!r} may be {readings}; {_STATE}")


def _refuse_both(comma: str, dot: str, place: Place) -> NoReturn:
    raise DataError(
        f"{place(comma)}: {comma.strip()!r} has a decimal comma, but {dot.strip()!r} a "
        f"decimal dot; write all numbers with one decimal sign, or {_STATE}"
    )
