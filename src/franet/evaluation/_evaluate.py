"""Rankers on one's own table: curves of many, or one number for a fitted one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from franet._common import checked as kinds
from franet._common.progress import Listener, listening, report
from franet.cover._constraints import by_position
from franet.evaluation._columns import ChosenColumns, find_columns, is_list
from franet.evaluation._unit import prepare, run_unit
from franet.evaluation.folds import make_folds, name_folds, shuffled_folds
from franet.evaluation.measures import (
    MEASURES,
    FoldScorer,
    check_measures,
    feature_counts,
)
from franet.evaluation.records import RANDOM, Record, changed_parameters
from franet.evaluation.results import Results
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.columns._base import check_finite
from franet.pairs.columns._open import in_memory
from franet.rankers import RANKERS, get

# Compared with whatever is evaluated: chance, and the plainest good ranking.
_REFERENCES = {RANDOM: "RandomRanking", "column-subset": "ColumnSubset"}
_FOLDS = 5
# Rows that are enough to judge by: time grows with their square.
_ROWS = 2000


@kinds.checked(
    rankers=kinds.RANKERS,
    measures=kinds.optional(kinds.NAMES),
    repeats=kinds.WHOLE,
    references=kinds.FLAG,
    name=kinds.TEXT,
    random_state=kinds.SEED,
    progress=kinds.optional(kinds.FUNCTION),
)
def evaluate(
    X: Any,
    y: Any = None,
    *,
    rankers: Any = ("cover", "frane"),
    n_features: Any = "powers",
    folds: Any = 10,
    repeats: int = 1,
    measures: Sequence[str] | str | None = None,
    references: bool = True,
    name: str = "table",
    random_state: int = 0,
    progress: Listener | None = None,
) -> Results:
    """Judge rankers by how well their first features rebuild a table.

    Each ranker ranks the training part of each fold once; the ranking is then judged
    at every number of features, on examples that it has not seen.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table, without missing values.
    y : array-like of shape (n_samples,), optional
        Classes, for the measures that need them: without such a measure `y` is an
        error. No ranker sees them.
    rankers : estimator, str, or sequence or dict of them, default=("cover", "frane")
        Rankers by label, such as ``{"cover": Cover(), "random": RandomRanking()}``;
        strings are names from `franet.rankers.NAMES`. In a dict a list of columns, by
        name or position, is judged too: ``{"mine": ["age", "weight"]}``; it needs no
        fit, and is judged up to its length.
    n_features : "powers", int or sequence of int, default="powers"
        At how many features rankings are judged; ``"powers"``: 1, 2, 4, … and all. The
        number that the first `Cover` among the rankers suggests for the whole table,
        and the lengths of lists of columns, come with them.
    folds : int, "paper", splitter or iterable, default=10
        A number of shuffled folds, the partition of the paper, an object with
        ``split(X)``, or pairs of row numbers.
    repeats : int, default=1
        Repetitions with other shuffles, where `folds` is a number.
    measures : sequence of str, optional
        Names from `franet.evaluation.MEASURES`; by default all, those that need
        classes only with `y`.
    references : bool, default=True
        Whether random columns and `ColumnSubset` are judged too.
    name : str, default="table"
        A name for the table.
    random_state : int, default=0
        Seed of the folds and of rankers that have none.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    results : Results
        Curves, fold by fold; `table`, `plot_curves`, `recommend`, `verdicts`, `lead`.

    Examples
    --------
    >>> from franet.evaluation import evaluate
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, _ = load_breast_cancer(return_X_y=True)
    >>> results = evaluate(X, rankers="frane", folds=5, measures="rmae")
    >>> results.rankers
    ['frane', 'random', 'column-subset']
    """
    table, columns = _table(X)
    n: int = table.shape[1]
    names_known = columns if columns is not None else [f"x{j}" for j in range(n)]
    chosen = named_rankers(rankers, references, np.array(names_known, object))
    labels = None if y is None else np.asarray(y).ravel()
    if labels is not None and len(labels) != len(table):
        raise DataError(f"y has {len(labels)} classes for {len(table)} examples")
    names = check_measures(measures, labels is not None)
    classes = [known for known, measure in MEASURES.items() if measure.needs_labels]
    if labels is not None and measures is None:
        names += classes
    elif labels is not None and not {*names} & {*classes}:
        raise UsageError(
            "{} is for measures of classes, and {} names none.",
            Setting("y"),
            Setting("measures", measures),
            remedy=f"Leave out {{0}}, or add one of: {', '.join(classes)}.",
        )
    lists = {
        label: len(ranker.columns)
        for label, ranker in chosen.items()
        if isinstance(ranker, ChosenColumns)
    }
    suggested = suggestion(chosen, table, columns)
    counts = feature_counts(n_features, n)
    counts = sorted({*counts, *lists.values(), *suggested[1:]})
    parts = make_folds(folds, len(table), repeats=repeats, seed=random_state)
    filed = name_folds(folds, repeats, random_state)
    records = []
    with listening(progress):
        for fold in parts:
            scorer = FoldScorer(table, fold, labels, seed=random_state)
            for label, ranker in chosen.items():
                fresh = prepare(ranker, fold.number, counts, random_state)
                _name_by_position(fresh, columns)
                unit = (name, filed, fold.number, label, changed_parameters(ranker))
                most = lists.get(label, n)
                judged = [k for k in counts if k <= most]
                found = run_unit(fresh, scorer, judged, names)
                records.append(Record(*unit, **found))
                report("rankings", len(records), len(parts) * len(chosen))
    return Results(records, suggested={name: suggested} if suggested else {})


def suggestion(
    rankers: Mapping[str, Any], table: NDArray[np.float64], names: Any
) -> tuple[Any, ...]:
    """Return which ranker suggests how many features for a table: the first that does.

    Parameters
    ----------
    rankers : mapping of str to estimator
        Rankers by label; not changed.
    table : ndarray of shape (m, n)
        The whole table.
    names : ndarray of str or None
        The names of its columns.

    Returns
    -------
    suggestion : (str, int) or ()
        Its label and the number; empty if there is none.
    """
    for label, ranker in rankers.items():
        if getattr(ranker, "_finds", "") != "representatives":
            continue
        fresh = clone(ranker)
        _name_by_position(fresh, names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # folds warn of the same
            count = fresh.fit(table).n_features_suggested_
        if count is not None:
            return label, int(count)
    return ()


def _name_by_position(ranker: Any, names: Any) -> None:
    """Have a ranker take columns by position: tables without names are ranked."""
    if names is not None and not isinstance(ranker, ChosenColumns):
        ranker.set_params(**by_position(ranker.get_params(deep=False), names))


def named_rankers(
    given: Any, references: bool = False, columns: NDArray[Any] | None = None
) -> dict[str, Any]:
    """Return estimators by label, with the references that are not among them.

    Lists of columns become rankers where the names of the columns are known.
    """
    if isinstance(given, Mapping):
        found = {
            str(label): find_columns(str(label), ranker, columns)
            if columns is not None and is_list(ranker)
            else _estimator(ranker)
            for label, ranker in given.items()
        }
    else:
        listed = [given] if isinstance(given, str) or hasattr(given, "fit") else given
        found = {}
        for ranker in listed:
            is_fine = columns is None or not is_list(ranker)
            remedy = "give lists of columns in a dict, with labels"
            kinds.check_value("rankers", ..., is_fine, remedy)
            label = ranker if isinstance(ranker, str) else _label(ranker)
            remedy = f"two are called {label!r}; give a dict with labels"
            kinds.check_value("rankers", ..., label not in found, remedy)
            found[label] = _estimator(ranker)
    kinds.check_value("rankers", ..., bool(found), "name at least one")
    if references:
        there = {type(ranker).__name__ for ranker in found.values()}
        for label, kind in _REFERENCES.items():
            if kind not in there:
                found.setdefault(label, get(label)())
    return found


def _estimator(ranker: Any) -> Any:
    if isinstance(ranker, str):
        return get(ranker)()
    is_fine = hasattr(ranker, "fit") and hasattr(ranker, "get_params")
    remedy = f"{ranker!r} is neither an estimator nor a name"
    kinds.check_value("rankers", ..., is_fine, remedy)
    return ranker


def _label(ranker: Any) -> str:
    kind = type(ranker).__name__
    return next((name for name, (_, known) in RANKERS.items() if known == kind), kind)


def _table(X: Any) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Return a table in memory, checked, and the names of its columns."""
    from sklearn.utils import check_array

    X, names = in_memory(X)
    try:
        table = check_array(
            X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
        )
    except (TypeError, ValueError) as err:
        raise DataError(
            f"The table cannot be evaluated: {str(err).splitlines()[0]}"
        ) from err
    names = getattr(X, "columns", names)
    check_finite(table, names, False, None)
    return _dense(table), None if names is None else np.array(list(names), object)


def _dense(table: Any) -> NDArray[np.float64]:
    # Neighbors and sums of differences need all cells.
    return table.toarray() if issparse(table) else np.ascontiguousarray(table)


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
            f"{{}} takes at most {MEASURES[measure].limit} selected features, not "
            f"{len(selected)}.",
            Setting("measure", measure),
        )
    table, rows = _judged_rows(estimator, X)
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


def _judged_rows(estimator: Any, X: Any) -> tuple[NDArray[np.float64], Any]:
    """Return the rows to judge by, and which they are."""
    # Here, because the runner starts without scikit-learn.
    from sklearn.utils.validation import validate_data

    from franet.estimators._validation import fitted_table

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
    return _dense(table), rows
