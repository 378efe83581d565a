"""How many threads `n_jobs` means, and work on several of them."""

from __future__ import annotations

import time
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from franet.exceptions import Setting, UsageError


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for a value of `n_jobs`.

    As in scikit-learn, a number counts and -1 means all cores. None takes what
    ``joblib.parallel_config`` says and otherwise all cores, as BLAS does: results do
    not depend on it.
    """
    if n_jobs is None:
        configured = get_active_backend()[1]
        n_jobs = -1 if configured is None else configured
    if n_jobs == 0:
        given = Setting("n_jobs", 0)
        raise UsageError("{}: give a number of threads, or -1 for all cores.", given)
    return max(1, int(effective_n_jobs(n_jobs)))


@contextmanager
def interrupts_of_kernels() -> Iterator[None]:
    """Raise KeyboardInterrupt where numba has made a SystemError of it.

    A Ctrl-C that comes while a kernel runs on the main thread is raised by the next
    instruction of Python, which may be one of numba's own, within the kernel.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            cause = cause.__cause__
        raise


@contextmanager
def on_threads(
    function: Callable[..., Any],
    n_threads: int,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
    patience: float | None = None,
) -> Iterator[tuple[Callable[..., None], Callable[[], tuple[Any, Any]]]]:
    """Give two functions, one that sends work to threads and one that gets results.

    ``send(key, *arguments)`` has `function` called; ``receive()`` waits for the next
    result that is there, and returns its key and the result, or raises the error. On
    leaving, what has not begun is dropped and what is under way is waited for.

    Not a ThreadPoolExecutor: Python raises a Ctrl-C in the main thread between any two
    instructions, also within the locks of a pool or of ``Thread.start``, and then a
    RuntimeError or a deadlock may take the place of KeyboardInterrupt. Here every step
    that waits is a single call of C.

    Parameters
    ----------
    function : callable
        What threads call.
    n_threads : int
        Their number.
    around : callable, optional
        Returns a context in which a thread works.
    patience : float, optional
        Seconds for which work under way is waited for on leaving; then it is left
        alone. None waits until it has ended.
    """
    tasks: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
    answers: SimpleQueue[tuple[Any, Any, BaseException | None] | None] = SimpleQueue()

    def work() -> None:
        try:
            with around():
                while (task := tasks.get()) is not None:
                    answers.put((task[0], function(*task[1:]), None))
        except BaseException as error:
            answers.put((None, None, error))
        answers.put(None)

    def send(*task: Any) -> None:
        tasks.put(task)

    def receive() -> tuple[Any, Any]:
        key, result, error = answers.get()  # type: ignore[misc]
        if error is not None:
            raise error
        return key, result

    n_started = 0
    try:
        for _ in range(n_threads):
            start_new_thread(work, ())
            n_started += 1
        yield send, receive
    finally:
        with suppress(Empty):
            while True:
                tasks.get_nowait()
        for _ in range(n_threads):
            tasks.put(None)
        end = None if patience is None else time.monotonic() + patience
        with suppress(Empty):
            while n_started:
                left = None if end is None else max(end - time.monotonic(), 0.0)
                n_started -= answers.get(timeout=left) is None


@contextmanager
def map_batches(
    function: Callable[[Any], Any], batches: Iterable[Iterable[Any]], n_threads: int
) -> Iterator[Iterator[list[Any]]]:
    """Give an iterator over the results of each batch, computed on several threads.

    A batch begins when the one before it has ended. Leaving is as in `on_threads`.
    """
    with on_threads(function, n_threads) as (send, receive):

        def results() -> Iterator[list[Any]]:
            for items in map(list, batches):
                for task in enumerate(items):
                    send(*task)
                for _ in range(len(items)):
                    place, items[place] = receive()
                yield items

        yield results()


@contextmanager
def read_ahead(
    read: Callable[[Any, Any], Any], cuts: Iterable[tuple[Any, Any]]
) -> Iterator[Iterator[tuple[Any, Any]]]:
    """Give an iterator over what is read between cuts, each with where it starts.

    The next piece is read while the present one is worked on. On leaving, a piece that
    is under way is waited for, so that nothing is read after the caller has closed its
    file.

    Parameters
    ----------
    read : callable
        ``read(start, stop)`` returns a piece.
    cuts : iterable of pairs
        Where pieces start and stop, or what else `read` takes.
    """
    with on_threads(read, 1) as (send, receive):

        def pieces() -> Iterator[tuple[int, Any]]:
            n_ahead = 0
            for start, stop in cuts:
                send(start, start, stop)
                n_ahead += 1
                if n_ahead > 1:
                    yield receive()
                    n_ahead -= 1
            for _ in range(n_ahead):
                yield receive()

        yield pieces()
