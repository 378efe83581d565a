"""AnnData files of single-cell data."""

from __future__ import annotations

from pathlib import Path

from franet.exceptions import DataError, UsageError
from franet.io._source import expect, opened, reading, require
from franet.io._table import Options, Raw

__all__ = ["read"]


def read(path: Path, options: Options) -> Raw:
    """Read `X`, or the layer that `variable` names; names are those of `var`."""
    expect(path, "a h5ad file", b"\x89HDF\r\n\x1a\n")
    with reading(path, "h5ad"):
        anndata = require("anndata", "Reading h5ad files", "anndata")
        # A layer is read as a whole even then.
        lazy = options.variable in (None, "X") and options.only_opens(
            path.stat().st_size
        )
        data = anndata.read_h5ad(path, backed="r" if lazy else None)
    layers = list(data.layers)
    if options.variable in (None, "X"):
        X = data.X
        if X is None:
            raise DataError(
                f"{path}: has no X; choose a layer by --variable (variable=): "
                f"{', '.join(layers) or 'it has none'}"
            )
    elif options.variable in layers:
        X = data.layers[options.variable]
    else:
        raise UsageError(
            f"{path}: has no layer {options.variable!r}; "
            f"it has {', '.join(['X', *layers])}"
        )
    if lazy:
        X = opened(path, X)
    return Raw(X, columns=list(data.var_names), rows=list(data.obs_names))
