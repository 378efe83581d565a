"""What a run of the benchmark has to do: what is wanted, less what is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from franet.evaluation._worker import Load, Task, load_table, reason_of
from franet.evaluation.folds import Fold, make_folds
from franet.evaluation.measures import MEASURES, check_measures, feature_counts
from franet.evaluation.records import Record
from franet.evaluation.store import Store
from franet.exceptions import DataError, UsageError

__all__ = ["Survey", "Wanted", "check_same", "make_tasks", "survey"]


@dataclass(frozen=True)
class Wanted:
    """What is to be measured on every data set.

    Attributes
    ----------
    folds : "paper", int, splitter or iterable
        See `make_folds`.
    repeats, seed : int
        See `make_folds`.
    n_features : "powers", int or sequence of int
        See `feature_counts`.
    measures : sequence of str or None
        See `check_measures`.
    fold_numbers : sequence of int or None
        The folds to measure; None for all.
    """

    folds: Any
    repeats: int
    seed: int
    n_features: Any
    measures: Any
    fold_numbers: Sequence[int] | None = None


@dataclass(frozen=True)
class Survey:
    """What is known of a data set before the work.

    Attributes
    ----------
    shape : tuple of int
        Examples and features.
    digest : str
        Tells whether table and folds are the same in another run.
    folds : list of Fold
        Its folds.
    counts : list of int
        At how many features rankings are judged.
    measures : list of str
        By what.
    """

    shape: tuple[int, int]
    digest: str
    folds: list[Fold]
    counts: list[int]
    measures: list[str]

    @property
    def pairs(self) -> set[tuple[str, int]]:
        """Every measure with every count at which it is defined."""
        return {
            (measure, count)
            for measure in self.measures
            for count in self.counts
            if MEASURES[measure].covers(count)
        }


def survey(
    names: Sequence[str],
    load: Load,
    wanted: Wanted,
    skip_missing: bool,
    tell: Callable[[str, int, int], None],
) -> dict[str, Survey]:
    """Look at every data set once, so that what is missing is known before the work.

    Parameters
    ----------
    names : sequence of str
        The data sets.
    load : callable
        From a name to table and classes.
    wanted : Wanted
        What will be measured.
    skip_missing : bool
        Whether data sets that cannot be loaded are left out.
    tell : callable
        Called as ``tell(stage, done, total)``.

    Returns
    -------
    surveys : dict of Survey
        By name, in the given order.
    """
    found: dict[str, Survey] = {}
    missing: dict[str, str] = {}
    for at, name in enumerate(names):
        tell("looking at the data", at, len(names))
        try:
            X, y = load_table(load, name)
        except Exception as err:
            plain = isinstance(err, DataError | UsageError)
            missing[name] = str(err) if plain else reason_of(err)
            continue
        found[name] = _look(name, X, y is not None, wanted)
    if missing and not (skip_missing and found):
        raise DataError(_missing(missing))
    return found


def _look(name: str, X: Any, labeled: bool, wanted: Wanted) -> Survey:
    try:
        folds = make_folds(
            wanted.folds, len(X), repeats=wanted.repeats, seed=wanted.seed
        )
        measures = check_measures(wanted.measures, labeled)
        counts = feature_counts(wanted.n_features, X.shape[1])
    except UsageError as err:
        raise UsageError(f"{name}: {err}") from err
    digest = hashlib.sha256(repr(X.shape).encode())
    digest.update(X)
    for fold in folds:
        for part in (fold.train, fold.test):
            digest.update(part.astype(np.int64).tobytes())
    if wanted.fold_numbers is not None:
        odd = sorted(set(wanted.fold_numbers) - {fold.number for fold in folds})
        if odd:
            raise UsageError(
                f"{name}: there is no fold {odd[0]}; the folds are 0 to "
                f"{len(folds) - 1}"
            )
        folds = [fold for fold in folds if fold.number in wanted.fold_numbers]
    return Survey(X.shape, digest.hexdigest()[:16], folds, counts, measures)


def _missing(missing: Mapping[str, str]) -> str:
    reasons = list(missing.values())
    if len(missing) == 1:
        return f"A data set cannot be loaded. {reasons[0]}"
    return (
        f"{len(missing)} data sets cannot be loaded: {', '.join(missing)}; leave them "
        "out (--skip-missing, skip_missing=True) or get them. "
        f"The first one: {reasons[0]}"
    )


def check_same(
    store: Store, surveys: Mapping[str, Survey], folds: str, seed: int
) -> None:
    """Raise where a run would add to results of other data, folds or seeds."""
    for run in store.runs:
        if run.get("folds") != folds:
            continue
        if run.get("seed") != seed:
            raise UsageError(
                f"seed={seed}: {store.folder} holds results with seed {run['seed']}; "
                "take that one, or another folder"
            )
        for name, digest in run.get("data", {}).items():
            if name in surveys and surveys[name].digest != digest:
                raise DataError(
                    f"{name}: the table or its folds are not those of the results in "
                    f"{store.folder}; give another folder"
                )


def make_tasks(
    store: Store,
    surveys: Mapping[str, Survey],
    rankers: Mapping[str, dict[str, Any]],
    folds: str,
    retry_failed: bool,
) -> Iterator[Task]:
    """Yield what is not in the store yet: by data set, fold and ranker.

    Parameters
    ----------
    store : Store
        With what is there.
    surveys : mapping of str to Survey
        The data sets.
    rankers : mapping of str to dict
        Parameters of the rankers, by label.
    folds : str
        Name of the folds.
    retry_failed : bool
        Whether units that failed are tried again.

    Yields
    ------
    task : Task
        Its measures × counts may cover values that are there already.
    """
    for name, known in surveys.items():
        for fold in known.folds:
            for label, parameters in rankers.items():
                key = Record(name, folds, fold.number, label, parameters).key
                if key in store.unfinished and not retry_failed:
                    continue
                values = store.records[key].values if key in store.records else {}
                there = {(m, k) for m, found in values.items() for k in found}
                missing = known.pairs - there
                if missing:
                    yield Task(
                        dataset=name,
                        fold=fold,
                        ranker=label,
                        counts=tuple(sorted({k for _, k in missing})),
                        measures=tuple(
                            m for m in known.measures if m in {m for m, _ in missing}
                        ),
                        ranked=tuple(sorted({k for _, k in there} | {*known.counts})),
                    )
