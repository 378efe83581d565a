"""Options that name features: --include, --keep, --cost, --weights and the like."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franet._common.features import FeatureIndex
from franet._common.files import unguard
from franet.exceptions import DataError, Message, UsageError
from franet.io._source import check_readable, open_text, reading

_LISTS = ("include", "exclude", "keep")
# What a line of a file says of a feature.
_FILES = {"cost": "cost", "groups": "group", "weights": "weight"}


class _Line(NamedTuple):
    """A line of a file: what it says, and where it stands."""

    where: str
    feature: str
    value: str


Lines = Mapping[str, list[_Line]]


def read_files(options: Mapping[str, Any]) -> Lines:
    """Return the lines of the files that were given."""
    return {
        option: _lines(option, options[option])
        for option in _FILES
        if isinstance(options.get(option), Path)
    }


def find_features(
    options: Mapping[str, Any], files: Lines, names: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return what the options say about features, by position, and what matched.

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
    matches : list of str
        A sentence for each pattern: how many features it matches.
    """
    index, known = FeatureIndex(np.array(names, object)), {*names}
    found: dict[str, Any] = {}
    matches: list[str] = []
    for option in _LISTS:
        places: dict[int, None] = {}
        parts = (
            part
            for text in options.get(option, ())
            for part in _parts(text, known, f"--{option}")
        )
        for part in parts:
            these = _match(index, known, part, f"--{option}")
            places |= dict.fromkeys(these)
            if index.is_pattern(part.strip()):
                matches.append(matched(f"--{option} {part.strip()}", len(these)))
        if places:
            found[option] = list(places)
    for option, lines in files.items():
        values = found[option] = {}
        for i, line in enumerate(lines):
            is_head = i == 0 and line.feature.strip().lower() == "feature"
            if is_head and line.feature not in known:
                continue
            j = _find(index, known, line.feature, line.where, DataError)
            if option == "groups":
                # A feature with several lines is in several groups.
                values.setdefault(j, []).append(line.value or None)
                continue
            if j in values:
                raise DataError(
                    f"{line.where}: {line.feature!r} stands there twice; leave one out"
                )
            values[j] = _number(option, line)
        if option == "groups":
            single = {j: labels[0] for j, labels in values.items() if len(labels) == 1}
            values |= single
    return found, matches


def matched(pattern: str, count: int) -> str:
    """Return how many features a pattern matches, as a sentence."""
    return f"{pattern}: matches {count:,} {'feature' if count == 1 else 'features'}"


def read_columns(
    given: Sequence[str], names: Sequence[str], taken: Collection[str]
) -> dict[str, list[int]]:
    """Return lists of columns by label, from ``label=columns`` or ``label=file``.

    Parameters
    ----------
    given : sequence of str
        What was typed.
    names : sequence of str
        The names of the columns of the table.
    taken : collection of str
        Labels of rankers.
    """
    index, known = FeatureIndex(np.array(names, object)), {*names}
    found: dict[str, list[int]] = {}
    for text in given:
        label, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and label and value):
            raise UsageError(
                f"--columns {text}: give NAME=COLUMNS, such as mine=age,weight"
            )
        if label in found or label in taken:
            raise UsageError(f"--columns {text}: {label!r} is taken; take another name")
        path, where = Path(value), f"--columns {text}"
        # What names columns is no file.
        if value not in known and path.is_file():
            check_readable(path)
            with reading(path, "lines of text"), open_text(path) as file:
                lines = [unguard(line.rstrip("\r\n")) for line in file]
            parts = [line for line in lines if line.strip()]
        else:
            parts = _parts(value, known, where)
        if not parts:
            raise DataError(f"{where}: the file names no column")
        places = [j for part in parts for j in _match(index, known, part, where)]
        found[label] = places
    return found


def in_names(parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return parameters with features by name instead of position."""
    shown = dict(parameters)
    for option in (*_LISTS, *_FILES):
        given = shown.get(option)
        if isinstance(given, list):
            shown[option] = [names[j] for j in given]
        elif isinstance(given, dict):
            shown[option] = {names[j]: value for j, value in given.items()}
    return shown


def _find(
    index: FeatureIndex, known: set[str], text: str, where: str, error: type[Message]
) -> int:
    """Return the feature that a user means by a name, or else by a position."""
    # A name may have blanks at its ends, and may be a number.
    name = text if text in known else text.strip()
    is_position = name not in known and name.isdecimal()
    try:
        return index.find(int(name) if is_position else name)
    except DataError as err:
        raise error(f"{where}: {err}") from err


def _match(index: FeatureIndex, known: set[str], text: str, where: str) -> list[int]:
    """Return the features that a name, a position or a pattern means."""
    if not index.is_pattern(text.strip()):
        return [_find(index, known, text, where, UsageError)]
    try:
        return index.match(text.strip())
    except DataError as err:
        raise UsageError(f"{where}: {err}") from err


def _parts(text: str, known: set[str], where: str) -> list[str]:
    """Return the text if it is the name of a feature, else what commas separate."""
    parts = [part for part in text.split(",") if part.strip()]
    if not parts and text not in known:
        raise UsageError(f"{where} names no feature; leave it out")
    return [text] if text in known else parts


def _lines(option: str, path: Path) -> list[_Line]:
    """Read a file of two columns, with a comma or a tab between them."""
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


def _number(option: str, line: _Line) -> float:
    try:
        number = float(line.value)
    except ValueError:
        number = math.nan
    may_be_zero = option == "weights"
    if not (0.0 < number < math.inf or (may_be_zero and number == 0.0)):
        raise DataError(
            f"{line.where}: {line.feature!r} has the {_FILES[option]} {line.value!r}; "
            f"write a {'number of at least 0' if may_be_zero else 'positive number'}"
        )
    return number
