"""One measurement in a process of its own; prints one line of JSON.

``python child.py TASK TABLE.npy [REPEATS]``. Peak memory is what the process needed
above the table and the imports.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np


def peak_mb() -> float:
    # Not ru_maxrss: that begins with the peak of the parent process.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1e3
    return float("nan")


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def floor_pass(X: np.ndarray) -> Callable[[], None]:
    """Return the bare tiled Gram pass: products of standardized blocks, no more."""
    from franet._common.threads import count_threads
    from franet.pairs.similarity._correlation import BLOCK
    from franet.pairs.tiles import Tile, TileGrid, TileRunner

    n, block = X.shape[1], BLOCK[X.dtype]
    grid, runner = TileGrid(n, block), TileRunner(count_threads(None))
    Z = np.zeros((grid.n_blocks * block, X.shape[0]), X.dtype)
    centred = X - X.mean(axis=0)
    Z[:n] = (centred / np.sqrt((centred**2).sum(axis=0))).T

    def visit(tile: Tile) -> None:
        a, b = tile.i * block, tile.j * block
        _ = Z[a : a + block] @ Z[b : b + block].T

    return lambda: runner.run(grid.rounds(), visit, "floor")


def ratio(X: np.ndarray, repeats: int) -> dict[str, Any]:
    """Time the floor and the fit, one after the other, several times."""
    from franet import FRANe

    FRANe().fit(X[:, :1200])
    floor = floor_pass(X)
    floor()
    before = peak_mb()
    times: dict[str, list[float]] = {"floor": [], "fit": []}
    for _ in range(repeats):
        times["floor"].append(seconds(floor))
        ranker = FRANe()  # a new one, so that no earlier network is in memory
        times["fit"].append(seconds(partial(ranker.fit, X)))
    pairs = X.shape[1] * (X.shape[1] - 1) / 2
    return {
        **{name: float(np.median(values)) for name, values in times.items()},
        "memory_mb": peak_mb() - before,
        "density": ranker.network_.n_edges / pairs,
        "winner": ranker.winner_,
        "scores": ranker.scores_.tolist() if X.shape[1] <= 10_000 else None,
    }


def cold(X: np.ndarray, repeats: int) -> dict[str, Any]:
    """Time the first fit of this process, import included, and the second."""

    def first() -> None:
        from franet import FRANe

        FRANe().fit(X)

    return {"first": seconds(first), "second": seconds(first)}


def fastcan(X: np.ndarray, repeats: int) -> dict[str, Any]:
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    def work() -> None:
        k = min(64, *X.shape)
        y = PCA(k - 1, random_state=0).fit_transform(X)
        FastCan(k, verbose=0).fit(X, y)

    return _peer(work)


def skmatter_cur(X: np.ndarray, repeats: int) -> dict[str, Any]:
    from skmatter.feature_selection import CUR

    return _peer(lambda: CUR(n_to_select=64, progress_bar=False).fit(X))


def laplacian(X: np.ndarray, repeats: int) -> dict[str, Any]:
    """Time the Laplacian score as scikit-feature writes it: one feature at a time."""
    from sklearn.neighbors import kneighbors_graph

    def work() -> None:
        W = kneighbors_graph(X, min(5, len(X) - 1), mode="distance")
        W.data = np.exp(-(W.data**2) / np.mean(W.data**2))
        W = W.maximum(W.T)
        d = np.asarray(W.sum(axis=1)).ravel()
        for f in X.T.astype(np.float64):
            g = f - f @ d / d.sum()
            _ = (g @ (d * g) - g @ (W @ g)) / max(g @ (d * g), 1e-300)

    return _peer(work)


def _peer(work: Callable[[], None]) -> dict[str, Any]:
    before = peak_mb()
    return {"fit": seconds(work), "memory_mb": peak_mb() - before}


TASKS = {f.__name__: f for f in (ratio, cold, fastcan, skmatter_cur, laplacian)}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    task, path, *rest = sys.argv[1:]
    table = np.load(path)
    answer = TASKS[task](table, int(rest[0]) if rest else 1)
    print(json.dumps(answer))
