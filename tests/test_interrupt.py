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
    if stage == sys.argv[2]:
        print("ready", flush=True)


try:
    with _progress.listening(ready):
        FRANe(max_memory="300 MB", n_jobs=int(sys.argv[3])).fit(X)
except KeyboardInterrupt:
    now = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
    assert now == blas, (now, blas)
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stage", ["extremes", "edges"])
def test_interrupt_stops_within_a_second(tmp_path, stage, n_jobs):
    command = [sys.executable, "-c", FIT, str(tmp_path), stage, str(n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().split()
        stopped = time.monotonic() - start
    assert rest[-1] == "stopped"
    assert process.returncode == 0
    # One second for the work; leaving Python itself takes a little on a busy machine.
    assert stopped < 2.0
    assert not list(tmp_path.iterdir())
