"""The cover ranking written down line by line: dense, and from scratch at every pick.

For tables of at most 2,048 features and 128 examples, where nothing is drawn.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import ThreadpoolController

EQUAL = 1e-9

# More threads would only wait for each other on matrices as small as these.
_blas = ThreadpoolController()


def columns_of(X):
    return np.flatnonzero(X.max(axis=0) > X.min(axis=0))


def weights(Z):
    deviation = np.abs(Z - np.median(Z, axis=0)).mean(axis=0) / Z.std(axis=0)
    w = np.minimum(1.0, 2.0 * deviation) ** 2
    return w / w.sum()


def single_share(Z, w, S):
    R = Z[:, S].T @ Z / len(Z)
    return float(w @ np.minimum((R * R).max(axis=0), 1.0))


def linear_share(Z, w, S):
    Q, s, _ = np.linalg.svd(Z[:, S], full_matrices=False)
    Q = Q[:, s > 1e-6 * s[0]]
    return float(w @ ((Q.T @ Z) ** 2).sum(axis=0)) / len(Z)


def components(Z, w):
    values, vectors = np.linalg.eigh((Z * w) @ Z.T)
    return (vectors * np.sqrt(np.maximum(values, 0.0)))[:, -32:]


def nearest_share(X, U, S):
    m = len(X)
    k = min(5, m - 1)
    error = 0.0
    for i in range(m):
        others = np.delete(np.arange(m), i)
        d = ((X[others][:, S] - X[i, S]) ** 2).sum(axis=1)
        last = np.sort(d)[k - 1]
        closer = d < last * (1 - 1e-11)
        tied = (d <= last * (1 + 1e-11)) & ~closer
        weight = closer + tied * (k - closer.sum()) / tied.sum()
        error += ((U[i] - weight @ U[others] / k) ** 2).sum()
    return 1.0 - error / ((U - U.mean(axis=0)) ** 2).sum()


@_blas.wrap(limits=1, user_api="blas")
def cover_order(X, k, cost=None):
    """Return the picks, and what each added to the mean of the three shares."""
    columns = columns_of(X)
    X = X[:, columns]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    w, n = weights(Z), X.shape[1]
    U = components(Z, w)
    cost = np.ones(n) if cost is None else np.asarray(cost, float)[columns]
    # Before the first pick, as if five examples drawn at random were the nearest.
    order, gains, before, near = [], [], 0.0, -1 / min(5, len(X) - 1)
    while len(order) < min(k, n):
        told = np.full(n, -np.inf)
        for j in np.setdiff1d(np.arange(n), order):
            S = [*order, j]
            told[j] = single_share(Z, w, S) + linear_share(Z, w, S) - before
        if told.max() < 1e-9:
            break
        short = np.sort(np.argsort(-told / cost, kind="stable")[:64])
        short = short[told[short] > 1e-9]
        shares = np.array([nearest_share(X, U, [*order, j]) for j in short])
        gain = (told[short] + shares - near) / 3
        worth = np.where(gain > 0, gain / cost[short], gain * cost[short])
        least = worth.max() - EQUAL * abs(worth.max()) - 1e-12
        best = int(np.argmax(worth >= least))
        before, near = before + told[short[best]], shares[best]
        order.append(int(short[best]))
        gains.append(gain[best])
    return columns[order], np.array(gains)
