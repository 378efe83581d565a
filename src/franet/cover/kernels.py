"""Kernels of the cover ranking: arrays and scalars in, outputs by keyword.

`_torch` has the same functions for tensors.

Letters: ``L`` what some features (down) represent of others (across), ``R`` their
correlations. Of neighbors: ``D`` squared distances of some samples (``rows``) to all,
``order`` what sorts them, ``X`` features, ``U`` what is to be rebuilt, ``k`` the number
of neighbors. Letters of linear prediction are those of `_linear`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet._common.jit import kernel, reduction

# Squared distances that differ by less, relatively, are equal: sums round so much.
EQUAL = 1e-11


@kernel
def _mixed(x):
    # The finalizer of splitmix64; zero stays zero.
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def hash_columns(bits, rows, *, out):
    """Add the hashes of the values of each column, with those of their rows."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            if bits[i, j]:
                out[j] += _mixed(bits[i, j] + rows[i])


@kernel
def hash_rows(bits, columns, *, out):
    """Add the hashes of the values of each row, with those of their columns."""
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            if bits[i, j]:
                out[i] += _mixed(bits[i, j] + columns[j])


@kernel
def add_moments(X, *, mean, squares, lo, hi):
    """Write means, sums of squares about them, and extremes of columns."""
    for i in range(X.shape[0]):
        share = 1.0 / (i + 1)
        for j in range(X.shape[1]):
            x = X[i, j]
            step = x - mean[j]
            mean[j] += step * share
            squares[j] += step * (x - mean[j])
            lo[j] = min(lo[j], x)
            hi[j] = max(hi[j], x)


@reduction
def add_keys(X, mean, inverse, *, keys):
    """Add the squared lengths of rows whose columns are standardized."""
    for i in range(X.shape[0]):
        s = 0.0
        for j in range(X.shape[1]):
            d = (X[i, j] - mean[j]) * inverse[j]
            s += d * d
        keys[i] += s


@kernel
def add_sparse_extremes(columns, values, *, filled, lo, hi):
    """Count filled cells of columns, and write the extremes of these."""
    for t in range(columns.size):
        j = columns[t]
        filled[j] += 1
        lo[j] = min(lo[j], values[t])
        hi[j] = max(hi[j], values[t])


@kernel
def add_sparse_moments(columns, values, factor, filled, m, *, mean, squares):
    """Write means of columns times `factor`, and sums of squares about them."""
    for t in range(columns.size):
        mean[columns[t]] += values[t] * factor[columns[t]]
    # What is left of a mean that was rounded.
    rest = np.empty(mean.size)
    for j in range(mean.size):
        mean[j] /= m
        rest[j] = -(m - filled[j]) * mean[j]
        squares[j] = (m - filled[j]) * mean[j] * mean[j]
    for t in range(columns.size):
        d = values[t] * factor[columns[t]] - mean[columns[t]]
        rest[columns[t]] += d
        squares[columns[t]] += d * d
    for j in range(mean.size):
        mean[j] += rest[j] / m
        squares[j] -= rest[j] * rest[j] / m


@kernel
def add_sparse_keys(
    starts, columns, values, factor, mean, inverse, empty, places, *, keys, hashes
):
    """Add the squared lengths of standardized rows, and hashes of filled cells.

    What a column adds to a row that is empty there is `empty`.
    """
    value, none = np.empty(1), empty.sum()
    for i in range(keys.size):
        s, code = none, np.uint64(0)
        for t in range(starts[i], starts[i + 1]):
            j = columns[t]
            x = np.float64(values[t])
            d = (x * factor[j] - mean[j]) * inverse[j]
            s += d * d - empty[j]
            if x != 0.0:
                value[0] = x
                code += _mixed(value.view(np.uint64)[0] + places[j])
        keys[i] += s
        hashes[i] += code


@reduction
def _error_with(e, f, g, s, rest):
    # In the precision of e and f.
    D, h, room, penalty, left_out, fine = rest
    number = e.dtype.type
    a = number(1.0 / (penalty + max(g, 0.0)))
    b, c, d = number(s) * a * a, a + a, number(left_out) * a
    error, over, one, none = number(0.0), number(0.0), number(1.0), number(0.0)
    for i in range(e.size):
        leverage = d * e[i] * e[i]
        # Counted, because the largest number would not be found in several lanes.
        over += one if leverage > room[i] else none
        left = h[i] - leverage
        error += (D[i] - c * e[i] * f[i] + b * e[i] * e[i]) / (left * left)
    return error + fine if over > 0.0 else np.float64(error)


@kernel
def judge(E, F, g, s, rest, *, errors):
    """Write the error with each of the features of the rows of E and F.

    An error has ``fine`` added where the leverage of a sample exceeds its ``room``;
    ``rest`` holds what is left by all picks: D, h, room, λ, 1 if samples are left out
    or 0, and fine.
    """
    for j in range(E.shape[0]):
        errors[j] = _error_with(E[j], F[j], g[j], s[j], rest)


