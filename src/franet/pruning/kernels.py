"""Kernels of pruning: arrays and scalars in, outputs by keyword.

Letters: ``D`` a tile of dissimilarities ``1 − r``, ``a`` × ``b`` its part without
padding, ``up`` whether only the pairs above the diagonal count. A graph of links has
the neighbors of node v in ``to[at[v] : at[v + 1]]``; ``cost`` is what each node costs,
``cover[v]`` the number of kept nodes among v and its neighbors.
"""

import heapq

import numpy as np

from franet._common.jit import kernel, reduction


@reduction
def _add_row(d, low, high, own, degree):
    # One row of a tile, on whole slices: this is the form that is vectorized.
    near, sure, s = 0, 0, 0.0
    for k in range(d.size):
        r = 1.0 - np.float64(d[k])
        q = r * r
        s += q
        own[k] += q
        is_sure = abs(r) >= high
        near += abs(r) >= low
        sure += is_sure
        degree[k] += is_sure
    return near - sure, sure, s


@kernel
def strong_pairs(D, a, b, up, low, high, rows, *, mass, degree):
    """Return the pairs with ``low ≤ |r| < high`` of some rows of a tile, and their r.

    Those with ``|r| ≥ high`` are counted in ``degree``, and all ``r²`` added to
    ``mass``: in row 0 for the features down, in row 1 for those across.
    """
    ends = np.zeros(a + 1, np.int64)
    for j in range(a):
        ends[j + 1] = ends[j]
        if rows[j]:
            across = slice(j + 1 if up else 0, b)
            near, sure, s = _add_row(
                D[j, across], low, high, mass[1, across], degree[1, across]
            )
            mass[0, j] += s
            degree[0, j] += sure
            ends[j + 1] += near
    down = np.empty(ends[a], np.int32)
    cols = np.empty(ends[a], np.int32)
    values = np.empty(ends[a])
    for j in range(a):
        at = ends[j]
        if at == ends[j + 1]:
            continue
        for k in range(j + 1 if up else 0, b):
            r = 1.0 - np.float64(D[j, k])
            if low <= abs(r) < high:
                down[at], cols[at], values[at] = j, k, r
                at += 1
    return down, cols, values


@kernel
def neighbors(j, k, place, *, at, to):
    """Write the neighbors of each node, from pairs of columns and their nodes."""
    at[:] = 0
    for p in range(j.size):
        at[place[j[p]] + 1] += 1
        at[place[k[p]] + 1] += 1
    for v in range(at.size - 1):
        at[v + 1] += at[v]
    free = at[:-1].copy()
    for p in range(j.size):
        a, b = place[j[p]], place[k[p]]
        to[free[a]], to[free[b]] = b, a
        free[a] += 1
        free[b] += 1


@kernel
def parts(at, to, *, part):
    """Write the connected part of each node, as a number; return how many there are."""
    part[:] = -1
    ahead = np.empty(part.size, np.int64)
    n = 0
    for start in range(part.size):
        if part[start] >= 0:
            continue
        part[start], ahead[0], size = n, start, 1
        while size > 0:
            size -= 1
            v = ahead[size]
            for e in range(at[v], at[v + 1]):
                if part[to[e]] < 0:
                    part[to[e]] = n
                    ahead[size] = to[e]
                    size += 1
        n += 1
    return n


@kernel
def _take(v, at, to, kept, cover):
    kept[v] = True
    cover[v] += 1
    for e in range(at[v], at[v + 1]):
        cover[to[e]] += 1


@kernel
def _release(v, at, to, kept, cover):
    kept[v] = False
    cover[v] -= 1
    for e in range(at[v], at[v + 1]):
        cover[to[e]] -= 1


