"""The slow oracle of pruning: correlations one pair at a time, promises one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np

ROUNDING = 1e-9


def correlation(x, y, fewest):
    """Return r of the rows that both columns have; 0 where there are too few."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < fewest or x.min() == x.max() or y.min() == y.max():
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def correlations(X):
    """Return the matrix of all r, with 0 for constant columns and the diagonal."""
    X = np.asarray(X, float)
    n = X.shape[1]
    fewest = 3 if np.isnan(X).any() else 2
    R = np.zeros((n, n))
    for j, k in combinations(range(n), 2):
        R[j, k] = R[k, j] = correlation(X[:, j], X[:, k], fewest)
    return R


def constant(X):
    """Return which columns have one value only, gaps aside."""
    return np.array([len(set(x[~np.isnan(x)].tolist())) < 2 for x in X.T])


def check(X, found, cutoff, R=None):
    """Assert both guarantees, and that representatives are the closest kept ones."""
    R = correlations(X) if R is None else R
    S, is_constant = np.abs(R), constant(X)
    kept = found.kept
    assert list(kept) == sorted(set(kept.tolist()))
    assert (S[np.ix_(kept, kept)] < cutoff).all()
    assert not is_constant[kept].any()
    assert set(found.constant.tolist()) == set(np.flatnonzero(is_constant).tolist())
    for j in range(X.shape[1]):
        k = found.representative[j]
        if is_constant[j]:
            assert k == -1
            assert np.isnan(found.r[j])
        elif j in kept:
            assert (k, found.r[j]) == (j, 1.0)
        else:
            assert k in kept
            assert S[j, k] >= cutoff - ROUNDING
            assert S[j, k] >= S[j, kept].max() - ROUNDING
            assert abs(found.r[j] - R[j, k]) < ROUNDING


def fewest(S, cutoff):
    """Return the size of the smallest independent dominating set, by trying all."""
    n = len(S)
    linked = S >= cutoff - 1e-12
    for size in range(1, n + 1):
        for kept in map(list, combinations(range(n), size)):
            if linked[np.ix_(kept, kept)].any():
                continue
            if (linked[:, kept].any(axis=1) | np.isin(np.arange(n), kept)).all():
                return size
    return n


def table(seed):
    """Return a table with copies, negatives, constants, equal values and gaps."""
    draw = np.random.default_rng(seed)
    m, n, k = int(draw.integers(2, 40)), int(draw.integers(2, 50)), draw.integers(1, 8)
    X = draw.standard_normal((m, k))[:, draw.integers(0, k, n)]
    X = X + draw.choice([0.0, 0.1, 0.5, 1.0]) * draw.standard_normal((m, n))
    if seed % 3 == 0:
        X = np.round(X)
    for _ in range(draw.integers(0, 4)):
        a, b = draw.integers(0, n, 2)
        X[:, a] = draw.choice([0.0, 5.0]) - draw.choice([1.0, 3.7]) * X[:, b]
    for _ in range(draw.integers(0, 3)):
        X[:, draw.integers(0, n)] = draw.standard_normal()
    if seed % 4 == 1:
        X[draw.random(X.shape) < 0.15] = np.nan
    return X
