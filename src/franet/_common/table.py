"""A small table that prints itself: no data frame is needed to look at results."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from html import escape
from typing import Any

from franet._common.files import guard
from franet._common.optional import require


@dataclass(frozen=True)
class TextTable:
    """Rows of named cells, as text, HTML, CSV or a data frame.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    rows : list of list
        Cells: text, numbers, None for nothing.
    notes : list of str
        What stands below the table.
    decimals : int
        Digits after the point of floats in text and HTML.
    """

    columns: list[str]
    rows: list[list[Any]]
    notes: list[str] = field(default_factory=list)
    decimals: int = 3

    def column(self, name: str) -> list[Any]:
        """Return the cells of one column, from top to bottom."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def __str__(self) -> str:
        shown = []
        for name, *cells in zip(self.columns, *self.rows, strict=True):
            texts = [name, *map(self._text, cells)]
            width = max(map(len, texts))
            numbers = all(c is None or isinstance(c, int | float) for c in cells)
            side = ">" if numbers else "<"
            texts.insert(1, "─" * width)
            shown.append([f"{text:{side}{width}}" for text in texts])
        lines = ["  ".join(row).rstrip() for row in zip(*shown, strict=True)]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(self._text(c))}</td>" for c in row) + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
        )

    def to_csv(self) -> str:
        """Return the table as CSV, with all digits and without notes.

        Text that a spreadsheet would take for a formula has a quote before it.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in (self.columns, *self.rows):
            writer.writerow([guard(c) if isinstance(c, str) else c for c in row])
        return text.getvalue()

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        pandas = require("pandas", "TextTable.to_pandas", "pandas")
        return pandas.DataFrame(self.rows, columns=self.columns)

    def _text(self, cell: Any) -> str:
        if cell is None:
            return ""
        if not isinstance(cell, float):
            return str(cell)
        # Zero has no sign, whatever rounds to it.
        return f"{round(cell, self.decimals) + 0.0:.{self.decimals}f}"
