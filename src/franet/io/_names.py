"""The names of the features from a file of their own."""

from __future__ import annotations

from pathlib import Path

from franet._common.files import unguard
from franet.exceptions import DataError
from franet.io._source import check_readable, open_text, reading

__all__ = ["read_names"]


def read_names(path: Path) -> list[str]:
    """Read one name a line; of a line with tabs the first field counts."""
    check_readable(path)
    with reading(path, "a list of names"), open_text(path) as lines:
        fields = (line.rstrip("\n").partition("\t")[0].strip() for line in lines)
        names = [unguard(field) for field in fields]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise DataError(f"{path}: holds no names; write one name a line")
    if "" in names:
        raise DataError(
            f"{path}: line {names.index('') + 1} has no name; write one name a line"
        )
    return names
