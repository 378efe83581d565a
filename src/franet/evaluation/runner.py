"""The benchmark: many rankers on many data sets, in parallel, to be resumed."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex
from time import monotonic
from typing import Any

import numpy as np
from joblib import cpu_count

from franet._common.memory import parse_bytes
from franet._common.progress import report
from franet.evaluation._crew import Answer, Crew, Limits
from franet.evaluation._machine import machine, versions
from franet.evaluation._plan import Survey, Wanted, check_same, make_tasks, survey
from franet.evaluation._time_left import TimeLeft
from franet.evaluation._worker import Load, Task, load_named, reason_of
from franet.evaluation.folds import name_folds
from franet.evaluation.records import Record, changed_parameters
from franet.evaluation.store import Store
from franet.exceptions import UsageError

__all__ = ["Status", "Summary", "run"]


@dataclass(frozen=True)
class Status:
    """How far a run is.

    Attributes
    ----------
    done : int
        Units of work that are done.
    total : int
        Units of this run.
    failed : int
        How many of the done ones failed.
    seconds : float
        Since the run began.
    left : float or None
        Estimated seconds that are left; None if nothing is known yet.
    record : Record or None
        The unit that ended just now; None at the start.
    """

    done: int
    total: int
    failed: int
    seconds: float
    left: float | None
    record: Record | None = None

    def __str__(self) -> str:
        text = f"{self.done} of {self.total}"
        if self.failed:
            text += f" ({self.failed} failed)"
        if self.left is not None:
            text += f", {words_for(self.left)} left"
        if self.record is not None:
            text += (
                f": {self.record.dataset}, fold {self.record.fold}, "
                f"{self.record.ranker}"
            )
            if self.record.status != "ok":
                text += f": {self.record.status}. {self.record.reason}"
        return text


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Attributes
    ----------
    run : str
        Its id; "" if there was nothing to do.
    measured : int
        Units that were measured.
    failed : list of Record
        Units that failed.
    skipped : int
        Units that were not touched, because they were done or had failed before.
    datasets : list of str
        Data sets that took part: those that were left out as missing are not here.
    seconds : float
        How long it took.
    """

    run: str
    measured: int
    failed: list[Record]
    skipped: int
    datasets: list[str]
    seconds: float


Listener = Callable[[Status], object]


