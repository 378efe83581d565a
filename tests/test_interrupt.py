"""Ctrl-C: the work stops where it is and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

FIT = """
import signal, sys, tempfile, warnings
import numpy as np
from threadpoolctl import threadpool_info
from franet import FRANe
from franet._common import progress as _progress

tempfile.tempdir = sys.argv[1]
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = (rng.normal(size=(200, 5)) @ rng.normal(size=(5, 20_000))).astype(np.float32)
X += rng.normal(size=X.shape).astype(np.float32)
FRANe(n_thresholds=5).fit(X[:, :600])
blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


came, later = False, 0


def interrupt(number, frame):
    global came
    came = True
    raise KeyboardInterrupt


def ready(stage, done, total):
    global later
    later += came  # a step that ends after Ctrl-C
    if stage == wanted:
        print("ready", flush=True)


for line in sys.stdin:
    wanted, n_jobs = line.split()
    came, later = False, 0
    signal.signal(signal.SIGINT, interrupt)
    try:
        with _progress.listening(ready):
            while True:
                FRANe(max_memory="300 MB", n_jobs=int(n_jobs)).fit(X)
    except KeyboardInterrupt:
        assert not later
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
            assert process.wait() == 0
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stage", ["extremes", "edges"])
def test_interrupt_stops_the_fit(fits, stage, n_jobs):
    process, folder = fits
    print(stage, n_jobs, file=process.stdin, flush=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    # Between the first report and the signal there may be more.
    while (line := process.stdout.readline()) == "ready\n":
        pass
    assert line == "stopped\n"
    assert not list(folder.iterdir())
