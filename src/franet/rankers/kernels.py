"""Kernels of the rankers: arrays and scalars in, outputs by keyword.

Letters: ``R`` a tile of correlations, ``a`` × ``b`` its part without padding, ``up``
whether only the pairs above the diagonal count, ``j0``/``k0`` the first feature
down/across, ``w = |r|^p`` weights.
"""

from __future__ import annotations

import numpy as np

from franet._common.jit import kernel, reduction

__all__ = ["add_gains", "block_gains", "falls", "relief_sums"]


@reduction
def _weigh(r, p, w):
    # Powers of their own, because the general one is not vectorised.
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
    # One row of a tile, on whole slices: this is the form that is vectorised.
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
def _fall(w, old, new):
    s = 0.0
    for k in range(w.size):
        s += np.float64(min(max(w[k], old[k]), new[k]) - old[k])
    return s


@kernel
def falls(R, p, old, new, *, out):
    """Write how far the gains of the rows of R fall as the cover rises to `new`."""
    w = np.empty(R.shape[1], R.dtype)
    for s in range(R.shape[0]):
        _weigh(R[s], p, w)
        out[s] = _fall(w, old, new)


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


@kernel
def relief_sums(X, rows, neighbours, distances, *, own, joint):
    """Sum differences of rows and their neighbours, plain and times the distance."""
    for r in range(rows.size):
        for q in range(neighbours.shape[1]):
            s = neighbours[r, q]
            t = distances[r, q]
            for i in range(X.shape[1]):
                d = abs(X[rows[r], i] - X[s, i])
                own[i] += d
                joint[i] += d * t
