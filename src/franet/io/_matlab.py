"""MATLAB files: up to version 7 by scipy, 7.3 (HDF5) by h5py."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from franet.exceptions import DataError
from franet.io._source import HDF5, reading, start_of
from franet.io._table import Options, Raw, choose

_HEADER = 128
_TEXTS = frozenset({"char", "cell", "struct", "object", "function", "opaque"})
_CLASSES = {"double": "float64", "single": "float32", "logical": "bool"}
_USER_BLOCK = 512  # MATLAB writes its own header before that of HDF5


def read(path: Path, options: Options) -> Raw:
    """Read the table of a mat file."""
    start = start_of(path)
    with reading(path, "mat"), ExitStack() as stack:
        if start.startswith(HDF5) or start[_USER_BLOCK:].startswith(HDF5):
            from franet.io._arrays import open_hdf5

            file = open_hdf5(path, stack, "mat files of version 7.3")
            return Raw(_from_hdf5(path, file, options.variable))
        # Texts at the start of a file of version 5 hold no zero there.
        if 0 not in start[:4] and start[_HEADER - 2 : _HEADER] not in (b"IM", b"MI"):
            raise DataError(
                f"{path}: is not a mat file; give its true kind by --format (format=)"
            )
        return Raw(_by_scipy(path, options.variable))


def _by_scipy(path: Path, variable: str | None) -> Any:
    from scipy.io import loadmat, whosmat

    with path.open("rb") as file:
        found = whosmat(file)
        name = _choose(path, [(n, s, k not in _TEXTS) for n, s, k in found], variable)
        kind = next(kind for each, _, kind in found if each == name)
        if kind in _TEXTS:
            raise DataError(
                f"{path}: {name} holds {kind} values, not numbers; save an array of "
                "numbers"
            )
        file.seek(0)
        X = loadmat(file, variable_names=[name])[name]
    if kind == "sparse" or X.dtype.kind == "c":
        return X
    # As MATLAB has them: in the file they are of the smallest type that fits.
    return X.astype(_CLASSES.get(kind, kind), copy=False)


def _choose(path: Path, found: Sequence[Any], variable: str | None) -> str:
    """Return which variable to read, of (name, shape, whether numbers) each."""
    shapes = {name: shape for name, shape, is_number in found if is_number}
    if variable is not None or not shapes:
        shapes = {name: shape for name, shape, _ in found}
    return choose(path, shapes, variable)


def _from_hdf5(path: Path, file: Any, variable: str | None) -> Any:
    """MATLAB counts columns first, HDF5 rows first: arrays lie transposed."""
    import numpy as np
    from scipy import sparse

    found = {name: item for name, item in file.items() if not name.startswith("#")}
    shapes = [(name, _shape(item), _is_array(item)) for name, item in found.items()]
    item = found[_choose(path, shapes, variable)]
    if "MATLAB_sparse" not in item.attrs:
        array = np.asarray(item[()] if hasattr(item, "dtype") else None)
        return array.astype(bool).T if _class(item) == "logical" else array.T
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


def _class(item: Any) -> str:
    name = item.attrs.get("MATLAB_class", b"")
    return name.decode() if isinstance(name, bytes) else str(name)
