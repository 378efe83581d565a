"""A GPU against its own floor and against the cores beside it, in one run.

``python benchmarks/gpu.py`` fits tables of 22,283, 200,000 and 1,000,000 features on a
CUDA device; ``--sizes 22283 200000`` fits some. For each: the first fit (kernels are
compiled), the best of all, the seconds of every pass in it, the same products without
anything else (the floor), and, up to ``--cpu`` features, a fit on the cores with its
winner and scores compared. The table is printed and written to
``benchmarks/results/gpu.csv``.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tables
from franet import FRANe
from franet.engine import _torch as engine
from franet.exceptions import DegenerateRankingWarning

RESULTS = Path(__file__).resolve().parent / "results"
EXAMPLES = {22_283: 85}


class Clock:
    """Notes the seconds of each pass."""

    def __init__(self) -> None:
        self.passes: list[tuple[str, float]] = []
        visit = engine.TorchEngine.visit_tiles

        def timed(this: Any, what: Any, rounds: Any) -> Any:
            torch.cuda.synchronize()
            start = time.perf_counter()
            state = visit(this, what, rounds)
            torch.cuda.synchronize()
            self.passes.append((what.stage, time.perf_counter() - start))
            print(f"{what.stage} {self.passes[-1][1]:.3g} s", file=sys.stderr)
            return state

        engine.TorchEngine.visit_tiles = timed  # type: ignore[method-assign]

    def text(self) -> str:
        """Return the seconds of all passes."""
        return ", ".join(f"{stage} {seconds:.3g}" for stage, seconds in self.passes)


def seconds_of(function: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    value = function()
    torch.cuda.synchronize()
    return time.perf_counter() - start, value


def floor(X: np.ndarray) -> float:
    """Return the seconds of the float64 products of all pairs, in the same tiles."""
    rows = engine._standardized(torch, torch.as_tensor(X, device="cuda"))
    source = engine.TorchCorrelationSource(rows, False, None)
    blocks = source.grid().n_blocks
    out = {}

    def products() -> None:
        for i in range(blocks):
            for j in range(i, blocks):
                a, b = rows[source._rows(i)], rows[source._rows(j)].T
                shape = len(a), b.shape[1]
                if shape not in out:
                    out[shape] = torch.empty(shape, dtype=a.dtype, device="cuda")
                torch.mm(a, b, out=out[shape])

    products()
    return min(seconds_of(products)[0] for _ in range(3 if blocks < 20 else 1))


def fit(X: np.ndarray, backend: str) -> FRANe:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateRankingWarning)
        return FRANe(backend=backend).fit(X)


def measure(what: str, X: np.ndarray, clock: Clock, with_cpu: bool) -> dict[str, Any]:
    torch.cuda.reset_peak_memory_stats()
    times, passes = [], ""
    # A fit of minutes is measured once: its kernels were compiled for smaller tables.
    for _ in range(6 if X.shape[1] < 50_000 else 2 if X.shape[1] < 500_000 else 1):
        clock.passes.clear()
        seconds, ranker = seconds_of(lambda: fit(X, "torch"))
        times.append(seconds)
        if seconds == min(times):
            passes = clock.text()
    row: dict[str, Any] = {
        "what": what,
        "m": X.shape[0],
        "n": X.shape[1],
        "type": X.dtype.name,
        "first": times[0],
        "seconds": min(times),
        "memory_gb": torch.cuda.max_memory_allocated() / 1e9,
        "edges": int(ranker.n_edges_[ranker.winner_]),
        "passes": passes,
    }
    row["floor"] = floor(X)
    row["ratio"] = min(times) / row["floor"]
    if with_cpu:
        fit(X[:, :2000], "numpy")  # compiles
        row["cpu"], other = seconds_of(lambda: fit(X, "numpy"))
        row["same_winner"] = ranker.winner_ == other.winner_
        row["scores_off"] = float(np.abs(ranker.scores_ / other.scores_ - 1).max())
        row["ranks_off"] = int((ranker.ranking_ != other.ranking_).sum())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[22_283, 200_000, 10**6]
    )
    parser.add_argument("--cpu", type=int, default=22_283)
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu.csv")
    given = parser.parse_args()
    device = torch.cuda.get_device_name()
    print(f"{device}, {os.cpu_count()} cores, torch {torch.__version__}", flush=True)
    clock, rows = Clock(), []
    for n in given.sizes:
        m = EXAMPLES.get(n, 100)
        kinds = {"factors": tables.factors(n, m=m)}
        if n < 50_000:
            kinds["factors, float64"] = kinds["factors"].astype(np.float64)
            kinds["one tight group"] = tables.dense_winner(n)
        for what, X in kinds.items():
            rows.append({**measure(what, X, clock, n <= given.cpu), "device": device})
            print("  ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
            write(rows, given.out)


def write(rows: list[dict[str, Any]], path: Path) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        for row in rows:
            rounded = {
                k: float(f"{v:.4g}") if isinstance(v, float) else v
                for k, v in row.items()
            }
            writer.writerow(rounded)


if __name__ == "__main__":
    main()
