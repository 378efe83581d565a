"""Tables for the tests of the approximate search, and a short way to call it."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from franet.search.approximate import _cells, _dense, _search, search_approximately
from franet.search.exact import Settings
from franet.search.ranking import tie_groups


def approximate(X, similarity="correlation", n_threads=1, seed=0, **settings):
    varies = np.ptp(X, axis=0) > 0.0
    return search_approximately(
        X,
        np.flatnonzero(varies),
        Settings(**settings, random=np.random.RandomState(seed)),
        similarity=similarity,
        n_threads=n_threads,
    )


def with_constants(monkeypatch, **constants):
    """Give constants of the search other values: what many features meet, on few."""
    for name, value in constants.items():
        (module,) = [m for m in (_cells, _dense, _search) if name in vars(m)]
        monkeypatch.setattr(module, name, value)


def factors(n, m=60, seed=0):
    """Columns that mix a few hidden factors, and noise: clusters, hubs, loners."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(30, n)) * (rng.random((30, n)) < 0.06)
    noise = rng.normal(size=(m, n)) * rng.gamma(1.0, 0.6, n)
    return rng.normal(size=(m, 30)) @ mixing + noise


def dense_winner(n, m=60, seed=0):
    """A tenth of the columns repeat one signal; the others echo it more or less."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(m, 1))
    X = rng.normal(size=(m, n)) + signal * (0.3 + 0.4 * rng.random(n))
    tight = n // 10
    X[:, :tight] = signal * rng.uniform(0.5, 2.0, tight)
    return X[:, rng.permutation(n)]


def agreement(scores, others):
    """Return Spearman's correlation; scores equal up to rounding share a rank."""
    return spearmanr(-tie_groups(scores), -tie_groups(others)).statistic
