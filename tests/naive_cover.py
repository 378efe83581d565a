"""The cover ranking written down line by line: dense, and from scratch at every pick.

For tables of at most 512 features and 181 samples, where nothing is drawn.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import ThreadpoolController

EQUAL = 1e-9
OBJECTIVES = {"balanced": (1, 1), "linear": (1, 0), "neighbors": (1, 2)}

# More threads would only wait for each other on matrices as small as these.
_blas = ThreadpoolController()


def columns_of(X):
    return np.flatnonzero(X.max(axis=0) > X.min(axis=0))


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def predictable(Z):
    """Return which share of each feature ridge regression on all others predicts."""
    m, n = Z.shape
    best = np.zeros(n)
    for alpha in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0):
        shares = np.zeros(n)
        for j in range(n):
            A, y = np.delete(Z, j, axis=1), Z[:, j]
            K = A @ A.T / m
            H = K @ np.linalg.inv(K + alpha * n / m * np.eye(m))
            left = (y - H @ y) / (1.0 - np.diag(H))
            shares[j] = 1.0 - (left**2).sum() / ((y * m / (m - 1)) ** 2).sum()
        shares = np.maximum(shares, 0.0)
        best = shares if shares.sum() > best.sum() else best
    return best


def robust_weights(Z):
    deviation = np.abs(Z - np.median(Z, axis=0)).mean(axis=0)
    spread = np.minimum(1.0, 2.0 * deviation)
    return spread ** (2.0 * (1.0 - np.median(spread))) * (1.0 + predictable(Z))


def hat(Z, S, penalty):
    """Return what makes predictions of Z: by the mean, and by ridge regression on S.

    The penalty is in samples: features have unit variance.
    """
    A = Z[:, S]
    inner = A.T @ A + penalty * np.eye(len(S))
    return A @ np.linalg.solve(inner, A.T) + 1.0 / len(Z)


def predicted(Z, S, penalty):
    """Return which share of each feature ridge regression on S predicts.

    Each sample is left out in turn, and predicted from the others. The residual is that
    of the fit to all, divided by what the diagonal of the hat matrix leaves of 1.
    """
    m, H = len(Z), hat(Z, S, penalty)
    left = (Z - H @ Z) / (1.0 - np.diag(H))[:, None]
    return 1.0 - (left**2).sum(axis=0) / ((Z * m / (m - 1)) ** 2).sum(axis=0)


def linear_share(Z, w, S, penalty):
    """Return the share of all features, of their squared errors, that S predicts."""
    return float(w @ predicted(Z, S, penalty)) if S else 0.0


def leverage(Z, S, j, penalty):
    """Return the largest share of what is left of a sample that feature j takes."""
    before, after = (1.0 - np.diag(hat(Z, T, penalty)) for T in (S, [*S, j]))
    return (1.0 - after / before).max()


def linear_gain(Z, w, S, j, penalty):
    """Return what j adds, less all that is left if it is a single sample's."""
    before = linear_share(Z, w, S, penalty)
    fine = 1.0 - before if leverage(Z, S, j, penalty) > 0.3 else 0.0
    return linear_share(Z, w, [*S, j], penalty) - before - fine


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


def scaled(gains, count):
    """Return gains as multiples of how far the best exceeds the median one."""
    spread = gains.max() - np.median(gains)
    return count * gains / spread if spread > EQUAL else np.zeros(len(gains))


def for_cost(worth, cost):
    return np.where(worth > 0, worth / cost, worth * cost)


@_blas.wrap(limits=1, user_api="blas")
def cover_order(X, k, cost=None, weights=None, objective="balanced", raw=False):
    """Return the picks, and what each added to the mean of the shares."""
    columns = columns_of(X)
    X = X[:, columns]
    Z, n = standardized(X), X.shape[1]
    w = robust_weights(Z) if weights is None else np.asarray(weights, float)[columns]
    w = w / w.sum()
    U = components(Z, w)
    R = np.abs(Z.T @ Z) / len(Z)
    cost = np.ones(n) if cost is None else np.asarray(cost, float)[columns]
    counts = np.array(OBJECTIVES[objective])
    penalty = 5.0
    # Before the first pick, as if five samples drawn at random were the nearest.
    near, order, gains = -1 / min(5, len(X) - 1), [], []
    while len(order) < min(k, n):
        # A pick is a copy of itself.
        free = np.flatnonzero(~(R[:, order] > 1 - EQUAL).any(axis=1))
        if not len(free):
            break
        while True:
            linear = np.array([linear_gain(Z, w, order, j, penalty) for j in free])
            if linear.max() > 0.0 or penalty >= len(Z):
                break
            penalty *= 4.0  # no further feature lowers the error
        worth = for_cost(linear, cost[free])
        short = np.sort(np.argsort(-worth, kind="stable")[:32])
        values = X if raw else Z
        nearest = [nearest_share(values, U, [*order, free[at]]) for at in short]
        found = np.array([linear[short], np.array(nearest) - near])
        early = min(1, len(order) / 4)  # neighbors count in full from the fifth pick on
        worth = sum(map(scaled, found, counts * [1, early]))
        worth = for_cost(worth, cost[free][short])
        best = int(np.argmax(worth >= worth.max() - EQUAL * abs(worth.max()) - 1e-12))
        near = nearest[best]
        order.append(free[short[best]])
        gains.append(counts @ found[:, best] / counts.sum())
    return columns[order], np.array(gains)


def left_out_errors(Z, S, penalty):
    """Return the squared error of each feature, by a regression without each sample.

    The penalty is a share of a feature's sum of squares. A pick is known.
    """
    m, n = Z.shape
    errors = np.zeros(n)
    for i in range(m):
        there = np.delete(np.arange(m), i)
        mean = Z[there].mean(axis=0)
        A, Y = Z[np.ix_(there, S)] - mean[S], Z[there] - mean
        inner = A.T @ A + penalty * m * np.eye(len(S))
        coefficients = np.linalg.solve(inner, A.T @ Y)
        errors += (Z[i] - mean - (Z[i, S] - mean[S]) @ coefficients) ** 2
    errors[S] = 0.0
    return errors


def explained(Z, w, order, penalties):
    """Return which share of the table the first 1, 2, … of some features explain."""
    m = len(Z)
    nothing = w @ left_out_errors(Z, [], 1.0)
    shares = []
    for k in range(1, len(order) + 1):
        S = list(order[:k])
        # What is too weak fits each sample by itself.
        strong = [p for p in penalties if np.diag(hat(Z, S, p * m)).max() < 0.9999]
        errors = [w @ left_out_errors(Z, S, penalty) for penalty in strong]
        shares.append(1.0 - min(errors) / nothing)
    return np.array(shares)
