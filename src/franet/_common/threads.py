"""How many threads `n_jobs` means, and work on several of them."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from franet.exceptions import Setting, UsageError

__all__ = ["count_threads", "interrupts_of_kernels", "map_batches"]


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
def map_batches(
    function: Callable[[Any], Any], batches: Iterable[Iterable[Any]], n_threads: int
) -> Iterator[Iterator[list[Any]]]:
    """Give an iterator over the results of each batch, computed on several threads.

    A batch begins when the one before it has ended. On leaving, what has not begun is
    dropped and what is under way is waited for.

    Not a ThreadPoolExecutor: Python raises a Ctrl-C in the main thread between any two
    instructions, also within the locks of a pool or of ``Thread.start``, and then a
    RuntimeError or a deadlock may take the place of KeyboardInterrupt. Here every step
    that waits is a single call of C.
    """
    tasks: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    answers: SimpleQueue[tuple[int, Any, BaseException | None] | None] = SimpleQueue()

    def work() -> None:
        while (task := tasks.get()) is not None:
            place, item = task
            try:
                answers.put((place, function(item), None))
            except BaseException as error:
                answers.put((place, None, error))
        answers.put(None)

    def results() -> Iterator[list[Any]]:
        for items in map(list, batches):
            for task in enumerate(items):
                tasks.put(task)
            for _ in range(len(items)):
                place, items[place], error = answers.get()  # type: ignore[misc]
                if error is not None:
                    raise error
            yield items

    n_started = 0
    try:
        for _ in range(n_threads):
            start_new_thread(work, ())
            n_started += 1
        yield results()
    finally:
        with suppress(Empty):
            while True:
                tasks.get_nowait()
        for _ in range(n_threads):
            tasks.put(None)
        while n_started:
            n_started -= answers.get() is None
