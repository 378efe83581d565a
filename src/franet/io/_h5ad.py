"""AnnData files of single-cell data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from franet.exceptions import DataError, UsageError
from franet.io._hdf5 import look_through, start_looking
from franet.io._source import check_expansion, expect, opened, reading, require
from franet.io._table import Options, Raw

__all__ = ["read"]


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
        X = _matrix(path, data, options.variable)
        if lazy:
            X = opened(path, X)
        return Raw(X, columns=list(data.var_names), rows=list(data.obs_names))


def _matrix(path: Path, data: Any, variable: str | None) -> Any:
    """Return X, or a layer."""
    # From anndata 0.13 on X is among the layers, as None.
    layers = [name for name in data.layers if name is not None]
    if variable not in (None, "X", *layers):
        raise UsageError(
            f"{path}: has no layer {variable!r}; it has {', '.join(['X', *layers])}"
        )
    X = data.layers[variable] if variable in layers else data.X
    if X is None:
        raise DataError(
            f"{path}: has no X; choose a layer by --variable (variable=): "
            f"{', '.join(layers) or 'it has none'}"
        )
    return X
