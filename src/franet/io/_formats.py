"""Which format a file has, and which module reads it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from franet.exceptions import DataError, UsageError


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
