"""Time and memory of the spectral rankers.

``python benchmarks/spectral.py [nci9] [ndfs] [wide]`` prints, all three by default:

- ``nci9``: seconds and peak memory of one fit of each ranker on nci9 (60 × 9,712), each
  in a process of its own, imports and table included in the memory;
- ``ndfs``: one iteration of NDFS on nci9 through the n × n inverse, run once at full
  size, beside one iteration of ours and our whole fit;
- ``wide``: LaplacianScore and SPEC on 100 × 100,000, beside fastcan choosing 64
  features for principal components (the components' own time included, and not).

``FRANET_DATA`` names the folder of the data sets.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from data import load
from franet.rankers import get
from tables import factors

NAMES = ("laplacian", "spec", "mcfs", "ndfs", "udfs")


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike ru_maxrss, it forgets the process that started this one.
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return float(lines["VmHWM"].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def make(name: str, **parameters: Any) -> Any:
    return get(name)(**({"random_state": 0} if name == "ndfs" else {}), **parameters)


def one_fit(name: str) -> None:
    """Fit in this process and print a line."""
    X = load("nci9")[0]
    ranker = make(name)
    taken = seconds(lambda: ranker.fit(X))
    peak = peak_mb()
    rounds = f", {ranker.n_iter_} iterations" if hasattr(ranker, "n_iter_") else ""
    print(f"  {name:10} {taken:7.2f} s  {peak:6.0f} MB{rounds}")


def nci9() -> None:
    print("nci9, 60 × 9,712: the first fit of a process (bars: 60 s, 2,000 MB)")
    for name in NAMES:
        subprocess.run([sys.executable, __file__, "--fit", name], check=True)


def whole_iteration(X: np.ndarray, F: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Take one iteration of NDFS with the n × n inverse, as the paper writes it."""
    gram = X.T @ X
    gram[np.diag_indices_from(gram)] += 1.0
    inverse = np.linalg.inv(gram)
    M = L + np.eye(len(X)) - X @ inverse @ X.T
    F = F * (1e8 * F) / (M @ F + 1e8 * F @ F.T @ F)
    F /= np.linalg.norm(F, axis=0)
    return np.linalg.norm(inverse @ X.T @ F, axis=1)


def ndfs() -> None:
    X = load("nci9")[0]
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    F = np.random.default_rng(0).random((len(X), 5))
    whole = seconds(lambda: whole_iteration(Z, F, np.eye(len(X))))
    rounds = 50
    make("ndfs", max_iter=1).fit(X)  # imports, pages, threads
    first = seconds(lambda: make("ndfs", max_iter=1, tol=0.0).fit(X))
    more = seconds(lambda: make("ndfs", max_iter=1 + rounds, tol=0.0).fit(X))
    ranker = make("ndfs")
    fit = seconds(lambda: ranker.fit(X))
    ours = (more - first) / rounds
    print("nci9, NDFS: one iteration through the n × n inverse, run at full size")
    print(f"  n × n, one iteration     {whole:8.2f} s")
    print(
        f"  ours, one iteration      {ours:8.4f} s  ({whole / ours:.0f} times faster)"
    )
    print(
        f"  ours, the whole fit      {fit:8.2f} s  ({ranker.n_iter_} iterations, graph "
        f"and k-means: {whole / fit:.1f} times faster than one n × n iteration, "
        f"{whole * ranker.n_iter_ / fit:.0f} times than as many)"
    )


def wide() -> None:
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    X = factors(100_000, m=100).astype(np.float64)
    y: list[np.ndarray] = []
    pca = seconds(lambda: y.append(PCA(63, random_state=0).fit_transform(X)))
    can = seconds(lambda: FastCan(64, verbose=0).fit(X, y[0]))
    print("100 × 100,000 (bar: three times fastcan)")
    print(f"  fastcan, 64 features     {can:8.2f} s  ({pca + can:.2f} s with PCA)")
    for name in ("laplacian", "spec"):
        taken = min(seconds(lambda name=name: make(name).fit(X)) for _ in range(2))
        print(f"  {name:24} {taken:8.2f} s  ({taken / can:.2f} of fastcan)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--fit"]:
        one_fit(sys.argv[2])
    else:
        parts = {"nci9": nci9, "ndfs": ndfs, "wide": wide}
        for part in sys.argv[1:] or parts:
            parts[part]()
