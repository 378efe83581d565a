"""Kernels of the approximate search: cells of features, and pairs within them."""

import numpy as np

from franet._common.jit import kernel, reduction

# Copies of one feature in a row of a tile that are looked at in float64. Beyond these
# a pair that is nearly, but not quite, a copy may be taken for one.
_COPIES = 8


@reduction
def _dot(x, y):
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s


@kernel
def best_cells(S, own, *, cells):
    """Write the nearest centres of each row, by S: its own first, then the others."""
    n_probes = cells.shape[1]
    values = np.empty(n_probes)
    for j in range(S.shape[0]):
        cells[j, 0] = own[j]
        size = 1
        for c in range(S.shape[1]):
            v = S[j, c]
            if c == own[j] or (size == n_probes and not v > values[size - 1]):
                continue
            if size == 1 and n_probes == 1:
                continue
            p = size if size < n_probes else size - 1
            while p > 1 and v > values[p - 1]:
                values[p] = values[p - 1]
                cells[j, p] = cells[j, p - 1]
                p -= 1
            values[p] = v
            cells[j, p] = c
            size = min(size + 1, n_probes)


@kernel
def add_to_centres(Z, towards, cell, absolute, *, centres):
    """Add each row to its centre, turned round where only the line counts."""
    for j in range(Z.shape[0]):
        sign = -1.0 if absolute and towards[j] < 0.0 else 1.0
        for i in range(Z.shape[1]):
            centres[cell[j], i] += sign * Z[j, i]


@kernel
def scan(T, xs, y0, absolute, best, error, zero, Z, *, low):
    """Find the smallest dissimilarities of a tile of similarities.

    `best` is the largest value of each row; most rows need no closer look. ``low``
    takes in whether there are copies (``low[0] = 0``), the smallest dissimilarity
    above zero, and the smallest above that one, from float64 rows Z.
    """
    for j in range(T.shape[0]):
        if 1.0 - best[j] > low[2] + error:
            continue
        copies = 0
        for k in range(T.shape[1]):
            if 1.0 - T[j, k] > low[2] + error or xs[j] == y0 + k:
                continue
            if copies >= _COPIES and 1.0 - T[j, k] <= error + zero:
                continue
            exact = _dot(Z[xs[j]], Z[y0 + k])
            d = 1.0 - (abs(exact) if absolute else exact)
            if d <= zero:
                low[0] = 0.0
                copies += 1
            elif d < low[1]:
                if low[1] > d + zero:
                    low[2] = low[1]
                low[1] = d
            elif d > low[1] + zero and d < low[2]:
                low[2] = d


@kernel
def _again(cells, c):
    for p in range(cells.size):
        if cells[p] == c:
            return True
    return False


@kernel
def collect(T, xs, y0, absolute, error, sign, limit, c, cell, probes, Z):
    """Return the pairs of a tile with ``d ≤ limit``, each pair in one tile only.

    The columns are of cell c, the rows features that look into it. A pair of which
    either feature looks into the other's cell belongs to the smaller of the cells.
    With a sign of -1 the values of the tile, and d, are those of opposites.
    """
    least = np.float32(1.0 - limit - error - 1e-7)
    total = 0
    sizes = np.zeros(T.shape[0], np.int64)
    for j in range(T.shape[0]):
        size = 0
        for k in range(T.shape[1]):
            size += T[j, k] >= least
        sizes[j] = size
        total += size
    x_of = np.empty(total, np.uint32)
    y_of = np.empty(total, np.uint32)
    d_of = np.empty(total)
    found = 0
    for j in range(T.shape[0]):
        if sizes[j] == 0:
            continue
        x = xs[j]
        for k in range(T.shape[1]):
            y = y0 + k
            if T[j, k] < least:
                continue
            if cell[x] == c:
                if x >= y:
                    continue
            elif c > cell[x] and _again(probes[y], cell[x]):
                continue
            exact = _dot(Z[x], Z[y])
            d = 1.0 - sign * (abs(exact) if absolute else exact)
            if d <= limit:
                x_of[found] = x
                y_of[found] = y
                d_of[found] = d
                found += 1
    return x_of[:found].copy(), y_of[:found].copy(), d_of[:found].copy()


@reduction
def _edge_sums(r, absolute, limit, top, snap, snap_to, floor, weighted, u):
    s = 0.0
    t = 0.0
    for k in range(r.size):
        d = 1.0 - np.float64(abs(r[k]) if absolute else r[k])
        w = top - (snap_to if d <= snap else d)
        w = (w if w > floor else 0.0) if weighted else 1.0
        w = w if d <= limit else 0.0
        s += w
        t += w * u[k]
    return s, t


@kernel
def row_sums(
    T, xs, y0, absolute, limit, top, snap, snap_to, floor, weighted, u, *, degree, out
):
    """Add to each row's degree and to its product with u, edges ``d ≤ limit`` only.

    Row j is feature ``xs[j]``, column k feature ``y0 + k``; no feature meets itself.
    """
    numbers = absolute, limit, top, snap, snap_to, floor, weighted
    n = T.shape[1]
    for j in range(T.shape[0]):
        own = min(max(xs[j] - y0, -1), n)
        s, t = _edge_sums(T[j, : max(own, 0)], *numbers, u[: max(own, 0)])
        degree[j] += s
        out[j] += t
        s, t = _edge_sums(T[j, own + 1 :], *numbers, u[own + 1 :])
        degree[j] += s
        out[j] += t


@reduction
def _rough_sums(r, absolute, least, offset, weighted, u):
    zero, one = np.float32(0.0), np.float32(1.0)
    s = zero
    t = zero
    for k in range(r.size):
        v = abs(r[k]) if absolute else r[k]
        w = v + offset if weighted else one
        w = w if v >= least else zero
        s += w
        t += w * u[k]
    return s, t


@kernel
def rough_sums(T, own, absolute, least, offset, weighted, u, *, degree, out):
    """Write degrees and products with u as `row_sums` does, in single precision.

    Graph g has edges from ``least[g]`` on, and the vector ``u[g]``. Column ``own[j]``
    is the feature of row j itself, -1 if it is none.
    """
    for j in range(T.shape[0]):
        if own[j] >= 0:
            T[j, own[j]] = 0.0 if absolute else -2.0
        for g in range(least.size):
            numbers = absolute, least[g], offset, weighted
            degree[g, j], out[g, j] = _rough_sums(T[j], *numbers, u[g])


@kernel
def products(x, y, Z, *, out):
    """Write the products of the rows ``x[p]`` and ``y[p]`` of Z."""
    for p in range(x.size):
        out[p] = _dot(Z[x[p]], Z[y[p]])
