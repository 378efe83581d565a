"""Kernels over the kept edges: graphs for many thresholds in one structure.

The edges of all kept graphs lie tile by tile, within a tile those of sparse graphs
first. Of tile ``t``, graph ``i`` holds the edges from ``start[t]`` to before
``end[t]``, where ``end = ends[i]``; an edge is the number ``65536 j + k`` of its
position in the tile, whose first features are ``row[t]`` and ``col[t]``. Sums are
taken in this order, so that a result does not depend on the number of threads.
"""

import numpy as np

from franet._common.jit import kernel
from franet.engine.kernels import offer

SOLVED = 0
DISCARDED = 1
STALLED = 2


@kernel
def add_degrees(row, col, start, ends, index, weight, *, degrees):
    """Write the weighted degrees of all graphs."""
    for i in range(ends.shape[0]):
        if i > 0:
            degrees[i] = degrees[i - 1]
        for t in range(row.size):
            first = start[t] if i == 0 else ends[i - 1, t]
            for p in range(first, ends[i, t]):
                degrees[i, row[t] + (index[p] >> 16)] += weight[p]
                degrees[i, col[t] + (index[p] & 0xFFFF)] += weight[p]


@kernel
def product(row, col, start, end, index, weight, x, y):
    """Write ``y = W x``."""
    y[:] = 0.0
    for t in range(row.size):
        # Slices and unsigned positions: no test for negative ones in the loop.
        xj, yj = x[row[t] :], y[row[t] :]
        xk, yk = x[col[t] :], y[col[t] :]
        for p in range(start[t], end[t]):
            j = index[p] >> np.uint32(16)
            k = index[p] & np.uint32(0xFFFF)
            w = weight[p]
            yj[j] += w * xk[k]
            yk[k] += w * xj[j]


@kernel
def strongest(row, col, start, end, index, weight, *, size, values, features):
    """Offer each edge to the heaps of both its features."""
    for t in range(row.size):
        for p in range(start[t], end[t]):
            j = row[t] + (index[p] >> 16)
            k = col[t] + (index[p] & 0xFFFF)
            size[j] = offer(-weight[p], k, size[j], values[j], features[j])
            size[k] = offer(-weight[p], j, size[k], values[k], features[k])


@kernel
def count_rows(row, col, start, end, index, *, counts):
    """Count the edges of each feature."""
    for t in range(row.size):
        for p in range(start[t], end[t]):
            counts[row[t] + (index[p] >> 16)] += 1
            counts[col[t] + (index[p] & 0xFFFF)] += 1


@kernel
def _dot(x, y):
    # Not BLAS: its sum depends on the number of threads.
    s = 0.0
    for j in range(x.size):
        s += x[j] * y[j]
    return s


@kernel
def _two_largest(x, two):
    """Return the two largest of a number and two others, the largest first."""
    if x > two[0]:
        return x, two[0]
    return two[0], x if x > two[1] else two[1]


@kernel
def rqh_interval(z, d, d_error, ε, η, base):
    """Return bounds on RQH from bounds ``|z* − z| ≤ min(ε, η z)``; ``r = d z``.

    The degrees are known up to a share `d_error`. Isolated nodes (``d = 0``) have
    the score `base`, which is also the smallest score that a node can have.
    """
    # The two largest of each, and, with a minus, the two smallest.
    ups = lows = minus_ups = minus_lows = (-np.inf, -np.inf)
    for j in range(z.size):
        if d[j] > 0.0:
            e = min(ε, η * z[j]) if z[j] > 0.0 else ε
            up = d[j] * (z[j] + e) * (1.0 + d_error)
            low = max(d[j] * (z[j] - e) * (1.0 - d_error), base)
        else:
            up = low = base
        ups = _two_largest(up, ups)
        lows = _two_largest(low, lows)
        minus_ups = _two_largest(-up, minus_ups)
        minus_lows = _two_largest(-low, minus_lows)
    at = 0 if z.size <= 2 else 1
    return lows[at] / -minus_ups[at], ups[at] / -minus_lows[at]


