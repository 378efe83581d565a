"""Which of several arrays in a file is the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from franet.exceptions import DataError, UsageError

__all__ = ["choose"]

_LONG = 60  # characters of a name that are shown


def choose(
    path: Path, shapes: Mapping[str, tuple[int, ...]], variable: str | None
) -> str:
    """Return the name of the variable to read.

    The only variable is the table, and so is the only one with several rows and
    columns; otherwise the user has to say which.
    """
    if not shapes:
        raise DataError(f"{path}: holds no arrays")
    listed = ", ".join(
        f"{_shown(name)} ({'×'.join(map(str, shape)) or 'a number'})"
        for name, shape in list(shapes.items())[:20]
    )
    if variable is not None:
        if variable not in shapes:
            raise UsageError(f"{path}: has no variable {variable!r}; it has {listed}")
        return variable
    if len(shapes) == 1:
        return next(iter(shapes))
    tables = [name for name, shape in shapes.items() if _is_table(shape)]
    if len(tables) == 1:
        return tables[0]
    raise DataError(
        f"{path}: holds several variables: {listed}; choose one by --variable "
        "(variable=)"
    )


def _shown(name: str) -> str:
    """Return a name as it is where it is a plain one."""
    return name if name.isprintable() and len(name) <= _LONG else repr(name[:_LONG])


def _is_table(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and min(shape) > 1
