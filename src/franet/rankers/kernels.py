"""Kernels of the rankers: arrays and scalars in, outputs by keyword.

Letters: ``D`` a tile of ``1 − |r|``, ``a`` × ``b`` its part without padding, ``up``
whether only the pairs above the diagonal count, ``j0``/``k0`` the first feature
down/across.
"""

from __future__ import annotations

import numpy as np

from franet.engine._jit import kernel, reduction

__all__ = ["add_gains", "block_gains", "relief_sums"]


@reduction
def add_gains(D, a, b, up, j0, k0, p, cover, *, gains):
    """Add to both features of each pair what they would add to the other's cover."""
    for j in range(a):
        own = cover[j0 + j]
        sum_j = 0.0
        first = j + 1 if up else 0
        if p == 2.0:
            for k in range(first, b):
                w = 1.0 - np.float64(D[j, k])
                w = w * w
                sum_j += max(w - cover[k0 + k], 0.0)
                gains[k0 + k] += max(w - own, 0.0)
        else:
            for k in range(first, b):
                w = abs(1.0 - np.float64(D[j, k])) ** p
                sum_j += max(w - cover[k0 + k], 0.0)
                gains[k0 + k] += max(w - own, 0.0)
        gains[j0 + j] += sum_j


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