@kernel
def degree_bound(low, high, share, lightest, δ):
    """Return an upper bound on RQH that needs no product, only the degrees.

    With ``z = r / d`` averaged over neighbours, ``1/(n d_max) ≤ z ≤ 1/(n d_min)``,
    hence ``(1−δ) + δ d_j/d_max ≤ n r_j ≤ (1−δ) + δ d_j/d_min``. The degrees lie
    between `low` and `high`, each up to a share; `lightest` is the least weight of
    an edge, for nodes that have one perhaps.
    """
    d_min = np.inf
    d_max = 0.0
    largest = minus_smallest = (-np.inf, -np.inf)
    for j in range(low.size):
        if low[j] > 0.0:
            d_min = min(d_min, low[j])
        elif high[j] > 0.0:
            d_min = min(d_min, lightest)
        d_max = max(d_max, high[j])
        largest = _two_largest(high[j], largest)
        minus_smallest = _two_largest(-low[j], minus_smallest)
    if d_max == 0.0:
        return 1.0
    at = 0 if low.size <= 2 else 1
    ratio = (1.0 + share) / (1.0 - share)
    most = (1.0 - δ) + δ * largest[at] / d_min * ratio
    least = (1.0 - δ) + δ * -minus_smallest[at] / d_max / ratio
    return most / least * (1.0 + 1e-12)


@kernel
def pagerank(
    row, col, start, end, index, weight, d, δ, best, rtol, max_rounds, *, z, work
):
    """Solve PageRank on one graph by conjugate gradients.

    With ``y = D^½ z`` the equation ``r = δ W D⁻¹ r + (1−δ)/n`` is the positive
    definite system ``(I − δ D^-½ W D^-½) y = (1−δ)/n D^-½ 1``. For the residual
    ``ρ`` of any ``y`` let ``ρz = ρ d^-½``. Then ``|z* − z| ≤ ε = max|ρz| / (1−δ)``;
    and with ``η = max|ρz d| n/(1−δ) < 1`` also ``|z* − z| ≤ η/(1−η) z``, because
    ``(I − δ D⁻¹ W) z`` is then at least ``(1−η)`` of its right hand side. The work
    ends when these bounds are below ``rtol`` of every ``z`` (solved), when they prove
    that RQH is below `best` (discarded), or when rounding stops them from shrinking
    (stalled).

    Returns the status and bounds on RQH. `d` are the degrees, `z` is the output;
    `work` has five rows of length n.
    """
    n = d.size
    base = (1.0 - δ) / n
    root, y, ρ, p, q = work[0], work[1], work[2], work[3], work[4]
    volume = d.sum()
    for j in range(n):
        root[j] = 1.0 / np.sqrt(d[j]) if d[j] > 0.0 else 0.0
        # Start where a fast-mixing graph ends: the score is base + δ d / volume.
        y[j] = (base + δ * d[j] / volume) * root[j] if volume > 0.0 else 0.0
        p[j] = y[j] * root[j]
    product(row, col, start, end, index, weight, p, q)
    for j in range(n):
        ρ[j] = root[j] * (base + δ * q[j]) - y[j]
        p[j] = ρ[j]
    ρρ = _dot(ρ, ρ)
    smallest = checked = np.inf
    since = 0
    # They pause for some √κ rounds, and κ < 2 / (1 − δ).
    most_idle = max(12.0, 8.0 / np.sqrt(1.0 - δ))
    low, high = 0.0, np.inf
    status = STALLED
    ε = η = np.inf
    for _ in range(max_rounds):
        ε = η = z_max = 0.0
        z_min = np.inf
        for j in range(n):
            if d[j] > 0.0:
                z[j] = y[j] * root[j]
                z_min = min(z_min, z[j])
                z_max = max(z_max, z[j])
                # The recurrence loses sight of the true residual at rounding level.
                e = abs(ρ[j] * root[j]) + 1e-15 * abs(z[j])
                ε = max(ε, e)
                η = max(η, e * d[j])
            else:
                z[j] = 0.0
        ε /= 1.0 - δ
        η /= base
        η = η / (1.0 - η) if η < 1.0 else np.inf
        error = min(η, ε / z_min) if z_min > 0.0 else np.inf
        if error <= rtol or ε < 0.7 * checked:
            checked = ε
            low, high = rqh_interval(z, d, 0.0, ε, η, base)
            if high < best:
                status = DISCARDED
                break
        if error <= rtol:
            status = SOLVED
            break
        if ε < 0.9 * smallest:
            smallest = ε
            since = 0
        else:
            since += 1
            if since >= most_idle:
                break
        for j in range(n):
            q[j] = p[j] * root[j]
        product(row, col, start, end, index, weight, q, z)
        for j in range(n):
            q[j] = p[j] - δ * root[j] * z[j]
        pq = _dot(p, q)
        if not pq > 0.0:
            break
        α = ρρ / pq
        for j in range(n):
            y[j] += α * p[j]
            ρ[j] -= α * q[j]
        new = _dot(ρ, ρ)
        β = new / ρρ
        ρρ = new
        for j in range(n):
            p[j] = ρ[j] + β * p[j]
    for j in range(n):
        z[j] = y[j] * root[j]
    if status == STALLED:
        low, high = rqh_interval(z, d, 0.0, ε, η, base)
    return status, low, high
