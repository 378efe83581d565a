"""What a folder of results holds, row by row: nothing is merged here."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from franet.evaluation.records import Record
from franet.evaluation.store import FILES


def contents(folder, table="franet_records"):
    """Return the cells of a table, or none where there is no file yet."""
    path = folder / FILES[0]
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=60)) as file:
        try:
            found = file.execute(f"SELECT content FROM {table} ORDER BY rowid")
        except sqlite3.OperationalError:  # a run that has not made the tables yet
            return []
        return [content for (content,) in found]


def rows_in(folder):
    """Return every measured value of every record."""
    return [row for each in contents(folder) for row in Record.from_json(each).rows()]


def change(folder, *statements):
    """Do something to the file of results that no run does."""
    with closing(sqlite3.connect(folder / FILES[0])) as file, file:
        for statement in statements:
            file.execute(statement)
