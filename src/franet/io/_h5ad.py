"""AnnData of single cells, in h5ad files and zarr folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.exceptions import DataError, UsageError
from franet.io._hdf5 import look_through, start_looking
from franet.io._source import (
    check_expansion,
    check_shape,
    chunk_bytes,
    claimed_bytes,
    expect,
    opened,
    reading,
)
from franet.io._table import Options, Raw
from franet.pairs.columns._zarr import check_arrays

__all__ = ["read", "read_folder"]

_SPARSE = ("csr_matrix", "csc_matrix")
_INDEX = ("categorical", "nullable-string-array")  # kinds of names that are groups


def read(path: Path, options: Options) -> Raw:
    """Read `X`, or the layer that `variable` names; names are those of `var`."""
    expect(path, "a h5ad file", b"\x89HDF\r\n\x1a\n")
    start_looking()
    anndata = require("anndata", "Reading h5ad files", "anndata")
    with reading(path, "h5ad"):
        # A layer is read as a whole even then.
        lazy = options.variable in (None, "X") and options.only_opens(
            path.stat().st_size
        )
        check_expansion(path, look_through(path, "", "X" if lazy else ""))
        data = anndata.read_h5ad(path, backed="r" if lazy else None)
        X = _matrix(path, data.X, data.layers, options.variable)
        if lazy:
            X = opened(path, X)
        return Raw(X, columns=list(data.var_names), rows=list(data.obs_names))


def read_folder(path: Path, root: Any, options: Options) -> Raw:
    """Read the same from a zarr folder, and nothing else that is there.

    Parameters
    ----------
    path : Path
        The folder.
    root : zarr.Group
        What it holds.
    options : Options
        What the caller said.
    """
    anndata = require("anndata", "Reading AnnData", "anndata")
    layers = dict(root["layers"].members()) if "layers" in root else {}
    X = root.get("X")
    if X is not None and X.attrs.get("encoding-type") == "null":  # before anndata 0.13
        X = None
    item = _matrix(path, X, layers, options.variable)
    index = _index(path, root["obs" if options.transpose else "var"])
    for found, kinds in ((item, _SPARSE), (index, _INDEX)):
        check_arrays(str(path), found)
        _check_parts(path, found, kinds)
    if not hasattr(item, "shape"):
        check_shape(path, tuple(map(int, item.attrs["shape"])))
    lazy = options.only_opens(claimed_bytes(item))
    whole = not (lazy and hasattr(item, "shape"))
    check_expansion(
        path,
        claimed_bytes(index) + (claimed_bytes(item) if whole else chunk_bytes(item)),
    )
    labels = [str(name) for name in anndata.io.read_elem(index)]
    if not lazy:
        X = anndata.io.read_elem(item)
    else:
        X = opened(path, anndata.io.sparse_dataset(item) if whole else item)
    return Raw(X, rows=labels) if options.transpose else Raw(X, columns=labels)


def _index(path: Path, frame: Any) -> Any:
    """Return the names of a data frame in a zarr folder, not read yet."""
    members = dict(frame.members())
    name = frame.attrs.get("_index")
    if name not in members:  # it could lead out of the folder
        raise DataError(f"{path}: {frame.name} has no index {name!r}; write it again")
    return members[name]


def _check_parts(path: Path, item: Any, kinds: tuple[str, ...]) -> None:
    """Raise a DataError unless an item is an array, or a known group of arrays.

    anndata follows names in the attributes of others, also out of the folder.
    """
    if hasattr(item, "shape"):
        return
    kind = item.attrs.get("encoding-type")
    if kind not in kinds or not all(hasattr(x, "shape") for _, x in item.members()):
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
