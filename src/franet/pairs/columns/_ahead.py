"""Reading the next piece while the present one is worked on."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["read_ahead"]


@contextmanager
def read_ahead(
    read: Callable[[int, int], Any], cuts: Iterable[tuple[int, int]]
) -> Iterator[Iterator[tuple[int, Any]]]:
    """Give an iterator over what is read between cuts, each with where it starts.

    On leaving, a piece that is under way is waited for, so that nothing is read after
    the caller has closed its file. Threads and queues are as in `map_batches`, for the
    same reason.

    Parameters
    ----------
    read : callable
        ``read(start, stop)`` returns a piece.
    cuts : iterable of pairs of int
        Where pieces start and stop.
    """
    tasks: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
    answers: SimpleQueue[tuple[Any, BaseException | None] | None] = SimpleQueue()

    def work() -> None:
        while (task := tasks.get()) is not None:
            try:
                answers.put((read(*task), None))
            except BaseException as error:
                answers.put((None, error))
        answers.put(None)

    def pieces() -> Iterator[tuple[int, Any]]:
        waiting: list[int] = []
        for start, stop in cuts:
            tasks.put((start, stop))
            waiting.append(start)
            if len(waiting) > 1:
                yield _answer(waiting.pop(0), answers)
        for start in waiting:
            yield _answer(start, answers)

    started = False
    try:
        start_new_thread(work, ())
        started = True
        yield pieces()
    finally:
        with suppress(Empty):
            while True:
                tasks.get_nowait()
        tasks.put(None)
        while started and answers.get() is not None:
            pass


def _answer(start: int, answers: SimpleQueue[Any]) -> tuple[int, Any]:
    piece, error = answers.get()
    if error is not None:
        raise error
    return start, piece
