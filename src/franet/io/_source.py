"""What a file is, opening it, and turning what goes wrong below into one line."""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from franet._common.files import unguard
from franet.exceptions import DataError, MissingExtraError, UsageError

HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"
# Real tables are packed by less; a file that would grow by more is a decompression
# bomb, or damaged.
_MOST_TIMES = 500
_HARMLESS = 1 << 26  # bytes
# Bytes of a row or column, also an empty one; ranking takes more. 2**20 columns, as
# hashed features have, and some 70,000 rows are harmless.
_PER_LINE = 60
_PER_CHARACTER = 4  # bytes of a table: a digit and a comma are a number


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    module : str
        The module of `franet.io` whose `read(path, options)` reads it.
    endings : tuple of str
        The file endings that stand for it.
    takes : frozenset of str
        Which of `header`, `index`, `text`, `decimal` and `variable` mean something
        for it.
    gzip : bool
        Whether a gzipped file is read too.
    libraries : tuple of str
        What reads it in another process; none where NumPy or text is read in this one.
    """

    module: str
    endings: tuple[str, ...]
    takes: frozenset[str] = frozenset()
    gzip: bool = False
    libraries: tuple[str, ...] = ()

    def read(self, path: Path, options: Any) -> Any:
        """Read a file in this process."""
        return import_module(f"franet.io.{self.module}").read(path, options)


_TEXT = frozenset({"header", "index", "text", "decimal"})
_FRAME = frozenset({"index", "text"})
_NAMED = frozenset({"variable"})

FORMATS: dict[str, Format] = {
    "csv": Format("_text", (".csv",), _TEXT, gzip=True),
    "tsv": Format("_text", (".tsv", ".tab"), _TEXT, gzip=True),
    "txt": Format("_text", (".txt", ".dat"), _TEXT, gzip=True),
    "parquet": Format("_frames", (".parquet", ".pq"), _FRAME, libraries=("polars",)),
    "feather": Format(
        "_frames", (".feather", ".arrow", ".ipc"), _FRAME, libraries=("polars",)
    ),
    "npy": Format("_matrices", (".npy",)),
    "npz": Format("_matrices", (".npz",), _NAMED),
    "mat": Format("_matlab", (".mat",), _NAMED, libraries=("scipy.io",)),
    "h5ad": Format("_arrays", (".h5ad",), _NAMED, libraries=("h5py", "anndata")),
    "hdf5": Format("_arrays", (".h5", ".hdf5"), _NAMED, libraries=("h5py",)),
    "zarr": Format("_arrays", (".zarr",), _NAMED, libraries=("zarr",)),
    "mtx": Format("_matrices", (".mtx",), gzip=True),
    "libsvm": Format("_matrices", (".libsvm", ".svm", ".svmlight"), gzip=True),
    "arff": Format("_matrices", (".arff",), gzip=True),
}

ENDINGS: dict[str, str] = {
    ending: name for name, kind in FORMATS.items() for ending in kind.endings
}


def find_format(path: Path, given: str | None) -> str:
    """Return the name of the format, as given or by the ending of `path`.

    Raises
    ------
    DataError
        Where the ending is not known.
    UsageError
        Where the given name is not known.

    Examples
    --------
    >>> find_format(Path("counts.mtx.gz"), None)
    'mtx'
    """
    if given is not None:
        name = given.lower().lstrip(".")
        name = ENDINGS.get(f".{name}", name)
        if name not in FORMATS:
            raise UsageError(
                f"unknown format {given!r}; known are {', '.join(FORMATS)}"
            )
        return name
    endings = [ending.lower() for ending in path.suffixes]
    zipped = endings[-1:] == [".gz"]
    ending = "".join(endings[-2:-1] if zipped else endings[-1:])
    found = ENDINGS.get(ending)
    if found is None or (zipped and not FORMATS[found].gzip):
        shown = repr(ending + ".gz" * zipped) if endings else "none"
        raise DataError(
            f"{path}: unknown file ending ({shown}); known are {', '.join(ENDINGS)} "
            "(text formats also with .gz); say which it is by --format (format=)"
        )
    return found


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


def stored_bytes(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def most_bytes(size: int) -> int:
    """Return what a table may take in memory whose file has so many bytes."""
    return max(_HARMLESS, _MOST_TIMES * size)


def check_expansion(path: Path, nbytes: int, what: str = "the table") -> None:
    """Raise a DataError where a small file claims to hold a huge table.

    Parameters
    ----------
    path : Path
        The file or folder.
    nbytes : int
        What the table takes in memory, as the file says.
    what : str, default="the table"
        What would take the memory.
    """
    if nbytes > _HARMLESS and nbytes > most_bytes(stored_bytes(path)):
        raise DataError(
            f"{path}: {what} would take {nbytes / 1e9:.1f} GB of memory, more than "
            f"{_MOST_TIMES} times the file; it is damaged or a possible decompression "
            "bomb. If it is neither, unpack it first, or save it without compression"
        )


def check_shape(path: Path, shape: tuple[int, ...]) -> None:
    """Raise a DataError where a small file declares very many rows or columns.

    Parameters
    ----------
    path : Path
        The file or folder.
    shape : tuple of int
        The shape, as the file states it; empty rows and columns count.
    """
    what = f"a table of the declared shape ({', '.join(map(str, shape))})"
    check_expansion(path, _PER_LINE * sum(shape), what)


class _Unpacked(gzip.GzipFile):
    """What is in a gzipped file, as long as it is not far more than the file."""

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes; a DataError is raised at a decompression bomb."""
        data = super().read(size)
        check_expansion(Path(self.name), _PER_CHARACTER * self.tell())
        return data


def opened(path: Path, X: Any) -> Any:
    """Return a table that is opened, not read; what is wrong with it names the file."""
    from franet.pairs.columns import open_columns

    try:
        columns = open_columns(X)
    except DataError as err:
        raise DataError(f"{path}: {err}") from err
    if columns is None:
        raise DataError(f"{path}: cannot be read piece by piece; read all of it")
    # The command line has the names; messages get them there.
    columns.names, columns.source = None, str(path)
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
        return io.BufferedReader(_Unpacked(path), 1 << 17)
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
    except BaseException as err:
        # A panic of polars on a damaged file is no Exception.
        if not isinstance(err, Exception) and type(err).__name__ != "PanicException":
            raise
        reason = " ".join(str(err).split())[:200] or type(err).__name__
        raise DataError(
            f"{path}: cannot be read as {kind} ({reason}); the file is cut off, "
            "damaged or of another kind (see --format)"
        ) from err


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
