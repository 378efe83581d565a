"""What a run of the benchmark has to do: what is wanted, less what is there."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from franet._common.checked import check_value
from franet._common.progress import report
from franet._common.version import __version__
from franet.evaluation._pool import Load, Task, load_table, reason_of
from franet.evaluation.folds import Fold, make_folds
from franet.evaluation.measures import MEASURES, check_measures, feature_counts
from franet.evaluation.records import Record, changed_parameters
from franet.evaluation.store import ResultsStore
from franet.exceptions import DataError, UsageError


class DataSet(NamedTuple):
    """What is known of a data set before the work.

    Attributes
    ----------
    n_cells : int
        Examples × features.
    digest : str
        Shows whether table and folds are the same in another run.
    folds : list of Fold
        The folds to measure.
    counts : list of int
        At how many features rankings are judged.
    measures : list of str
        By what.
    """

    n_cells: int
    digest: str
    folds: list[Fold]
    counts: list[int]
    measures: list[str]


def survey(
    names: Sequence[str], load: Load, skip_missing: bool, **wanted: Any
) -> dict[str, DataSet]:
    """Look at every data set once, so that what is missing is known before the work.

    Parameters
    ----------
    names : sequence of str
        The data sets.
    load : callable
        From a name to table and classes.
    skip_missing : bool
        Whether data sets that cannot be loaded are left out.
    **wanted
        What will be measured: arguments of `run`.

    Returns
    -------
    datasets : dict of DataSet
        By name, in the given order.
    """
    found: dict[str, DataSet] = {}
    missing: dict[str, str] = {}
    for at, name in enumerate(names):
        report("looking at the data", at, len(names))
        try:
            X, y = load_table(load, name)
        except Exception as err:
            plain = isinstance(err, DataError | UsageError)
            missing[name] = str(err) if plain else reason_of(err)
            continue
        try:
            found[name] = _look(X, y is not None, **wanted)
        except UsageError as err:
            raise UsageError(f"{name}: {err}") from err
    if missing and not (skip_missing and found):
        first = next(iter(missing.values()))
        if len(missing) == 1:
            raise DataError(f"A data set cannot be loaded. {first}")
        raise DataError(
            f"{len(missing)} data sets cannot be loaded: {', '.join(missing)}; leave "
            "them out (--skip-missing, skip_missing=True) or get them. "
            f"The first one: {first}"
        )
    return found


def _look(
    X: Any,
    labeled: bool,
    folds: Any,
    repeats: int,
    seed: int,
    n_features: Any,
    measures: Any,
    fold_numbers: Sequence[int] | None,
) -> DataSet:
    made = make_folds(folds, len(X), repeats=repeats, seed=seed)
    names = check_measures(measures, labeled)
    counts = feature_counts(n_features, X.shape[1])
    digest = hashlib.sha256(repr(X.shape).encode())
    digest.update(X)
    for fold in made:
        for part in (fold.train, fold.test):
            digest.update(part.astype(np.int64).tobytes())
    if fold_numbers is not None:
        odd = sorted({*fold_numbers} - {*range(len(made))})
        if odd:
            raise UsageError(
                f"there is no fold {odd[0]}; the folds are 0 to {len(made) - 1}"
            )
        made = [fold for fold in made if fold.number in fold_numbers]
    return DataSet(X.size, digest.hexdigest()[:16], made, counts, names)


def check_same(
    store: ResultsStore, datasets: Mapping[str, DataSet], folds: str, seed: int
) -> None:
    """Raise where a run would add to results of other data, folds or seeds."""
    for run in store.runs:
        if run.get("folds") != folds:
            continue
        held = f"{store.folder} holds results with seed {run.get('seed')}"
        remedy = f"{held}; take that one, or another folder"
        check_value("seed", seed, run.get("seed") == seed, remedy)
        for name, digest in run.get("data", {}).items():
            if name in datasets and datasets[name].digest != digest:
                raise DataError(
                    f"{name}: the table or its folds are not those of the results in "
                    f"{store.folder}; give another folder"
                )


def make_tasks(
    store: ResultsStore,
    datasets: Mapping[str, DataSet],
    rankers: Mapping[str, Any],
    folds: str,
    retry_failed: bool,
    run: str,
) -> Iterator[Task]:
    """Yield what this version has not measured yet: by data set, fold and ranker.

    Parameters
    ----------
    store : ResultsStore
        With what is there.
    datasets : mapping of str to DataSet
        The data sets.
    rankers : mapping of str to estimator
        The rankers, by label.
    folds : str
        Name of the folds.
    retry_failed : bool
        Whether units that failed are tried again.
    run : str
        Id of the run.

    Yields
    ------
    task : Task
        Its measures × counts may cover values that are there already.
    """
    records, unfinished = store.records, store.unfinished
    parameters = {label: changed_parameters(each) for label, each in rankers.items()}
    for name, known in datasets.items():
        # Every measure with every count at which it is defined.
        pairs = [
            (m, k)
            for m, k in product(known.measures, known.counts)
            if MEASURES[m].covers(k)
        ]
        for fold, label in product(known.folds, rankers):
            unit = (name, folds, fold.number, label, parameters[label])
            record = Record(*unit, run=run)
            done = records.get(record.key)
            there: set[tuple[str, int]] = set()
            if done is not None and done.version == __version__:
                if record.key in unfinished and not retry_failed:
                    continue
                there = {(m, k) for m, at in done.values.items() for k in at}
            missing = [pair for pair in pairs if pair not in there]
            if missing:
                yield Task(
                    record=record,
                    fold=fold,
                    counts=tuple(sorted({k for _, k in missing})),
                    measures=tuple(dict.fromkeys(m for m, _ in missing)),
                    ranked=tuple(sorted({k for _, k in there} | {*known.counts})),
                )


class TimeLeft:
    """Estimates the time of units of work from those that are done.

    A unit takes as long as others of its ranker on its data set did. Where there are
    none, it takes as long per cell of the table as its ranker does elsewhere, and a
    ranker that has not run at all is as slow as the mean.

    Parameters
    ----------
    left : iterable of (dataset, ranker)
        The units that are to be done.
    cells : mapping of str to int
        Cells of the table of each data set.
    size : int
        How many units are worked on at a time.
    """

    def __init__(
        self, left: Iterable[tuple[str, str]], cells: Mapping[str, int], size: int
    ) -> None:
        self._cells = cells
        self._size = size
        self._left = Counter(left)
        # Seconds of units, and seconds per cell of rankers.
        self._units: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._rankers: dict[str, list[float]] = defaultdict(list)

    def done(self, dataset: str, ranker: str, seconds: float) -> None:
        """Note how long a unit took."""
        self._left[dataset, ranker] -= 1
        self._units[dataset, ranker].append(seconds)
        self._rankers[ranker].append(seconds / self._cells[dataset])

    def seconds(self) -> float | None:
        """Return the seconds that are left; None before anything is known."""
        if not self._units:
            return None
        mean = {ranker: fmean(times) for ranker, times in self._rankers.items()}
        overall = fmean(mean.values())
        total = 0.0
        for (dataset, ranker), count in self._left.items():
            each = mean.get(ranker, overall) * self._cells[dataset]
            if (dataset, ranker) in self._units:
                each = fmean(self._units[dataset, ranker])
            total += count * each
        return total / self._size
