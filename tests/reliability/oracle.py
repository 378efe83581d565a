"""What a damaged file may be read as, found without the library."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
from itertools import product

import numpy as np

_GAPS = frozenset(
    "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|"
    "None|n/a|nan|null".split("|")
) | {""}  # fmt: skip
_MARKS = (",", ";", "\t", "|", " ")
# A cell of words, which no number is equal to.
_WORDS = complex(0.0, math.inf)


def _number(cell: str, decimal: str) -> float | complex:
    bare = cell.strip()
    if bare in _GAPS:
        return math.nan
    if bare.lower() in ("true", "false"):
        return float(bare.lower() == "true")
    other = "." if decimal == "," else ","
    whole = bare.partition(decimal)[0]
    if re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}([{other}]\d{{3}})+", whole):
        bare = bare.replace(other, "")
    if "_" in bare or other in bare:
        return _WORDS
    try:
        return float(bare.replace(decimal, "."))
    except ValueError:
        return _WORDS


def _rows(text: str, mark: str) -> list[list[str]]:
    lines = io.StringIO(text, newline=None)
    if mark == " ":
        bare = (re.sub(r"[ \t]+", " ", line.strip(" \t\r\n")) for line in lines)
        lines = io.StringIO("\n".join(bare))
    try:
        rows = list(csv.reader(lines, delimiter=mark, skipinitialspace=True))
    except csv.Error:
        return []
    return [row for row in rows if len(row) > 1 or any(c.strip() for c in row)]


def explains(data: bytes, found: np.ndarray) -> bool:
    """Tell whether some way to read a text gives the numbers that were found.

    The delimiter, the decimal mark, whether there are a header, labels, blank cells at
    the ends of lines and columns of words are tried out: the values must be right for
    one of them.

    Parameters
    ----------
    data : bytes
        The file.
    found : ndarray
        What was read from it, as it lies in the file.
    """
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig")
    for mark in _MARKS:
        rows = _rows(text, mark)
        for header, decimal in product((0, 1), ".,"):
            body = rows[header:]
            if len(body) != len(found) or len({len(row) for row in body}) != 1:
                continue
            # A mark of the byte order, where reading begins, is nothing.
            body = [[body[0][0].removeprefix("\ufeff"), *body[0][1:]], *body[1:]]
            cells = np.array([[_number(c, decimal) for c in row] for row in body])
            if _matches(cells, found):
                return True
    return False


def _matches(cells: np.ndarray, found: np.ndarray) -> bool:
    n = found.shape[1]
    for first, last in product((0, 1), (0, 1)):
        some = cells[:, first : cells.shape[1] - last]
        for part in (some, some[:, ~(some == _WORDS).any(axis=0)]):
            if part.shape[1] == n and np.array_equal(
                part, found.astype(complex), equal_nan=True
            ):
                return True
    return False
