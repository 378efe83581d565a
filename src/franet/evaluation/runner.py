"""The benchmark: many rankers on many data sets, in parallel, to be resumed."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from time import monotonic
from typing import Any

from joblib import cpu_count

from franet._common.checked import RANKERS, check_value, checked
from franet._common.memory import parse_bytes
from franet._common.progress import report
from franet.evaluation._evaluate import named_rankers
from franet.evaluation._plan import TimeLeft, check_same, make_tasks, survey
from franet.evaluation._pool import Limits, Load, reason_of, work_here, work_on
from franet.evaluation._unit import machine, versions
from franet.evaluation.folds import name_folds
from franet.evaluation.records import Record
from franet.evaluation.store import ResultsStore
from franet.exceptions import Setting, UsageError


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
            unit = self.record
            text += f": {unit.dataset}, fold {unit.fold}, {unit.ranker}"
            if unit.status != "ok":
                text += f": {unit.status}. {unit.reason}"
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


def load_named(name: str) -> tuple[Any, Any]:
    """Load one of franet's data sets that is on this machine."""
    from franet.datasets import load

    data = load(name, download=False)
    return data.X, data.y


@checked(rankers=RANKERS)
def run(
    datasets: Sequence[str],
    rankers: Any,
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
    client: Any = None,
    load: Load = load_named,
    listener: Listener | None = None,
) -> Summary:
    """Run rankers on data sets and add what they measure to a folder of results.

    A unit of work is one ranker on one fold of one data set. What the folder holds
    already is not measured again, so that a run that was stopped, in whatever way,
    continues where it was. What another version of franet measured is measured again,
    and replaced. A unit that fails is stored as failed, and the run continues.

    Parameters
    ----------
    datasets : sequence of str
        Names of the data sets.
    rankers : estimator, str, or sequence or dict of them
        As in `evaluate`; a label is the name under which a ranker is stored.
    out : path-like
        The folder of results, see `ResultsStore`. One run at a time may write to it.
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
        worker that exceeds it is killed. Only on Linux.
    retry_failed : bool, default=False
        Whether units that failed before are tried again.
    skip_missing : bool, default=False
        Whether data sets that cannot be loaded are left out; otherwise they are an
        error before any work.
    client : distributed.Client, optional
        The workers of Dask that measure, one unit at a time each, in place of
        processes of this machine: without `n_jobs`, `timeout` and `max_memory`. They
        must have the same version of franet, and `load` must find the data there.
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
    names = [datasets] if isinstance(datasets, str) else list(dict.fromkeys(datasets))
    check_value("datasets", ..., bool(names), "name at least one")
    chosen = named_rankers(rankers)
    is_fine = timeout is None or timeout > 0
    check_value("timeout", timeout, is_fine, "give seconds, more than 0")
    limits = Limits(timeout, None if max_memory is None else parse_bytes(max_memory))
    jobs = _check_jobs(n_jobs, client, limits)
    threads = max(1, cpu_count() // jobs)
    payload = _pack(chosen, load, seed)
    wanted = {
        "folds": folds,
        "repeats": repeats,
        "seed": seed,
        "n_features": n_features,
        "measures": measures,
        "fold_numbers": fold_numbers,
    }
    filed = name_folds(folds, repeats, seed)
    failed: list[Record] = []
    with ResultsStore(out) as store:
        known = survey(names, load, skip_missing, **wanted)
        check_same(store, known, filed, seed)
        run_id = token_hex(8)
        tasks = list(make_tasks(store, known, chosen, filed, retry_failed, run_id))
        clock = TimeLeft(
            ((task.record.dataset, task.record.ranker) for task in tasks),
            {name: each.n_cells for name, each in known.items()},
            min(jobs, len(tasks)),
        )

        def tell(done: int, record: Record | None = None) -> None:
            report("units", done, len(tasks))
            if listener is not None:
                took, left = monotonic() - start, clock.seconds()
                listener(Status(done, len(tasks), len(failed), took, left, record))

        if tasks:
            store.append_run(
                {
                    "id": run_id,
                    "start": datetime.now(UTC).isoformat(timespec="seconds"),
                    "datasets": list(known),
                    "rankers": list(chosen),
                    **wanted,
                    "folds": filed,
                    "n_jobs": jobs,
                    "threads": threads,
                    "timeout": limits.seconds,
                    "max_memory": limits.memory,
                    "data": {name: each.digest for name, each in known.items()},
                    "versions": versions(),
                    "machine": machine(),
                }
            )
            tell(0)
        if client is None:
            work = work_here(payload, tasks, jobs, threads, limits)
        else:
            work = work_on(client, payload, tasks)
        # Closed even where an error holds on to it: its processes end.
        with closing(work):
            for done, (record, seconds) in enumerate(work, 1):
                store.append(record)
                if record.status != "ok":
                    failed.append(record)
                clock.done(record.dataset, record.ranker, seconds)
                tell(done, record)
    units = len(chosen) * sum(len(each.folds) for each in known.values())
    return Summary(
        run=run_id if tasks else "",
        measured=len(tasks) - len(failed),
        failed=failed,
        skipped=units - len(tasks),
        datasets=list(known),
        seconds=monotonic() - start,
    )


def _pack(rankers: Mapping[str, Any], load: Load, seed: int) -> bytes:
    try:
        return pickle.dumps((rankers, load, seed))
    except Exception as err:
        raise UsageError(
            "{} or {} cannot be sent to another process ({}); define them in a module, "
            "not inside a function",
            Setting("rankers"),
            Setting("load"),
            reason_of(err),
        ) from err


def _check_jobs(n_jobs: int | None, client: Any, limits: Limits) -> int:
    """Return how many units are worked on at a time."""
    if client is not None:
        names = ("n_jobs", "timeout", "max_memory")
        for name, value in zip(names, (n_jobs, *limits), strict=True):
            if value is not None:
                raise UsageError(
                    "{} applies to processes of this machine, not with {}.",
                    Setting(name, value),
                    Setting("client"),
                    remedy="Leave out one of them.",
                )
        return max(1, len(client.nthreads()))
    if n_jobs is None:
        return cpu_count()
    check_value("n_jobs", n_jobs, n_jobs >= 1, "give a number of at least 1")
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
