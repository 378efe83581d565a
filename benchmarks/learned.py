"""A similarity learned without labels, against correlation.

Features are compared after a linear map of the examples: whitening, shrunk towards no
map at all. How far it is shrunk is learned from the table: similarities of one half of
the examples must rebuild features on the other half. Definition and verdict stand in
docs/learned.md.

Prints the error of the first 16 features, set by set and as means from 1 to 64, and
how sure the difference is; writes results/learned.csv.

``python benchmarks/learned.py [--sets Yale colon] [--folds 5]``: the first five of the
ten folds of the paper; all takes less than an hour on one core. ``--sets`` without
names prints what is stored.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.linalg import eigh
from scipy.special import softmax
from scipy.stats import binomtest

from franet import Cover, FRANe
from franet.cover import _fit, _shares
from franet.datasets import load
from franet.evaluation import compare
from franet.evaluation.folds import paper_folds
from franet.evaluation.measures import FoldScorer
from franet.exceptions import DegenerateRankingWarning
from franet.pairs.similarity._standardize import feature_rows, standardize
from franet.pairs.tiles import TileRunner

CHOOSING = (
    "lung_small", "Yale", "colon", "warpPIE10P", "ORL", "lymphoma", "TOX-171", "ALLAML",
    "Isolet", "PCMAC",
)  # fmt: skip
REPORTING = (
    "madelon", "COIL20", "GLIOMA", "Prostate-GE", "leukemia", "nci9", "pixraw10P",
    "arcene", "RELATHE", "BASEHOCK",
)  # fmt: skip
COUNTS = (1, 2, 4, 8, 16, 32, 64)
AT = COUNTS.index(16)
OUT = Path(__file__).parent / "results" / "learned.csv"

# Shrinkages to choose from, in units of the mean eigenvalue; inf is correlation.
SHRINKAGES = (np.inf, 10.0, 3.0, 1.0, 0.3)
# Widths of the kernel, in units of the deviation of the similarities.
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)
N_HALVES = 4
# Features that rebuild, and those of them that are rebuilt.
N_POINTS, N_TARGETS = 1500, 400


def standardized(X: np.ndarray) -> np.ndarray:
    """Return the features as rows, centred and of unit length."""
    Z = feature_rows(X, np.arange(X.shape[1]), X.shape[1], np.float64)
    standardize(Z)
    return Z


class Whitening:
    """``(I + S/ρ)^(-1/2)`` with S the products of the examples, mean eigenvalue 1.

    The smaller one of the products of examples and of features is decomposed: their
    eigenvalues are the same.
    """

    def __init__(self, Z: np.ndarray) -> None:
        n, m = Z.shape
        self._Z, self._by_features = Z, n < m
        values, self._V = eigh(Z @ Z.T if self._by_features else Z.T @ Z)
        if self._by_features:
            # Constant features are in no direction, but for rounding.
            self._V[~Z.any(axis=1)] = 0.0
        self._values = np.maximum(values, 0.0)
        # Rows are centred: one direction of the examples holds nothing.
        self._values /= self._values.sum() / min(n, m - 1)

    def _factors(self, shrinkage: float) -> np.ndarray:
        return 1.0 / np.sqrt(1.0 + self._values / shrinkage)

    def similarities(
        self, shrinkage: float, points: np.ndarray, targets: np.ndarray
    ) -> np.ndarray:
        """Return the similarities of some features with others."""
        factors = self._factors(shrinkage)
        if self._by_features:
            Y = self._V[points] * (np.sqrt(self._values) * factors)
        else:
            Y = (self._Z[points] @ self._V) * factors
        length = np.sqrt(np.einsum("ij,ij->i", Y, Y))
        # A feature may be constant on the half at hand.
        Y /= np.where(length > 0.0, length, 1.0)[:, None]
        return np.asarray(Y[targets] @ Y.T)

    def table(self, shrinkage: float) -> np.ndarray:
        """Return the mapped table, whose correlations are the similarities."""
        V, factors = self._V, self._factors(shrinkage)
        if self._by_features:
            return ((V * factors) @ (V.T @ self._Z)).T
        return ((self._Z @ V * factors) @ V.T).T


def rebuilding_errors(X: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return, for one pair of halves, the error by shrinkage and sharpness.

    Each feature of the second half is the mean of the others there, weighted by a
    kernel of the similarities on the first.
    """
    m, n = X.shape
    first, second = np.array_split(generator.permutation(m), 2)
    points = generator.permutation(n)[:N_POINTS]
    targets = np.arange(min(N_TARGETS, len(points)))
    Z = standardized(X[:, points])
    goals = Z[:, second] - Z[:, first].mean(axis=1, keepdims=True)
    whitening = Whitening(standardized(X[first]))
    errors = np.empty((len(SHRINKAGES), len(SHARPNESS)))
    others = np.ones((len(targets), len(points)), bool)
    others[targets, targets] = False
    for i, shrinkage in enumerate(SHRINKAGES):
        S = whitening.similarities(shrinkage, points, targets)
        S /= S[others].std()
        S[~others] = -np.inf
        for j, sharpness in enumerate(SHARPNESS):
            rebuilt = softmax(sharpness * S, axis=1) @ goals
            errors[i, j] = np.sum((goals[targets] - rebuilt) ** 2)
    return errors / np.sum(goals[targets] ** 2)


