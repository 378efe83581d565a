"""The hierarchical Bayesian test beside draws of the published Stan model.

``python benchmarks/bayes.py FOLDER`` prints probabilities, quantiles, diagnostics and
seconds; FOLDER holds ``scores.npz`` (x and y, data sets × folds) and
``stan_draws.npz`` (mu, s and nu in units of the mean deviation of the folds).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from franet.evaluation.statistics import hierarchical

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def main() -> None:
    folder = Path(sys.argv[1])
    scores, stan = np.load(folder / "scores.npz"), np.load(folder / "stan_draws.npz")
    x, y = scores["x"], scores["y"]
    start = time.perf_counter()
    found = hierarchical(x, y, lower_is_better=False, rope=0.001)
    took = time.perf_counter() - start
    print(found)
    print(f"in all {took:.1f} s (bar 5 s)")
    unit = (y - x).std(axis=1).mean()
    for name, ours in found.draws.items():
        # Ours is the advantage of the first, Stan's of the second, in other units.
        scale = {"mu": -1 / unit, "s": 1 / unit, "nu": 1.0}[name]
        pair = (np.quantile(ours * scale, LEVELS), np.quantile(stan[name], LEVELS))
        for title, values in zip(("ours", "Stan"), pair, strict=True):
            print(f"{name:3} {title}", *(f"{value:9.4f}" for value in values))


if __name__ == "__main__":
    main()
