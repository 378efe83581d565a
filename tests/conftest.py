"""What all tests share."""

from __future__ import annotations

import os
import signal

import pytest

# A shell starts jobs in the background with Ctrl-C ignored, and programs inherit it:
# those that the tests of interrupts start would never stop.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than there are cores: some wait for a browser or a command."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) + 1
    return (os.cpu_count() or 1) + 1
