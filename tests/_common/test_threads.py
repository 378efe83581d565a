"""Work on several threads: order, errors, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from franet._common.threads import interrupts_of_kernels, map_batches

INTERRUPTED = """
import os, random, signal, threading, time
from franet._common.threads import map_batches

delays = random.Random(0)
stopped = 0
for _ in range(300):
    delay = delays.uniform(0, 0.004)
    killer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        killer.start()
        with map_batches(lambda x: time.sleep(1e-5), [range(4)] * 20, 2) as results:
            for _ in results:
                pass
        while True:  # until it comes
            time.sleep(0.01)
    except KeyboardInterrupt:
        stopped += 1
    killer.join()
print(stopped, threading.active_count())
"""


def test_batches_come_in_order():
    with map_batches(lambda x: x * x, [range(5), [], [7]], 3) as results:
        assert list(results) == [[0, 1, 4, 9, 16], [], [49]]


def test_a_batch_begins_when_the_one_before_has_ended():
    running = set()
    batch_of = {item: item // 10 for item in range(40)}

    def visit(item):
        running.add(item)
        seen = {batch_of[other] for other in tuple(running)}
        running.discard(item)
        return seen

    batches = [range(start, start + 10) for start in (0, 10, 20, 30)]
    with map_batches(visit, batches, 4) as results:
        for number, seen in enumerate(results):
            assert all(s == {number} for s in seen)


def test_an_error_comes_through_and_ends_the_work():
    before = threading.active_count()

    def visit(item):
        if item == 3:
            raise ValueError("item 3")

    with (
        pytest.raises(ValueError, match="item 3"),
        map_batches(visit, [range(10)] * 3, 2) as results,
    ):
        list(results)
    assert threading.active_count() == before


def test_an_interrupt_within_a_kernel_is_a_keyboard_interrupt():
    def as_numba_does(cause):
        try:
            raise cause
        except BaseException as error:
            raise SystemError("returned a result with an exception set") from error

    with pytest.raises(KeyboardInterrupt), interrupts_of_kernels():
        as_numba_does(KeyboardInterrupt())
    with pytest.raises(SystemError), interrupts_of_kernels():
        as_numba_does(ValueError())


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_at_any_moment_is_a_keyboard_interrupt():
    # pytest itself may run where SIGINT is ignored; the child must not.
    code = f"import signal; signal.signal({int(signal.SIGINT)}, "
    code += "signal.default_int_handler)\n" + INTERRUPTED
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["300", "1"]
