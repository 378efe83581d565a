"""Kernels of the similarities: arrays and scalars in, one output by keyword."""

import numpy as np

from franet._common.jit import kernel, reduction

# A largest difference between these can be divided by: 0 stays 0, and infinity, for a
# difference that overflows, infinity.
TINY, HUGE = np.finfo(np.float64).tiny, np.finfo(np.float64).max


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


# Of category c, ``codes[c]`` has the level of each row and ``order[c]`` the rows level
# by level; from ``at[c]`` on, ``starts`` says where in it each level starts, and where
# the last one ends.


@kernel
def level_squares(order, starts, Z, *, out):
    """Write the sums of squares between levels: of (Σ z)²/rows over the levels."""
    s = np.empty(Z.shape[1])
    out[:] = 0.0
    for a in range(starts.size - 1):
        s[:] = 0.0
        for p in range(starts[a], starts[a + 1]):
            z = Z[order[p]]
            for k in range(z.size):
                s[k] += z[k]
        for k in range(s.size):
            out[k] += s[k] * s[k] / (starts[a + 1] - starts[a])


@kernel
def cell_square(m, n_ab, n_a, n_b):
    """Return ``(m n_ab - n_a n_b)² / (n_a n_b)``: m² times the cell's part of χ²/m."""
    # In whole numbers: independence is zero, not almost zero.
    x = float(m * n_ab - n_a * n_b)
    return x * x / (float(n_a) * n_b)


@kernel
def table_squares(codes, order, starts, at, c, others, *, out):
    """Write ``χ²/m`` of the contingency tables of category c with others."""
    m = codes.shape[1]
    rows = order[c]
    most = 0
    for e in others:
        most = max(most, at[e + 1] - at[e])
    n_ab = np.zeros(most, np.int64)
    for q in range(others.size):
        code = codes[others[q]]
        ends = starts[at[others[q]] : at[others[q] + 1]]
        s = 0.0
        for a in range(at[c], at[c + 1] - 1):
            n_a = starts[a + 1] - starts[a]
            for p in range(starts[a], starts[a + 1]):
                n_ab[code[rows[p]]] += 1
            if ends.size <= n_a:
                for b in range(ends.size - 1):
                    s += cell_square(m, n_ab[b], n_a, ends[b + 1] - ends[b])
                    n_ab[b] = 0
                continue
            # Few rows, many levels: those that do not occur add n_a n_b each.
            rest = m
            for p in range(starts[a], starts[a + 1]):
                b = code[rows[p]]
                if n_ab[b] > 0:
                    n_b = ends[b + 1] - ends[b]
                    s += cell_square(m, n_ab[b], n_a, n_b)
                    rest -= n_b
                    n_ab[b] = 0
            s += float(n_a) * rest
        out[q] = s / (float(m) * m)


# Kernels fill out[j, k] with the distance of A[j] and B[:, k]. The last loop runs
# over neighbouring columns, so that it is vectorised without reordering any sum.


@kernel
def squares(A, B, p, *, out):
    """Write the sums of squared differences."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += (a - B[i, k]) * (a - B[i, k])


@kernel
def manhattan(A, B, p, *, out):
    """Write the sums of absolute differences."""
    out[:] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += abs(a - B[i, k])


# Not by keyword only: kernels that call others cannot do that.
@kernel
def chebyshev(A, B, p, out):
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
    # Powers of the differences over the largest of the pair: none overflows, and one
    # that vanishes would add nothing to the largest.
    chebyshev(A, B, p, out=out)
    top = np.empty(B.shape[1])
    for j in range(A.shape[0]):
        for k in range(B.shape[1]):
            top[k] = min(max(out[j, k], TINY), HUGE)
            out[j, k] = 0.0
        for i in range(A.shape[1]):
            a = A[j, i]
            for k in range(B.shape[1]):
                out[j, k] += (abs(a - B[i, k]) / top[k]) ** p
        for k in range(B.shape[1]):
            out[j, k] = top[k] * out[j, k] ** (1.0 / p)
