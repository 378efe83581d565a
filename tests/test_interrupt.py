"""Ctrl-C: the work stops at once and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

FIT = """
import sys, tempfile, warnings
import numpy as np
from threadpoolctl import threadpool_info
from franet import FRANe, _progress

tempfile.tempdir = sys.argv[1]
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = (rng.normal(size=(200, 5)) @ rng.normal(size=(5, 20_000))).astype(np.float32)
X += rng.normal(size=X.shape).astype(np.float32)
FRANe(n_thresholds=5).fit(X[:, :600])
blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def ready(stage, done, total):
    if stage == wanted:
        print("ready", flush=True)


for line in sys.stdin:
    wanted, n_jobs = line.split()
    try:
        with _progress.listening(ready):
            FRANe(max_memory="300 MB", n_jobs=int(n_jobs)).fit(X)
    except KeyboardInterrupt:
        now = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
        assert now == blas, (now, blas)
        print("stopped", flush=True)
"""


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    """Return a process that fits what it is told, and its temporary folder."""
    folder = tmp_path_factory.mktemp("temporary")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", FIT, str(folder)], **pipes) as process:
        yield process, folder
        # No thread of a fit that was stopped holds up the end.
        process.stdin.close()
        try:
            assert process.wait(timeout=30.0) == 0
        finally:
            process.kill()


@pytest.mark.alone
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stage", ["extremes", "edges"])
def test_interrupt_stops_within_a_second(fits, stage, n_jobs):
    process, folder = fits
    print(stage, n_jobs, file=process.stdin, flush=True)
    assert process.stdout.readline() == "ready\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    # Between the first report and the signal there may be more.
    while (line := process.stdout.readline()) == "ready\n":
        pass
    stopped = time.monotonic() - start
    assert line == "stopped\n"
    # One second for the work, and a little for a busy machine.
    assert stopped < 2.0
    assert not list(folder.iterdir())
