"""Opening files, and turning what goes wrong below into one line."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from franet.exceptions import DataError, MissingExtraError, UsageError

__all__ = [
    "check_readable",
    "expect",
    "open_binary",
    "open_text",
    "opened",
    "reading",
    "require",
]

_GZIP = b"\x1f\x8b"


def check_readable(path: Path, folder: bool = False) -> None:
    """Raise a DataError unless `path` is a file that can be read and is not empty.

    With `folder` it may be a folder, too.
    """
    try:
        if folder and path.is_dir():
            return
        if path.is_dir():
            raise DataError(f"{path}: is a directory; give the file inside it")
        if not path.exists():
            raise DataError(f"{path}: no such file; check the path")
        if not path.is_file():
            raise DataError(f"{path}: is not a regular file; save the data to one")
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise DataError(
            f"{path}: cannot be opened ({reason}); check its permissions"
        ) from err
    if empty:
        raise DataError(f"{path}: the file is empty; write the table again")


def opened(path: Path, X: Any) -> Any:
    """Return a table that is opened, not read; what is wrong with it names the file."""
    from franet.columns import open_columns

    try:
        columns = open_columns(X)
    except DataError as err:
        raise DataError(f"{path}: {err}") from err
    if columns is None:
        raise DataError(f"{path}: cannot be read piece by piece; read all of it")
    # The command line has the names; messages get them there.
    columns.names = None
    return columns


def start_of(path: Path, size: int = 1024) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(size)


def expect(path: Path, kind: str, *magic: bytes) -> None:
    """Raise a DataError unless the file starts with one of the signatures."""
    if not start_of(path).startswith(magic):
        raise DataError(
            f"{path}: is not {kind}; give its true kind by --format (format=)"
        )


def open_binary(path: Path) -> IO[bytes]:
    """Open a plain or gzipped file for reading bytes."""
    if start_of(path, 2) == _GZIP:
        import gzip

        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix.lower() == ".gz":
        raise DataError(
            f"{path}: ends in .gz but is not gzipped; rename it or compress it again"
        )
    return path.open("rb")


def open_text(path: Path) -> IO[str]:
    """Open a plain or gzipped file as UTF-8 text, with or without a BOM."""
    return io.TextIOWrapper(open_binary(path), encoding="utf-8-sig")


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn every failure of a library below into a one-line DataError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (DataError, UsageError, MissingExtraError):
        raise
    except MemoryError as err:
        raise DataError(
            f"{path}: does not fit into memory; use fewer columns or a sparse format"
        ) from err
    except UnicodeDecodeError as err:
        raise DataError(
            f"{path}: is not UTF-8 text; save it as UTF-8, or give its true kind by "
            "--format (format=)"
        ) from err
    except Exception as err:
        reason = " ".join(str(err).split())[:200] or type(err).__name__
        raise DataError(
            f"{path}: cannot be read as {kind} ({reason}); the file is cut off, "
            "damaged or of another kind (see --format)"
        ) from err


def require(module: str, what: str, extra: str) -> Any:
    """Import an optional dependency, or name the extra that installs it."""
    try:
        return import_module(module)
    except ImportError as err:
        raise MissingExtraError(what, extra) from err
