"""Results in a CSV file, to which rows are added as they are measured."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Key = tuple[str, ...]


class Store:
    """The rows of a CSV file, by the columns that identify them.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    keys : sequence of str
        The columns that identify a row. A new row replaces an earlier one with the
        same key.
    values : sequence of str
        The other columns; a row may lack some of them.
    """

    def __init__(self, path: Path, keys: Sequence[str], values: Sequence[str]) -> None:
        self.path, self.keys, self.values = path, tuple(keys), tuple(values)
        self.rows: dict[Key, Row] = {}
        if path.exists():
            with path.open(newline="") as file:
                self.rows = {self._key(row): row for row in csv.DictReader(file)}

    def _key(self, row: Row) -> Key:
        return tuple(str(row[name]) for name in self.keys)

    def value(self, name: str, *key: Any) -> float:
        """Return a value of the row with a key; NaN where there is none."""
        text = self.rows.get(tuple(map(str, key)), {}).get(name, "")
        return float(text) if text else float("nan")

    def column(self, name: str) -> list[str]:
        """Return the different entries of a column of the keys, sorted."""
        at = self.keys.index(name)
        return sorted({key[at] for key in self.rows})

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, and write the file."""
        for row in rows:
            self.rows[self._key(row)] = {key: _text(key, row[key]) for key in row}
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("w", newline="") as file:
            columns = (*self.keys, *self.values)
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for _, row in sorted(self.rows.items(), key=_order))


def _order(item: tuple[Key, Row]) -> list[tuple[bool, float, str]]:
    """Return what sorts numbers by size and other entries as text."""
    return [
        (False, float(text), "") if text.isdecimal() else (True, 0.0, text)
        for text in item[0]
    ]


def _text(name: str, value: Any) -> str:
    digits = ".3g" if name == "seconds" else ".6g"
    return format(value, digits) if isinstance(value, float) else str(value)
