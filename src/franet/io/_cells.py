"""What a cell of a text file is: a number, nothing, a truth value, or words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

__all__ = [
    "MISSING",
    "guard",
    "is_blank",
    "is_number",
    "is_text",
    "to_number",
    "unguard",
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
# What a spreadsheet takes for a formula, and what `guard` writes for it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?$")


def is_number(cell: str, decimal: str = ".") -> bool:
    """Tell whether the cell is a plain number.

    Examples
    --------
    >>> is_number("1e-3"), is_number("1,5"), is_number("1,5", ","), is_number("NA")
    (True, False, True, False)
    """
    if decimal == "," and _COMMA.match(cell.strip()):
        return True
    if "_" in cell:  # Python's float reads 1_000, tables do not
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_text(cell: str, decimal: str = ".") -> bool:
    """Tell whether the cell is neither a number nor missing nor a truth value."""
    return to_number(cell, decimal) is None


def to_number(cell: str, decimal: str = ".") -> float | None:
    """Return the number that the cell stands for, NaN for a gap, None for words.

    Examples
    --------
    >>> to_number(" NA "), to_number("TRUE"), to_number("1,5", ","), to_number("x")
    (nan, 1.0, 1.5, None)
    """
    bare = cell.strip()
    if bare in MISSING:
        return math.nan
    if bare in _TRUTH:
        return float(bare.lower() == "true")
    return float(bare.replace(decimal, ".")) if is_number(bare, decimal) else None


def guard(cell: str) -> str:
    """Return text that no spreadsheet takes for a formula, with a quote before it.

    Numbers are left as they are. Text that looks as if it were guarded gets one more
    quote, so that `unguard` gives every text back.

    Examples
    --------
    >>> guard("=1+1"), guard("-1.5"), guard("'=1+1"), guard("a=1")
    ("'=1+1", '-1.5', "''=1+1", 'a=1')
    """
    if not _FORMULA.match(cell) or (is_number(cell) and cell.isprintable()):
        return cell
    return f"'{cell}"


def unguard(cell: str) -> str:
    """Return the text that `guard` was given.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("''=1+1"), unguard("'a'")
    ('=1+1', "'=1+1", "'a'")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def is_blank(cells: Iterable[str]) -> bool:
    """Tell whether all cells are blank."""
    return not any(cell.strip() for cell in cells)
