"""What the cover ranking is made of, and what each part is worth.

RMAE at 16 features, ties shared, on the data sets on which the method was chosen; the
others never took part. Each variant changes one thing.

``python benchmarks/choose.py [--sets Yale colon] [--folds 3]``; all takes half an hour.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from franet.cover import _fit, _shares
from franet.cover._constraints import Constraints
from franet.datasets import load
from franet.evaluation.folds import paper_folds
from franet.evaluation.measures import FoldScorer
from franet.pairs.similarity._sparse import constant_in

SETS = (
    "lung_small", "Yale", "colon", "lymphoma", "warpPIE10P", "ALLAML", "ORL", "TOX-171",
    "Isolet", "PCMAC",
)  # fmt: skip
N_FEATURES = 16
OUT = Path(__file__).parent / "results" / "choose.csv"


class Without:
    """A share that says nothing."""

    def __init__(self, table: Any, *_: Any) -> None:
        self._n = len(getattr(table, "Z", table))
        self.k = _shares.N_NEIGHBOURS

    def gains(self) -> np.ndarray:
        """Return that nothing is gained."""
        return np.zeros(self._n)

    def errors(self, features: np.ndarray) -> np.ndarray:
        """Return that nothing is told."""
        return np.ones(len(features))

    def add(self, j: int) -> None:
        """Take no notice."""


def equal_weights(Z: np.ndarray) -> np.ndarray:
    return np.ones(len(Z))


class ScaledNearest(_shares.NearestSamples):
    """Neighbours in standardized units."""

    def __init__(self, table: Any, runner: Any) -> None:
        super().__init__(table, runner)
        self._raw = np.ascontiguousarray(table.Z[:, table.examples])


# Each variant: what takes the place of what.
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "representatives alone": [
        (_fit, "Linear", Without), (_fit, "NearestSamples", Without),
    ],
    "linear alone": [
        (_fit, "Representatives", Without), (_fit, "NearestSamples", Without),
    ],
    "without neighbours": [(_fit, "NearestSamples", Without)],
    "without representatives": [(_fit, "Representatives", Without)],
    "without linear": [(_fit, "Linear", Without)],
    "neighbours in scaled units": [(_fit, "NearestSamples", ScaledNearest)],
    "all features count 1": [(_shares, "weights_of", equal_weights)],
    "32 candidates": [(_fit, "_SHORT", 32)],
    "128 candidates": [(_fit, "_SHORT", 128)],
    "16 components": [(_shares, "COMPONENTS", 16)],
    "512 features drawn": [(_shares, "SAMPLE", 512)],
}  # fmt: skip


@contextmanager
def changed(changes: list[tuple[Any, str, Any]]) -> Iterator[None]:
    if not changes:
        yield
        return
    where, name, value = changes[0]
    with patch.object(where, name, value), changed(changes[1:]):
        yield


def picks(X: np.ndarray) -> np.ndarray:
    columns = np.flatnonzero(~constant_in(X))
    n = len(columns)
    free = Constraints([], np.zeros(n, bool), np.ones(n), np.full(n, -1))
    table = _shares.make_table(np.ascontiguousarray(X[:, columns]), False)
    picker = _fit.Picker(table, free, 2)
    picker.go_on(N_FEATURES)
    return columns[picker.order]


def errors(name: str, folds: int) -> dict[str, float]:
    """Return the mean error of each variant on one data set."""
    X = np.asarray(load(name).X, np.float64)
    sums = dict.fromkeys(VARIANTS, 0.0)
    for fold in paper_folds(len(X))[:folds]:
        scorer = FoldScorer(X, fold)
        for variant, changes in VARIANTS.items():
            with changed(changes):
                order = picks(X[fold.train])
            found = scorer.score(order, [N_FEATURES], ["rmae_shared"])
            sums[variant] += found["rmae_shared"][N_FEATURES]
    return {variant: total / folds for variant, total in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--folds", type=int, default=10)
    given = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    for name in given.sets:
        table[name] = errors(name, given.folds)
        best = min(table[name].values())
        shown = (f"{v} {e:.4f}{'*' * (e == best)}" for v, e in table[name].items())
        print(f"{name}: {', '.join(shown)}", flush=True)
    rows = []
    for variant in VARIANTS:
        values = [table[name][variant] for name in given.sets]
        rows.append([variant, *(f"{v:.4f}" for v in [*values, np.mean(values)])])
    for row in rows:
        print(f"{row[0]:28s} mean {row[-1]}")
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", *given.sets, f"mean ({given.folds} folds)"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
