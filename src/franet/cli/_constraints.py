"""--include, --exclude, --cost and --groups: features as a user names them."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from franet.exceptions import DataError, UsageError

__all__ = ["Lines", "find_features", "in_names", "read_files"]

_LISTS, _FILES = ("include", "exclude"), {"cost": "cost", "groups": "group"}


class _Line(NamedTuple):
    """A line of a file: what it says, and where it stands."""

    where: str
    feature: str
    value: str


Lines = Mapping[str, list[_Line]]


def read_files(options: Mapping[str, Any]) -> Lines:
    """Return the lines of the files of costs and groups that were given."""
    return {
        option: _lines(option, options[option])
        for option in _FILES
        if options[option] is not None
    }


def find_features(
    options: Mapping[str, Any], files: Lines, names: Sequence[str]
) -> dict[str, Any]:
    """Return what the options say about features, by position.

    Parameters
    ----------
    options : mapping
        All options of the command.
    files : mapping
        What `read_files` returned.
    names : sequence of str
        The names of the features.

    Returns
    -------
    parameters : dict
        Of the estimator; those that were not given are left out.
    """
    find = _Finder(names)
    found: dict[str, Any] = {}
    for option in _LISTS:
        if options[option]:
            parts = [find.some(text, f"--{option}") for text in options[option]]
            found[option] = list(dict.fromkeys(chain.from_iterable(parts)))
    read: dict[str, Callable[[_Line], Any]] = {"cost": _cost, "groups": _group}
    for option, lines in files.items():
        found[option] = _values(lines, find, read[option])
    return found


def in_names(parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return parameters with features by name instead of position."""
    shown = dict(parameters)
    for option in _LISTS:
        if shown.get(option) is not None:
            shown[option] = [names[j] for j in shown[option]]
    for option in _FILES:
        if shown.get(option) is not None:
            shown[option] = {names[j]: value for j, value in shown[option].items()}
    return shown


class _Finder:
    """Finds features by what a user writes: a name, or else a position."""

    def __init__(self, names: Sequence[str]) -> None:
        import numpy as np

        from franet._common.features import FeatureIndex

        self._names = set(names)
        self._index = FeatureIndex(np.array(names, object))

    def knows(self, name: str) -> bool:
        return name in self._names

    def one(self, text: str, where: str) -> int:
        # A name may have blanks at its ends, and may be a number.
        name = text if text in self._names else text.strip()
        is_position = name not in self._names and name.isdecimal()
        try:
            return self._index.find(int(name) if is_position else name)
        except DataError as err:
            raise UsageError(f"{where}: {err}") from err

    def some(self, text: str, where: str) -> list[int]:
        """Return one feature if the text is its name, else those between commas."""
        if text in self._names:
            return [self.one(text, where)]
        parts = [part for part in text.split(",") if part.strip()]
        if not parts:
            raise UsageError(f"{where} names no feature; leave it out")
        return [self.one(part, where) for part in parts]


def _lines(option: str, path: Path) -> list[_Line]:
    """Read a file of two columns, with a comma or a tab between them."""
    from franet._common.files import unguard
    from franet.io._source import check_readable, open_text, reading

    check_readable(path)
    lines = []
    ending = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    mark = "\t" if ending.suffix.lower() in (".tsv", ".tab") else ","
    with reading(path, "lines of text"), open_text(path) as file:
        reader = csv.reader(file, delimiter=mark)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"--{option} {path}, line {reader.line_num}"
            if len(cells) != 2:
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise DataError(
                    f"{where}: has {count}; write a feature and its {_FILES[option]}"
                )
            lines.append(_Line(where, unguard(cells[0]), cells[1].strip()))
    return lines


def _values(
    lines: list[_Line], find: _Finder, read: Callable[[_Line], Any]
) -> dict[int, Any]:
    """Return what a file says, by the position of the feature."""
    values: dict[int, Any] = {}
    for i, line in enumerate(lines):
        head = line.feature.strip().lower() == "feature"
        if i == 0 and head and not find.knows(line.feature):
            continue
        try:
            j = find.one(line.feature, line.where)
        except UsageError as err:
            raise DataError(str(err)) from err
        if j in values:
            raise DataError(
                f"{line.where}: {line.feature!r} stands there twice; leave one out"
            )
        values[j] = read(line)
    return values


def _cost(line: _Line) -> float:
    try:
        cost = float(line.value)
    except ValueError:
        cost = math.nan
    if not 0.0 < cost < math.inf:
        raise DataError(
            f"{line.where}: {line.feature!r} costs {line.value!r}; write a positive "
            "number"
        )
    return cost


def _group(line: _Line) -> str | None:
    return line.value or None
