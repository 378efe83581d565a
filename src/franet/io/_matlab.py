"""MATLAB files: version 4 by scipy, 5, and 7.3 (HDF5) by h5py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from franet._common.optional import require
from franet.exceptions import DataError
from franet.io._choose import choose
from franet.io._hdf5 import look_through
from franet.io._mat5 import read_variable, variables
from franet.io._source import check_expansion, reading, start_of
from franet.io._table import Options, Raw

__all__ = ["read"]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_HEADER = 128
_TEXTS = frozenset({"char", "cell", "struct", "object", "function", "opaque"})
_USER_BLOCK = 512  # MATLAB writes its own header before that of HDF5


def read(path: Path, options: Options) -> Raw:
    """Read the table of a mat file."""
    start = start_of(path)
    if start.startswith(_HDF5) or start[_USER_BLOCK:].startswith(_HDF5):
        h5py = require("h5py", "Reading mat files of version 7.3", "hdf5")
        with reading(path, "mat"):
            look_through(path, None)
            with h5py.File(path, "r") as file:
                return Raw(_from_hdf5(path, file, options.variable))
    if 0 in start[:4]:  # texts at the start of a file of version 5 hold no zero there
        return Raw(_from_version_4(path, options.variable))
    if start[_HEADER - 2 : _HEADER] not in (b"IM", b"MI"):
        raise DataError(
            f"{path}: is not a mat file; give its true kind by --format (format=)"
        )
    return Raw(_from_version_5(path, options.variable))


def _from_version_5(path: Path, variable: str | None) -> Any:
    with reading(path, "mat"):
        order, found = variables(path)
        name = _choose(path, [(v.name, v.shape, v.kind) for v in found], variable)
        chosen = next(v for v in found if v.name == name)
        if chosen.kind not in ("numbers", "sparse"):
            raise DataError(
                f"{path}: {name} holds {chosen.kind} values, not numbers; save an "
                "array of numbers"
            )
        return read_variable(path, order, chosen)


def _from_version_4(path: Path, variable: str | None) -> Any:
    from scipy.io import loadmat, whosmat

    with reading(path, "mat"), path.open("rb") as file:
        name = _choose(path, whosmat(file), variable)
        file.seek(0)
        return loadmat(file, variable_names=[name])[name]


def _choose(path: Path, kinds: Sequence[Any], variable: str | None) -> str:
    """Return which variable to read, of (name, shape, kind) each."""
    shapes = {name: shape for name, shape, kind in kinds if kind not in _TEXTS}
    if variable is not None or not shapes:
        shapes = {name: shape for name, shape, _ in kinds}
    return choose(path, shapes, variable)


def _from_hdf5(path: Path, file: Any, variable: str | None) -> Any:
    """MATLAB counts columns first, HDF5 rows first: arrays lie transposed."""
    import numpy as np
    from scipy import sparse

    found = {name: item for name, item in file.items() if not name.startswith("#")}
    shapes = {name: _shape(item) for name, item in found.items() if _is_array(item)}
    if variable is not None or not shapes:
        shapes = {name: _shape(item) for name, item in found.items()}
    name = choose(path, shapes, variable)
    check_expansion(path, look_through(path, name))
    item = found[name]
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
