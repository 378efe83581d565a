"""Why some figures differ from the published ones, by experiment.

``python benchmarks/reproduce/experiments.py`` runs all and writes
``docs/benchmark/results/experiments.csv``; ``--only NAME`` one of them:

- *order*: examples that tie as fifth neighbour are taken in the order of the training
  part. The order is shuffled twenty times; the ranking stays the same.
- *grid*: the smallest distance, where the thresholds begin, is set to what rounding may
  leave of the distance of two equal columns.
- *literal*: the authors' program step by step in double precision, without the care
  for rounding: two copies of a column have a distance of some 1e-16, which becomes the
  smallest one, and constant columns become random ones. Dense; wants a GPU for arcene.
"""

from __future__ import annotations

import argparse
import csv
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from franet import FRANe
from franet.datasets import load
from franet.evaluation import paper_folds
from franet.evaluation._unit import order_of
from franet.evaluation.folds import Fold
from franet.evaluation.measures import FoldScorer

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmark" / "results"
COLUMNS = ["experiment", "dataset", "setting", "seed", "rmae"]
# Sets with many ties, and those that differ.
ORDER = ("BASEHOCK", "RELATHE", "PCMAC", "colon", "arcene")
GRID = ("arcene", "colon", "GLIOMA", "nci9", "leukemia", "Prostate-GE")
LITERAL = ("arcene", "colon")
# Units of rounding of 1 − r near r = 1, and larger ones.
SMALLEST = (2.0**-53, 2.0**-52, 2.0**-50, 1e-12, 1e-9)
N_ORDERS = 20
N_SEEDS = 3
K = 16
Row = tuple[str, str, str, int, float]


def order_rows(name: str) -> list[Row]:
    """Return the error for the published order of examples and for others."""
    X = load(name).X
    found: dict[int, list[float]] = {seed: [] for seed in range(-1, N_ORDERS)}
    for fold in paper_folds(len(X)):
        order = order_of(FRANe(variant="reference").fit(X[fold.train]))
        for seed, values in found.items():
            values.append(_error(X, _shuffled(fold, seed), order))
    return [
        ("order", name, "as in the paper" if seed < 0 else "shuffled", seed, mean)
        for seed, mean in ((s, float(np.mean(v))) for s, v in found.items())
    ]


def grid_rows(name: str) -> list[Row]:
    """Return the error for thresholds that begin at distances near zero."""
    X = load(name).X
    found: dict[float, list[float]] = {smallest: [] for smallest in SMALLEST}
    for fold in paper_folds(len(X)):
        train = X[fold.train]
        largest = _largest_distance(train)
        for smallest, values in found.items():
            grid = partial(_distances_from, smallest, largest)
            ranker = FRANe(variant="reference", thresholds=grid).fit(train)
            values.append(_error(X, fold, order_of(ranker)))
    rows: list[Row] = [
        ("grid", name, f"{smallest:.1e}", 0, float(np.mean(values)))
        for smallest, values in found.items()
    ]
    for row in rows:
        print(*row, flush=True)
    return rows


def _distances_from(
    smallest: float, largest: float, low: float, high: float, n: int
) -> np.ndarray:
    """Return thresholds; the similarity of the largest distance is `low`."""
    distances = np.geomspace(smallest, largest, n)
    distances[-1] = largest
    return low + largest - distances


def _largest_distance(X: np.ndarray) -> float:
    Z = X[:, X.max(axis=0) > X.min(axis=0)]
    Z = Z - Z.mean(axis=0)
    Z /= np.sqrt((Z * Z).sum(axis=0))
    steps = range(0, Z.shape[1], 1000)
    return max(float((1 - Z[:, at : at + 1000].T @ Z).max()) for at in steps)


def literal_rows(name: str) -> list[Row]:
    """Return the error of the authors' steps, with and without their side effects."""
    X = load(name).X
    settings = {
        "zero up to rounding, constants left out": (False, False),
        "rounding as it falls, constants left out": (True, False),
        "rounding as it falls, constants random": (True, True),
    }
    rows: list[Row] = []
    for setting, (rounding, noise) in settings.items():
        for seed in range(N_SEEDS if noise else 1):
            values = []
            for fold in paper_folds(len(X)):
                scores = literal(X[fold.train], rounding, noise, seed)
                order = np.argsort(-scores, kind="stable")
                values.append(_error(X, fold, order))
            rows.append(("literal", name, setting, seed, float(np.mean(values))))
            print(*rows[-1], flush=True)
    return rows


def literal(X: np.ndarray, rounding: bool, noise: bool, seed: int) -> np.ndarray:
    """Return scores as the authors' program computes them, one step after another."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    constant = X.max(axis=0) == X.min(axis=0)
    table = X.copy()
    if noise:
        random = np.random.default_rng(seed)
        table[:, constant] = random.random((len(X), int(constant.sum())))
    keep = np.full(X.shape[1], True) if noise else ~constant
    Z = torch.tensor(table[:, keep].T, dtype=torch.float64, device=device)
    Z -= Z.mean(dim=1, keepdim=True)
    Z /= Z.norm(dim=1, keepdim=True)
    D = 1 - (Z @ Z.T).clamp(-1, 1)
    if not rounding:
        D[D < 1e-9] = 0
    scores = np.full(X.shape[1], -1.0)
    scores[keep] = _best(D)
    return scores


def _best(D: Any, damping: float = 0.85, n_thresholds: int = 100) -> np.ndarray:
    import torch

    n = len(D)
    D.fill_diagonal_(0)
    top, low = D.max(), D[D > 0].min()
    grid = np.geomspace(float(low), float(top), n_thresholds)
    best, winner = -np.inf, None
    for t in grid:
        W = torch.where(D <= t, top - D, 0.0)
        W.fill_diagonal_(0)
        if int((W > 0).sum()) < n:
            continue
        degree = W.sum(dim=0)
        degree[degree == 0] = 1
        W /= degree
        r = torch.full((n,), 1 / n, dtype=D.dtype, device=D.device)
        for _ in range(1000):
            new = damping * (W @ r) + (1 - damping) / n
            change = float((new - r).abs().max())
            r = new
            if change < 1e-10:
                break
        ordered = r.clamp(min=1e-10).sort().values
        quality = float(ordered[-2] / ordered[1])
        if quality > best:
            best, winner = quality, r.cpu().numpy()
    return np.ones(n) if winner is None else winner


def _shuffled(fold: Fold, seed: int) -> Fold:
    if seed < 0:
        return fold
    random = np.random.default_rng(seed)
    return Fold(fold.number, random.permutation(fold.train), fold.test)


def _error(X: np.ndarray, fold: Fold, order: np.ndarray) -> float:
    return FoldScorer(X, fold).score(order, [K], ["rmae"])["rmae"][K]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["order", "grid", "literal"])
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--out", type=Path, default=RESULTS / "experiments.csv")
    given = parser.parse_args()
    rows: list[Row] = []
    for what, names, measure in (
        ("order", ORDER, order_rows),
        ("grid", GRID, grid_rows),
        ("literal", LITERAL, literal_rows),
    ):
        if given.only not in (None, what):
            continue
        if what == "literal" and find_spec("torch") is None:
            print("literal: left as it is, because torch is not installed")
            continue
        for name in given.datasets or names:
            rows += measure(name)
    done = {row[:2] for row in rows}
    if given.out.exists():
        with given.out.open(newline="") as file:
            there = list(csv.reader(file))[1:]
        rows = [row for row in there if tuple(row[:2]) not in done] + rows
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*row[:4], f"{float(row[4]):.6f}"] for row in rows)
    print(f"{len(rows)} rows in {given.out.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
