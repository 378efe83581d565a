"""Kernels over one tile of dissimilarities.

Letters: ``D`` a tile, ``a`` × ``b`` its part without padding, ``up`` whether only the
pairs above the diagonal count, ``j0``/``k0`` the first feature down/across, ``τ``
ascending edge values (a pair with ``d ≤ τ[i]`` belongs to graph ``i`` and denser).
"""

import numpy as np

from franet._common.jit import kernel, reduction


@kernel
def extrema(D, a, b, up):
    """Return the smallest and the largest of the pairs of a tile."""
    lo = np.inf
    hi = -np.inf
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            d = np.float64(D[j, k])
            lo = min(lo, d)
            hi = max(hi, d)
    return lo, hi


@reduction
def total(D, a, b, up):
    """Return the sum of the pairs of a tile."""
    s = 0.0
    for j in range(a):
        row = 0.0
        for k in range(j + 1 if up else 0, b):
            row += np.float64(D[j, k])
        s += row
    return s


@kernel
def tally(D, a, b, up, *, counts):
    """Count the pairs by the leading bits of their values in single precision."""
    row = np.empty(b, np.float32)
    bits = row.view(np.uint32)
    for j in range(a):
        for k in range(b):
            row[k] = D[j, k]
        for k in range(j + 1 if up else 0, b):
            counts[bits[k] >> np.uint32(19)] += 1


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


@reduction
def _weigh(d, top, snap, snap_to, floor, w):
    for k in range(d.size):
        v = top - (snap_to if d[k] <= snap else np.float64(d[k]))
        w[k] = v if v > floor else 0.0


@reduction
def _add_degrees(d, w, t, count, weight):
    # One row of a tile, on whole slices: this is the form that is vectorised.
    size = 0
    s = 0.0
    for k in range(d.size):
        hit = d[k] <= t
        v = w[k] if hit else 0.0
        size += hit
        s += v
        count[k] += hit
        weight[k] += v
    return size, s


@kernel
def degrees(D, a, b, up, j0, k0, τ, top, snap, snap_to, floor, *, count, weight):
    """Add each pair to the degrees of both its features in each graph.

    ``count[i, j]`` and ``weight[i, j]`` are number and weight of the edges that
    feature ``j`` has in graph ``i``, the pairs with ``d ≤ τ[i]``.
    """
    W = np.empty(b)
    for j in range(a):
        first = j + 1 if up else 0
        across = slice(k0 + first, k0 + b)
        _weigh(D[j, first:b], top, snap, snap_to, floor, W[first:])
        for i in range(τ.size):
            size, s = _add_degrees(
                D[j, first:b], W[first:], τ[i], count[i, across], weight[i, across]
            )
            count[i, j0 + j] += size
            weight[i, j0 + j] += s


@kernel
def collect(D, a, b, up, limit):
    """Return the positions and the values of the pairs with ``d ≤ limit``."""
    sizes = np.zeros(a + 1, np.int64)
    for j in range(a):
        size = 0
        for k in range(j + 1 if up else 0, b):
            size += D[j, k] <= limit
        sizes[j + 1] = sizes[j] + size
    js = np.empty(sizes[a], np.int32)
    ks = np.empty(sizes[a], np.int32)
    ds = np.empty(sizes[a], np.float64)
    for j in range(a):
        p = sizes[j]
        if p == sizes[j + 1]:
            continue
        for k in range(j + 1 if up else 0, b):
            if D[j, k] <= limit:
                js[p] = j
                ks[p] = k
                ds[p] = D[j, k]
                p += 1
    return js, ks, ds


@kernel
def pack(js, ks, ds, τ, cells, lo, per_unit, top, snap, snap_to, floor, weighted):
    """Return pairs of a tile as edges, those of sparse graphs first.

    An edge is one number, ``65536 j + k``, and a weight; ``ends[i]`` is the number of
    edges that graph ``i`` has in this tile.
    """
    ends = np.zeros(τ.size + 1, np.int64)
    bins = np.empty(ds.size, np.int32)
    for p in range(ds.size):
        bins[p] = _bin(ds[p], τ, cells, lo, per_unit)
        ends[bins[p] + 1] += 1
    for i in range(τ.size):
        ends[i + 1] += ends[i]
    index = np.empty(ds.size, np.uint32)
    weight = np.empty(ds.size)
    for p in range(ds.size):
        q = ends[bins[p]]
        ends[bins[p]] += 1
        index[q] = (np.uint32(js[p]) << np.uint32(16)) | np.uint32(ks[p])
        w = top - (snap_to if ds[p] <= snap else ds[p])
        weight[q] = (w if w > floor else 0.0) if weighted else 1.0
    return index, weight, ends[:-1]


