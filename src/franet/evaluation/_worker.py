"""A process that ranks and judges, one unit of work after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from multiprocessing import connection, parent_process
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.evaluation.folds import Fold
from franet.exceptions import DataError

__all__ = ["Load", "Task", "load_named", "load_table", "main", "reason_of"]

Table = tuple[NDArray[np.float64], NDArray[Any] | None]
Load = Callable[[str], tuple[Any, Any]]
_LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class Task:
    """What a worker is asked for.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    fold : Fold
        Its division.
    ranker : str
        Label of the ranker.
    counts : tuple of int
        At how many features it is judged.
    measures : tuple of str
        By what.
    ranked : tuple of int
        All counts that are ever judged, those of earlier runs included: a greedy
        ranker puts so many features in order, in each run the same.
    """

    dataset: str
    fold: Fold
    ranker: str
    counts: tuple[int, ...]
    measures: tuple[str, ...]
    ranked: tuple[int, ...]


def main(pipe: Any, payload: bytes, threads: int) -> None:
    """Answer the tasks that come through a pipe, until None comes or it is closed.

    Answers are ``("ready",)`` or ``("broken", reason)`` at first. To each task they
    are ``("begun",)`` when the data are there, then ``("ok", outcome)`` or
    ``(status, reason)``.

    Parameters
    ----------
    pipe : Connection
        To the process that started this one.
    payload : bytes
        Pickled: rankers by label, the function that loads data, the seed.
    threads : int
        How many threads a ranker may use.
    """
    # Ctrl-C reaches all processes of a terminal; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    with ExitStack() as stack:
        try:
            # From the parent process alone, over its own pipe.
            bench = _Bench(*pickle.loads(payload))  # nosec B301
            _limit_threads(stack, threads)
        except BaseException as err:
            pipe.send(("broken", reason_of(err)))
            return
        pipe.send(("ready",))
        with suppress(EOFError, BrokenPipeError):
            while (task := pipe.recv()) is not None:
                pipe.send(bench.answer(task, lambda: pipe.send(("begun",))))


class _Bench:
    """The rankers, and the data that were used last."""

    def __init__(self, rankers: dict[str, Any], load: Load, seed: int) -> None:
        self._rankers = rankers
        self._load = load
        self._seed = seed
        self._name = ""
        self._table: Table | None = None
        self._fold: tuple[str, int] | None = None
        self._scorer: Any = None

    def answer(self, task: Task, begin: Callable[[], None]) -> tuple[str, Any]:
        """Return the state of a unit of work, and its outcome or what went wrong."""
        from franet.evaluation._unit import prepare, run_unit

        # BaseException, for SystemExit too: a ranker is a guest here.
        try:
            scorer = self._prepared(task)
        except BaseException as err:
            return _failure(err)
        begin()
        try:
            ranker = prepare(
                self._rankers[task.ranker], task.fold.number, task.ranked, self._seed
            )
            return "ok", asdict(run_unit(ranker, scorer, task.counts, task.measures))
        except BaseException as err:
            return _failure(err)

    def _prepared(self, task: Task) -> Any:
        from franet.evaluation.measures import FoldScorer

        where = (task.dataset, task.fold.number)
        if self._fold != where:
            self._fold = self._scorer = None  # before memory is taken again
            if self._table is None or self._name != task.dataset:
                self._table = None
                self._table = load_table(self._load, task.dataset)
                self._name = task.dataset
            X, y = self._table
            self._scorer = FoldScorer(X, task.fold, y, seed=self._seed)
            self._fold = where
        return self._scorer


def _failure(err: BaseException) -> tuple[str, str]:
    return "memory" if isinstance(err, MemoryError) else "failed", reason_of(err)


def load_named(name: str) -> tuple[Any, Any]:
    """Load one of franet's data sets that is on this machine."""
    from franet.datasets import load

    data = load(name, download=False)
    return data.X, data.y


def load_table(load: Load, name: str) -> Table:
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


def reason_of(err: BaseException) -> str:
    """Return an error as one line that is not too long."""
    text = " ".join(f"{type(err).__name__}: {err}".split()).rstrip(":")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _limit_threads(stack: ExitStack, threads: int) -> None:
    """Let ``n_jobs=None`` and BLAS mean this number of threads.

    The environment says so as well, but not every library listens to it.
    """
    import sklearn.base  # noqa: F401  loads what is to be limited
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    stack.enter_context(parallel_config(backend="threading", n_jobs=threads))
    stack.enter_context(threadpool_limits(threads))


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
