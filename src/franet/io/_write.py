"""Writing results: whole files or none, and never over another by accident."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Literal

from franet.exceptions import DataError, UsageError
from franet.io._cells import guard
from franet.io._source import check_path, check_truth, check_type, require

__all__ = [
    "atomic_write",
    "check_apart",
    "check_target",
    "is_inside",
    "is_same_file",
    "write_table",
]

_ZARR = (".zarray", ".zgroup", "zarr.json")  # one of which a zarr folder holds


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Check that a file can be written, and return where it will lie.

    Parameters
    ----------
    path : path-like
        The file to write. A symbolic link is followed.
    force : bool, default=False
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        The absolute path of the file.

    Raises
    ------
    DataError
        Where the file exists and `force` is False, where it is a directory, or where
        its folder is missing or cannot be written to.
    """
    check_path(path)
    check_truth(force=force)
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise DataError(f"{path}: is a directory; name a file inside it")
        if target.exists():
            if not target.is_file():
                raise DataError(f"{path}: is not a regular file; name another file")
            if not force:
                raise DataError(
                    f"{path}: exists already; use --force (force=True) to replace it, "
                    "or name another file"
                )
        folder = target.parent
        if not folder.is_dir():
            raise DataError(f"{path}: there is no folder {folder}; create it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataError(f"{path}: the folder {folder} cannot be written to")
    except OSError as err:
        raise _failed(path, err) from err
    return target


def is_same_file(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    """Return whether two paths lead to one file, also by links, or will once made."""
    if os.path.realpath(a) == os.path.realpath(b):
        return True
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def is_inside(a: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a path lies in a folder, or is a file of a zarr folder."""
    if Path(os.path.realpath(folder)) in Path(os.path.realpath(a)).parents:
        return True
    folder = Path(folder)
    if not os.path.exists(a) or not any((folder / name).exists() for name in _ZARR):
        return False
    return any(is_same_file(a, file) for file in folder.rglob("*"))


def check_apart(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise a UsageError where a file to write is one that was read, or inside it."""
    for known in inputs:
        if is_same_file(path, known):
            raise UsageError(
                f"{path}: is the file of the table that was read ({known}); name "
                "another file"
            )
        if is_inside(path, known):
            raise UsageError(
                f"{path}: lies in the folder of the table that was read ({known}); "
                "name another file"
            )


def _failed(path: str | os.PathLike[str], err: OSError) -> DataError:
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return DataError(
            f"{path}: the disk is full; free some space or write elsewhere"
        )
    reason = (err.strerror or str(err)).lower()
    return DataError(f"{path}: cannot be written ({reason}); write elsewhere")


@contextmanager
def atomic_write(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    mode: Literal["w", "wb"] = "w",
) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when all of it is written.

    Parameters
    ----------
    path : path-like
        The file to write. A symbolic link is followed.
    force : bool, default=False
        Whether a file that is there may be replaced; its permissions stay.
    mode : {"w", "wb"}, default="w"
        Text (UTF-8, line ends as given) or bytes.

    Yields
    ------
    file
        The open file, a temporary one beside the target.

    Raises
    ------
    DataError
        Where the file may not or cannot be written. Nothing is left behind then, and
        a file that was there is as before.
    """
    target = check_target(path, force=force)
    # Not mkstemp, which makes files that only the owner can read: the kernel
    # applies the umask here.
    draft = target.with_name(f".franet-{secrets.token_hex(8)}.tmp")
    try:
        file = draft.open(
            mode.replace("w", "x"), **({} if "b" in mode else _TEXT_OPTIONS)
        )
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                check_target(path, force=force)  # it may have appeared meanwhile
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            os.replace(draft, target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
    except OSError as err:
        raise _failed(path, err) from err


_TEXT_OPTIONS: dict[str, Any] = {"encoding": "utf-8", "newline": ""}


def write_table(
    columns: Mapping[str, Sequence[Any] | Any],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    format: str | None = None,
) -> None:
    """Write named columns of equal length to a csv, tsv, json or parquet file.

    Parameters
    ----------
    columns : mapping of str to list or ndarray
        The columns, in the order they are written.
    path : path-like
        The file; its ending says the format.
    force : bool, default=False
        Whether a file that is there may be replaced.
    format : {"csv", "tsv", "json", "parquet"}, optional
        The format, where the ending does not say it.

    Raises
    ------
    DataError
        Where the file exists and `force` is False, or cannot be written.
    UsageError
        Where the format is not known or the columns differ in length.

    Notes
    -----
    Floats are written so that reading gives the same number back. A json file holds
    one object, ``{"features": [...]}`` with an object per row; NaN is null there.

    In csv and tsv files a quote (') is put before text that begins with =, +, -, @, a
    tab or a line end, because spreadsheets would run it as a formula. Text that is a
    number is left as it is. `read_table` takes the quote away from names.
    """
    check_path(path)
    check_type("format", format, "a str", str)
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError("columns is a mapping from names to lists, and not empty")
    kind = output_format(path, format)
    plain = {str(name): _plain(str(name), values) for name, values in columns.items()}
    if len({len(values) for values in plain.values()}) > 1:
        raise UsageError("the columns of a table must have the same length")
    binary = kind == "parquet"
    if binary:
        require("polars", "Writing parquet files", "polars")
    with atomic_write(path, force=force, mode="wb" if binary else "w") as file:
        _WRITERS[kind](plain, file)


def output_format(path: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the format to write, as given or by the ending of `path`.

    Raises
    ------
    UsageError
        Where it is not one that can be written.
    """
    kind = (given or Path(path).suffix.lstrip(".")).lower()
    if kind not in _WRITERS:
        endings = ", ".join(f".{name}" for name in _WRITERS)
        raise UsageError(f"{path}: cannot write that format; end the name in {endings}")
    return kind


def _plain(name: str, values: Any) -> list[Any]:
    """Return Python values, which `repr` writes without the name of their type."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"columns: {name!r} is no list of values")
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [item.item() if hasattr(item, "item") else item for item in listed]


def _write_csv(columns: dict[str, list[Any]], file: IO[str]) -> None:
    _write_delimited(columns, file, ",")


def _write_tsv(columns: dict[str, list[Any]], file: IO[str]) -> None:
    _write_delimited(columns, file, "\t")


def _write_delimited(columns: dict[str, list[Any]], file: IO[str], mark: str) -> None:
    head = [guard(name) for name in columns]
    guarded = [
        [guard(v) if isinstance(v, str) else v for v in column]
        for column in columns.values()
    ]
    writer = text_writer(file, (v for column in [head, *guarded] for v in column), mark)
    writer.writerow(head)
    writer.writerows(zip(*guarded, strict=True))


def text_writer(file: IO[str], cells: Iterable[Any], mark: str = ",") -> Any:
    """Return a csv writer; of the cells it looks at those that are text.

    Before Python 3.13 it does not quote a carriage return by itself.
    """
    split = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    options: Any = {"quoting": csv.QUOTE_NONNUMERIC} if split else {}
    return csv.writer(file, delimiter=mark, lineterminator="\n", **options)


def _write_json(columns: dict[str, list[Any]], file: IO[str]) -> None:
    rows = [
        {name: _finite(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    json.dump({"features": rows}, file, indent=1, ensure_ascii=False, allow_nan=False)
    file.write("\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_parquet(columns: dict[str, list[Any]], file: IO[bytes]) -> None:
    pl = require("polars", "Writing parquet files", "polars")
    # polars does not say whether the disk was full.
    whole = BytesIO()
    pl.DataFrame(columns).write_parquet(whole)
    file.write(whole.getbuffer())


_WRITERS: dict[str, Callable[[dict[str, list[Any]], Any], None]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "json": _write_json,
    "parquet": _write_parquet,
}
