"""Which of several arrays in a file is the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from franet.exceptions import DataError, UsageError

__all__ = ["check_tables", "choose"]

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
    if variable is not None:
        if variable not in shapes:
            raise UsageError(
                f"{path}: has no variable {variable!r}; it has {_listed(shapes)}"
            )
        return variable
    if len(shapes) == 1:
        return next(iter(shapes))
    tables = [name for name, shape in shapes.items() if _is_table(shape)]
    if len(tables) == 1:
        return tables[0]
    raise DataError(
        f"{path}: holds several variables: {_listed(shapes)}; choose one by --variable "
        "(variable=)"
    )


def check_tables(
    path: Path, shapes: Mapping[str, tuple[int, ...]], variable: str | None
) -> None:
    """Raise a DataError where there is a sparse matrix in parts, or no table at all.

    A sparse matrix is likely to be the table, even if there is an array beside it.

    Parameters
    ----------
    path : Path
        The file.
    shapes : mapping
        Shapes of arrays by their paths in the file.
    variable : str or None
        Which of them, or which group of them, is wanted.
    """
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    wanted = None if variable is None else variable.strip("/")
    for group in _sparse_groups(shapes):
        if wanted in (None, group):
            other = "; choose another array by --variable (variable=)" if tables else ""
            raise DataError(
                f"{path}: {_shown(group) or 'it'} is a sparse matrix in parts (data, "
                "indices, indptr), which is read from h5ad files only; read it by "
                "another tool, such as scanpy.read_10x_h5 for a file of 10x Genomics, "
                f"and save it by adata.write_h5ad{other}"
            )
    if len(shapes) > 1 and not tables and variable is None:
        raise DataError(
            f"{path}: holds no array with rows and columns: {_listed(shapes)}; save "
            "the table as an array of two dimensions, examples in rows"
        )


def _sparse_groups(shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Return the groups that hold the parts of a sparse matrix."""
    groups = [name.rpartition("/")[0] for name in shapes]
    return [
        group
        for group in dict.fromkeys(groups)
        if all(
            f"{group}/{part}".lstrip("/") in shapes
            for part in ("data", "indices", "indptr")
        )
    ]


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(
        f"{_shown(name)} ({'×'.join(map(str, shape)) or 'a number'})"
        for name, shape in list(shapes.items())[:20]
    )


def _shown(name: str) -> str:
    """Return a name as it is where it is a plain one."""
    return name if name.isprintable() and len(name) <= _LONG else repr(name[:_LONG])


def _is_table(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and min(shape) > 1
