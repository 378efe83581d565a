"""NumPy arrays: npy, npz, and the sparse matrices that scipy saves as npz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from franet.exceptions import DataError
from franet.io._choose import choose
from franet.io._source import check_expansion, expect, opened, reading
from franet.io._table import Options, Raw, from_structured

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read a npy or npz file; pickled objects in it are never loaded."""
    import numpy as np

    if options.format == "npy":
        expect(path, "a npy file", b"\x93NUMPY")
        if options.only_opens(path.stat().st_size):
            return _mapped(path)
        with reading(path, "npy"), path.open("rb") as file:
            array = _array(path, lambda: np.load(file, allow_pickle=False))
    else:
        expect(path, "a npz file", b"PK\x03\x04", b"PK\x05\x06")
        array = _from_archive(path, options.variable)
    if array.dtype.names is not None and array.ndim == 1:
        return from_structured(path, array, options.drop)
    return Raw(array)


def _mapped(path: Path) -> Raw:
    """Return a npy file that is opened, not read."""
    import numpy as np

    with reading(path, "npy"):
        X = _array(path, lambda: np.load(path, mmap_mode="r", allow_pickle=False))
    return Raw(opened(path, X))


def _array(path: Path, load: Any) -> Any:
    try:
        return load()
    except ValueError as err:
        if not str(err).startswith(("Object arrays", "Array can't be memory-mapped")):
            raise
        raise DataError(
            f"{path}: the array holds Python objects, which are never loaded; "
            "save it with a numeric dtype"
        ) from err


def _from_archive(path: Path, variable: str | None) -> Any:
    import numpy as np
    from scipy import sparse

    # Files are opened here, because NumPy leaves a damaged archive open.
    with reading(path, "npz"), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        check_expansion(path, sum(each.file_size for each in archive.zip.infolist()))
        if "format" in archive.files and "shape" in archive.files:
            file.seek(0)
            return sparse.load_npz(file)
        shapes = {name: _shape(archive, name) for name in archive.files}
        name = choose(path, shapes, variable)
        return _array(path, lambda: archive[name])


def _shape(archive: Any, name: str) -> tuple[int, ...]:
    """Return the shape of an array of an archive without reading its numbers."""
    import numpy as np

    with archive.zip.open(f"{name}.npy") as member:
        if np.lib.format.read_magic(member) == (1, 0):
            return np.lib.format.read_array_header_1_0(member)[0]
    return tuple(archive[name].shape)
