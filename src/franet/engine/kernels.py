"""Kernels over one tile of dissimilarities.

Letters: ``D`` a tile, ``a`` × ``b`` its part without padding, ``up`` whether only the
pairs above the diagonal count, ``j0``/``k0`` the first feature down/across, ``τ``
ascending edge values (a pair with ``d ≤ τ[i]`` belongs to graph ``i`` and denser).
"""

from __future__ import annotations

import numpy as np

from franet.engine._jit import kernel

__all__ = [
    "collect",
    "count_cells",
    "degrees",
    "extrema",
    "find_bins",
    "masked_product",
    "smallest_above",
    "strongest",
]


@kernel
def extrema(D, a, b, up):
    """Return the smallest, the largest and the sum of the pairs of a tile."""
    lo = np.inf
    hi = -np.inf
    total = 0.0
    for j in range(a):
        row = 0.0
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            lo = min(lo, d)
            hi = max(hi, d)
            row += d
        total += row
    return lo, hi, total


@kernel
def smallest_above(D, a, b, up, floor):
    """Return the smallest value above `floor`, infinity where there is none."""
    lo = np.inf
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            if d > floor and d < lo:
                lo = d
    return lo


@kernel
def count_cells(D, a, b, up, lo, hi, n, *, counts, low, high):
    """Count the values of ``[lo[c], hi[c]]`` in `n` equal cells for each interval.

    The intervals are disjoint and ascending. The smallest and the largest value of
    each cell go to `low` and `high`.
    """
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            c = np.searchsorted(hi, d)
            if c == lo.size or d < lo[c]:
                continue
            width = (hi[c] - lo[c]) / n
            cell = min(np.int64((d - lo[c]) / width), n - 1) if width > 0.0 else 0
            counts[c, cell] += 1
            low[c, cell] = min(low[c, cell], d)
            high[c, cell] = max(high[c, cell], d)


@kernel
def _bin(d, τ, cells, lo, per_unit):
    # The table gives the first graph that can hold a value of this cell.
    cell = np.int64((d - lo) * per_unit)
    cell = max(0, min(cell, cells.size - 1))
    i = cells[cell]
    while i < τ.size and d > τ[i]:
        i += 1
    return i


@kernel
def find_bins(d, τ, cells, lo, per_unit, *, out):
    """Write to `out` the first graph of each value, ``len(τ)`` where there is none."""
    for p in range(d.size):
        out[p] = _bin(d[p], τ, cells, lo, per_unit)


@kernel
def _weight(d, top, snap, snap_to, floor):
    w = top - (snap_to if d <= snap else d)
    return w if w > floor else 0.0


@kernel
def degrees(
    D,
    a,
    b,
    up,
    j0,
    k0,
    τ,
    cells,
    lo,
    per_unit,
    top,
    snap,
    snap_to,
    floor,
    *,
    count,
    weight,
):
    """Add each pair to the bins of both its features: one edge, its weight.

    ``count[j, i]`` and ``weight[j, i]`` tell of the edges that graph ``i`` has and
    graph ``i - 1`` has not.
    """
    n_bins = count.shape[1]
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            i = _bin(d, τ, cells, lo, per_unit)
            if i >= n_bins:
                continue
            w = _weight(d, top, snap, snap_to, floor)
            count[j0 + j, i] += 1
            weight[j0 + j, i] += w
            count[k0 + k, i] += 1
            weight[k0 + k, i] += w


@kernel
def collect(D, a, b, up, limit):
    """Return the positions and the values of the pairs with ``d ≤ limit``."""
    size = 0
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            if D[j, k] <= limit:
                size += 1
    js = np.empty(size, np.int32)
    ks = np.empty(size, np.int32)
    ds = np.empty(size, np.float64)
    p = 0
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            if D[j, k] <= limit:
                js[p] = j
                ks[p] = k
                ds[p] = D[j, k]
                p += 1
    return js, ks, ds


@kernel
def masked_product(
    D, a, b, up, j0, k0, τ, top, snap, snap_to, floor, weighted, X, *, Y
):
    """Add to ``Y[:, c]`` the product of graph ``c``, edges ``d ≤ τ[c]``, with X."""
    n_columns = τ.size
    widest = τ.max()
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            if d > widest:
                continue
            w = _weight(d, top, snap, snap_to, floor) if weighted else 1.0
            for c in range(n_columns):
                if d <= τ[c]:
                    Y[j0 + j, c] += w * X[k0 + k, c]
                    Y[k0 + k, c] += w * X[j0 + j, c]


@kernel
def _offer(d, k, size, values, features):
    # A binary heap with the weakest of the strongest edges (largest d, then largest
    # feature) at its root; returns the new size.
    limit = values.size
    if size < limit:
        p = size
        while p > 0:
            up = (p - 1) // 2
            if values[up] > d or (values[up] == d and features[up] > k):
                break
            values[p] = values[up]
            features[p] = features[up]
            p = up
        values[p] = d
        features[p] = k
        return size + 1
    if values[0] < d or (values[0] == d and features[0] < k):
        return size
    p = 0
    while True:
        child = 2 * p + 1
        if child >= limit:
            break
        if child + 1 < limit and (
            values[child + 1] > values[child]
            or (
                values[child + 1] == values[child]
                and features[child + 1] > features[child]
            )
        ):
            child += 1
        if d > values[child] or (d == values[child] and k > features[child]):
            break
        values[p] = values[child]
        features[p] = features[child]
        p = child
    values[p] = d
    features[p] = k
    return size


@kernel
def strongest(D, a, b, up, j0, k0, limit, *, size, values, features):
    """Offer each pair with ``d ≤ limit`` to the heaps of both its features."""
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            if d <= limit:
                p, q = j0 + j, k0 + k
                size[p] = _offer(d, q, size[p], values[p], features[p])
                size[q] = _offer(d, p, size[q], values[q], features[q])