@kernel
def count_pairs(D, a, b, up, τ, *, counts):
    """Add to ``counts[i]`` the number of pairs with ``d ≤ τ[i]``."""
    for j in range(a):
        for i in range(τ.size):
            size = 0
            for k in range(j + 1 if up else 0, b):
                size += D[j, k] <= τ[i]
            counts[i] += size


@kernel
def collect_near(D, a, b, up, τ, ε, flags, lo, per_unit):
    """Return the positions and values of the pairs within `ε` of any ``τ``.

    `flags` says for equal cells of values whether a ``τ`` may be so near: few are,
    and only their pairs are looked at closely.
    """
    size = 0
    js = np.empty(64, np.int32)
    ks = np.empty(64, np.int32)
    ds = np.empty(64)
    last = flags.size - 1
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            cell = np.int64((D[j, k] - lo) * per_unit)
            if not flags[max(0, min(cell, last))]:
                continue
            d = np.float64(D[j, k])
            i = np.searchsorted(τ, d)
            if (i < τ.size and τ[i] - d <= ε) or (i > 0 and d - τ[i - 1] <= ε):
                if size == js.size:
                    js = np.append(js, np.empty_like(js))
                    ks = np.append(ks, np.empty_like(ks))
                    ds = np.append(ds, np.empty_like(ds))
                js[size] = j
                ks[size] = k
                ds[size] = d
                size += 1
    return js[:size], ks[:size], ds[:size]


@reduction
def _add_product(d, w, t, xj, x, y):
    s = 0.0
    for k in range(d.size):
        v = w[k] if d[k] <= t else 0.0
        s += v * x[k]
        y[k] += v * xj
    return s


@kernel
def masked_product(
    D, a, b, up, j0, k0, τ, top, snap, snap_to, floor, weighted, X, *, Y
):
    """Add to ``Y[i]`` the product of graph ``i``, edges ``d ≤ τ[i]``, with ``X[i]``."""
    W = np.ones(b)
    for j in range(a):
        first = j + 1 if up else 0
        across = slice(k0 + first, k0 + b)
        if weighted:
            _weigh(D[j, first:b], top, snap, snap_to, floor, W[first:])
        for i in range(τ.size):
            Y[i, j0 + j] += _add_product(
                D[j, first:b], W[first:], τ[i], X[i, j0 + j], X[i, across], Y[i, across]
            )


@kernel
def offer(d, k, size, values, features):
    """Offer an edge to the heap of a feature's strongest ones; return its new size.

    A binary heap with the weakest of them (largest d, then largest feature) at its
    root.
    """
    limit = values.size
    if size < limit:
        p = size
        while p > 0:
            up = (p - 1) // 2
            if (d, k) < (values[up], features[up]):
                break
            values[p] = values[up]
            features[p] = features[up]
            p = up
        values[p] = d
        features[p] = k
        return size + 1
    if (values[0], features[0]) < (d, k):
        return size
    p, child = 0, 1
    while child < limit:
        right = min(child + 1, limit - 1)
        if (values[child], features[child]) < (values[right], features[right]):
            child = right
        if (values[child], features[child]) < (d, k):
            break
        values[p] = values[child]
        features[p] = features[child]
        p, child = child, 2 * child + 1
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
                size[p] = offer(d, q, size[p], values[p], features[p])
                size[q] = offer(d, p, size[q], values[q], features[q])


@kernel
def offer_all(edge_counts, ds, others, *, size, values, features):
    """Offer the edges of some heaps to the heaps of the same features."""
    for j in range(size.size):
        for p in range(edge_counts[j]):
            size[j] = offer(ds[j, p], others[j, p], size[j], values[j], features[j])
