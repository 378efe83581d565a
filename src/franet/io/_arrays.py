"""Arrays in HDF5 files and zarr folders, and AnnData of single cells in both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.exceptions import DataError, UsageError
from franet.io._source import (
    HDF5,
    check_expansion,
    check_shape,
    expect,
    opened,
    reading,
)
from franet.io._table import Options, Raw, choose
from franet.pairs.columns._open import where_else
from franet.pairs.columns._zarr import check_arrays, check_folder

_WHOLE = 1 << 24  # bytes of a dataset that is read whole before it is opened
_PER_CHUNK = 4096  # bytes, also where no file has the chunk
_SPARSE = ("csr_matrix", "csc_matrix")
_INDEX = ("categorical", "nullable-string-array")  # kinds of names that are groups


def read(path: Path, options: Options) -> Raw:
    """Read the array that `variable` names, or the only table; AnnData as such."""
    if options.format == "h5ad":
        require("anndata", "Reading h5ad files", "anndata")
    with reading(path, options.format), ExitStack() as stack:
        if options.format == "zarr":
            root = _open_zarr(path)
        else:
            expect(path, f"a {options.format.replace('hdf', 'HDF')} file", HDF5)
            root = open_hdf5(path, stack)
        if options.format == "h5ad" or _is_anndata(root, options):
            return _from_anndata(path, root, options, stack)
        arrays = _arrays(path, root, options.format)
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        name = choose(path, shapes, options.variable)
        array = arrays[name]
        if options.format == "zarr":
            check_arrays(f"{path}: {name}", array)
        check_expansion(path, _chunk_bytes(array))
        lazy = options.only_opens(array.dtype.itemsize * (array.size or 0))
        if lazy and len(shapes[name]) == 2:
            array = _opened(path, array, options)
        return Raw(array, held=stack.pop_all())


def _open_zarr(path: Path) -> Any:
    if not path.is_dir():
        raise DataError(f"{path}: is not a folder; unpack a zipped zarr folder first")
    zarr = require("zarr", "Reading zarr files", "zarr")
    check_folder(path)
    return zarr.open(path, mode="r")


def open_hdf5(path: Path, stack: ExitStack, what: str = "HDF5 files") -> Any:
    """Open a HDF5 file until the stack is closed.

    Raises
    ------
    DataError
        Where something in the file leads out of it, whether it will be read or not.
    """
    h5py = require("h5py", f"Reading {what}", "hdf5")
    file = stack.enter_context(h5py.File(path, "r"))

    def refuse(elsewhere: str) -> None:
        raise DataError(f"{path}: {elsewhere}; save the values themselves in this file")

    def leads_out(name: bytes, link: Any) -> str | None:
        inside = link.type in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
        return None if inside else name.decode(errors="replace")

    def check_item(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and (elsewhere := where_else(item)):
            refuse(elsewhere)
        for key, value in item.attrs.items():
            # What a name leads to was checked; old AnnData follows references.
            if isinstance(value, h5py.Reference) and value:
                if item.file[value].name is None:
                    refuse(f"/{name} refers by {key!r} to what has no name")

    if (link := file.id.links.visit(leads_out, info=True)) is not None:
        refuse(f"/{link} is an external link to another file")
    file.visititems(check_item)
    return file


def _opened(path: Path, X: Any, options: Options) -> Any:
    """Return an array or a sparse matrix in a file as `Columns`."""
    if options.format != "zarr":
        for part in X.group.values() if hasattr(X, "group") else [X]:
            _look_through(part, path.stat().st_size)
    return opened(path, X)


def _look_through(dataset: Any, in_file: int) -> None:
    """Read a small dataset; of others the index is looked at, and both ends are read.

    It will be read in a process that must not die of it.
    """
    if (dataset.size or 0) * dataset.dtype.itemsize <= _WHOLE:
        dataset[()]
        return

    def check_chunk(chunk: Any) -> None:
        if chunk.byte_offset + chunk.size > in_file:
            raise OSError("a chunk lies beyond the end of the file")

    if dataset.chunks:
        dataset.id.chunk_iter(check_chunk)
    dataset[(0,) * dataset.ndim], dataset[(-1,) * dataset.ndim]


def _chunk_bytes(array: Any) -> int:
    """Return what reading takes because an array is stored in chunks."""
    if not array.chunks:
        return 0
    counts = (-(-s // c) for s, c in zip(array.shape, array.chunks, strict=True))
    # One is read as a whole, and copied; of all of them something is noted.
    largest = 2 * array.dtype.itemsize * math.prod(array.chunks)
    return max(largest, _PER_CHUNK * math.prod(counts))


def _members(group: Any) -> dict[str, Any]:
    """Return what is in a group of a zarr folder or a HDF5 file, by name."""
    return dict(group.members() if hasattr(group, "members") else group.items())


def _claimed_bytes(item: Any) -> int:
    """Return what a stored array, or all those of a group, say that they hold."""
    if hasattr(item, "shape"):
        return max(item.dtype.itemsize * (item.size or 0), _chunk_bytes(item))
    return sum(map(_claimed_bytes, _members(item).values()))


def _is_anndata(root: Any, options: Options) -> bool:
    """Tell whether X or a layer of AnnData is to be read, with its names."""
    if str(root.attrs.get("encoding-type")) != "anndata":
        return False
    # A path in the file names an array as in any other file.
    return options.format == "zarr" or "/" not in (options.variable or "")


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


def _from_anndata(path: Path, root: Any, options: Options, stack: ExitStack) -> Raw:
    """Read `X`, or the layer that `variable` names, with names, and nothing else."""
    anndata = require("anndata", "Reading AnnData", "anndata")
    place, variable = root, options.variable
    known = _members(root["layers"]) if "layers" in root else {}
    if variable == "raw" and variable not in known and "raw" in root:
        place, variable = root["raw"], None  # which has other variables
    frame = root["obs"] if options.transpose else place["var"]
    if hasattr(frame, "shape"):  # before anndata 0.7
        stack.close()
        data = anndata.read_h5ad(path)
        if variable == "raw" and variable not in data.layers and data.raw is not None:
            return Raw(data.raw.X, [*map(str, data.raw.var_names)])
        X = _matrix(path, data.X, data.layers, options.variable)
        return Raw(X, [*map(str, data.var_names)], [*map(str, data.obs_names)])
    layers = {} if place is not root else known
    X = place.get("X")
    if X is not None and X.attrs.get("encoding-type") == "null":  # before anndata 0.13
        X = None
    X = _matrix(path, X, layers, variable)
    index = _index(path, frame)
    if options.format == "zarr":
        for found, kinds in ((X, _SPARSE), (index, _INDEX)):
            check_arrays(str(path), found)
            _check_parts(path, found, kinds)
    claimed = _claimed_bytes(X)
    lazy = options.only_opens(claimed)
    needed = _chunk_bytes(X) if lazy and hasattr(X, "shape") else claimed
    if not hasattr(X, "shape"):
        X = anndata.io.sparse_dataset(X)
        check_shape(path, X.shape)
    check_expansion(path, _claimed_bytes(index) + needed)
    labels = [str(name) for name in anndata.io.read_elem(index)]
    X = _opened(path, X, options) if lazy else X
    axis: Any = {"rows" if options.transpose else "columns": labels}
    return Raw(X, held=stack.pop_all(), **axis)


def read_annotations(path: Path, raw: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """Return what a h5ad file says of observations and variables, and embeddings.

    Parameters
    ----------
    path : Path
        The file.
    raw : bool, default=False
        Whether the variables are those of ``raw``.

    Returns
    -------
    obs, var : pandas.DataFrame
        A row for each observation, each variable.
    obsm : dict
        Arrays of two or more columns, a row for each observation.
    """
    from franet.io._sandbox import ask

    # The other process has read them before they are read here.
    ask(path, Options("h5ad", variable="raw" if raw else None, annotations=True))
    return annotations_of(path, raw)


def annotations_of(path: Path, raw: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """Return the same, read in this process."""
    anndata = require("anndata", "Reading AnnData", "anndata")
    with reading(path, "h5ad"), ExitStack() as stack:
        root = open_hdf5(path, stack)
        frames = root["obs"], (root["raw"] if raw else root)["var"]
        if any(hasattr(frame, "shape") for frame in frames):
            raise DataError(
                f"{path}: is of a time before anndata 0.7; read and write it once by "
                "anndata.read_h5ad and write_h5ad"
            )
        arrays = {
            name: item
            for name, item in _members(root.get("obsm", {})).items()
            if len(getattr(item, "shape", ())) == 2 and item.dtype.kind == "f"
        }
        parts = (*frames, *arrays.values())
        check_expansion(path, sum(map(_claimed_bytes, parts)))
        obs, var = (anndata.io.read_elem(frame) for frame in frames)
        return obs, var, {name: item[()] for name, item in arrays.items()}


def _index(path: Path, frame: Any) -> Any:
    """Return the names of a data frame, not read yet."""
    found, name = _members(frame), frame.attrs.get("_index")
    if name not in found:  # it could lead out of a zarr folder
        raise DataError(f"{path}: {frame.name} has no index {name!r}; write it again")
    return found[name]


def _check_parts(path: Path, item: Any, kinds: tuple[str, ...]) -> None:
    """Raise a DataError unless an item is an array, or a known group of arrays.

    anndata follows names in the attributes of others, also out of the folder.
    """
    if hasattr(item, "shape"):
        return
    kind = item.attrs.get("encoding-type")
    if kind not in kinds or not all(
        hasattr(x, "shape") for x in _members(item).values()
    ):
        raise DataError(
            f"{path}: {item.name} is encoded as {kind!r}; expected an array or "
            f"{' or '.join(kinds)}"
        )


def _matrix(path: Path, X: Any, given: Mapping[str, Any], variable: str | None) -> Any:
    """Return X, or one of the given layers."""
    # From anndata 0.13 on X is among the layers, as None.
    layers = [name for name in given if name is not None]
    if variable not in (None, "X", *layers):
        raise UsageError(
            f"{path}: has no layer {variable!r}; it has {', '.join(['X', *layers])}"
        )
    found = given[variable] if variable in layers else X
    if found is None:
        raise DataError(
            f"{path}: has no X; choose a layer by --variable (variable=): "
            f"{', '.join(layers) or 'it has none'}"
        )
    return found
