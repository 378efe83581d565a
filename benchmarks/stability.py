"""Whether the stability of a ranking holds for new halves: does 90 % mean 90 %.

``python benchmarks/stability.py [FOLDER]`` takes some rows of a large table as the
table at hand, fits a ranker and measures its stability. The truth comes from the other
rows: halves as large as those of the table, drawn from rows that neither the ranking
nor its stability has seen. Reported is, for picks of which about the same share is
reported, what share of new halves picks them; raw is the share of the draws from the
table itself, as if it were the answer.

The bar: picks with 85 to 95 % are picked by 80 to 97 % of new halves, on the average.

The tables are made groups and scikit-learn's digits and tumors; with FOLDER also
the files ``NAME.npz`` in it with an array ``X`` of at least 900 rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from franet import Cover, FRANe
from franet.datasets import make_groups
from franet.rankers import ColumnSubset, FacilityLocation, LaplacianScore, Variance

TOP, ROWS, N_TABLES, N_NEW = 16, 200, 2, 40
LEAST_ROWS = 900
RANKERS = [
    Cover(TOP),
    FRANe(TOP),
    FacilityLocation(TOP),
    ColumnSubset(TOP),
    LaplacianScore(TOP),
    Variance(TOP),
]
EDGES = [0.0, 0.15, 0.35, 0.55, 0.75, 0.85, 0.95, 1.0]
BAR = 0.80, 0.97
ALIKE = 0.9


def tables(folder: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield tables with many rows, and their names."""
    yield (
        "groups",
        make_groups(
            2000,
            6,
            [3, 5, 7, 9, 11, 13],
            redundancy=[0.95, 0.9, 0.85, 0.8, 0.75, 0.7],
            n_noise=12,
            exact=False,
            random_state=1,
        ).X,
    )
    yield "digits", load_digits().data
    yield "tumors", load_breast_cancer().data
    for path in sorted(folder.glob("*.npz")) if folder else []:
        X = np.load(path)["X"]
        if len(X) >= LEAST_ROWS and X.shape[1] <= 500:
            yield path.stem, X.astype(float)


def found_in(ranker: Any, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the first features of a half whose columns are in random order."""
    columns = rng.permutation(X.shape[1])
    return columns[np.argsort(clone(ranker).fit(X[:, columns]).ranking_)[:TOP]]


def judge(ranker: Any, everything: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what is reported of each pick, and what new halves do.

    Returns
    -------
    shares : ndarray of shape (5, n_picks)
        With stand-ins the raw share, the reported one and that of new halves; by the
        pick alone the reported share and that of new halves.
    """
    rows = rng.permutation(len(everything))
    size = min(ROWS, len(rows) // 3)
    X, others = everything[rows[:size]], everything[rows[size:]]
    varied = np.ptp(X, axis=0) > 0
    X, others = X[:, varied], others[:, varied]
    fitted = clone(ranker).fit(X)
    found = fitted.stability(X)
    picks = np.flatnonzero(fitted.support_)
    alike = np.abs(np.corrcoef(X.T)) >= ALIKE
    np.fill_diagonal(alike, True)
    alone, held = np.zeros(len(picks)), np.zeros(len(picks))
    for _ in range(N_NEW):
        half = others[rng.choice(len(others), size // 2, replace=False)]
        first = found_in(ranker, half, rng)
        alone += np.isin(picks, first) / N_NEW
        held += alike[np.ix_(picks, first)].any(axis=1) / N_NEW
    raw = found.selected[picks] + [
        sum(found.interchangeable.get(int(j), {}).values()) for j in picks
    ]
    return np.stack([raw, found.held[picks], held, found.picked_again[picks], alone])


def line(name: str, reported: np.ndarray, true: np.ndarray) -> str:
    """Return what new halves do, by what is reported."""
    cells = []
    for low, high in pairwise(EDGES):
        inside = (reported >= low) & ((reported < high) | (high == 1.0))
        count = int(inside.sum())
        cells.append(f"{100 * true[inside].mean():4.0f} {count:4}" if count else "")
    error = np.sqrt(np.mean((reported - true) ** 2))
    return f"{name:<24}{''.join(f'{cell:>11}' for cell in cells)}{error:8.3f}"


def main(folder: Path | None) -> None:
    """Measure and print."""
    known = list(tables(folder))
    print(f"{len(known)} tables: {', '.join(name for name, _ in known)}")
    print(f"Picks: {TOP}. Rows at hand: {ROWS}. New halves: {N_NEW}.")
    print("Share of new halves in percent, number of picks; by the share reported.")
    heads = [f"{100 * a:.0f}-{100 * b:.0f} %" for a, b in pairwise(EDGES)]
    print(f"{'':<24}{''.join(f'{head:>11}' for head in heads)}{'error':>8}")
    everyone = []
    for ranker in RANKERS:
        rng = np.random.default_rng(0)
        parts = [judge(ranker, X, rng) for _, X in known for _ in range(N_TABLES)]
        raw, held, new, again, alone = np.concatenate(parts, axis=1)
        name = type(ranker).__name__
        print(line(f"{name}, raw", raw, new))
        print(line(f"{name}, or alike", held, new))
        print(line(f"{name}, alone", again, alone), flush=True)
        everyone += [(held, new), (again, alone)]
    reported, true = (np.concatenate(part) for part in zip(*everyone, strict=True))
    print(line("all, or alike and alone", reported, true))
    there = (reported >= 0.85) & (reported < 0.95)
    mean = true[there].mean()
    verdict = "met" if BAR[0] <= mean <= BAR[1] else "missed"
    most = 100 * np.mean(true[there] >= BAR[0])
    print(f"Reported 85 to 95 %: {100 * mean:.1f} % of new halves, bar {verdict}.")
    print(f"Of these picks, {most:.0f} % are picked by 80 % of new halves or more.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    warnings.simplefilter("ignore")
    main(parser.parse_args().folder)
