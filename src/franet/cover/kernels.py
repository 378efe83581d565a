"""Kernels of the cover ranking: arrays and scalars in, outputs by keyword.

Letters: ``R`` correlations of some features (down) with those to be represented
(across), ``w`` what these count, ``D`` squared distances of some examples (``rows``)
to all, ``x`` a feature, ``U`` what is to be rebuilt, ``k`` the number of neighbours.
"""

from __future__ import annotations

import numpy as np

from franet.engine._jit import kernel, reduction

__all__ = ["add_squares_of", "neighbour_errors", "subtract_falls"]

# Squared distances that differ by less, relatively, are equal: sums round so much.
_EQUAL = 1e-11


@reduction
def subtract_falls(R, old, new, w, *, gains):
    """Subtract how far the gains of the rows of R fall as the cover rises to `new`."""
    for i in range(R.shape[0]):
        s = 0.0
        for j in range(R.shape[1]):
            r = R[i, j] * R[i, j]
            s += w[j] * (min(max(r, old[j]), new[j]) - old[j])
        gains[i] -= s


@kernel
def add_squares_of(x, rows, *, D):
    """Add the squared differences of one feature to the distances."""
    for a in range(rows.size):
        for j in range(x.size):
            e = x[rows[a]] - x[j]
            D[a, j] += e * e


@kernel
def _fifth(d, i, near):
    # The k smallest distances to others than i, in order, by insertion.
    k = near.size
    near[:] = np.inf
    for j in range(d.size):
        if j != i and d[j] < near[k - 1]:
            t = k - 1
            while t > 0 and near[t - 1] > d[j]:
                near[t] = near[t - 1]
                t -= 1
            near[t] = d[j]
    return near[k - 1]


@kernel
def _mean_of_near(d, i, near, U, mean):
    # Examples that tie as the last neighbour share its weight.
    k = near.size
    last = _fifth(d, i, near)
    below, above = last * (1.0 - _EQUAL), last * (1.0 + _EQUAL)
    closer = 0
    for t in range(k):
        closer += near[t] < below
    tied = 0
    for j in range(d.size):
        tied += j != i and below <= d[j] <= above
    share = (k - closer) / tied
    mean[:] = 0.0
    for j in range(d.size):
        if j != i and d[j] <= above:
            weight = 1.0 if d[j] < below else share
            for c in range(mean.size):
                mean[c] += weight * U[j, c]
    for c in range(mean.size):
        mean[c] /= k


@kernel
def neighbour_errors(D, X, rows, U, k, *, out):
    """Write for each row of X the error of neighbours when it joins the distances.

    The squared error with which the mean of the k nearest others, ties shared,
    rebuilds the rows of U, summed over its columns and averaged over `rows`.
    """
    m = D.shape[1]
    d, near, mean = np.empty(m), np.empty(k), np.empty(U.shape[1])
    for s in range(X.shape[0]):
        total = 0.0
        for a in range(rows.size):
            i = rows[a]
            for j in range(m):
                e = X[s, i] - X[s, j]
                d[j] = D[a, j] + e * e
            _mean_of_near(d, i, near, U, mean)
            for c in range(mean.size):
                e = U[i, c] - mean[c]
                total += e * e
        out[s] = total / rows.size
