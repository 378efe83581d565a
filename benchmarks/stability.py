"""Whether stability by draws agrees with the truth: new tables of the same kind.

    python benchmarks/stability.py [n_examples]

Tables are drawn from a large one. The truth is how ranks differ between new tables,
their columns in random order; draws from one table should show the same.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.base import clone

from franet import FRANe
from franet.datasets import make_groups
from franet.rankers import (
    MCFS,
    SPEC,
    ColumnSubset,
    FacilityLocation,
    LaplacianScore,
    URelief,
    Variance,
)

TOP, N_TABLES, N_JUDGED, N_BOOT = 6, 100, 8, 100
RANKERS = [
    FRANe(TOP),
    Variance(TOP),
    ColumnSubset(TOP),
    FacilityLocation(TOP),
    LaplacianScore(TOP),
    SPEC(TOP),
    MCFS(TOP),
    URelief(TOP),
]


def population():
    """Return many examples of six groups of different sizes, and noise."""
    made = make_groups(
        20_000,
        6,
        [3, 5, 7, 9, 11, 13],
        redundancy=[0.95, 0.9, 0.85, 0.8, 0.75, 0.7],
        n_noise=12,
        exact=False,
        random_state=1,
    )
    scale = np.exp(0.2 * np.random.default_rng(0).normal(size=made.X.shape[1]))
    return made.X * scale


def ranks_of(ranker, X, rng):
    """Return the ranks of a table whose columns are put in random order."""
    columns = rng.permutation(X.shape[1])
    fresh = clone(ranker)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=int(rng.integers(2**31)))
    ranks = np.empty(X.shape[1], int)
    ranks[columns] = fresh.fit(X[:, columns]).ranking_
    return ranks


def consistency(ranks):
    """Return Kuncheva's index of the first features."""
    from franet.evaluation.stability import kuncheva

    return kuncheva([np.flatnonzero(r <= TOP) for r in ranks], ranks.shape[1])


def main(n_examples):
    rng = np.random.default_rng(5)
    everything = population()
    tables = [
        everything[rng.choice(len(everything), n_examples, replace=False)]
        for _ in range(N_TABLES)
    ]
    print(f"{n_examples} examples: width of intervals, Kuncheva, covered")
    print(f"{'ranker':<17}{'new tables':>13}{'bootstrap':>19}{'half':>19}")
    for ranker in RANKERS:
        true = np.array([ranks_of(ranker, X, rng) for X in tables])
        ordered = np.sort(true, axis=0)
        width = (ordered[-1 - 2] - ordered[2]).mean()
        cells = [f"{width:6.1f} {consistency(true):6.2f}"]
        for method in ("bootstrap", "half"):
            found = [
                clone(ranker).fit(X).stability(X, N_BOOT, method=method)
                for X in tables[:N_JUDGED]
            ]
            width = np.mean([s.rank_high - s.rank_low for s in found])
            index = np.mean([s.kuncheva for s in found])
            middle = np.median(true, axis=0)
            held = np.mean(
                [(s.rank_low <= middle) & (middle <= s.rank_high) for s in found]
            )
            cells.append(f"{width:6.1f} {index:6.2f} {held:5.2f}")
        print(f"{type(ranker).__name__:<17}{'':2}{('  ').join(cells)}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
