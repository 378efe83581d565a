"""Many fits in threads, and many commands, at the same time."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reliability.plan import Row, Sizes

TESTS = Path(__file__).parents[1]
# OpenBLAS as NumPy brings it ends the process where more than 128 threads call it, and
# some of these fits use two.
AT_ONCE = 32
COMMAND = (sys.executable, "-m", "franet")


def _fits() -> list[tuple[Any, np.ndarray]]:
    """Return rankers, with tables for them, that go different ways."""
    from franet import Cover, FRANe
    from franet.rankers import get

    rng = np.random.default_rng(0)
    narrow, wide = rng.normal(size=(40, 12)), rng.normal(size=(15, 60))
    # Two threads: each fit runs on threads of its own, too.
    return [
        (FRANe(n_jobs=2), narrow),
        (FRANe(n_jobs=1, n_thresholds=30), wide),
        (FRANe(similarity="spearman", n_jobs=2), narrow),
        (FRANe(similarity="euclidean", n_jobs=1, n_thresholds=20), wide),
        (Cover(n_jobs=1), wide),
        (FRANe(n_jobs=2), wide.astype(np.float32)),
        (get("laplacian")(), narrow),
        (get("variance")(), wide),
    ]


def bits(ranker: Any, X: np.ndarray) -> str:
    """Fit, and return all bits of what was found."""
    from sklearn.base import clone

    fitted = clone(ranker).fit(X)
    found = hashlib.sha256(fitted.scores_.tobytes() + fitted.ranking_.tobytes())
    for name in ("quality_", "thresholds_"):
        found.update(np.asarray(getattr(fitted, name, 0.0)).tobytes())
    return found.hexdigest()


def fits(count: int) -> Row:
    """Fit in many threads that start at one moment; compare with fits in a row."""
    warnings.simplefilter("ignore")
    pairs = _fits()
    expected = [bits(*pair) for pair in pairs]
    n_threads = min(count, AT_ONCE)
    barrier, findings = threading.Barrier(n_threads), []

    def work(first: int) -> None:
        barrier.wait()
        for number in range(first, count, n_threads):
            which = number % len(pairs)
            try:
                found = bits(*pairs[which])
            except BaseException as err:
                findings.append(f"fit {number}: {type(err).__name__}: {err}")
                continue
            if found != expected[which]:
                findings.append(f"fit {number}: other bits")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    note = f"in {n_threads} threads at the same time, {len(pairs)} kinds of fits"
    return Row("together", "fits", count, len(findings), note, tuple(findings))


def commands(count: int) -> Row:
    """Start commands at one moment that all find no compiled kernels."""
    findings, answers = [], []
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "x.npy")
        np.save(source, np.random.default_rng(0).normal(size=(30, 40)))
        variables = {"NUMBA_CACHE_DIR": str(Path(name, "kernels")), "HOME": name}
        command = [*COMMAND, "rank", str(source), "--json", "--ranker", "frane"]
        started = [
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **variables},
            )
            for _ in range(count)
        ]
        for number, process in enumerate(started):
            out, said = process.communicate()
            if process.returncode or "Traceback" in said:
                findings.append(f"command {number}: {said[-300:]}")
                continue
            answers.append(json.loads(out) | {"seconds": 0})
        findings += ["other answers" for each in answers if each != answers[0]]
        kernels = sum(1 for _ in Path(name, "kernels").rglob("*.nbc"))
    note = f"one empty cache of compiled kernels, {kernels} files in it afterwards"
    return Row("together", "commands", count, len(findings), note, tuple(findings))


FETCH = """
import sys
from datasets.served import entry
from franet.datasets import fetch
from franet.datasets._registry import DATASETS

url, sha256 = sys.argv[1:]
DATASETS["tiny-set"] = entry(url, sha256=sha256)
for _ in range(10):
    assert fetch("tiny-set").sha256 == sha256
"""


def fetches(count: int) -> Row:
    """Fetch a data set in several processes into one empty cache."""
    from datasets.served import SHA256, serving

    findings = []
    with tempfile.TemporaryDirectory() as name, serving() as server:
        variables = {
            "FRANET_CACHE": str(Path(name, "cache")),
            "NO_PROXY": "*",
            "PYTHONPATH": str(TESTS),
        }
        started = [
            subprocess.Popen(
                [sys.executable, "-c", FETCH, server.url, SHA256],
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **variables},
            )
            for _ in range(count)
        ]
        for number, process in enumerate(started):
            said = process.communicate()[1]
            if process.returncode:
                findings.append(f"process {number}: {said[-300:]}")
        left = sorted(path.name for path in Path(name, "cache").iterdir())
        if left != ["tiny-set.mat"]:
            findings.append(f"in the cache: {left}")
    note = f"one empty cache of data sets, {server.n_requests} downloads"
    return Row("together", "fetches", count, len(findings), note, tuple(findings))


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield a row for fits, one for commands and one for downloads."""
    for name in chosen or ("fits", "commands", "fetches"):
        if name == "fits":
            yield fits(sizes.fits)
        else:
            yield (commands if name == "commands" else fetches)(sizes.commands)
