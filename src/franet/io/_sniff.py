"""How a text file is laid out, found from its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from franet._common.files import is_number, unguard
from franet.exceptions import DataError
from franet.io._cells import decimal_signs, is_blank, is_spaced, is_text
from franet.io._source import open_text, reading
from franet.io._table import Options

_LINES = 20
_SIZE = 4_000_000  # characters: a handful of lines of a very wide file
_SCORED = 200  # cells of a line that are looked at to choose the delimiter
_DELIMITERS: dict[str, tuple[str | None, ...]] = {
    "csv": (",", ";", "\t", "|", None),
    "tsv": ("\t", ",", ";", "|", None),
    "txt": ("\t", ",", ";", "|", None),
}
_BLANKS = re.compile(r"[ \t]+")


class Layout(NamedTuple):
    """How the lines of a text file are to be read.

    Attributes
    ----------
    path : Path
        The file.
    delimiter : str or None
        What stands between two cells; None for any white space.
    width : int
        The number of cells of a line of data.
    trailing : bool
        Whether lines end in a delimiter, so that the last cell is always blank.
    first : int
        The first column of data: 1 where the first one holds the labels of the rows.
    labels : str or None
        The name of the column of labels, where its words make it one.
    names : list of str or None
        The names of the columns, without that of the labels.
    skip : int
        How many lines come before the data.
    plain : bool
        Whether all cells looked at are plain numbers.
    """

    path: Path
    delimiter: str | None
    width: int
    trailing: bool
    first: int
    labels: str | None
    names: list[str] | None
    skip: int
    plain: bool

    @contextmanager
    def lines(self) -> Iterator[IO[str]]:
        """Open the file where the data begin."""
        with open_text(self.path) as file:
            for _ in range(self.skip):
                file.readline()
            yield file

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (number of the last line, cells) for each row of data."""
        with self.lines() as file:
            for number, row in split(file, self.delimiter):
                yield number + self.skip, row


def split(
    lines: Iterable[str], delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the last line, cells) for each row that is not empty."""
    if delimiter is None:
        # Blanks and tabs alone, as pandas has it: not all that Unicode calls space.
        lines = (" ".join(_BLANKS.split(line.strip(" \t\r\n"))) for line in lines)
        delimiter = " "
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for row in reader:
        if len(row) > 1 or not is_blank(row):
            yield reader.line_num, row


def sniff(path: Path, options: Options) -> Layout:
    """Find delimiter, header and labels from the first lines."""
    with reading(path, "text"):
        lines = _first_lines(path)
        delimiter = _delimiter(lines, _DELIMITERS[options.format], options.text)
        rows = _rows(lines, delimiter)
    if not rows:
        raise DataError(f"{path}: holds no rows, only blank lines; write it again")
    (skip, first), body = rows[0], [row for _, row in rows[1:]]
    width = Counter(map(len, body or [first])).most_common(1)[0][0]
    trailing = _trailing(first, body, width)
    labelled = _labelled(body or [first], options.transpose)
    short = len(first) == width - 1 and not trailing
    header = options.header
    if header == "auto":
        header = short or _is_header(first, body, labelled)
    if header and not body:
        raise DataError(f"{path}: holds a header line but no rows of data")
    index, guessed = options.index, None
    if index == "auto":
        unnamed = first[0].strip() in ("", "Unnamed: 0") and width > 1
        index = header and (short or unnamed)
        if labelled and not index:
            index, guessed = True, first[0].strip() if header else "column 1"
    names = None
    if header:
        names = [unguard(cell.strip()) for cell in first]
        names = names[1:] if index and not short else names
    at, data = int(index), body if header else [first, *body]
    plain = options.decimal != "," and not trailing
    plain = plain and all(is_number(cell) for row in data for cell in row[at:])
    skip = skip if header else 0
    return Layout(path, delimiter, width, trailing, at, guessed, names, skip, plain)


def _first_lines(path: Path) -> list[str]:
    """Return the first lines, as many as tell the layout of the file."""
    lines: list[str] = []
    size = rows = 0
    with open_text(path) as file:
        for line in file:
            if "\0" in line[:_SIZE]:
                raise DataError(
                    f"{path}: is not text; give its true kind by --format (format=)"
                )
            lines.append(line)
            size += len(line)
            rows += not line.isspace()
            if rows >= _LINES or (rows >= 3 and size > _SIZE):
                break
    return lines


def _rows(lines: list[str], delimiter: str | None) -> list[tuple[int, list[str]]]:
    rows = list(split(lines, delimiter))
    if len(rows) > 2 and sum(line.count('"') for line in lines) % 2:
        rows.pop()  # a quoted cell goes on beyond the sample
    return rows


def _delimiter(
    lines: list[str], candidates: tuple[str | None, ...], text: bool
) -> str | None:
    """Return the delimiter that splits all lines alike, and into numbers."""
    best: str | None = candidates[0]
    top = (-1.0, 0.0, 0)
    for candidate in candidates:
        if candidate is not None and not any(candidate in line for line in lines):
            continue
        if candidate is None and text and top[0] == 1.0:
            break  # blanks are part of the text, as in "room 12"
        try:
            rows = _rows(lines, candidate)
        except csv.Error:
            continue
        body = [row for _, row in rows[1:]] or [row for _, row in rows]
        if not body or max(map(len, body)) < 2:
            continue
        alike = len(set(map(len, body))) == 1
        cells = [cell for row in body for cell in row[:_SCORED]]
        if alike and candidate not in (None, ",") and any(map(is_spaced, cells)):
            return candidate  # blanks would cut these numbers
        numbers = sum(not is_text(cell) for cell in cells) / len(cells)
        score = (float(alike), round(numbers, 2), len(body[0]))
        if score > top:
            best, top = candidate, score
    return best


def _trailing(first: list[str], body: list[list[str]], width: int) -> bool:
    """Tell whether each line ends in a delimiter after its last cell."""
    if width < 2 or not body or any(row[-1].strip() for row in body if row):
        return False
    return len(first) == width - 1 or is_blank(first[-1:])


def _labelled(body: list[list[str]], transpose: bool) -> bool:
    """Tell whether the first cells are labels: words, distinct, before numbers."""
    labels = [row[0] for row in body]
    if min(map(len, body)) < 2 or not any(is_text(cell) for cell in labels):
        return False
    if any(is_blank([c]) or decimal_signs(c) or is_spaced(c) for c in labels):
        return False
    if transpose:  # words in front of a feature's values can only be its name
        return True
    return len(set(labels)) == len(labels) and not any(
        is_text(cell) for row in body for cell in row[1:]
    )


def _is_header(first: list[str], body: list[list[str]], labelled: bool) -> bool:
    """Tell whether the first line holds names."""
    if any(is_text(cell) for cell in first[int(labelled) :]):
        return True
    if not body:
        return False
    if is_blank(first[:1]) and all(row[0].strip() for row in body):
        return True
    # 0,1,2,… is what pandas writes for columns that have no names.
    return len(first) > 2 and _counts(first) and not _counts(body[0])


def _counts(row: list[str]) -> bool:
    """Tell whether the cells are whole numbers, each one more than the last."""
    if not all(cell.strip().isdecimal() for cell in row):
        return False
    start = int(row[0])
    return all(int(cell) == start + j for j, cell in enumerate(row))
