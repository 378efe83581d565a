"""Whether ``Cover()`` picks the same in any order of rows and columns, on real tables.

``python benchmarks/shuffles.py [--tables NAME …] [--shuffles 20]`` shuffles the rows of
each table of ``benchmarks/field.py``, permutes its columns, and gives columns other
units. Picks have to be the same columns, of copies any. It prints a line for each table
with the number of shuffles in which a pick differed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from field import folder

from franet import Cover

K = 16
# Columns with a larger correlation are copies of each other.
COPIES = 1.0 - 1e-9


def picks_of(X: np.ndarray) -> np.ndarray:
    """Return the picked columns, standardized."""
    picks = X[:, Cover(K).fit(X).order_[:K]]
    return (picks - picks.mean(axis=0)) / picks.std(axis=0)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two picks of columns are copies, place by place."""
    return bool((np.abs(np.mean(one * other, axis=0)) >= COPIES).all())


def differing(X: np.ndarray, n_shuffles: int) -> dict[str, int]:
    """Return in how many shuffles the picks differ, by what was shuffled."""
    wanted, found = picks_of(X), {"rows": 0, "columns": 0, "units": 0}
    rng = np.random.default_rng(0)
    for _ in range(n_shuffles):
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        units = np.exp(rng.normal(size=X.shape[1]))
        found["rows"] += not same(picks_of(X[rows]), wanted[rows])
        found["columns"] += not same(picks_of(X[:, columns]), wanted)
        found["units"] += not same(picks_of(X * units), wanted)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=folder())
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--shuffles", type=int, default=20)
    given = parser.parse_args()
    for path in sorted(given.folder.glob("*.npz")):
        if given.tables and path.stem not in given.tables:
            continue
        X = np.load(path)["X"].astype(np.float64)
        found = differing(X[:, np.ptp(X, axis=0) > 0], given.shuffles)
        text = ", ".join(f"{what} {count}" for what, count in found.items())
        print(f"{path.stem}: of {given.shuffles} differ: {text}", flush=True)


if __name__ == "__main__":
    main()
