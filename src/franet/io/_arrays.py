"""Arrays in HDF5 files and zarr folders."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.exceptions import DataError
from franet.io import _h5ad
from franet.io._choose import check_tables, choose
from franet.io._hdf5 import look_through, start_looking
from franet.io._source import check_expansion, chunk_bytes, expect, opened, reading
from franet.io._table import Options, Raw, check_numbers
from franet.pairs.columns._zarr import check_arrays, check_folder

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read the array that `variable` names, or the only table; AnnData as such."""
    with reading(path, options.format), ExitStack() as stack:
        root = _zarr(path) if options.format == "zarr" else _hdf5(path, stack)
        if _is_anndata(root, options):
            return _from_anndata(path, root, options)
        arrays = _arrays(path, root, options.format)
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        check_tables(path, shapes, options.variable)
        name = choose(path, shapes, options.variable)
        array = arrays[name]
        if options.format == "hdf5":
            look_through(path, name)
        else:
            check_arrays(f"{path}: {name}", array)
        check_numbers(path, array.dtype)
        check_expansion(path, chunk_bytes(array))
        nbytes = array.dtype.itemsize * array.size
        if len(shapes[name]) == 2 and options.only_opens(nbytes):
            columns = opened(path, array)
            stack.pop_all()  # the file is open as long as the array is used
            return Raw(columns)
        check_expansion(path, nbytes)
        return Raw(array[...])


def _zarr(path: Path) -> Any:
    if not path.is_dir():
        raise DataError(f"{path}: is not a folder; unpack a zipped zarr folder first")
    zarr = require("zarr", "Reading zarr files", "zarr")
    check_folder(path)
    return zarr.open(path, mode="r")


def _hdf5(path: Path, stack: ExitStack) -> Any:
    expect(path, "a HDF5 file", b"\x89HDF\r\n\x1a\n")
    start_looking()
    h5py = require("h5py", "Reading HDF5 files", "hdf5")
    look_through(path, None)
    return stack.enter_context(h5py.File(path, "r"))


def _is_anndata(root: Any, options: Options) -> bool:
    """Tell whether X or a layer of AnnData is to be read, with its names."""
    if str(root.attrs.get("encoding-type")) != "anndata":
        return False
    # A path in the file names an array as in any other file.
    return options.format == "zarr" or "/" not in (options.variable or "")


def _from_anndata(path: Path, root: Any, options: Options) -> Raw:
    if options.format == "zarr":
        return _h5ad.read_folder(path, root, options)
    root.close()
    return _h5ad.read(path, options)


def _arrays(path: Path, root: Any, kind: str) -> dict[str, Any]:
    """Return the arrays by name; those of numbers in all groups of a HDF5 file."""
    if hasattr(root, "shape"):
        return {path.stem: root}
    if kind == "zarr":
        return dict(root.arrays())
    found: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if hasattr(item, "shape") and item.dtype.kind in "buif":
            found[name] = item

    root.visititems(note)
    return found
