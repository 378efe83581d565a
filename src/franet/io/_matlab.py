"""MATLAB files: version 5 and older by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from franet.io._choose import choose
from franet.io._source import reading, require, start_of
from franet.io._table import Options, Raw

__all__ = ["read"]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_USER_BLOCK = 512  # MATLAB writes its own header before that of HDF5


def read(path: Path, options: Options) -> Raw:
    """Read the table of a mat file."""
    start = start_of(path)
    if start.startswith(_HDF5) or start[_USER_BLOCK:].startswith(_HDF5):
        h5py = require("h5py", "Reading mat files of version 7.3", "hdf5")
        with reading(path, "mat"), h5py.File(path, "r") as file:
            return Raw(_from_hdf5(path, file, options.variable))
    return Raw(_from_scipy(path, options.variable))


def _from_scipy(path: Path, variable: str | None) -> Any:
    from scipy.io import loadmat, whosmat

    with reading(path, "mat"), path.open("rb") as file:
        kinds = whosmat(file)
        texts = {"char", "cell", "struct", "object", "function", "opaque"}
        shapes = {name: shape for name, shape, kind in kinds if kind not in texts}
        if variable is not None or not shapes:
            shapes = {name: shape for name, shape, _ in kinds}
        name = choose(path, shapes, variable)
        file.seek(0)
        return loadmat(file, variable_names=[name])[name]


def _from_hdf5(path: Path, file: Any, variable: str | None) -> Any:
    """MATLAB counts columns first, HDF5 rows first: arrays lie transposed."""
    import numpy as np
    from scipy import sparse

    found = {name: item for name, item in file.items() if not name.startswith("#")}
    shapes = {name: _shape(item) for name, item in found.items() if _is_array(item)}
    if variable is not None or not shapes:
        shapes = {name: _shape(item) for name, item in found.items()}
    item = found[choose(path, shapes, variable)]
    if "MATLAB_sparse" not in item.attrs:
        array = np.asarray(item[()] if hasattr(item, "dtype") else None)
        return array.astype(bool).T if _is_logical(item) else array.T
    parts: list[Any] = [
        np.asarray(item[key]) if key in item else [] for key in ("data", "ir")
    ]
    return sparse.csc_array((*parts, np.asarray(item["jc"])), shape=_shape(item))


def _shape(item: Any) -> tuple[int, ...]:
    if "MATLAB_sparse" in item.attrs:
        return (int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1)
    return tuple(getattr(item, "shape", ()))[::-1]


def _is_array(item: Any) -> bool:
    """Tell whether the item is a numeric array, not text, a cell or a struct."""
    if "MATLAB_sparse" in item.attrs:
        return True
    kind = getattr(getattr(item, "dtype", None), "kind", "O")
    return kind in "biufc" and _class(item) != "char"


def _is_logical(item: Any) -> bool:
    return _class(item) == "logical"


def _class(item: Any) -> str:
    name = item.attrs.get("MATLAB_class", b"")
    return name.decode() if isinstance(name, bytes) else str(name)
