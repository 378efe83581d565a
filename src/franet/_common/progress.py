"""How long work tells of itself, without knowing who listens.

The engine calls :func:`report`; a command line, or an estimator with callbacks,
listens by :func:`listening`. With no listener a report costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("franet_progress", default=None)


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` is finished."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


def current_listener() -> Listener | None:
    """Return who listens, if anyone does."""
    return _listener.get()


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send the reports made inside the block to `listener(stage, done, total)`.

    With None the listener that is there already goes on.
    """
    if listener is None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
