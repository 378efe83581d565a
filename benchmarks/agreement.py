"""The estimator against the naive definition on every data set at hand.

Naive means: all similarities in one float64 matrix, and for each threshold a dense
linear system, solved by LAPACK or, where PyTorch finds a GPU, there. Prints for each
set whether float64 input gives the same winner, how far its scores are off, and
whether float32 input gives the same winner and the same 100 best features.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from data import dataset_names, load
from franet import FRANe
from naive import ZERO, paper_grid, pearson, rank, rqh

DAMPING = 0.85


def _solver() -> Any:
    """Return a function that solves a dense system, on a GPU if there is one."""
    try:
        import torch
    except ImportError:
        return np.linalg.solve
    if not torch.cuda.is_available():
        return np.linalg.solve

    def solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
        on_gpu = torch.from_numpy(A).cuda(), torch.from_numpy(b).cuda()
        return torch.linalg.solve(*on_gpu).cpu().numpy()

    return solve


def naive_scores(X: np.ndarray, solve: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the winner, its scores and the constant columns, by the definition."""
    constant = X.max(axis=0) == X.min(axis=0)
    d = 1.0 - pearson(X[:, ~constant])
    n = len(d)
    d[d <= ZERO] = 0.0
    off = ~np.eye(n, dtype=bool)
    low = d[off].min()
    d[d - low <= ZERO] = low
    w = 2.0 - d
    best, winner, kept = -np.inf, -1, np.empty(0)
    edges_before = -1
    for i, t in enumerate(paper_grid(w, "geometric", 100)):
        W = np.where((w >= t - 1e-12) & off, w, 0.0)
        n_edges = np.count_nonzero(W)
        if n_edges < n or n_edges == edges_before:
            continue
        edges_before = n_edges
        degree = W.sum(axis=0)
        W *= -DAMPING / np.where(degree > 0.0, degree, 1.0)
        W[np.diag_indices(n)] += 1.0
        scores = solve(W, np.full(n, (1.0 - DAMPING) / n))
        quality = rqh(scores)
        if quality > best * (1.0 + 1e-9):
            best, winner, kept = quality, i, scores
    wide = np.zeros(len(constant))
    wide[~constant] = kept
    return winner, wide, constant


def main() -> None:
    warnings.simplefilter("ignore")
    solve = _solver()
    names = sys.argv[1:] or dataset_names()
    header = "set,m,n,winner,naive,scores_off,winner32,top100_32,seconds,naive_seconds"
    print(header, flush=True)
    for name in names:
        X = load(name)[0]
        start = time.perf_counter()
        ours = FRANe().fit(X)
        took = time.perf_counter() - start
        start = time.perf_counter()
        winner, scores, constant = naive_scores(X, solve)
        naive_took = time.perf_counter() - start
        single = FRANe().fit(X.astype(np.float32))
        top = set(np.argsort(rank(scores, constant))[:100])
        off = np.abs(ours.scores_ - scores).max() / scores.max()
        top32 = set(np.argsort(single.ranking_)[:100])
        print(
            f"{name},{X.shape[0]},{X.shape[1]},{ours.winner_},{winner},{off:.1e},"
            f"{single.winner_},{len(top & top32)},{took:.3f},{naive_took:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
