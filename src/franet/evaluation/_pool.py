"""Processes that rank and judge: a pool under limits, or the workers of Dask."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import inf
from multiprocessing import connection, parent_process, resource_tracker
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import check_value
from franet._common.global_state import restored_state
from franet.evaluation._unit import prepare, resident, run_unit
from franet.evaluation.folds import Fold
from franet.evaluation.measures import FoldScorer
from franet.evaluation.records import Record
from franet.exceptions import DataError, UsageError

Load = Callable[[str], tuple[Any, Any]]
Place = tuple[str, int]
_LONGEST = 300  # characters of a reason
_POLL = 0.1  # seconds between two looks at workers
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class Task(NamedTuple):
    """A unit of work: one ranker on one fold of one data set.

    Attributes
    ----------
    record : Record
        What is measured, without values yet.
    fold : Fold
        The division of the data set.
    counts : tuple of int
        At how many features it is judged.
    measures : tuple of str
        By what.
    ranked : tuple of int
        All counts that are ever judged, those of earlier runs included: a greedy
        ranker puts so many features in order, in each run the same.
    """

    record: Record
    fold: Fold
    counts: tuple[int, ...]
    measures: tuple[str, ...]
    ranked: tuple[int, ...]

    @property
    def place(self) -> Place:
        """The data set and the fold: what tasks of one place share is computed once."""
        return self.record.dataset, self.record.fold


class Answer(NamedTuple):
    """What became of a task.

    Attributes
    ----------
    record : Record
        With what was measured, or the status and the reason of a failure.
    seconds : float
        How long it took, loading and judging included.
    """

    record: Record
    seconds: float


Answers = Generator[Answer, None, None]


class Limits(NamedTuple):
    """What one unit of work may take.

    Attributes
    ----------
    seconds : float or None
        Time, from when the data are loaded.
    memory : int or None
        Bytes of the whole worker: the program and the data included.
    """

    seconds: float | None = None
    memory: int | None = None


def work_here(
    payload: bytes, tasks: Sequence[Task], size: int, threads: int, limits: Limits
) -> Answers:
    """Yield what became of each task, in the order in which they end.

    Parameters
    ----------
    payload : bytes
        Pickled arguments of `_Bench`.
    tasks : sequence of Task
        What is to be done.
    size : int
        Number of processes. One that is lost is replaced.
    threads : int
        Threads of each.
    limits : Limits
        A process that exceeds them is killed.

    Yields
    ------
    answer : Answer
        Of one task.
    """
    left = list(tasks)
    workers: list[_Worker] = []
    try:
        while left or any(worker.task for worker in workers):
            while len(workers) < size and sum(not w.task for w in workers) < len(left):
                with _interrupts_later():
                    workers.append(_Worker(payload, threads))
            connection.wait([end for w in workers for end in w.ends], _POLL)
            for worker in workers:
                answer = worker.look(limits)
                if answer is not None:
                    yield answer
            workers = [worker for worker in workers if not worker.is_gone]
            for worker in workers:
                if left and worker.is_ready and worker.task is None:
                    busy = {w.place for w in workers if w.task is not None}
                    at = next_task(left, worker.place, busy)
                    if worker.give(left[at]):
                        del left[at]
    finally:
        for worker in workers:
            worker.kill()


def next_task(left: Sequence[Task], own: Place | None, busy: set[Place | None]) -> int:
    """Return the position of a task of a worker's own place, or of a free place."""

    def far(at: int) -> tuple[bool, bool]:
        return left[at].place != own, left[at].place in busy

    return min(range(len(left)), key=far)


