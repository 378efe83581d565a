"""Rankers on one's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common import checked as kinds
from franet._common.progress import Listener, listening, report
from franet.cover._constraints import by_position
from franet.evaluation._unit import prepare, run_unit
from franet.evaluation.folds import make_folds, name_folds
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
        strings are names from `franet.rankers.NAMES`.
    n_features : "powers", int or sequence of int, default="powers"
        At how many features rankings are judged; ``"powers"``: 1, 2, 4, … and all.
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
        Curves, fold by fold; `table`, `plot_curves`, `recommend`, `verdicts`.

    Examples
    --------
    >>> from franet.evaluation import evaluate
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, _ = load_breast_cancer(return_X_y=True)
    >>> results = evaluate(X, rankers="frane", folds=5, measures="rmae")
    >>> results.rankers
    ['frane', 'random', 'column-subset']
    """
    chosen = named_rankers(rankers, references)
    table, columns = _table(X)
    labels = None if y is None else _labels(y, len(table))
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
    counts = feature_counts(n_features, table.shape[1])
    parts = make_folds(folds, len(table), repeats=repeats, seed=random_state)
    filed = name_folds(folds, repeats, random_state)
    records = []
    with listening(progress):
        for fold in parts:
            scorer = FoldScorer(table, fold, labels, seed=random_state)
            for label, ranker in chosen.items():
                fresh = prepare(ranker, fold.number, counts, random_state)
                if columns is not None:  # the table of a fold has no names
                    named = by_position(fresh.get_params(deep=False), columns)
                    fresh.set_params(**named)
                unit = (name, filed, fold.number, label, changed_parameters(ranker))
                found = run_unit(fresh, scorer, counts, names)
                records.append(Record(*unit, **found))
                report("rankings", len(records), len(parts) * len(chosen))
    return Results(records)


def named_rankers(given: Any, references: bool = False) -> dict[str, Any]:
    """Return estimators by label, with the references that are not among them."""
    if isinstance(given, Mapping):
        found = {str(label): _estimator(ranker) for label, ranker in given.items()}
    else:
        listed = [given] if isinstance(given, str) or hasattr(given, "fit") else given
        found = {}
        for ranker in listed:
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
    from scipy.sparse import issparse
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
    # Neighbors and sums of differences need all cells.
    table = table.toarray() if issparse(table) else np.ascontiguousarray(table)
    return table, None if names is None else np.array(list(names), object)


def _labels(y: Any, n_examples: int) -> NDArray[Any]:
    labels = np.asarray(y).ravel()
    if len(labels) != n_examples:
        raise DataError(f"y has {len(labels)} classes for {n_examples} examples")
    return labels
