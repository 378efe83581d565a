"""Checks of tables; the only place that meets scikit-learn's own helpers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from franet.exceptions import DataError, UsageError

__all__ = ["check_table", "number_to_select"]


def check_table(estimator: Any, X: Any, *, allow_missing: bool = False) -> Any:
    """Return the table as float32 or float64, dense or sparse; never a changed input.

    Sets ``n_features_in_`` and ``feature_names_in_`` on the estimator. Integers and
    booleans become float64. The error for a bad value names its column.
    """
    _check_names(X)
    try:
        table = validate_data(
            estimator,
            X,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=2,
            ensure_min_features=2,
        )
    except ValueError as err:
        _explain_text(X, err)
        raise
    _check_finite(table, getattr(estimator, "feature_names_in_", None), allow_missing)
    return table


def _check_names(X: Any) -> None:
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(name) for name in repeated[:5])
        raise DataError(
            f"Column names must be unique; repeated: {shown}"
            f"{' …' if len(repeated) > 5 else ''}. Rename or drop the copies."
        )


def _explain_text(X: Any, err: Exception) -> None:
    """Raise an error that names the first column which does not hold numbers."""
    if "could not convert" not in str(err):
        return
    values = X if sparse.issparse(X) else np.asarray(X, dtype=object)
    for j in range(values.shape[1]):
        try:
            check_array(
                values[:, [j]], dtype=np.float64, ensure_all_finite=False, copy=True
            )
        except ValueError:
            name = _column(j, getattr(X, "columns", None))
            raise DataError(
                f"{name} does not hold numbers ({err}). Drop or encode it first."
            ) from err


def _column(j: int, names: Any) -> str:
    return f"Column {j}" if names is None else f"Column {names[j]!r} ({j})"


def _check_finite(X: Any, names: Any, allow_missing: bool) -> None:
    values = X.data if sparse.issparse(X) else X
    # The sum is not finite as soon as one value is not: one pass, no mask.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if np.isfinite(total):
        return
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if allow_missing and sparse.issparse(X) and np.isnan(values).any():
        raise DataError(
            "missing='pairwise' needs a dense table: NaN in a sparse one is not "
            "supported. Pass X.toarray()."
        )
    if not bad.any():
        return
    row, j = _first_bad(X, bad)
    value = "NaN" if np.isnan(X[row, j]) else "infinity (inf)"
    remedy = (
        "Fill or drop it, or set missing='pairwise'."
        if value == "NaN"
        else "Clip or drop it."
    )
    raise DataError(f"{_column(j, names)} holds {value} in row {row}. {remedy}")


def _first_bad(X: Any, bad: NDArray[np.bool_]) -> tuple[int, int]:
    if sparse.issparse(X):
        coo = X.tocoo()
        where = ~np.isfinite(coo.data)
        columns, rows = coo.coords[1][where], coo.coords[0][where]
    else:
        rows, columns = np.nonzero(bad)
    first = np.lexsort((rows, columns))[0]
    return int(rows[first]), int(columns[first])


def number_to_select(wanted: Any, n: int) -> int:
    """Return how many features to keep, as RFE counts: None half, a float a share."""
    if wanted is None:
        return n // 2
    if isinstance(wanted, float | np.floating):
        return max(1, int(n * wanted))
    if wanted > n:
        raise UsageError(
            f"n_features_to_select={wanted}, but the table has {n} features. Ask for "
            f"at most {n}."
        )
    return int(wanted)
