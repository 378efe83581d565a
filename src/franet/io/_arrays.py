"""Arrays in HDF5 files and zarr folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from franet.io._choose import choose
from franet.io._source import check_expansion, expect, opened, reading, require
from franet.io._table import Options, Raw

__all__ = ["check_datasets", "read"]


def read(path: Path, options: Options) -> Raw:
    """Read the array that `variable` names, or the only table."""
    with reading(path, options.format):
        arrays = _zarr(path) if options.format == "zarr" else _hdf5(path)
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        name = choose(path, shapes, options.variable)
        array = arrays[name]
        nbytes = array.dtype.itemsize * array.size
        if len(shapes[name]) == 2 and options.only_opens(nbytes):
            return Raw(opened(path, array))
        check_expansion(path, nbytes)
        return Raw(array[...])


def check_datasets(path: Path, without: str = "") -> None:
    """Raise a DataError where a HDF5 file claims to hold far more than it can.

    The dataset or group `without` is not to be read, and may hold what it likes.
    """
    h5py = require("h5py", "Reading HDF5 files", "hdf5")
    found: list[int] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and name.partition("/")[0] != without:
            found.append(item.size * item.dtype.itemsize if item.size else 0)

    with h5py.File(path, "r") as file:
        file.visititems(note)
    check_expansion(path, sum(found))


def _zarr(path: Path) -> dict[str, Any]:
    zarr = require("zarr", "Reading zarr files", "zarr")
    found = zarr.open(path, mode="r")
    if hasattr(found, "shape"):
        return {path.stem: found}
    return dict(found.arrays())


def _hdf5(path: Path) -> dict[str, Any]:
    expect(path, "a HDF5 file", b"\x89HDF\r\n\x1a\n")
    h5py = require("h5py", "Reading HDF5 files", "hdf5")
    found: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "buif":
            found[name] = item

    # Open as long as one of its arrays is.
    h5py.File(path, "r").visititems(note)
    return found
