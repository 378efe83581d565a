"""Planted clusters, and graphs of examples written out with loops."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from franet.rankers._affinity import Affinity


def planted(m, n, n_informative, k=3, seed=0):
    """Return a table of noise in which some columns tell k clusters apart.

    Those columns lie far apart between clusters and are narrow within them.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(m) % k
    X = rng.normal(size=(m, n))
    columns = np.sort(rng.permutation(n)[:n_informative])
    # Each column has its own order of the clusters.
    centres = np.array([rng.permutation(k) for _ in columns]).T - (k - 1) / 2
    noise = rng.normal(size=(m, n_informative))
    X[:, columns] = 4 * centres[labels] + 0.4 * noise
    return X, columns


def nearest(X, i, k):
    """Return the k rows nearest to row i, itself aside."""
    distances = [np.sqrt(((X[i] - X[j]) ** 2).sum()) for j in range(len(X))]
    others = sorted((d, j) for j, d in enumerate(distances) if j != i)
    return [j for _, j in others[:k]]


def weights(X, k=5, t=None):
    """Return the heat-kernel weights of the graph of k neighbours, pair by pair."""
    m = len(X)
    near = [set(nearest(X, i, min(k, m - 1))) for i in range(m)]
    pairs = [
        (i, j)
        for i in range(m)
        for j in range(m)
        if i != j and (j in near[i] or i in near[j])
    ]
    squares = {(i, j): ((X[i] - X[j]) ** 2).sum() for i, j in pairs}
    width = np.median(list(squares.values())) if t is None else t
    W = np.zeros((m, m))
    for pair, square in squares.items():
        W[pair] = np.exp(-square / width)
    return W


def standard(X):
    """Return the columns with mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def graph_of(W):
    """Return dense weights as the library holds them."""
    W = np.asarray(W, float)
    return Affinity(sparse.csr_array(W), W.sum(axis=1), np.nan, "")