@reduction
def remove_pick(E, F, pick, rest, *, g, s, errors):
    """Remove a pick from the rows of E and F, then write the errors with each of them.

    What a pick predicts is removed: ``pick`` holds its z, e and f, its a, and ``a s``.
    All is done in one visit of each row, while a cache holds it.
    """
    z, e, f, a, b = pick
    number = E.dtype.type
    for j in range(E.shape[0]):
        x, y = number(0.0), number(0.0)
        for i in range(z.size):
            x += E[j, i] * z[i]
            y += F[j, i] * z[i]
        along, across = number(a * x), number(a * y - a * b * x)
        for i in range(z.size):
            F[j, i] -= across * e[i] + along * f[i]
            E[j, i] -= along * e[i]
        g[j] -= a * x * x
        s[j] += a * x * (b * x - 2.0 * y)
        errors[j] = _error_with(E[j], F[j], g[j], s[j], rest)


@reduction
def block_gains(R, p, cover, *, gains):
    """Add what the features of the rows of R would add to the cover of its columns."""
    for s in range(R.shape[0]):
        total = 0.0
        if p == 2.0:
            for j in range(R.shape[1]):
                total += max(R[s, j] * R[s, j] - cover[j], 0.0)
        else:
            for j in range(R.shape[1]):
                total += max(abs(R[s, j]) ** p - cover[j], 0.0)
        gains[s] += total


@reduction
def _weigh(r, p, w):
    # Powers of their own, because the general one is not vectorized.
    if p == 2.0:
        for k in range(r.size):
            w[k] = r[k] * r[k]
    elif p == 1.0:
        for k in range(r.size):
            w[k] = abs(r[k])
    else:
        for k in range(r.size):
            w[k] = abs(r[k]) ** p


@reduction
def _add_sides(w, own, cover, gains):
    # One row of a tile, on whole slices: this is the form that is vectorized.
    # ``w − min(w, c)`` is ``max(w − c, 0)`` in the precision of the tile.
    s = 0.0
    for k in range(w.size):
        s += np.float64(w[k] - min(w[k], cover[k]))
        gains[k] += np.float64(w[k] - min(w[k], own))
    return s


@kernel
def add_gains(R, a, b, up, j0, k0, p, cover, *, gains):
    """Add to both features of each pair what they would add to the other's cover."""
    w = np.empty(b, R.dtype)
    for j in range(a):
        first = j + 1 if up else 0
        across = slice(k0 + first, k0 + b)
        _weigh(R[j, first:b], p, w[first:])
        gains[j0 + j] += _add_sides(
            w[first:], cover[j0 + j], cover[across], gains[across]
        )


@reduction
def subtract_falls(R, rows, at, old, new, p, *, gains):
    """Subtract how far gains fall as the cover of some rows of R rises to `new`.

    The gains are those of the columns from `at` on.
    """
    falls = np.zeros(gains.size, R.dtype)
    w = np.empty(gains.size, R.dtype)
    for t in range(rows.size):
        _weigh(R[rows[t], at : at + w.size], p, w)
        low, high = old[t], new[t]
        for i in range(w.size):
            falls[i] += min(max(w[i], low), high) - low
    for i in range(falls.size):
        gains[i] -= falls[i]


def in_order(D: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the samples by distance: those in front are searched first."""
    return np.argsort(D, axis=1)


@kernel
def _insert(x, near):
    # Into numbers in order, of which the largest is dropped.
    t = near.size - 1
    while t > 0 and near[t - 1] > x:
        near[t] = near[t - 1]
        t -= 1
    near[t] = x


@kernel
def _distances(D, order, x, i, near, d):
    # Distances only grow: the search ends where they were larger than they may be now.
    near[:] = np.inf
    for t in range(order.size):
        j = order[t]
        if D[j] > near[-1] * (1.0 + EQUAL) or D[j] == np.inf:
            return t
        e = x[i] - x[j]
        d[t] = D[j] + e * e
        if d[t] < near[-1]:
            _insert(d[t], near)
    return order.size


@kernel
def _mean_of_near(d, samples, near, U, mean):
    # Examples that tie as the last neighbor share its weight.
    k = near.size
    below, above = near[-1] * (1.0 - EQUAL), near[-1] * (1.0 + EQUAL)
    closer, tied = 0, 0
    for t in range(k):
        closer += near[t] < below
    for t in range(samples.size):
        tied += below <= d[t] <= above
    share = (k - closer) / tied
    mean[:] = 0.0
    for t in range(samples.size):
        if d[t] <= above:
            weight = 1.0 if d[t] < below else share
            for c in range(mean.size):
                mean[c] += weight * U[samples[t], c]
    for c in range(mean.size):
        mean[c] /= k


@kernel
def neighbor_errors(D, order, X, rows, U, k, *, out):
    """Write for each row of X the error of neighbors when it joins the distances.

    The squared error with which the mean of the k nearest others, ties shared,
    rebuilds the rows of U, summed over its columns and averaged over `rows`. No sample
    is a neighbor of itself: its distance is infinite.
    """
    d, near, mean = np.empty(D.shape[1]), np.empty(k), np.empty(U.shape[1])
    for s in range(X.shape[0]):
        total = 0.0
        for a in range(rows.size):
            i = rows[a]
            n = _distances(D[a], order[a], X[s], i, near, d)
            _mean_of_near(d, order[a, :n], near, U, mean)
            for c in range(mean.size):
                e = U[i, c] - mean[c]
                total += e * e
        out[s] = total / rows.size
