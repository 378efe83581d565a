"""Checks of tables; the only place that meets scikit-learn's own helpers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context, clone
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from franet._common.memory import available_bytes, parse_bytes
from franet._common.optional import require
from franet._common.supports import check_supported
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.coded import CodedTable, code_table, column_at, too_large
from franet.pairs.columns import Columns, open_columns
from franet.pairs.columns._base import check_dimensions, check_finite, number_type
from franet.pairs.columns._open import as_numpy, in_memory
from franet.pairs.similarity import CORRELATIONS, GAPS
from franet.pairs.similarity._correlation import rank_columns

# So many features are put in order even where fewer are selected.
UNASKED = 64

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
    estimator: Any, X: Any, *, lazy: bool = False, missing: str | None = None
) -> Any:
    """Return the table as float32 or float64, dense or sparse; never a changed input.

    Sets ``n_features_in_`` and ``feature_names_in_`` on the estimator. Integers and
    booleans become float64. The error for a bad value names its column.

    With ``similarity="mixed"`` a table that holds text is returned as a `CodedTable`.
    With ``lazy``, a table that does not lie in memory is returned as `Columns` under
    the correlations; its values are checked by those who read them. Otherwise it is
    read into memory, if it fits. `missing` is used in place of the estimator's own.
    """
    columns = open_columns(X)
    similarity = getattr(estimator, "similarity", None)
    missing = getattr(estimator, "missing", "error") if missing is None else missing
    allow_missing = missing == "pairwise"
    if columns is None:
        X, names = in_memory(X)
    elif lazy and not allow_missing and similarity in CORRELATIONS:
        return _check_columns(estimator, columns)
    else:
        X, names = _load(estimator, columns, X), columns.names
    table = _check_in_memory(estimator, X, allow_missing, names)
    if names is not None:
        estimator.feature_names_in_ = names
    return table


def _check_columns(estimator: Any, columns: Columns) -> Columns:
    """Return a table to be read piece by piece."""
    _check_shape(estimator, columns.shape)
    estimator.n_features_in_ = columns.shape[1]
    if columns.names is not None:
        _check_unique(columns.names)
        estimator.feature_names_in_ = columns.names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    columns.for_gaps = estimator._for_gaps(columns.is_sparse)
    return columns


def _load(estimator: Any, columns: Columns, X: Any) -> Any:
    """Return a table that lies elsewhere in memory, if it fits."""
    if isinstance(X, np.memmap):  # the system reads it, and forgets it again
        return X
    given = getattr(estimator, "max_memory", None)
    most = available_bytes() if given is None else parse_bytes(given)
    if columns.nbytes > most:
        limit: Any = f"the {most / 1e9:.3g} GB that are free"
        if given is not None:
            limit = Setting("max_memory", given)
        raise UsageError(
            f"The table takes {columns.nbytes / 1e9:.3g} GB, more than {{}}.",
            limit,
            Setting("similarity", "correlation", ranker="FRANe"),
            remedy="{1}, 'abs-correlation' or 'spearman' reads it piece by piece; "
            f"otherwise {'' if given is None else 'raise it, or '}pass fewer columns.",
        )
    return columns.load()


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
    _check_head(X)
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
        _explain(estimator, X, err)
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
    _check_shape(estimator, coded.shape)
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
        table = check_table(ranker, X, lazy=lazy)
        if ranker.n_features_in_ != self._n_columns:
            raise DataError(
                f"X has {ranker.n_features_in_} features, the table of the fit had "
                f"{self._n_columns}. Pass that table."
            )
        names: Any = getattr(ranker, "feature_names_in_", self._names)
        if self._names is not None and (names != self._names).any():
            j = np.argmax(names != self._names)
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


def _check_unique(columns: Any) -> None:
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(name) for name in repeated[:5])
        raise DataError(
            f"Column names must be unique; repeated: {shown}"
            f"{' …' if len(repeated) > 5 else ''}. Rename or drop the copies."
        )


def _check_head(X: Any) -> None:
    """Refuse repeated names, and dates and durations: they would be nanoseconds."""
    columns = getattr(X, "columns", None)
    if columns is not None and not callable(columns):
        _check_unique(columns)
    kinds = [getattr(X, "dtype", None)] if columns is None else X.dtypes
    for j, kind in enumerate(kinds):
        if str(kind).lower().startswith(("date", "duration", "period", "time")):
            raise DataError(
                f"{{}} holds dates or times ({kind}), not numbers.",
                column_at(j, columns),
                remedy="Drop or encode it first.",
            )


def _explain(estimator: Any, X: Any, err: Exception) -> None:
    """Raise, in one line, what is wrong with a table that scikit-learn refuses."""
    try:
        table = X if sparse.issparse(X) else np.asarray(X)
    except ValueError:
        raise DataError(
            "The rows of the table have different lengths. Pass one value for each "
            "feature in every row."
        ) from None
    if table.dtype.kind == "c":
        number_type(table.dtype)
    if table.ndim != 2 and table.dtype.kind in "SU":
        raise DataError(
            f"Expected a table of numbers, got text ({err}). Pass samples in rows and "
            "features in columns."
        ) from err
    check_dimensions(table.shape)
    _check_shape(estimator, table.shape)
    if not sparse.issparse(X):
        _check_numbers(estimator, X, err)


def _check_numbers(estimator: Any, X: Any, err: Exception) -> None:
    """Raise an error that names the first column which does not hold numbers."""
    names, cells = getattr(X, "columns", None), np.asarray(X, dtype=object)
    for j in range(cells.shape[1]):
        try:
            check_array(cells[:, [j]], dtype=np.float64, ensure_all_finite=False)
        except OverflowError as found:
            raise too_large(column_at(j, names), found) from None
        except (TypeError, ValueError) as found:
            text = any(isinstance(cell, str) for cell in cells[:, j])
            mixed = getattr(estimator, "similarity", None) == "mixed"
            instead = estimator._for_text if text and not mixed else None
            message = DataError(
                "{} does not hold numbers ({}).",
                column_at(j, names),
                found,
                instead,
                remedy="Drop or encode it first, or use {2}."
                if instead is not None
                else "Drop or encode it first.",
            )
            # scikit-learn expects a TypeError where Python raises one.
            is_value = isinstance(found, ValueError)
            raise (message if is_value else TypeError(str(message))) from err


def names_of(ranker: Any) -> NDArray[Any]:
    """Return the names of the features; ``x0``, ``x1``, … where the table has none."""
    names = getattr(ranker, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(ranker.n_features_in_)])
    return np.asarray(names)


def check_part(
    X: Any, names: NDArray[Any] | None, n: int, which: str
) -> NDArray[np.float64]:
    """Return some columns of a table that was fitted, as numbers.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n)
        The columns.
    names : ndarray of str or None
        Their names, which those of a data frame have to be.
    n : int
        How many there have to be.
    which : str
        Which columns these are, in words.
    """
    given = as_numpy(X)
    own = getattr(given, "columns", None)
    # A table without names, in a frame, has numbers for names.
    if own is not None and names is not None and len(own) == n:
        known = [str(name) for name in own]
        if known != list(map(str, names)):
            j = next(j for j in range(n) if known[j] != str(names[j]))
            raise DataError(
                f"Column {j} of X is {known[j]!r}, that of the fit was "
                f"{str(names[j])!r}. Pass {which}, in their order."
            )
    values = check_array(
        given,
        accept_sparse=("csr", "csc"),
        dtype=np.float64,
        ensure_all_finite=False,
    )
    if values.shape[1] != n:
        raise DataError(
            f"X has {values.shape[1]} columns, {n} are expected. Pass {which}, in "
            "their order."
        )
    check_finite(values, names, False, None)
    return dense(values)


def like(X: Any, table: NDArray[np.float64], names: NDArray[Any]) -> Any:
    """Return a table as a data frame with names where X is one of pandas or polars."""
    if hasattr(X, "get_columns"):
        return require("polars", "a polars frame", "polars").DataFrame(
            {str(name): column for name, column in zip(names, table.T, strict=True)}
        )
    given = as_numpy(X)
    if not hasattr(given, "iloc"):
        return table
    pandas = require("pandas", "a pandas frame", "pandas")
    return pandas.DataFrame(table, index=given.index, columns=names)


def number_to_select(wanted: Any, n: int) -> int:
    """Return how many features to keep, as RFE counts: None half, a float a share."""
    if wanted is None:
        return n // 2
    if isinstance(wanted, float | np.floating):
        return max(1, int(n * wanted))
    if wanted > n:
        raise UsageError(
            f"{{}}, but the table has {n} features.",
            Setting("n_features_to_select", wanted),
            remedy=f"Ask for at most {n}.",
        )
    return int(wanted)


def how_many(n_ranked: int | str | None, selected: Any, n: int) -> int:
    """Return how many of `n` features a greedy ranker puts in order, at least."""
    asked = UNASKED if selected is None else number_to_select(selected, n)
    if n_ranked == "auto":
        asked = max(asked, UNASKED)
    elif n_ranked is not None:
        asked = int(n_ranked)
    return min(asked, n)


def dense(X: Any) -> NDArray[Any]:
    """Return a checked table as a dense array; a dense one is not copied."""
    return X if isinstance(X, np.ndarray) else X.toarray()
