"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:
    fcntl = None

# A shell starts jobs in the background with Ctrl-C ignored, and programs inherit it:
# those that the tests of interrupts start would never stop.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let a test that is marked so run alone, where several processes run tests."""
    if fcntl is None or not hasattr(item.config, "workerinput"):
        return (yield)
    # That of this process is inside the folder of all of them.
    folder = item.config._tmp_path_factory.getbasetemp().parent
    with _turn(folder, alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def _turn(folder: Path, alone: bool) -> Iterator[None]:
    """Be in the room, with others or alone.

    Who waits to be alone stands in the door, so that nobody slips in before.
    """
    with (folder / "door").open("w") as door, (folder / "room").open("w") as room:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if not alone:
            fcntl.flock(door, fcntl.LOCK_UN)
        yield