def run(
    datasets: Sequence[str],
    rankers: Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    folds: Any = "paper",
    repeats: int = 1,
    seed: int = 0,
    n_features: Any = "powers",
    measures: Sequence[str] | str | None = None,
    fold_numbers: Sequence[int] | None = None,
    n_jobs: int | None = None,
    timeout: float | None = None,
    max_memory: int | str | None = None,
    retry_failed: bool = False,
    skip_missing: bool = False,
    load: Load = load_named,
    listener: Listener | None = None,
) -> Summary:
    """Run rankers on data sets and add what they measure to a folder of results.

    A unit of work is one ranker on one fold of one data set. What the folder holds
    already is not measured again, so that a run that was stopped, in whatever way,
    goes on where it was. A unit that fails is stored as failed, and the run goes on.

    Parameters
    ----------
    datasets : sequence of str
        Names of the data sets.
    rankers : mapping of str to estimator
        The rankers, by the label under which they are stored.
    out : path-like
        The folder of results, see `Store`. One run at a time may write to it.
    folds : "paper", int, splitter or iterable, default="paper"
        The partition of the paper, a number of shuffled folds, an object with
        ``split(X)``, or pairs of row numbers.
    repeats : int, default=1
        Repetitions with other shuffles, where `folds` is a number.
    seed : int, default=0
        Seed of the folds, and of rankers that have none.
    n_features : "powers", int or sequence of int, default="powers"
        At how many features rankings are judged; ``"powers"``: 1, 2, 4, … and all.
    measures : sequence of str, optional
        Names from `MEASURES`; by default all that need no classes.
    fold_numbers : sequence of int, optional
        The folds to measure, from 0; by default all. Machines may share the work so,
        each with a folder of its own.
    n_jobs : int, optional
        Number of worker processes, by default as many as cores. The cores are
        divided among them: rankers with ``n_jobs=None``, and BLAS, use so many
        threads.
    timeout : float, optional
        Seconds for a unit: ranking and judging, but not loading the data. A worker
        that exceeds them is killed.
    max_memory : int or str, optional
        Bytes for a unit, or text such as ``"4 GB"``. It is the memory of the whole
        worker, the program and the data included, looked at ten times a second. A
        worker that exceeds it is killed. Only where the system tells (Linux).
    retry_failed : bool, default=False
        Whether units that failed before are tried again.
    skip_missing : bool, default=False
        Whether data sets that cannot be loaded are left out; otherwise they are an
        error before any work.
    load : callable, optional
        From a name to ``(X, y)``, y may be None. It and the rankers must be such that
        another process can import them. By default the data sets of franet that are
        on this machine.
    listener : callable, optional
        Called with a `Status` at the start and after every unit; `print` will do.

    Returns
    -------
    summary : Summary
        How many units were measured, skipped, and which failed.

    Raises
    ------
    UsageError
        Where a parameter does not fit, or rankers or `load` cannot be sent to
        another process.
    DataError
        Where data cannot be loaded, or the folder cannot be written or is in use.
    """
    start = monotonic()
    names = _check_names(datasets)
    chosen = _check_rankers(rankers)
    parameters = {label: changed_parameters(each) for label, each in chosen.items()}
    limits = _check_limits(timeout, max_memory)
    jobs = cpu_count() if n_jobs is None else _check_jobs(n_jobs)
    payload = _pack(chosen, load, seed)
    wanted = Wanted(folds, repeats, seed, n_features, measures, fold_numbers)
    filed = name_folds(folds, repeats, seed)
    with Store(out) as store:
        surveys = survey(names, load, wanted, skip_missing, report)
        check_same(store, surveys, filed, seed)
        tasks = list(make_tasks(store, surveys, parameters, filed, retry_failed))
        units = len(parameters) * sum(len(known.folds) for known in surveys.values())
        job = _Job(store, surveys, parameters, filed, tasks, start, listener)
        if tasks:
            threads = max(1, cpu_count() // jobs)
            settings = _settings(wanted, limits, jobs, threads)
            job.begin(settings, min(jobs, len(tasks)))
            with Crew(payload, jobs, threads, limits) as crew:
                for answer in crew.work(tasks):
                    job.file(answer)
    return Summary(
        run=job.id,
        measured=len(tasks) - len(job.failed),
        failed=job.failed,
        skipped=units - len(tasks),
        datasets=list(surveys),
        seconds=monotonic() - start,
    )


class _Job:
    """Puts answers into the store and tells how far the run is."""

    def __init__(
        self,
        store: Store,
        surveys: Mapping[str, Survey],
        rankers: Mapping[str, dict[str, Any]],
        folds: str,
        tasks: Sequence[Task],
        start: float,
        listener: Listener | None,
    ) -> None:
        self.id = ""
        self.failed: list[Record] = []
        self._store = store
        self._surveys = surveys
        self._rankers = rankers
        self._folds = folds
        self._tasks = tasks
        self._start = start
        self._listener = listener
        self._done = 0

    def begin(self, settings: dict[str, Any], size: int) -> None:
        """Store what this run is; `size` units will be worked on at a time."""
        self.id = token_hex(8)
        self._store.append_run(
            {
                "id": self.id,
                "start": datetime.now(UTC).isoformat(timespec="seconds"),
                "datasets": list(self._surveys),
                "rankers": list(self._rankers),
                "folds": self._folds,
                **settings,
                "data": {name: s.digest for name, s in self._surveys.items()},
                "versions": versions(),
                "machine": machine(),
            }
        )
        self._clock = TimeLeft(
            ((task.dataset, task.ranker) for task in self._tasks),
            {name: s.shape[0] * s.shape[1] for name, s in self._surveys.items()},
            size,
        )
        self._tell(None)

    def file(self, answer: Answer) -> None:
        """Store an answer, then tell."""
        record = self._record(answer)
        self._store.append(record)
        if record.status != "ok":
            self.failed.append(record)
        self._done += 1
        self._clock.done(answer.task.dataset, answer.task.ranker, answer.seconds)
        self._tell(record)

    def _record(self, answer: Answer) -> Record:
        task, outcome = answer.task, dict(answer.outcome)
        record = Record(
            dataset=task.dataset,
            folds=self._folds,
            fold=task.fold.number,
            ranker=task.ranker,
            parameters=self._rankers[task.ranker],
            status=answer.status,
            reason=answer.reason,
            run=self.id,
        )
        known = self._store.records.get(record.key)
        there = known.values if known is not None else {}
        # Measures × counts may cover what is there already: no row comes twice.
        fresh = {
            name: {k: v for k, v in found.items() if k not in there.get(name, {})}
            for name, found in outcome.pop("values", {}).items()
        }
        values = {name: found for name, found in fresh.items() if found}
        return replace(record, **outcome, values=values)

    def _tell(self, record: Record | None) -> None:
        total = len(self._tasks)
        report("units", self._done, total)
        if self._listener is not None:
            seconds = monotonic() - self._start
            left = self._clock.seconds()
            self._listener(
                Status(self._done, total, len(self.failed), seconds, left, record)
            )


def _settings(
    wanted: Wanted, limits: Limits, jobs: int, threads: int
) -> dict[str, Any]:
    counts, measures = wanted.n_features, wanted.measures
    if not isinstance(counts, str):
        counts = np.atleast_1d(counts).tolist()
    if not isinstance(measures, str | None):
        measures = list(measures)
    return {
        "seed": wanted.seed,
        "n_features": counts,
        "measures": measures,
        "n_jobs": jobs,
        "threads": threads,
        "timeout": limits.seconds,
        "max_memory": limits.memory,
    }


def _pack(rankers: Mapping[str, Any], load: Load, seed: int) -> bytes:
    for name, thing in [*rankers.items(), ("load", load)]:
        try:
            pickle.dumps(thing)
        except Exception as err:
            raise UsageError(
                f"{name}: cannot be sent to another process ({reason_of(err)}); "
                "define it in a module, not inside a function"
            ) from err
    return pickle.dumps((rankers, load, seed))


def _check_names(datasets: Sequence[str]) -> list[str]:
    names = [datasets] if isinstance(datasets, str) else list(datasets)
    if not names:
        raise UsageError("datasets: name at least one")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"datasets: {', '.join(twice)} is named twice")
    return names


def _check_rankers(rankers: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(rankers, Mapping) or not rankers:
        raise UsageError("rankers: give estimators by label, at least one")
    for label, ranker in rankers.items():
        if not (hasattr(ranker, "fit") and hasattr(ranker, "get_params")):
            raise UsageError(f"rankers: {label!r} is no estimator: {ranker!r}")
    return {str(label): ranker for label, ranker in rankers.items()}


def _check_limits(timeout: float | None, max_memory: int | str | None) -> Limits:
    if timeout is not None and not timeout > 0:
        raise UsageError(f"timeout={timeout}: give seconds, more than 0")
    return Limits(timeout, None if max_memory is None else parse_bytes(max_memory))


def _check_jobs(n_jobs: int) -> int:
    if n_jobs < 1:
        raise UsageError(f"n_jobs={n_jobs}: give a number of at least 1")
    return n_jobs


def words_for(seconds: float) -> str:
    """Return a duration as a person would say it.

    Examples
    --------
    >>> words_for(20), words_for(400), words_for(9000)
    ('20 s', '7 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
