"""Files: whole or not at all, never over another by accident, locked by one owner."""

from __future__ import annotations

import csv
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from franet._common.checked import FLAG, PATH, checked
from franet.exceptions import DataError, UsageError

AnyPath = str | os.PathLike[str]

_ZARR = (".zarray", ".zgroup", "zarr.json")  # one of which a zarr folder holds
_TEXT_OPTIONS: dict[str, Any] = {"encoding": "utf-8", "newline": ""}
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
# What a spreadsheet takes for a formula, and what `guard` writes for it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


@checked(path=PATH, force=FLAG)
def check_target(path: AnyPath, *, force: bool = False) -> Path:
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


def is_same_file(a: AnyPath, b: AnyPath) -> bool:
    """Return whether two paths lead to one file, also by links, or will once made."""
    if os.path.realpath(a) == os.path.realpath(b):
        return True
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def is_inside(a: AnyPath, folder: AnyPath) -> bool:
    """Return whether a path lies in a folder, or is a file of a zarr folder."""
    if Path(os.path.realpath(folder)) in Path(os.path.realpath(a)).parents:
        return True
    folder = Path(folder)
    if not os.path.exists(a) or not any((folder / name).exists() for name in _ZARR):
        return False
    return any(is_same_file(a, file) for file in folder.rglob("*"))


def check_apart(path: AnyPath, inputs: Iterable[AnyPath]) -> None:
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


def _failed(path: AnyPath, err: OSError) -> DataError:
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return DataError(
            f"{path}: the disk is full; free some space or write elsewhere"
        )
    reason = (err.strerror or str(err)).lower()
    return DataError(f"{path}: cannot be written ({reason}); write elsewhere")


@contextmanager
def atomic_write(
    path: AnyPath, *, force: bool = False, mode: Literal["w", "wb"] = "w"
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


def text_writer(file: IO[str], cells: Iterable[Any], mark: str = ",") -> Any:
    """Return a csv writer; of the cells it looks at those that are text.

    Before Python 3.13 it does not quote a carriage return by itself.
    """
    split = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    options: Any = {"quoting": csv.QUOTE_NONNUMERIC} if split else {}
    return csv.writer(file, delimiter=mark, lineterminator="\n", **options)


def is_number(cell: str) -> bool:
    """Return whether the cell is a plain number, without separated thousands.

    Examples
    --------
    >>> is_number("1e-3"), is_number("1,5"), is_number("NA")
    (True, False, False)
    """
    if "_" in cell:  # Python's float reads 1_000, tables do not
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def guard(cell: str) -> str:
    """Return text that no spreadsheet takes for a formula, with a quote before it.

    Numbers are left as they are. Text that looks as if it were guarded gets one more
    quote, so that `unguard` gives every text back.

    Examples
    --------
    >>> guard("=1+1"), guard("-1.5"), guard("'=1+1"), guard("a=1")
    ("'=1+1", '-1.5', "''=1+1", 'a=1')
    """
    if not _FORMULA.match(cell) or (is_number(cell) and cell.isprintable()):
        return cell
    return f"'{cell}"


def unguard(cell: str) -> str:
    """Return the text that `guard` was given.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("''=1+1"), unguard("'a'")
    ('=1+1', "'=1+1", "'a'")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def lock_file(path: Path) -> int:
    """Return an open file that is locked until it is closed, or the process ends.

    The system releases the lock, however the process ends. Within one process, too,
    a file is locked once only.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.

    Raises
    ------
    BlockingIOError
        Where the file is locked already.
    OSError
        Where it cannot be opened, or the file system has no locks.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        os.close(file)
        if err.errno not in _BUSY:
            raise
        raise BlockingIOError(err.errno, err.strerror, str(path)) from err
    return file