class _Worker:
    """One process, and what it is doing."""

    def __init__(self, payload: bytes, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, payload, threads), daemon=True
        )
        with restored_state():
            os.environ.update(dict.fromkeys(_THREADS, str(threads)))
            self.process.start()
        theirs.close()  # so that the end of the worker closes the pipe
        # Its own children may hold the pipe open after its end.
        self.ends: list[Any] = [self.pipe, self.process.sentinel]
        self.is_ready = self.is_gone = False
        self.task: Task | None = None
        self.place: Place | None = None
        self._given = self._begun = inf

    def give(self, task: Task) -> bool:
        """Send a task; return whether there was a process to take it."""
        try:
            self.pipe.send(task)
        except OSError:
            return False
        self.task, self.place = task, task.place
        self._given, self._begun = monotonic(), inf
        return True

    def look(self, limits: Limits) -> Answer | None:
        """Read one message, or look at the limits; return an answer if there is one."""
        gone = self.process.exitcode is not None  # before its last message is sought
        try:
            if self.pipe.poll():
                kind, content = self.pipe.recv()
            else:
                return self._ended() if gone else self._exceeded(limits)
        except (EOFError, OSError):
            return self._ended()
        if kind == "ready":
            self.is_ready = True
            self._check_memory(limits.memory)
        elif kind == "broken":
            raise UsageError(
                f"A worker cannot take the rankers or the loader ({content}); "
                "define them in a module that can be imported"
            )
        elif kind == "begun":
            self._begun = monotonic()
        else:
            return self._done(content)
        return None

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.is_gone = True
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def _done(self, record: Record) -> Answer:
        self.task = None
        return Answer(record, monotonic() - self._given)

    def _failed(self, status: str, reason: str) -> Answer | None:
        if self.task is None:
            return None
        return self._done(replace(self.task.record, status=status, reason=reason))

    def _ended(self) -> Answer | None:
        """Say what became of the task of a process that has gone by itself."""
        self.process.join()
        code = self.process.exitcode or 0
        self.kill()
        how = f"ended with code {code}"
        if code < 0:
            with suppress(ValueError):
                how = f"was ended by {signal.Signals(-code).name}"
        if not self.is_ready:
            raise DataError(
                f"A worker {how} before it was ready; in a script, call this under "
                "if __name__ == '__main__':"
            )
        return self._failed("failed", f"The process {how}.")

    def _exceeded(self, limits: Limits) -> Answer | None:
        """Kill a process that takes too much; say what becomes of its task."""
        if self.task is None:
            return None
        seconds, memory = limits
        if seconds is not None and monotonic() - self._begun > seconds:
            self.kill()
            return self._failed("timeout", f"It took more than {seconds:g} s.")
        if memory is not None and (used := resident(self.process.pid) or 0) > memory:
            self.kill()
            reason = f"It took {used:,} bytes of memory, more than {memory:,}."
            return self._failed("memory", reason)
        return None

    def _check_memory(self, limit: int | None) -> None:
        if limit is None:
            return
        used = resident(self.process.pid)
        problem = "this system does not report the memory of a process; leave it out"
        check_value("max_memory", limit, used is not None, problem)
        problem = f"a worker takes {used:,} bytes before any work; allow more"
        check_value("max_memory", limit, (used or 0) <= limit, problem)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Put off Ctrl-C to the end of the block; processes that start in it never see it.

    Half a start would leave a process that no one ends.
    """
    came: list[int] = []
    # Other threads than the first cannot be interrupted by Ctrl-C.
    first = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if first else None
    if before is not None:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        # A process inherits the mask. This one unblocks when it starts: so before.
        resource_tracker.ensure_running()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if before is not None:
            signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def work_on(client: Any, payload: bytes, tasks: Sequence[Task]) -> Answers:
    """Yield what became of each task, done by the workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
        A worker does one task at a time. Where it is lost, another one takes its
        task, and a task that ends one worker after the other has failed.
    payload : bytes
        Pickled arguments of `_Bench`.
    tasks : sequence of Task
        What is to be done.

    Yields
    ------
    answer : Answer
        Of one task.
    """
    from distributed import as_completed

    waiting = iter(tasks)
    sent: dict[Any, Task] = {}

    def send(count: int) -> list[Any]:
        new = {
            client.submit(_measure, payload, task, pure=False): task
            for task in islice(waiting, count)
        }
        sent.update(new)
        return list(new)

    try:
        # Some more than there are workers, so that none waits for the next task.
        for future in (active := as_completed(send(2 + 2 * len(client.nthreads())))):
            task, error = sent.pop(future), future.exception()
            if error is None:
                yield future.result()
            else:
                yield Answer(_failure(task, error), 0.0)
            active.update(send(1))
    finally:
        client.cancel(list(sent))


# A worker of Dask may have several threads: they take turns.
_TURNS = threading.Lock()


def _measure(payload: bytes, task: Task) -> Answer:
    with _TURNS:
        start = monotonic()
        return Answer(_unpacked(payload).measure(task), monotonic() - start)


@lru_cache(maxsize=1)
def _unpacked(payload: bytes) -> _Bench:
    # From the process that asks for the work, over its own connection.
    return _Bench(*pickle.loads(payload))  # nosec B301


def serve(pipe: Any, payload: bytes, threads: int) -> None:
    """Answer the tasks that come through a pipe, until it is closed.

    Messages are ``("ready", None)`` or ``("broken", reason)`` at first. To each task
    they are ``("begun", None)`` when the data are there, then ``("done", record)``.

    Parameters
    ----------
    pipe : Connection
        To the process that started this one.
    payload : bytes
        Pickled arguments of `_Bench`.
    threads : int
        How many threads a ranker may use.
    """
    # Ctrl-C reaches all processes of a terminal; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    try:
        import sklearn.base  # noqa: F401  loads what is to be limited
        from joblib import parallel_config
        from threadpoolctl import threadpool_limits

        bench = _unpacked(payload)
    except BaseException as err:
        pipe.send(("broken", reason_of(err)))
        return
    # The environment limits threads as well, but not every library listens to it.
    with (
        parallel_config(backend="threading", n_jobs=threads),
        threadpool_limits(threads),
        suppress(EOFError, BrokenPipeError),
    ):
        pipe.send(("ready", None))
        while True:
            record = bench.measure(pipe.recv(), lambda: pipe.send(("begun", None)))
            pipe.send(("done", record))


class _Bench:
    """The rankers, and the data that were used last."""

    def __init__(self, rankers: dict[str, Any], load: Load, seed: int) -> None:
        self._rankers = rankers
        self._load = load
        self._seed = seed
        # By the name of a data set, and by the place of a task; one each.
        self._tables: dict[str, Any] = {}
        self._scorers: dict[Place, FoldScorer] = {}

    def measure(self, task: Task, begin: Callable[[], object] = lambda: None) -> Record:
        """Return what became of a task."""
        try:
            scorer = self._prepared(task)
            begin()
            ranker = self._rankers[task.record.ranker]
            ranker = prepare(ranker, task.fold.number, task.ranked, self._seed)
            found = run_unit(ranker, scorer, task.counts, task.measures)
            return replace(task.record, **found)
        except BaseException as err:  # SystemExit too: a ranker is a guest here
            return _failure(task, err)

    def _prepared(self, task: Task) -> FoldScorer:
        if task.place not in self._scorers:
            self._scorers.clear()  # before memory is taken again
            name = task.record.dataset
            if name not in self._tables:
                self._tables.clear()
                self._tables[name] = load_table(self._load, name)
            X, y = self._tables[name]
            self._scorers[task.place] = FoldScorer(X, task.fold, y, seed=self._seed)
        return self._scorers[task.place]


def load_table(
    load: Load, name: str
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Return a table of finite numbers, and its classes if there are any."""
    X, y = load(name)
    X = X.toarray() if hasattr(X, "toarray") else X
    X = np.ascontiguousarray(X, np.float64)
    if X.ndim != 2:
        raise DataError(f"{name}: is no table of examples × features")
    if not np.isfinite(X).all():
        raise DataError(f"{name}: has cells that are no finite numbers; fill them")
    y = None if y is None else np.asarray(y).ravel()
    if y is not None and len(y) != len(X):
        raise DataError(f"{name}: has {len(y)} classes for {len(X)} examples")
    return X, y


def _failure(task: Task, err: BaseException) -> Record:
    status = "memory" if isinstance(err, MemoryError) else "failed"
    return replace(task.record, status=status, reason=reason_of(err))


def reason_of(err: BaseException) -> str:
    """Return an error as one line that is not too long."""
    text = " ".join(f"{type(err).__name__}: {err}".split()).rstrip(":")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _end_with_parent() -> None:
    """End this process as soon as its parent has gone, whatever it is doing."""
    parent = parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        # A thread cannot run while compiled code holds the interpreter lock.
        import ctypes

        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_death_signal, int(signal.SIGKILL), 0, 0, 0)
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