def learn(X: np.ndarray) -> float:
    """Return the shrinkage at which similarities rebuild best."""
    varied = X[:, X.max(axis=0) > X.min(axis=0)]
    generator = np.random.default_rng(0)
    errors = sum(rebuilding_errors(varied, generator) for _ in range(N_HALVES))
    return SHRINKAGES[int(np.min(errors, axis=1).argmin())]


def order_of(ranker: FRANe, X: np.ndarray) -> np.ndarray:
    ranking = ranker.fit(X).ranking_
    return np.argsort(ranking, kind="stable")[: COUNTS[-1]]


def mapped_cover(X: np.ndarray, mapped: np.ndarray) -> np.ndarray:
    """Return picks by cover, its representatives found by mapped columns."""
    varied = X.max(axis=0) > X.min(axis=0)
    Z = standardized(mapped[:, varied])

    def represented(
        _: np.ndarray, targets: np.ndarray, weights: np.ndarray, runner: TileRunner
    ) -> _shares.Representatives:
        drawn = len(targets) < len(Z)
        part = _shares._draw(len(Z), len(targets)) if drawn else slice(None)
        return _shares.Representatives(Z, Z[part], weights, runner)

    with patch.object(_fit, "Representatives", represented):
        return order_of(Cover(COUNTS[-1], n_jobs=1), X)


def rankings(
    X: np.ndarray, number: int, covers: bool
) -> tuple[float, dict[str, Callable[[], np.ndarray]]]:
    """Return what was learned, and how each ranker orders the features."""
    shrinkage = learn(X)
    whitening = Whitening(standardized(X))
    learned = X if np.isinf(shrinkage) else whitening.table(shrinkage)
    frane, cover = FRANe(n_jobs=1), Cover(COUNTS[-1], n_jobs=1)
    generator = np.random.default_rng(number)
    ways = {
        "correlation": lambda: order_of(frane, X),
        "learned": lambda: order_of(frane, learned),
        "whitened, ρ = 1": lambda: order_of(frane, whitening.table(1.0)),
        "random": lambda: generator.permutation(X.shape[1])[: COUNTS[-1]],
    }
    if covers:
        ways["cover"] = lambda: order_of(cover, X)
        ways["cover, learned"] = lambda: mapped_cover(X, learned)
    return shrinkage, ways


def measure(name: str, folds: int) -> list[list[str]]:
    """Return a row for each fold and ranker: errors from 1 to 64 features."""
    X = np.asarray(load(name).X, np.float64)
    half = "choosing" if name in CHOOSING else "reporting"
    rows = []
    for fold in paper_folds(len(X))[:folds]:
        scorer = FoldScorer(X, fold)
        # Where it was chosen it does not help cover, which is left at that.
        shrinkage, ways = rankings(X[fold.train], fold.number, half == "choosing")
        for way, order in ways.items():
            values = scorer.score(order(), COUNTS, ["rmae_shared"])["rmae_shared"]
            errors = [f"{values[k]:.6f}" for k in COUNTS]
            rows.append([name, half, str(fold.number), way, f"{shrinkage:g}", *errors])
    return rows


