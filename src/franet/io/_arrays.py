"""Arrays in HDF5 files and zarr folders."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from franet.io._choose import choose
from franet.io._hdf5 import look_through, start_looking
from franet.io._source import check_expansion, expect, opened, reading, require
from franet.io._table import Options, Raw

__all__ = ["read"]

_PER_CHUNK = 4096  # bytes, also where no file has the chunk


def read(path: Path, options: Options) -> Raw:
    """Read the array that `variable` names, or the only table."""
    with reading(path, options.format), ExitStack() as stack:
        arrays = _zarr(path) if options.format == "zarr" else _hdf5(path, stack)
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        name = choose(path, shapes, options.variable)
        array = arrays[name]
        if options.format == "hdf5":
            look_through(path, name)
        check_expansion(path, _chunk_bytes(array))
        nbytes = array.dtype.itemsize * array.size
        if len(shapes[name]) == 2 and options.only_opens(nbytes):
            columns = opened(path, array)
            stack.pop_all()  # the file is open as long as the array is used
            return Raw(columns)
        check_expansion(path, nbytes)
        return Raw(array[...])


def _chunk_bytes(array: Any) -> int:
    """Return what reading takes because an array is stored in chunks."""
    if not array.chunks:
        return 0
    counts = (-(-s // c) for s, c in zip(array.shape, array.chunks, strict=True))
    # One is read as a whole, and copied; of all of them something is noted.
    largest = 2 * array.dtype.itemsize * math.prod(array.chunks)
    return max(largest, _PER_CHUNK * math.prod(counts))


def _zarr(path: Path) -> dict[str, Any]:
    zarr = require("zarr", "Reading zarr files", "zarr")
    found = zarr.open(path, mode="r")
    if hasattr(found, "shape"):
        return {path.stem: found}
    return dict(found.arrays())


def _hdf5(path: Path, stack: ExitStack) -> dict[str, Any]:
    expect(path, "a HDF5 file", b"\x89HDF\r\n\x1a\n")
    start_looking()
    h5py = require("h5py", "Reading HDF5 files", "hdf5")
    look_through(path, None)
    found: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "buif":
            found[name] = item

    stack.enter_context(h5py.File(path, "r")).visititems(note)
    return found