@kernel
def dominate(at, to, cost, *, kept, cover):
    """Keep nodes until each node is kept or linked with a kept one.

    Always the node, not linked with a kept one, that covers most uncovered nodes for
    its cost; of equal ones the first. ``kept`` and ``cover`` may hold some already.
    """
    n = cost.size
    count = np.zeros(n, np.int64)
    heap = [(0.0, 0)]
    heap.pop()
    for v in range(n):
        if cover[v] > 0:
            continue
        count[v] = 1
        for e in range(at[v], at[v + 1]):
            count[v] += cover[to[e]] == 0
        heap.append((-count[v] / cost[v], v))
    heapq.heapify(heap)
    while len(heap) > 0:
        key, v = heapq.heappop(heap)
        if cover[v] > 0:
            continue
        # Counts only fall: one that fell since is put back.
        if -count[v] / cost[v] > key:
            heapq.heappush(heap, (-count[v] / cost[v], v))
            continue
        for i in range(at[v] - 1, at[v + 1]):
            u = v if i < at[v] else to[i]
            if cover[u] == 0:
                count[u] -= 1
                for e in range(at[u], at[u + 1]):
                    count[to[e]] -= 1
        _take(v, at, to, kept, cover)


@kernel
def _repair(bare, at, to, cost, kept, cover, room, taken):
    # Keep some of the uncovered nodes until all are covered; stop where they cost more
    # than there is room for.
    spent, work = 0.0, 0
    while True:
        best, most = -1, 0.0
        for u in bare:
            if cover[u] > 0:
                continue
            size = 1
            for e in range(at[u], at[u + 1]):
                size += cover[to[e]] == 0
            work += at[u + 1] - at[u] + 1
            # Of equal ones the first, in whatever order they are found.
            value = size / cost[u]
            if value > most or (value == most and u < best):
                best, most = u, value
        if best < 0:
            return spent, work
        spent += cost[best]
        if spent > room:
            return spent, work
        _take(best, at, to, kept, cover)
        taken.append(best)


@kernel
def _exchange(w, at, to, cost, fixed, kept, cover, slack):
    # Keep w in place of its kept neighbors, and what else has to be kept then, if this
    # costs less, or the same. Returns what is saved (negative: undone) and the work.
    gone, bare, taken = [0], [0], [0]
    gone.pop()
    bare.pop()
    taken.pop()
    room, work = -cost[w], 0
    for e in range(at[w], at[w + 1]):
        u = to[e]
        if kept[u]:
            if fixed[u]:
                return -1.0, at[w + 1] - at[w]
            gone.append(u)
            room += cost[u]
    work += at[w + 1] - at[w]
    if room < -slack:
        return -1.0, work
    for u in gone:
        _release(u, at, to, kept, cover)
        work += at[u + 1] - at[u]
    _take(w, at, to, kept, cover)
    for u in gone:
        if cover[u] == 0:
            bare.append(u)
        for e in range(at[u], at[u + 1]):
            if cover[to[e]] == 0:
                bare.append(to[e])  # noqa: PERF401 (a kernel extends no list)
    spent, more = _repair(bare, at, to, cost, kept, cover, room + slack, taken)
    work += more
    if spent <= room + slack:
        return room - spent, work
    for u in taken:
        _release(u, at, to, kept, cover)
    _release(w, at, to, kept, cover)
    for u in gone:
        _take(u, at, to, kept, cover)
        work += at[u + 1] - at[u]
    return -1.0, work


@kernel
def improve(at, to, cost, nodes, fixed, patience, most, *, kept, cover):
    """Exchange kept nodes for others as long as fewer, or cheaper ones, are enough.

    Each of the nodes in turn is kept in place of its kept neighbors. A turn that costs
    the same is taken, too: it leads to others. It ends after ``patience`` rounds that
    save nothing, or when ``most`` links were looked at.
    """
    work, idle = 0, 0
    slack = 1e-9 * cost.min()
    while idle < patience and work < most:
        saved = 0.0
        for w in nodes:
            if kept[w]:
                continue
            gain, more = _exchange(w, at, to, cost, fixed, kept, cover, slack)
            work += more + 1
            saved = max(saved, gain)
            if work >= most:
                break
        idle = 0 if saved > slack else idle + 1
    return work


@kernel
def keep(nodes, at, to, *, kept, cover):
    """Keep some nodes, no two of them linked."""
    for v in nodes:
        _take(v, at, to, kept, cover)
