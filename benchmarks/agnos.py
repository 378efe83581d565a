"""AgnoS against what its paper published: intrinsic dimensions, and R² of 5-NN.

``python benchmarks/agnos.py`` measures all eight sets, ``--quick`` the four small
ones; ``--folds 3`` only the first three of ten folds; ``--seeds 1`` one start of the
network. ``--only nci9`` measures time and memory of one fit. ``FRANET_DATA`` names the
folder with the data sets.

R² of a feature is 1 − SSE / SST for the prediction by the five nearest neighbours
(Euclidean, columns standardised) on the 100 best features; the mean over all features
that vary is printed, for AgnoS and for 100 columns chosen at random, in two ways:

- *same rows*: ranked, fitted and measured on the whole table. A row is among its own
  five neighbours. That the published values were measured so is an inference: they are
  far above anything on new rows, and close to these on all sets but Prostate-GE.
- *new rows*: the ten folds of the evaluation protocol, ranked and fitted on the
  training part, measured on the rows left out; SST about the mean of the training part.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from franet.rankers import AgnoS, RandomRanking
from franet.rankers.agnos import standardise
from franet.rankers.intrinsic_dimension import intrinsic_dimension

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from data import load
from protocol import N_FOLDS, folds, predict

# The set: intrinsic dimension and R² at 100 features, from Doquet & Sebag 2019.
PUBLISHED = {
    "arcene": (40, 0.610),
    "Isolet": (9, 0.763),
    "ORL": (6, 0.800),
    "pixraw10P": (4, 0.855),
    "Prostate-GE": (23, 0.662),
    "TOX-171": (15, 0.581),
    "warpPIE10P": (3, 0.910),
    "Yale": (10, 0.703),
}
QUICK = ("ORL", "warpPIE10P", "Yale", "Isolet")
N_CHOSEN = 100


def varying(X: np.ndarray) -> np.ndarray:
    return X[:, X.max(axis=0) > X.min(axis=0)]


def chosen_by(ranker: Any, Z: np.ndarray) -> np.ndarray:
    return np.argsort(ranker.fit(Z).ranking_, kind="stable")[:N_CHOSEN]


def same_rows(X: np.ndarray, ranker: Any, n_seeds: int) -> float:
    """Return the mean over features and seeds of R² on the rows that were fitted."""
    Z = standardise(X)
    found = []
    for seed in range(n_seeds):
        chosen = chosen_by(ranker.set_params(random_state=seed), Z)
        found.append(1.0 - ((Z - predict(Z, Z, chosen)) ** 2).mean())
    return float(np.mean(found))


def new_rows(X: np.ndarray, ranker: Any, n_folds: int) -> float:
    """Return the mean over features of R² on the test parts of the first folds."""
    error, spread = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for _, (train, test) in zip(range(n_folds), folds(len(X)), strict=False):
        mean, std = X[train].mean(axis=0), X[train].std(axis=0)
        Z = (X - mean) / np.where(std > 0.0, std, 1.0)
        found = predict(Z[train], Z[test], chosen_by(ranker, Z[train]))
        error += ((Z[test] - found) ** 2).sum(axis=0)
        spread += (Z[test] ** 2).sum(axis=0)
    seen = spread > 0.0
    return float((1.0 - error[seen] / spread[seen]).mean())


def measure(name: str, options: argparse.Namespace) -> None:
    X = varying(load(name)[0])
    dimension, published = PUBLISHED[name]
    line = intrinsic_dimension(standardise(X))
    likely = intrinsic_dimension(standardise(X), method="mle")
    agnos = AgnoS(variant=options.variant, backend=options.backend)
    chance = RandomRanking()
    start = time.perf_counter()
    same = same_rows(X, agnos, options.seeds)
    seconds = (time.perf_counter() - start) / options.seeds
    print(
        f"{name:<12}{X.shape[0]:>6}{X.shape[1]:>7}{line:>8.2f}{likely:>7.2f}"
        f"{dimension:>6}{same:>11.3f}{same_rows(X, chance, options.seeds):>8.3f}"
        f"{published:>11.3f}{new_rows(X, agnos, options.folds):>10.3f}"
        f"{new_rows(X, chance, options.folds):>8.3f}{seconds:>8.1f}",
        flush=True,
    )


def one_fit(name: str, variant: str, backend: str) -> None:
    X = load(name)[0]
    start = time.perf_counter()
    fitted = AgnoS(variant=variant, backend=backend, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name} {X.shape[0]} × {X.shape[1]}, {variant}, {fitted.backend_}: "
        f"{seconds:.1f} s, {memory:.0f} MB, {fitted.n_hidden_} hidden units, "
        f"{fitted.n_iter_} iterations"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variant", default="slack", choices=["slack", "weights"])
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--only", action="append", help="a set; several times")
    options = parser.parse_args()
    known = [name for name in options.only or PUBLISHED if name in PUBLISHED]
    for name in options.only or ():
        if name not in PUBLISHED:
            one_fit(name, options.variant, options.backend)
    if options.quick:
        known = [name for name in QUICK if name in known]
    if known:
        print(
            f"{options.variant}: {N_CHOSEN} features, {options.seeds} seeds, "
            f"{options.folds} of {N_FOLDS} folds\n"
            "set              m      n    line    mle known  same rows  random"
            "  published  new rows  random   s/fit"
        )
    for name in known:
        measure(name, options)


if __name__ == "__main__":
    main()
