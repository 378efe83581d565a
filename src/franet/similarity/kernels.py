"""Kernels of the similarities: arrays and scalars in, one output by keyword."""

from __future__ import annotations

import numpy as np

from franet.engine._jit import kernel, reduction

__all__ = [
    "add_products",
    "canberra",
    "chebyshev",
    "euclidean",
    "manhattan",
    "minkowski",
    "pair_products",
    "squares",
]


@reduction
def pair_products(A, B, rows, cols, *, out):
    """Write the products of row ``rows[p]`` of A and row ``cols[p]`` of B."""
    for p in range(rows.size):
        s = 0.0
        for i in range(A.shape[1]):
            s += A[rows[p], i] * B[cols[p], i]
        out[p] = s


@kernel
def add_products(starts, rows, x, row_starts, cols, y, *, out):
    """Add the products of sparse columns to a dense tile."""
    # Column j of one block against the rows of the other: only filled cells meet.
    for j in range(starts.size - 1):
        for p in range(starts[j], starts[j + 1]):
            i = rows[p]
            for q in range(row_starts[i], row_starts[i + 1]):
                out[j, cols[q]] += x[p] * y[q]


# Kernels fill out[j, k] with the distance of A[j] and B[:, k]. The last loop runs
# over neighbouring columns, so that it is vectorised without reordering any sum.


@kernel
def squares(A, B, p, out):
    """Write the sums of squared differences."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += (a - B[i, k]) * (a - B[i, k])


@kernel
def euclidean(A, B, p, *, out):
    """Write Euclidean distances."""
    squares(A, B, p, out=out)
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[j, k] = np.sqrt(out[j, k])


@kernel
def manhattan(A, B, p, *, out):
    """Write the sums of absolute differences."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += abs(a - B[i, k])


@kernel
def chebyshev(A, B, p, *, out):
    """Write the largest absolute differences."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] = max(out[j, k], abs(a - B[i, k]))


@kernel
def canberra(A, B, p, *, out):
    """Write Canberra distances; 0/0 counts as 0."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                s = abs(a) + abs(B[i, k])
                out[j, k] += abs(a - B[i, k]) / s if s > 0.0 else 0.0


@kernel
def minkowski(A, B, p, *, out):
    """Write Minkowski distances of exponent p."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += abs(a - B[i, k]) ** p
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[j, k] = out[j, k] ** (1.0 / p)
