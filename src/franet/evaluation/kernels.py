"""Kernels of the evaluation: arrays in, outputs by keyword."""

from __future__ import annotations

from franet.engine._jit import kernel

__all__ = ["add_squares"]

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
