"""Worker processes: who does what, and what becomes of those that do not finish."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from time import monotonic
from typing import Any, Self

from franet.evaluation._memory import resident
from franet.evaluation._worker import Task, main
from franet.exceptions import DataError, UsageError

__all__ = ["Answer", "Crew", "Limits"]

_POLL = 0.1  # seconds between two looks at workers that have limits
_IDLE_POLL = 1.0  # where waiting cannot be interrupted, so long for Ctrl-C
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Limits:
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


@dataclass(frozen=True)
class Answer:
    """What became of a task.

    Attributes
    ----------
    task : Task
        The task.
    status : {"ok", "failed", "timeout", "memory"}
        Whether it is finished, and if not, why.
    outcome : dict
        Fields of an `Outcome`; empty if it is not finished.
    reason : str
        What went wrong.
    seconds : float
        How long it took, loading and judging included.
    """

    task: Task
    status: str
    outcome: dict[str, Any]
    reason: str
    seconds: float


class Crew:
    """Worker processes that are replaced when they are lost.

    Parameters
    ----------
    payload : bytes
        For `main` of a worker.
    size : int
        Number of workers.
    threads : int
        Threads of each.
    limits : Limits
        Workers that exceed them are killed.
    """

    def __init__(self, payload: bytes, size: int, threads: int, limits: Limits) -> None:
        self._payload = payload
        self._size = size
        self._threads = threads
        self._limits = limits
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def work(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Yield what became of each task, in the order in which they end."""
        agenda = _Agenda(tasks)
        for _ in range(min(self._size, len(tasks))):
            self._start()
        poll = _IDLE_POLL if self._limits == Limits() else _POLL
        left = len(tasks)
        while left:
            connection.wait([w.pipe for w in self._workers], poll)
            for worker in self._workers:
                answer = self._listen(worker) or self._over_limit(worker)
                if answer is not None:
                    left -= 1
                    yield answer
            self._replace_lost(agenda)
            for worker in self._workers:
                if worker.idle and agenda:
                    busy = {w.fold for w in self._workers if w.task is not None}
                    worker.give(agenda.next_for(worker.fold, busy))

    def _replace_lost(self, agenda: _Agenda) -> None:
        for worker in [w for w in self._workers if w.lost]:
            if worker.task is not None:
                agenda.put_back(worker.take())
            worker.kill()
            self._workers.remove(worker)
            if agenda:
                self._start()

    def _listen(self, worker: _Worker) -> Answer | None:
        """Read one message, if there is one; return an answer if it is one."""
        try:
            if not worker.pipe.poll():
                # Its own children may hold the pipe open after its end.
                gone = worker.process.exitcode is not None
                return self._ended(worker) if gone else None
            kind, *content = worker.pipe.recv()
        except (EOFError, OSError):
            return self._ended(worker)
        if kind == "ready":
            worker.ready = True
            self._check_start(worker)
        elif kind == "broken":
            raise UsageError(
                f"A worker cannot take the rankers or the loader ({content[0]}); "
                "define them in a module that can be imported"
            )
        elif kind == "begun":
            worker.begun = monotonic()
        else:
            outcome = content[0] if kind == "ok" else {}
            reason = "" if kind == "ok" else content[0]
            return worker.answer(kind, outcome, reason)
        return None

    def _ended(self, worker: _Worker) -> Answer | None:
        """Say what became of the task of a worker that has gone by itself."""
        worker.process.join()
        worker.lost = True
        how = _how_ended(worker.process.exitcode)
        if not worker.ready:
            raise DataError(
                f"A worker {how} before it was ready; in a script, call this under "
                "if __name__ == '__main__':"
            )
        if worker.task is None or not worker.heard:
            return None  # nobody's fault: the task is put back
        return worker.answer("failed", {}, f"The process {how}.")

    def _over_limit(self, worker: _Worker) -> Answer | None:
        """Kill a worker that takes too much; say what becomes of its task."""
        if worker.task is None or worker.lost:
            return None
        seconds, memory = self._limits.seconds, self._limits.memory
        status = reason = ""
        if (
            seconds is not None
            and worker.begun is not None
            and monotonic() - worker.begun > seconds
        ):
            status, reason = "timeout", f"It took more than {seconds:g} s."
        elif memory is not None:
            used = resident(worker.process.pid or 0) or 0
            if used > memory:
                status = "memory"
                reason = f"It took {used:,} bytes of memory, more than {memory:,}."
        if not status:
            return None
        worker.kill()
        worker.lost = True
        return worker.answer(status, {}, reason)

    def _check_start(self, worker: _Worker) -> None:
        if self._limits.memory is None:
            return
        used = resident(worker.process.pid or 0)
        if used is None:
            raise UsageError("max_memory: this system does not tell; leave it out")
        if used > self._limits.memory:
            raise UsageError(
                f"max_memory={self._limits.memory}: a worker takes {used:,} bytes "
                "before any work; allow more"
            )

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=main, args=(theirs, self._payload, self._threads), daemon=True
        )
        with _environment(self._threads), _no_interrupt():
            process.start()
            self._workers.append(_Worker(process, ours))
        theirs.close()  # so that the end of the worker closes the pipe


class _Worker:
    """One process, and what it is doing."""

    def __init__(self, process: Any, pipe: Any) -> None:
        self.process = process
        self.pipe = pipe
        self.ready = False
        self.lost = False
        self.task: Task | None = None
        self.fold: tuple[str, int] | None = None
        self.heard = False
        self.given = 0.0
        self.begun: float | None = None

    @property
    def idle(self) -> bool:
        return self.ready and not self.lost and self.task is None

    def give(self, task: Task) -> None:
        self.task, self.given, self.begun = task, monotonic(), None
        self.fold = _fold_of(task)
        try:
            self.pipe.send(task)
            self.heard = True
        except OSError:
            self.heard = False  # it has gone; the next look at the pipe tells

    def take(self) -> Task:
        assert self.task is not None
        task, self.task, self.begun = self.task, None, None
        return task

    def answer(self, status: str, outcome: dict[str, Any], reason: str) -> Answer:
        seconds = monotonic() - self.given
        return Answer(self.take(), status, outcome, reason, seconds)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _Agenda:
    """Tasks that nobody has taken yet, by fold."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._left: dict[tuple[str, int], deque[Task]] = {}
        for task in tasks:
            self._left.setdefault(_fold_of(task), deque()).append(task)

    def __bool__(self) -> bool:
        return bool(self._left)

    def next_for(
        self, own: tuple[str, int] | None, busy: set[tuple[str, int] | None]
    ) -> Task:
        """Return a task of the worker's own fold, or of one nobody is at, or any."""
        free = (fold for fold in self._left if fold not in busy)
        if own is not None and own in self._left:
            fold = own
        else:
            fold = next(free, next(iter(self._left)))
        tasks = self._left[fold]
        task = tasks.popleft()
        if not tasks:
            del self._left[fold]
        return task

    def put_back(self, task: Task) -> None:
        self._left.setdefault(_fold_of(task), deque()).appendleft(task)


def _fold_of(task: Task) -> tuple[str, int]:
    return task.dataset, task.fold.number


def _how_ended(code: int | None) -> str:
    if code is not None and code < 0:
        name = str(-code)
        with suppress(ValueError):
            name = signal.Signals(-code).name
        return f"was ended by {name}"
    return f"ended with code {code}"


@contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Tell processes that start in the block how many threads to use."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Put off Ctrl-C to the end of the block; processes that start in it never see it.

    Half a start would leave a process that nobody knows.
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
