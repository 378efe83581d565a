"""One number for a fitted selector: how well what it selects rebuilds a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from franet.estimators._validation import fitted_table
from franet.evaluation.folds import shuffled_folds
from franet.evaluation.measures import MEASURES, FoldScorer, check_measures
from franet.exceptions import DataError, Setting, UsageError

_FOLDS = 5
# Rows that are enough to judge by: time grows with their square.
_ROWS = 2000


def reconstruction(
    estimator: Any, X: Any, y: Any = None, *, measure: str = "rmae_shared"
) -> float:
    """Tell how well the selected features rebuild a table, such as held-out rows.

    It can be called as scikit-learn calls a scorer: pass it as ``scoring``, or with
    another measure ``functools.partial(reconstruction, measure="r2")``.

    The table is cut into five shuffled parts (fewer if it has less than ten rows).
    Each is rebuilt from the others, as `evaluate` does it. The selection sees none of
    it, if the rows were held out; so no rows of the fit need be kept.

    Parameters
    ----------
    estimator : estimator
        A fitted ranker, any selector with ``get_support``, or a pipeline that ends in
        one. The earlier steps of a pipeline transform the table first.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        At least four rows, without missing values. Of more than 2,000 so many are
        drawn, with a fixed seed.
    y : array-like of shape (n_samples,), default=None
        Classes, for the measures that need them.
    measure : str, default="rmae_shared"
        A name from `franet.evaluation.MEASURES`.

    Returns
    -------
    score : float
        The mean over the parts, larger is better: minus the measure, if small values
        of it are good.

    Examples
    --------
    >>> from franet.evaluation import reconstruction
    >>> from franet.rankers import ColumnSubset, RandomRanking
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, _ = load_breast_cancer(return_X_y=True)
    >>> for ranker in (ColumnSubset(4), RandomRanking(4, random_state=0)):
    ...     fitted = ranker.fit(X[:400])
    ...     print(f"{reconstruction(fitted, X[400:], measure='r2'):.2f}")
    0.66
    0.55
    """
    check_measures(measure, y is not None)
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    selected = _selected(estimator)
    if not MEASURES[measure].covers(len(selected)):
        raise UsageError(
            "{} takes at most {} selected features, not {}.",
            Setting("measure", measure),
            MEASURES[measure].limit,
            len(selected),
        )
    table, rows = _table(estimator, X)
    labels = None if y is None else np.asarray(y)[rows]
    values = []
    for fold in shuffled_folds(len(table), min(_FOLDS, len(table) // 2)):
        scorer = FoldScorer(table, fold, labels)
        found = scorer.score(selected, [len(selected)], [measure])
        values.append(found[measure][len(selected)])
    sign = -1 if MEASURES[measure].lower_is_better else 1
    return sign * float(np.mean(values))


def _selected(estimator: Any) -> NDArray[np.intp]:
    """Return the selected columns; refuse what selects none of a table."""
    name = type(estimator).__name__
    if not hasattr(estimator, "get_support"):
        raise UsageError(f"{name} selects no features. Pass a fitted ranker.")
    if getattr(estimator, "similarity", None) == "precomputed":
        raise UsageError(
            "{}: similarities cannot be rebuilt.",
            Setting("similarity", "precomputed"),
            remedy="Fit a ranker to the table.",
        )
    selected = np.asarray(estimator.get_support(indices=True), np.intp)
    if not len(selected):
        raise UsageError(f"{name} has selected no features: nothing can be rebuilt.")
    return selected


def _table(estimator: Any, X: Any) -> tuple[NDArray[np.float64], Any]:
    """Return the rows to judge by, and which they are."""
    try:
        with fitted_table(estimator, X) as table:
            table = validate_data(
                estimator, table, reset=False, accept_sparse="csr", dtype=np.float64
            )
    except (TypeError, ValueError) as err:
        raise DataError(
            f"The table cannot be rebuilt: {str(err).splitlines()[0]} Pass the columns "
            "of the fit, as numbers and without missing values."
        ) from err
    m = table.shape[0]
    if m < 4:
        raise DataError(
            f"The table cannot be rebuilt: it has {m} row(s), and at least 4 are "
            "needed. Pass more examples; in a search, take fewer folds."
        )
    rows: Any = slice(None)
    if m > _ROWS:
        rows = np.sort(np.random.default_rng(0).choice(m, _ROWS, replace=False))
        table = table[rows]
    # Neighbours and sums of differences need all cells.
    return (table.toarray() if issparse(table) else np.ascontiguousarray(table)), rows