def stored() -> dict[str, list[list[str]]]:
    """Return the rows measured so far, by data set."""
    if not OUT.exists():
        return {}
    with OUT.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {name: [row for row in rows if row[0] == name] for name, *_ in rows}


def store(table: dict[str, list[list[str]]]) -> None:
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "half", "fold", "ranker", "learned", *COUNTS])
        for name in (*CHOOSING, *REPORTING):
            writer.writerows(table.get(name, []))


def errors_of(rows: list[list[str]]) -> dict[str, np.ndarray]:
    """Return errors by fold and number of features, for each ranker."""
    return {
        way: np.array([row[5:] for row in rows if row[3] == way], np.float64)
        for way in dict.fromkeys(row[3] for row in rows)
    }


def markdown(head: list[str], rows: list[list[str]], end: str = "--:") -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return [lines[0], f"|---|{'--:|' * (len(head) - 2)}{end}|", *lines[1:]]


def table_of_sets(table: dict[str, list[list[str]]]) -> list[str]:
    """Return errors at 16 features by data set, as lines of Markdown."""
    ways = list(dict.fromkeys(row[3] for rows in table.values() for row in rows))
    lines = []
    for name, rows in table.items():
        errors = errors_of(rows)
        means = {way: f"{values[:, AT].mean():.4f}" for way, values in errors.items()}
        learned = Counter(row[4] for row in rows if row[3] == ways[0]).most_common()
        chosen = ", ".join(f"{rho} ({times})" for rho, times in learned)
        star = " *" if name in CHOOSING else ""
        lines.append([name + star, *(means.get(way, "") for way in ways), chosen])
    return markdown(["data set", *ways, "learned ρ (folds)"], lines, "---")


def table_of_counts(table: dict[str, dict[str, np.ndarray]]) -> list[str]:
    """Return mean errors by number of features, as lines of Markdown."""
    lines = []
    for way in next(iter(table.values())):
        means = np.mean([errors[way].mean(axis=0) for errors in table.values()], axis=0)
        lines.append([way, *(f"{error:.4f}" for error in means)])
    return markdown(["ranker", *map(str, COUNTS)], lines)


def verdict(table: dict[str, dict[str, np.ndarray]], a: str, b: str) -> list[str]:
    """Return how often, and how surely, the first is better at 16 features."""
    first, second = (
        {name: errors[way][:, AT] for name, errors in table.items()} for way in (a, b)
    )
    gaps = np.array([(second[name] - first[name]).mean() for name in table])
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    chance = binomtest(better, better + worse).pvalue if better + worse else 1.0
    lines = [
        f"{a} against {b}: better on {better}, equal on {len(gaps) - better - worse}, "
        f"worse on {worse}; sign test p = {chance:.3f}"
    ]
    # The test needs several data sets that differ.
    if better + worse > 2:
        # Folds correlate by the share that is held out, however many are measured.
        found = compare(first, second, rope=0.001, rho=0.1)
        lines.append(
            f"  probably better {found.p_first:.3f}, within 0.001 {found.p_equal:.3f}, "
            f"worse {found.p_second:.3f}"
        )
    return lines


def half_of(
    half: str, table: dict[str, list[list[str]]]
) -> dict[str, dict[str, np.ndarray]]:
    return {name: errors_of(rows) for name, rows in table.items() if rows[0][1] == half}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=(*CHOOSING, *REPORTING))
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateRankingWarning)
    for name in given.sets:
        rows = measure(name, given.folds)
        store({**stored(), name: rows})
        print(f"{name} measured", flush=True)
    table = stored()
    print(f"\nRMAE at {COUNTS[AT]} features, ties shared, mean over the folds\n")
    print("\n".join(table_of_sets(table)))
    for half in ("choosing", "reporting"):
        chosen = half_of(half, table)
        if not chosen:
            continue
        print(f"\n{half} half, means over {len(chosen)} data sets\n")
        print("\n".join(table_of_counts(chosen)))
        pairs = [("learned", "correlation"), ("learned", "whitened, ρ = 1")]
        if half == "choosing":
            pairs.append(("cover, learned", "cover"))
        for a, b in pairs:
            print("\n".join(verdict(chosen, a, b)))


if __name__ == "__main__":
    main()
