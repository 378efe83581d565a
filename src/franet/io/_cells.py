"""What a cell of a text file is, and which decimal sign all of them show."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from franet._common.files import is_number
from franet.exceptions import DataError

# What pandas takes for a missing value, so that both paths agree.
MISSING = frozenset(
    {
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan",
        "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a",
        "nan", "null",
    }
)  # fmt: skip
_TRUTH = frozenset({"True", "TRUE", "true", "False", "FALSE", "false"})
# Numbers with separated thousands, by decimal sign.
_GROUPED = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$", re.ASCII),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$", re.ASCII),
}
# The same with blanks or apostrophes, which are not read.
_SPACED = re.compile(r"[+-]?[1-9]\d{0,2}([ \u00a0\u2009\u202f'’]\d{3})+([.,]\d*)?")
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?$", re.ASCII)

# What a cell shows, by example: 1,234.5 · 3,14 · 1,234 · 1.234,5 · 2.5 · 1.234
_DOT, _DECIMAL, _EITHER, _GROUPS, _PLAIN, _PLAIN_EITHER = range(6)
_STATE = "state the decimal sign by --decimal . or --decimal , (decimal='.' or ',')"

# Returns the line and the column of a cell, as text.
Place = Callable[[str], str]


def _parse(bare: str, decimal: str) -> float | None:
    """Return the number with that decimal sign, None where it is none."""
    other = "," if decimal == "." else "."
    if other in bare:
        if not _GROUPED[decimal].match(bare):
            return None
        bare = bare.replace(other, "")
    if decimal == "," and "," in bare:
        if not _COMMA.match(bare):
            return None
        bare = bare.replace(",", ".")
    return float(bare) if is_number(bare) else None


def decimal_signs(cell: str) -> str:
    """Return the decimal signs with which the cell is a number.

    Examples
    --------
    >>> decimal_signs("3,14"), decimal_signs("1,234.5"), decimal_signs("1,234")
    (',', '.', '.,')
    >>> decimal_signs("1.234.567"), decimal_signs("12"), decimal_signs("x")
    (',', '.,', '')
    """
    bare = cell.strip()
    if _COMMA.match(bare):  # most of them, where there are any
        return ".," if _GROUPED["."].match(bare) else ","
    return "".join(sign for sign in ".," if _parse(bare, sign) is not None)


def is_spaced(cell: str) -> bool:
    """Return whether the cell is a number with blanks between its thousands.

    Examples
    --------
    >>> is_spaced("1 234"), is_spaced("1'234.5"), is_spaced("12 34")
    (True, True, False)
    """
    return bool(_SPACED.fullmatch(cell.strip()))


def is_text(cell: str) -> bool:
    """Return whether the cell is neither a number nor missing nor a truth value."""
    return all(to_number(cell, sign) is None for sign in ".,")


def to_number(cell: str, decimal: str = ".") -> float | None:
    """Return the value of the cell, NaN for a gap, None for words.

    Examples
    --------
    >>> to_number(" NA "), to_number("TRUE"), to_number("1,5", ","), to_number("x")
    (nan, 1.0, 1.5, None)
    >>> to_number("1,234.5"), to_number("1.234,5", ","), to_number("1.5", ",")
    (1234.5, 1234.5, None)
    """
    bare = cell.strip()
    if bare in MISSING:
        return math.nan
    if bare in _TRUTH:
        return float(bare.lower() == "true")
    return _parse(bare, decimal)


def is_blank(cells: Iterable[str]) -> bool:
    """Tell whether all cells are blank."""
    return not any(cell.strip() for cell in cells)


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
    if _DOT in shown and _DECIMAL in shown:
        _refuse_both(shown[_DECIMAL], shown[_DOT], place)
    if _DECIMAL in shown:
        if quoted and _GROUPS not in shown:
            raise _unclear(shown[_DECIMAL], "a number or text", place)
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
            _refuse_both(shown[_DECIMAL], shown[kind], place)


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
            shown.setdefault(_DECIMAL, cell)
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
