"""Checks of tables; the only place that meets scikit-learn's own helpers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context, clone
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from franet._common.memory import available_bytes, parse_bytes
from franet._common.supports import check_supported
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.coded import CodedTable, code_table, column_at, too_large
from franet.pairs.columns import Columns, open_columns
from franet.pairs.columns._finite import check_finite
from franet.pairs.columns._open import in_memory
from franet.pairs.similarity import GAPS
from franet.pairs.similarity._correlation import rank_columns

__all__ = [
    "TableOfFit",
    "check_table",
    "fit_context",
    "fitted_table",
    "kind_of",
    "number_to_select",
    "stays_polars",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(method: Method) -> Method:
    """Have the parameters checked before a method, as scikit-learn does for its own.

    Its decorator has no types, and would take them from the method.
    """
    checked: Method = _fit_context(prefer_skip_nested_validation=True)(method)
    return checked


def kind_of(table: Any) -> str:
    """Return which kind of table it is, as `Supports` names them."""
    if isinstance(table, CodedTable):
        return "text"
    return "sparse" if sparse.issparse(table) else "dense"


def check_table(
    estimator: Any, X: Any, *, allow_missing: bool = False, lazy: bool = False
) -> Any:
    """Return the table as float32 or float64, dense or sparse; never a changed input.

    Sets ``n_features_in_`` and ``feature_names_in_`` on the estimator. Integers and
    booleans become float64. The error for a bad value names its column.

    With ``similarity="mixed"`` a table that holds text is returned as a `CodedTable`.
    With ``lazy``, a table that does not lie in memory is returned as `Columns` under
    the correlations; its values are checked by those who read them. Otherwise it is
    read into memory, if it fits.
    """
    columns = open_columns(X)
    if columns is not None:
        X, found = _check_columns(estimator, columns, X, lazy and not allow_missing)
        if found:
            return X
    X, names = in_memory(X) if columns is None else (X, columns.names)
    table = _check_in_memory(estimator, X, allow_missing, names)
    if names is not None:
        estimator.feature_names_in_ = names
    return table


def _check_columns(
    estimator: Any, columns: Columns, X: Any, lazy: bool
) -> tuple[Any, bool]:
    """Return a table to be read piece by piece, or in memory, and which it is."""
    from franet.engine._numpy import TileEngine

    if lazy and getattr(estimator, "similarity", None) in TileEngine.supports.stored:
        _check_shape(estimator, columns.shape)
        estimator.n_features_in_ = columns.shape[1]
        if columns.names is not None:
            _check_unique(columns.names)
            estimator.feature_names_in_ = columns.names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        columns.for_gaps = estimator._for_gaps(columns.is_sparse)
        return columns, True
    if isinstance(X, np.memmap):  # the system reads it, and forgets it again
        return X, False
    given = getattr(estimator, "max_memory", None)
    most = available_bytes() if given is None else parse_bytes(given)
    if columns.nbytes > most:
        limit: Any = f"the {most / 1e9:.3g} GB that are free"
        if given is not None:
            limit = Setting("max_memory", given)
        raise UsageError(
            "The table takes {:.3g} GB, more than {}.",
            columns.nbytes / 1e9,
            limit,
            Setting("similarity", "correlation", ranker="FRANe"),
            "pass" if given is None else "raise it, or pass",
            remedy="{2}, 'abs-correlation' or 'spearman' reads it piece by piece; "
            "otherwise {3} fewer columns.",
        )
    return columns.load(), False


def _check_shape(estimator: Any, shape: tuple[int, int]) -> None:
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size < 2:
            raise DataError(
                f"Found array with {size} {what}(s) (shape={shape}) while a minimum of "
                f"2 is required by {type(estimator).__name__}. Pass a table of at "
                "least two rows and two columns."
            )


def _check_in_memory(estimator: Any, X: Any, allow_missing: bool, names: Any) -> Any:
    """Return a table in memory, checked; `names` are those that it does not carry."""
    if allow_missing:
        check_supported([GAPS], {}, kind_of(X))
    _check_names(X)
    _check_dates(X)
    mixed = getattr(estimator, "similarity", None) == "mixed"
    coded = _check_coded(estimator, X, allow_missing) if mixed else None
    if coded is not None:
        return coded
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
    except (OverflowError, TypeError, ValueError) as err:
        _explain(X, err, None if mixed else estimator._for_text)
        raise
    if sparse.issparse(table) and not table.has_canonical_format:
        # Sorting and adding up is done in place: not in the caller's arrays.
        table = table.copy()
        table.sum_duplicates()
    check_finite(
        table,
        getattr(estimator, "feature_names_in_", names),
        allow_missing,
        estimator._for_gaps(sparse.issparse(table)),
    )
    return table


def _check_coded(estimator: Any, X: Any, allow_missing: bool) -> CodedTable | None:
    """Return a table with its text as levels; None if there is no text in it."""
    coded = X if isinstance(X, CodedTable) else code_table(X)
    if coded is None:
        return None
    validate_data(estimator, X, skip_check_array=True)
    try:
        check_array(
            coded.values,
            ensure_all_finite=False,
            ensure_min_samples=2,
            ensure_min_features=2,
        )
    except ValueError as err:
        _explain(X, err)
        raise
    names = getattr(estimator, "feature_names_in_", None)
    check_finite(coded.values, names, allow_missing, None)
    return coded


class TableOfFit:
    """Checks the table of a fit again, and refuses another one.

    Parameters
    ----------
    ranker : FeatureRanker
        The ranker, whose table is known.
    ranks : bool, default=False
        Whether columns are replaced by their ranks.
    """

    def __init__(self, ranker: Any, ranks: bool = False) -> None:
        self._ranker = clone(ranker)
        self._names = getattr(ranker, "feature_names_in_", None)
        self._n_columns = ranker.n_features_in_
        self._ranks = ranks

    def __call__(self, X: Any, lazy: bool) -> Any:
        """Return the checked table; with `lazy` it may be `Columns`."""
        ranker = clone(self._ranker)
        pairwise = getattr(ranker, "missing", "error") == "pairwise"
        table = check_table(ranker, X, allow_missing=pairwise, lazy=lazy)
        if ranker.n_features_in_ != self._n_columns:
            raise DataError(
                f"X has {ranker.n_features_in_} features, the table of the fit had "
                f"{self._n_columns}. Pass that table."
            )
        names: Any = getattr(ranker, "feature_names_in_", self._names)
        if (
            self._names is not None
            and (other := np.flatnonzero(names != self._names)).size
        ):
            j = other[0]
            raise DataError(
                f"Column {j} of X is {names[j]!r}, that of the fit was "
                f"{self._names[j]!r}. Pass the columns of the fit, in the same order."
            )
        if not self._ranks:
            return table
        return rank_columns(table.toarray() if sparse.issparse(table) else table)


@contextmanager
def fitted_table(estimator: Any, X: Any) -> Iterator[Any]:
    """Give a table to compare with that of the fit, as scikit-learn understands it.

    Names that AnnData has, and that get lost with it, are compared here.
    """
    X, names = in_memory(X)
    known = getattr(estimator, "feature_names_in_", None)
    if names is None or known is None:
        yield X
        return
    if not np.array_equal(names, known):
        raise DataError(
            "The variables of adata are not those of the fit, in their order. Pass "
            "adata[:, ranker.feature_names_in_]."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield X


def stays_polars(estimator: Any, X: Any) -> bool:
    """Return whether a polars frame is to be transformed into one; check its columns.

    scikit-learn would go by way of an array, in which all columns have one type.
    """
    wanted = _get_output_config("transform", estimator)["dense"]
    if wanted != "polars" or not hasattr(X, "get_columns"):
        return False
    check_is_fitted(estimator)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return True


def _check_names(X: Any) -> None:
    columns = getattr(X, "columns", None)
    if columns is not None and not callable(columns):
        _check_unique(columns)


def _check_unique(columns: Any) -> None:
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(name) for name in repeated[:5])
        raise DataError(
            f"Column names must be unique; repeated: {shown}"
            f"{' …' if len(repeated) > 5 else ''}. Rename or drop the copies."
        )


def _check_dates(X: Any) -> None:
    """Refuse dates and durations: as numbers they would be nanoseconds."""
    columns = getattr(X, "columns", None)
    kinds = [getattr(X, "dtype", None)] if columns is None else X.dtypes
    for j, kind in enumerate(kinds):
        if str(kind).lower().startswith(("date", "duration", "period", "time")):
            raise DataError(
                "{} holds dates or times ({}), not numbers.",
                column_at(j, columns),
                kind,
                remedy="Drop or encode it first.",
            )


def _explain(X: Any, err: Exception, for_text: Setting | None = None) -> None:
    """Raise in one line, with a remedy, what scikit-learn says at length.

    `for_text` is what else can be done about text.
    """
    said = str(err)
    if said.startswith("Complex data not supported"):
        raise DataError(
            "Complex data not supported. Pass the real part, the imaginary part or "
            "the modulus, such as numpy.abs(X)."
        ) from None
    if said.startswith(("Expected 2D", "Expected a 2-dim", "Found array with dim")):
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
        raise DataError(
            f"Expected a table with rows and columns, got {len(shape)} dimension(s) "
            f"(shape {shape}). Pass samples in rows and features in columns."
        ) from None
    if "inhomogeneous" in said:
        raise DataError(
            "The rows of the table have different lengths. Pass one value for each "
            "feature in every row."
        ) from None
    if said.startswith("Found array with"):
        raise DataError(
            f"{said} Pass a table of at least two rows and two columns."
        ) from None
    if isinstance(err, OverflowError):
        _explain_large(X, err)
    _explain_text(X, err, for_text)


def _explain_large(X: Any, err: OverflowError) -> None:
    """Raise an error that names the first column with a number too large for floats."""
    cells = np.atleast_2d(np.asarray(X, dtype=object).T)
    for j, column in enumerate(cells):
        try:
            column.astype(np.float64)
        except OverflowError:
            name = column_at(j, getattr(X, "columns", None))
            raise too_large(name, err) from None
        except (TypeError, ValueError):  # text, which is not what came first
            continue


def _explain_text(X: Any, err: Exception, for_text: Setting | None) -> None:
    """Raise an error that names the first column which does not hold numbers."""
    if "could not convert" not in str(err) and "argument must be" not in str(err):
        return
    values = X if sparse.issparse(X) else np.asarray(X, dtype=object)
    if values.ndim != 2:
        raise DataError(
            f"Expected a table of numbers, got text ({err}). Pass samples in rows and "
            "features in columns."
        ) from err
    for j in range(values.shape[1]):
        try:
            check_array(
                values[:, [j]], dtype=np.float64, ensure_all_finite=False, copy=True
            )
        except (TypeError, ValueError) as found:
            text = any(isinstance(cell, str) for cell in values[:, j])
            message = DataError(
                "{} does not hold numbers ({}).",
                column_at(j, getattr(X, "columns", None)),
                found,
                for_text,
                remedy="Drop or encode it first, or use {2}."
                if text and for_text is not None
                else "Drop or encode it first.",
            )
            # scikit-learn expects a TypeError where Python raises one.
            is_value = isinstance(found, ValueError)
            raise (message if is_value else TypeError(str(message))) from err


def number_to_select(wanted: Any, n: int) -> int:
    """Return how many features to keep, as RFE counts: None half, a float a share."""
    if wanted is None:
        return n // 2
    if isinstance(wanted, float | np.floating):
        return max(1, int(n * wanted))
    if wanted > n:
        raise UsageError(
            "{}, but the table has {} features.",
            Setting("n_features_to_select", wanted),
            n,
            remedy="Ask for at most {1}.",
        )
    return int(wanted)
