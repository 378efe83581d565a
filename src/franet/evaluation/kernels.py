"""Kernels of the evaluation: arrays in, outputs by keyword."""

import numpy as np

from franet._common.jit import kernel

# Features that are gone through together: their rows stay in the cache.
_BLOCK = 64


@kernel
def add_squares(A, B, *, D):
    """Add squared differences of all columns of A and B, feature by feature.

    ``D[i, j] += Σ_f (A[f, i] − B[f, j])²``, in the order of the features.
    """
    for start in range(0, A.shape[0], _BLOCK):
        stop = min(start + _BLOCK, A.shape[0])
        for i in range(D.shape[0]):
            row = D[i]
            for f in range(start, stop):
                a = A[f, i]
                b = B[f]
                for j in range(row.size):
                    d = a - b[j]
                    row[j] += d * d


@kernel
def kth_smallest(D, k, *, out):
    """Find the k-th smallest value of each row, for a small k."""
    best = np.empty(k)
    for i in range(D.shape[0]):
        best[:] = np.inf
        row = D[i]
        for j in range(row.size):
            d = row[j]
            if d < best[k - 1]:
                at = k - 1
                while at > 0 and best[at - 1] > d:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = d
        out[i] = best[k - 1]
