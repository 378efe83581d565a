"""Whether picks explain more of other features than chance would let them.

Chance is a table whose columns are permuted, each for itself, and whose picks are made
in the same way: the picks of independent columns explain a little of the others, too,
because they are chosen among many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.cover._arrays import host
from franet.cover._explained import Curve
from franet.cover._residual import products_of_columns
from franet.cover._shares import FeatureTable
from franet.pairs.similarity._standardize import standardize

# Picks that are judged, and permutations: one that does as well refutes the picks.
PICKS, _TIMES = 64, 99
# Where so much more is explained than by permuted columns, few of these are enough.
_FAR = {8: 7.0, 24: 6.0}
# No table of m independent columns explains _PLAIN / m of others, and _LEAST besides.
_PLAIN, _LEAST = 10.0, 0.05
# Less is a rounding error.
_NOTHING = 1e-6
# Samples that are permuted, and entries: fewer of either explain more by chance.
_SAMPLES, _ENTRIES = 512, 2**19


def beats_chance(
    table: FeatureTable, curve: Curve, judge: Callable[[FeatureTable, int], Curve]
) -> bool:
    """Return whether picks explain more of other features than those of 99 % of tables.

    Parameters
    ----------
    table : FeatureTable
        The table.
    curve : Curve
        What its picks explain.
    judge : callable
        Returns the curve of a table for a number of picks.
    """
    others = curve.others[:PICKS]
    most = float(others.max(initial=0.0))
    if most <= _NOTHING:
        return False
    m = table.Z.shape[1]
    if most >= max(_PLAIN / m, _LEAST):
        return True
    part = _part(table)
    rng = np.random.default_rng(0)
    found: list[float] = []
    for times in range(1, _TIMES + 1):
        Z = rng.permuted(part.Z, axis=1)
        permuted = _table(Z, part.weights)
        found.append(float(judge(permuted, len(others)).others.max(initial=0.0)))
        report("permutations", times, _TIMES)
        if found[-1] >= most - _NOTHING:
            return False
        far = _FAR.get(times)
        if far and most > np.mean(found) + far * np.std(found, ddof=1):
            return True
    return True


def _part(table: FeatureTable) -> FeatureTable:
    """Return some samples of some features, which do not depend on where they are."""
    Z = host(table.Z)
    n, m = Z.shape
    rng = np.random.default_rng(0)
    samples: NDArray[np.intp] = np.arange(m)
    if m > _SAMPLES:
        samples = np.sort(rng.choice(m, _SAMPLES, replace=False))
    # In an order that neither signs nor the order of columns change.
    features = np.argsort(np.einsum("ji,ji,ji,ji->j", Z, Z, Z, Z), kind="stable")
    most = max(_ENTRIES // len(samples), 2)
    if n > most:
        features = features[np.sort(rng.choice(n, most, replace=False))]
    rows = Z[np.ix_(features, samples)]
    standardize(rows)
    weights = host(table.weights)[features]
    return _table(rows, weights / weights.sum())


def _table(Z: NDArray[np.float64], weights: NDArray[np.float64]) -> FeatureTable:
    n, m = Z.shape
    products = products_of_columns(Z, weights) if m <= n else None
    everything = slice(None)
    return FeatureTable(Z, np.arange(n), weights, everything, None, m, None, products)
