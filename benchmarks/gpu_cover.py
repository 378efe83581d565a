"""``Cover()`` in NumPy and on torch: times, and whether they agree.

``PYTHONPATH=src python benchmarks/gpu_cover.py`` prints a table of 64 picks on three
shapes; ``--backend torch:cpu`` tries it where there is no CUDA device. Both are warm:
fitted before on a small table, which compiles, loads torch and starts the device. How
long that took is printed first. Picks that differ end it with an error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from time import perf_counter

import numpy as np

import tables
from franet import Cover
from franet._common.threads import count_threads
from franet.engine.device import load

K = 64
SHAPES = [(85, 22_283), (100, 100_000), (1_000, 5_000)]
REPEATS = 3
COLUMNS = ["table", "NumPy, s", "torch, s", "times", "picks", "gains differ by"]


def timed(X: np.ndarray, backend: str) -> tuple[Cover, float]:
    """Return a ranker fitted on one backend and the seconds it took."""
    begin = perf_counter()
    # Attributes are NumPy arrays: nothing is under way after it.
    ranker = Cover(n_features_to_select=K, backend=backend).fit(X)
    return ranker, perf_counter() - begin


def compare(m: int, n: int, backend: str) -> list[str]:
    """Return a row of the table: medians of times, and how far results differ."""
    X = tables.factors(n, m=m)
    here, there = [], []
    for _ in range(REPEATS):
        ours, seconds = timed(X, "numpy")
        here.append(seconds)
        theirs, seconds = timed(X, backend)
        there.append(seconds)
    equal = np.array_equal(ours.order_, theirs.order_)
    apart = np.abs(ours.gains_ - theirs.gains_).max() if equal else np.nan
    a, b = np.median(here), np.median(there)
    verdict = "equal" if equal else "DIFFER"
    return [
        f"{m} x {n:,}",
        f"{a:.2f}",
        f"{b:.2f}",
        f"{a / b:.1f}",
        verdict,
        f"{apart:.0e}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    backend = parser.parse_args().backend
    warnings.simplefilter("ignore")
    small = tables.factors(300)
    starts = [timed(small, way)[1] for way in ("numpy", backend)]
    print(
        f"torch {load().__version__} on {backend}, NumPy on {count_threads(None)} "
        f"threads; first fit {starts[0]:.1f} s and {starts[1]:.1f} s\n"
    )
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    rows = []
    for m, n in SHAPES:
        rows.append(compare(m, n, backend))
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    return int(any("DIFFER" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
