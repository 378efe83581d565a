"""What a run tells while it works, and who takes which unit."""

from __future__ import annotations

import numpy as np
import pytest

from franet.evaluation._plan import TimeLeft
from franet.evaluation._pool import Task, next_task
from franet.evaluation.folds import Fold
from franet.evaluation.records import Record
from franet.evaluation.runner import Status


def test_status():
    record = Record("x", "paper", 3, "ndfs", status="timeout", reason="Slow.")
    assert str(Status(4, 20, 1, 7.0, 130.0, record)) == (
        "4 of 20 (1 failed), 2 min left: x, fold 3, ndfs: timeout. Slow."
    )
    assert str(Status(0, 20, 0, 7.0, None)) == "0 of 20"


def test_time_left():
    """Known units as before, others by their ranker and size, then by the mean."""
    cells = {"small": 10, "large": 1000}
    units = [
        (data, ranker) for data in cells for ranker in "abc" for _ in range(2)
    ]  # fmt: skip
    clock = TimeLeft(units, cells, size=2)
    assert clock.seconds() is None
    clock.done("small", "a", 1.0)
    # a: 0.1 a cell, which is the mean as well; one of a is left on the small set.
    assert clock.seconds() == pytest.approx((1 + 2 * 1 * 2 + 3 * 2 * 100) / 2)
    clock.done("small", "b", 3.0)
    left = 1 + 3 + 2 * 2 + 2 * (100 + 300 + 200)
    assert clock.seconds() == pytest.approx(left / 2)
    clock.done("large", "a", 5.0)  # much less than feared, and measured counts
    a_cell = (0.1 + 0.005) / 2
    other = (a_cell + 0.3) / 2
    left = 1 + 3 + 2 * 10 * other + 5 + 2 * 1000 * (0.3 + other)
    assert clock.seconds() == pytest.approx(left / 2)


def test_next_task():
    """A worker stays at its fold; a new one takes a fold that nobody is at."""
    empty = np.arange(0)
    left = [
        Task(Record(name, "paper", f, ranker), Fold(f, empty, empty), (), (), ())
        for name in "xy"
        for f in range(2)
        for ranker in "ab"
    ]

    def ask(own, busy):
        task = left.pop(next_task(left, own, busy))
        return *task.place, task.record.ranker

    assert ask(None, set()) == ("x", 0, "a")
    assert ask(None, {("x", 0)}) == ("x", 1, "a")
    assert ask(("x", 0), {("x", 1)}) == ("x", 0, "b")
    assert ask(("x", 0), {("x", 1)}) == ("y", 0, "a"), "its own is done"
    assert ask(("y", 0), {("x", 1), ("y", 1)}) == ("y", 0, "b")
    assert ask(("y", 0), {("x", 1), ("y", 1)}) == ("x", 1, "b"), "helps where it can"
    assert [ask(None, set()) for _ in range(2)] == [("y", 1, "a"), ("y", 1, "b")]
