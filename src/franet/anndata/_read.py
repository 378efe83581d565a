"""The matrix to rank, in memory and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.exceptions import DataError, UsageError
from franet.pairs.columns._open import as_numpy, check_stored

__all__ = ["read_matrix"]


def read_matrix(adata: Any, layer: str | None, *, allow_missing: bool = False) -> Any:
    """Return X or a layer as a dense array or a sparse matrix.

    What lies in memory is not copied; what lies in a file is read once.

    Parameters
    ----------
    adata : AnnData
        The data.
    layer : str or None
        The layer; None: X.
    allow_missing : bool, default=False
        Whether NaN is let through.
    """
    check_stored(adata)
    # From anndata 0.13 on X is among the layers, as None.
    layers = [name for name in adata.layers if name is not None]
    if layer is None:
        X = adata.X
        if X is None:
            raise DataError(
                f"adata has no X. Choose a layer: {', '.join(layers) or 'it has none'}."
            )
    elif layer in layers:
        X = adata.layers[layer]
    else:
        raise UsageError(
            f"layer={layer!r}: adata has {', '.join(layers) or 'no layers'}. None is X."
        )
    X = _in_memory(X)
    _check_finite(X, adata.var_names, adata.obs_names, allow_missing)
    return X


def _in_memory(X: Any) -> Any:
    if sparse.issparse(X):
        return X
    check_stored(X)
    # Sparse matrices in files have the first, arrays of dask the second.
    for method in ("to_memory", "compute"):
        if hasattr(X, method):
            return getattr(X, method)()
    return np.asarray(as_numpy(X))


def _check_finite(X: Any, names: Any, cells: Any, allow_missing: bool) -> None:
    """Raise an error that names the first variable with a bad value."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    # The sum is not finite as soon as one value is not: one pass, no mask.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not bad.any():
        return
    row, j = _first(X, bad)
    what = "NaN" if np.isnan(X[row, j]) else "infinity"
    raise DataError(
        f"{str(names[j])!r} holds {what} in {str(cells[row])!r}. Fill the value, or "
        "leave out the variable or the observation."
    )


def _first(X: Any, bad: NDArray[np.bool_]) -> tuple[int, int]:
    """Return row and column of the first bad value, column by column."""
    if sparse.issparse(X):
        coo = X.tocoo()
        rows, columns = coo.coords[0][bad], coo.coords[1][bad]
    else:
        rows, columns = np.nonzero(bad)
    first = np.lexsort((rows, columns))[0]
    return int(rows[first]), int(columns[first])
