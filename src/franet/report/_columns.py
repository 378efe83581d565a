"""The values of the features: a small histogram each, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from franet.estimators._validation import check_table, fitted_table
from franet.exceptions import DataError
from franet.pairs.coded import CodedTable
from franet.report._numbers import number

__all__ = ["check_columns", "distribution", "missing"]

_BINS = 24


def check_columns(ranker: Any, X: Any) -> Any:
    """Return the table that a ranker was fitted to, checked against it."""
    try:
        with fitted_table(ranker, X) as given:
            table = _as_fitted(ranker, given)
    except (TypeError, ValueError) as err:
        said = " ".join(str(err).split())
        raise DataError(f"{said} Pass the table that was fitted.") from err
    if isinstance(table, CodedTable):
        return table
    table = table.tocsc() if sparse.issparse(table) else table
    if getattr(ranker, "missing", "error") == "error" and missing(table)[0]:
        raise DataError(
            f"X holds NaN, but {type(ranker).__name__} was fitted without. "
            "Pass the table that was fitted."
        )
    return table


def _as_fitted(ranker: Any, X: Any) -> Any:
    mixed = getattr(ranker, "similarity", None) == "mixed"
    # A copy: a check forgets what the ranker was fitted to.
    if mixed and isinstance(coded := check_table(clone(ranker), X), CodedTable):
        validate_data(ranker, X, reset=False, skip_check_array=True)
        return coded
    return validate_data(
        ranker,
        X,
        reset=False,
        accept_sparse=("csr", "csc"),
        dtype=(np.float64, np.float32),
        ensure_all_finite="allow-nan",
    )


def distribution(table: Any, feature: int) -> dict[str, Any]:
    """Return the histogram of a feature and its main numbers.

    Parameters
    ----------
    table : ndarray, CSC array or CodedTable of shape (m, n)
        The table.
    feature : int
        The column.

    Returns
    -------
    dict
        ``counts`` (per bin), ``low``, ``high``, ``median``, ``missing`` (cells). Of a
        category ``counts`` are those of the commonest levels, the next three None,
        and there are ``levels`` (how many) and ``commonest``.
    """
    if isinstance(table, CodedTable):
        if table.is_category[feature]:
            return _levels(table, feature)
        table = table.values
    column = table[:, [feature]]
    values = np.ravel(column.toarray() if sparse.issparse(column) else column)
    there = values[~np.isnan(values)].astype(np.float64)
    if not len(there):
        return {
            "counts": [],
            "low": None,
            "high": None,
            "median": None,
            "missing": len(values),
        }
    low, high = float(there.min()), float(there.max())
    return {
        "counts": _histogram(there, low, high).tolist(),
        "low": number(low, 4),
        "high": number(high, 4),
        "median": number(np.median(there), 4),
        "missing": len(values) - len(there),
    }


def _levels(table: CodedTable, feature: int) -> dict[str, Any]:
    """Return how often the levels of a category occur, the commonest first."""
    counts = np.bincount(table.values[:, feature].astype(np.intp))
    order = np.argsort(-counts, kind="stable")
    names = table.levels[feature]
    assert names is not None
    return {
        "counts": counts[order[:_BINS]].tolist(),
        "low": None,
        "high": None,
        "median": None,
        "missing": 0,
        "levels": int(np.count_nonzero(counts)),
        "commonest": str(names[order[0]]),
    }


def _histogram(
    values: NDArray[np.float64], low: float, high: float
) -> NDArray[np.intp]:
    # Scaled first: numpy refuses ranges that overflow or vanish next to the values.
    width = high / 2 - low / 2
    if width <= 0:
        return np.array([len(values)])
    share = (values / 2 - low / 2) / width
    bins = np.minimum((share * _BINS).astype(np.intp), _BINS - 1)
    return np.bincount(bins, minlength=_BINS)


def missing(table: Any) -> tuple[int, NDArray[np.intp]]:
    """Return how many cells are missing, and in which features."""
    if isinstance(table, CodedTable):  # a gap would have been an error
        return 0, np.empty(0, np.intp)
    if sparse.issparse(table):
        gaps = np.isnan(table.data)
        if not gaps.any():
            return 0, np.empty(0, np.intp)
        column = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
        return int(gaps.sum()), np.unique(column[gaps])
    # A sum is NaN as soon as one value is: one pass and no mask for whole tables.
    with np.errstate(over="ignore", invalid="ignore"):
        some = np.flatnonzero(np.isnan(table.sum(axis=0, dtype=np.float64)))
    gaps = np.isnan(table[:, some])
    return int(gaps.sum()), some[gaps.any(axis=0)]
