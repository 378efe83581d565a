"""The same work again and again, for hours: memory, threads and files do not grow."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from reliability.plan import Row, Sizes

GROWTH = 8 << 20  # bytes between the first fifth and the end
WARM = 0.2  # of the time, until all is loaded and every buffer has its size


def state() -> tuple[int, int, int]:
    """Return the memory, the threads and the open files of this process.

    What is freed, but kept by the allocator for later, is given back first: it comes
    and goes by some MB with every page that is written.
    """
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # elsewhere than on glibc
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE")
    return memory, threading.active_count(), len(os.listdir("/proc/self/fd"))


def one_round(folder: Path, number: int) -> None:
    """Read, rank, explain, write."""
    from franet import Cover, FRANe
    from franet.io import read_table, write_table
    from franet.report import summarize, write

    table = read_table(folder / ("x.csv", "x.npy", "x.parquet")[number % 3])
    paper = {"n_jobs": 2, "n_thresholds": 30}
    rankers = FRANe(**paper), Cover(n_jobs=2), FRANe(**paper, similarity="spearman")
    for ranker in rankers:
        ranker.fit(table.X)
        columns = {"feature": np.arange(table.X.shape[1]), "score": ranker.scores_}
        write_table(columns, folder / "out.csv", force=True)
    # A page takes a hundred times as long as a fit.
    if number % 10 == 0:
        write(summarize(ranker, table.X), folder / "out.html", force=True)


def work(minutes: float) -> None:
    """Go round for some time, and print what was seen."""
    import polars

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = np.random.default_rng(0).normal(size=(50, 40))
        np.savetxt(folder / "x.csv", X, delimiter=",")
        np.save(folder / "x.npy", X)
        polars.DataFrame(X).write_parquet(folder / "x.parquet")
        begun, rounds, first = time.monotonic(), 0, None
        # Three rounds at least: each way to read is warm by then.
        while (passed := time.monotonic() - begun) < 60 * minutes or rounds < 6:
            one_round(folder, rounds)
            rounds += 1
            if first is None and passed >= WARM * 60 * minutes and rounds >= 4:
                first = state()
        print(passed, rounds, *(first or state()), *state())  # noqa: T201


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield one row."""
    done = subprocess.run(
        [sys.executable, "-m", "reliability.soak", str(sizes.minutes)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    seconds, rounds, *numbers = (float(word) for word in done.stdout.split())
    before, after = numbers[:3], numbers[3:]
    findings = []
    # Few rounds say nothing of memory, which is still settling.
    if after[0] - before[0] > GROWTH and sizes.minutes > 1:
        findings.append("memory grows")
    if after[1] > before[1] or after[2] > before[2]:
        findings.append("threads or files grow")
    note = (
        f"{seconds / 60:.1f} minutes; {before[0] / 1e6:.0f} MB after a fifth of them, "
        f"{after[0] / 1e6:.0f} MB at the end; as many threads and open files"
    )
    yield Row("soak", "rounds", int(rounds), len(findings), note, tuple(findings))


if __name__ == "__main__":
    work(float(sys.argv[1]))
