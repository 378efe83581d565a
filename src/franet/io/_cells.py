"""What a cell of a text file is: a number, nothing, a truth value, or words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from franet._common.files import is_number

__all__ = [
    "MISSING",
    "decimal_signs",
    "is_blank",
    "is_spaced",
    "is_text",
    "to_number",
]

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
