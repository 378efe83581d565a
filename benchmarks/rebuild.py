"""How well ten columns rebuild a field at later times.

``python benchmarks/rebuild.py FILE`` reads the array ``X`` of an .npz file, its rows in
the order of time. The first 70 % of the rows are known: on them ten columns are chosen
and the regression is learned. The last 30 % are rebuilt from these columns: by
`Cover.reconstruct`, and by `RidgeReconstruction` for columns of other rankers.

Printed are the root of the mean squared error of all cells over the deviation of all
these cells, and the mean over the columns of the same. Both are of the last 30 %, all
columns counted, the chosen ones, too.
"""

from __future__ import annotations

import sys

import numpy as np

from franet import Cover
from franet.evaluation import RidgeReconstruction
from franet.rankers import ColumnSubset, FacilityLocation, RandomRanking

PICKS, KNOWN = 10, 0.7
OTHERS = (ColumnSubset(PICKS), FacilityLocation(PICKS))
DRAWS = [RandomRanking(PICKS, random_state=seed) for seed in range(5)]


def errors(X: np.ndarray, rebuilt: np.ndarray) -> np.ndarray:
    """Return the error of the whole field and that of its columns, over deviations."""
    squared = (X - rebuilt) ** 2
    of_columns = np.sqrt(squared.mean(axis=0)) / X.std(axis=0)
    return np.array([np.sqrt(squared.mean()) / X.std(), of_columns.mean()])


def main(path: str) -> None:
    """Measure and print."""
    with np.load(path) as held:
        X = held["X"].astype(float)
    end = int(KNOWN * len(X))
    known, later = X[:end], X[end:]

    def by_ridge(ranker: object) -> np.ndarray:
        columns = np.flatnonzero(ranker.fit(known).support_)
        model = RidgeReconstruction(columns).fit(known)
        return errors(later, model.predict(later[:, columns]))

    cover = Cover(PICKS).fit(known)
    found = {"Cover": errors(later, cover.reconstruct(cover.transform(later)))}
    found |= {type(ranker).__name__: by_ridge(ranker) for ranker in OTHERS}
    found["random columns"] = np.mean([by_ridge(draw) for draw in DRAWS], axis=0)
    print(f"{'':<18}{'whole field':>12}{'mean column':>13}")
    for name, (whole, column) in found.items():
        print(f"{name:<18}{whole:12.3f}{column:13.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
