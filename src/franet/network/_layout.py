"""What to draw where: communities apart, few edges, the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from franet._common.features import Edges, edges_of
from franet.exceptions import Setting, UsageError
from franet.network._communities import Communities

# Larger communities are spread evenly: forces take time that grows with the square.
_MOST_BY_FORCE = 1200
# Space between communities; the unit of all lengths is the distance of features.
_GAP = 1.2
# Steps of the forces, and of moving apart what is too close after them.
_STEPS = 80
_PUSHES = 60
_GOLDEN = np.pi * (3.0 - 5.0**0.5)
# How much nearness to connected discs counts against nearness to the middle.
_PULL = 0.7
# More discs than this are spread by their size alone.
_MOST_PACKED = 400


def layout(
    network: Any, communities: Communities | Any = None, seed: int = 0
) -> NDArray[np.float64]:
    """Return where to draw each feature.

    Every community is laid out by forces inside a disc of its own, and discs are
    packed side by side, connected ones close to each other. Features without an edge
    stand in rows below.

    Parameters
    ----------
    network : AttributeNetwork or CSR array of shape (n, n)
        The network, or its symmetric weights.
    communities : Communities or ndarray of int of shape (n,), optional
        The community of each feature, -1 for none; by default those of the network,
        or everything as one.
    seed : int, default=0
        The seed; the same seed gives the same picture.

    Returns
    -------
    positions : ndarray of shape (n, 2)
        Within a circle of radius 1 around the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from franet.network import layout
    >>> W = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], float))
    >>> layout(W, np.array([0, 0, -1])).shape
    (3, 2)
    """
    adjacency = getattr(network, "adjacency", network)
    ranking = getattr(network, "ranking", None)
    labels = _labels(network, adjacency, communities)
    n = len(labels)
    rank = np.arange(n) if ranking is None else np.asarray(ranking)
    rng = np.random.default_rng(seed)
    edges = edges_of(adjacency)
    groups = [np.flatnonzero(labels == c) for c in range(labels.max(initial=-1) + 1)]
    groups = [g[np.argsort(rank[g], kind="stable")] for g in groups if len(g)]
    inner = [_inside(group, edges, n, rng) for group in groups]
    radius = np.array([np.hypot(*points.T).max() + 0.5 for points in inner])
    owner = np.full(n, -1)
    for c, group in enumerate(groups):
        owner[group] = c
    j, k, w = edges
    outer = (owner[j] != owner[k]) & (owner[j] >= 0) & (owner[k] >= 0)
    j, k, w = across = j[outer], k[outer], w[outer]
    centre = pack_discs(radius + _GAP / 2, (owner[j], owner[k], w))
    positions = np.zeros((n, 2))
    for c, group in enumerate(groups):
        positions[group] = centre[c] + inner[c]
    _turn(positions, centre, owner, groups, across)
    _line_up(positions, owner)
    if n:
        positions -= (positions.min(axis=0) + positions.max(axis=0)) / 2
    reach = np.hypot(*positions.T).max(initial=0.0)
    return positions / reach if reach > 0 else positions


def _labels(network: Any, adjacency: Any, communities: Any) -> NDArray[np.intp]:
    n = adjacency.shape[0]
    if communities is None and hasattr(network, "communities"):
        communities = network.communities()
    if communities is None:
        return np.where(np.diff(adjacency.indptr) > 0, 0, -1)
    labels = np.asarray(getattr(communities, "labels", communities))
    if labels.shape != (n,):
        given = Setting("communities")
        raise UsageError("{} has shape {}, not {}", given, labels.shape, (n,))
    return labels


def _inside(
    group: NDArray[np.intp], edges: Edges, n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the positions of the features of one community around its centre."""
    size = len(group)
    start = sunflower(size)
    if size <= 2 or size > _MOST_BY_FORCE:
        return start - start.mean(axis=0)
    j, k, w = edges
    at = np.full(n, -1)
    at[group] = np.arange(size)
    here = (at[j] >= 0) & (at[k] >= 0)
    start += rng.normal(scale=0.05, size=start.shape)
    return relax(start, (at[j[here]], at[k[here]], w[here]))


def _turn(
    positions: NDArray[np.float64],
    centre: NDArray[np.float64],
    owner: NDArray[np.intp],
    groups: list[NDArray[np.intp]],
    across: Edges,
) -> None:
    """Turn each community so that its features face those they are connected with."""
    j, k, w = across
    pull = np.zeros_like(positions)
    for a, b in ((j, k), (k, j)):
        away = centre[owner[b]] - centre[owner[a]]
        length = np.hypot(*away.T)[:, None]
        np.add.at(pull, a, w[:, None] * away / length)
    for c, group in enumerate(groups):
        arm, force = positions[group] - centre[c], pull[group]
        along = (arm * force).sum()
        beside = (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]).sum()
        if along or beside:
            angle = np.arctan2(beside, along)
            cos, sin = np.cos(angle), np.sin(angle)
            positions[group] = centre[c] + arm @ np.array([[cos, sin], [-sin, cos]])


def _line_up(positions: NDArray[np.float64], owner: NDArray[np.intp]) -> None:
    """Put features without a community in rows below all others."""
    alone, there = np.flatnonzero(owner < 0), positions[owner >= 0]
    if not len(there):
        positions[alone] = sunflower(len(alone))
        return
    low, high = there.min(axis=0), there.max(axis=0)
    # As wide as the map, and wider if there would be too many rows.
    width = max(float(high[0] - low[0]), np.sqrt(4.0 * len(alone)))
    in_row = min(len(alone), max(1, int(width)))
    row, column = np.divmod(np.arange(len(alone)), max(in_row, 1))
    middle = (low[0] + high[0]) / 2
    positions[alone, 0] = middle + (column - (in_row - 1) / 2)
    positions[alone, 1] = low[1] - 2 * _GAP - row


def sunflower(n: int) -> NDArray[np.float64]:
    """Return n points spread evenly over a disc, the first in its middle."""
    at = np.arange(n)
    # The factor makes the distance to the next point about 1.
    radius, angle = 0.6 * np.sqrt(at), at * _GOLDEN
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def relax(start: NDArray[np.float64], edges: Edges) -> NDArray[np.float64]:
    """Return positions after the forces of Fruchterman and Reingold have acted.

    Parameters
    ----------
    start : ndarray of shape (n, 2)
        Where the points are at first.
    edges : tuple of ndarray
        Both ends of every edge, and its weight, larger is stronger.

    Returns
    -------
    positions : ndarray of shape (n, 2)
        The new positions, around the origin, in a disc of as much area as they need.
    """
    n, (j, k, w) = len(start), edges
    x, y = start[:, 0].copy(), start[:, 1].copy()
    # A feature with many edges must not be torn into a point by their sum.
    degree = np.bincount(np.r_[j, k], np.r_[w, w], minlength=n)
    pull = w / np.sqrt(degree[j] * degree[k])
    heat = np.sqrt(n) * 0.25
    for step in range(_STEPS):
        limit = heat * (1.0 - step / _STEPS) + 1e-3
        dx, dy = x[:, None] - x, y[:, None] - y
        push = 1.0 / (dx * dx + dy * dy + 1e-2)
        fx, fy = (dx * push).sum(axis=1), (dy * push).sum(axis=1)
        ex, ey = x[j] - x[k], y[j] - y[k]
        draw = pull * np.hypot(ex, ey)
        for force, end in ((fx, ex * draw), (fy, ey * draw)):
            force -= np.bincount(j, end, minlength=n)
            force += np.bincount(k, end, minlength=n)
        # A weak pull to the middle keeps what hangs by a thread.
        fx -= 0.05 * x
        fy -= 0.05 * y
        length = np.hypot(fx, fy) + 1e-12
        move = np.minimum(length, limit) / length
        x += fx * move
        y += fy * move
    return _fit(np.column_stack([x, y]))


def _fit(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points in a disc of the area that they need, around its middle."""
    points = points - points.mean(axis=0)
    distance = np.hypot(*points.T)
    # Far ones are drawn in: half by how many are closer, half by the distance itself.
    order = np.argsort(np.argsort(distance, kind="stable"), kind="stable")
    even = 0.6 * np.sqrt(order + 0.5)
    scale = even.max() / max(float(distance.max()), 1e-9)
    wanted = 0.5 * even + 0.5 * distance * scale
    return _apart(points * (wanted / np.maximum(distance, 1e-9))[:, None])


def _apart(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points moved until hardly any two are closer than 1."""
    n = len(points)
    for _ in range(_PUSHES):
        pairs = cKDTree(points).query_pairs(1.0, output_type="ndarray")
        if not len(pairs):
            break
        # In one order, so that sums round alike wherever the tree is built.
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        j, k = pairs.T
        gap = points[j] - points[k]
        length = np.maximum(np.hypot(*gap.T), 1e-6)
        push = (0.5 * (1.0 - length) / length)[:, None] * gap
        for axis in (0, 1):
            points[:, axis] += np.bincount(j, push[:, axis], minlength=n)
            points[:, axis] -= np.bincount(k, push[:, axis], minlength=n)
    return points - (points.min(axis=0) + points.max(axis=0)) / 2


def pack_discs(radius: NDArray[np.float64], edges: Edges) -> NDArray[np.float64]:
    """Return centres of discs that do not overlap.

    The first disc lies in the middle. Each further one touches two that are there
    already, where it is close to the middle and to the discs it is connected with.

    Parameters
    ----------
    radius : ndarray of shape (n,)
        Their radii.
    edges : tuple of ndarray
        Pairs of discs that are connected, and how strongly; the same pair may come
        several times.

    Returns
    -------
    centres : ndarray of shape (n, 2)
        Their centres; the whole is centred on the origin.
    """
    n, (a, b, w) = len(radius), edges
    centre = np.zeros((n, 2))
    links = np.zeros((min(n, _MOST_PACKED), min(n, _MOST_PACKED)))
    few = (a < len(links)) & (b < len(links))
    np.add.at(links, (a[few], b[few]), w[few])
    links += links.T
    for i in range(1, min(n, _MOST_PACKED)):
        centre[i] = _place(centre[:i], radius[:i], radius[i], links[i, :i])
    _spiral(centre, radius, _MOST_PACKED)
    if n:
        weight = radius**2
        centre -= (centre * weight[:, None]).sum(axis=0) / weight.sum()
    return centre


def _place(
    centre: NDArray[np.float64],
    radius: NDArray[np.float64],
    new: float,
    link: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the best place for a new disc that touches those that are there."""
    if len(centre) == 1:
        return np.array([radius[0] + new, 0.0])
    places = _touching(centre, radius + new)
    distance = np.hypot(*(places[:, None] - centre).transpose(2, 0, 1))
    free = (distance >= (radius + new) * (1 - 1e-9)).all(axis=1)
    places, distance = places[free], distance[free]
    middle = (centre * (radius**2)[:, None]).sum(axis=0) / (radius**2).sum()
    cost = np.hypot(*(places - middle).T)
    if link.any():
        gap = distance - radius - new
        cost = (1 - _PULL) * cost + _PULL * (gap @ link) / link.sum()
    return places[np.argmin(np.round(cost, 9))]


def _touching(
    centre: NDArray[np.float64], reach: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the points at distance `reach` of two centres, for pairs near enough."""
    j, k = np.triu_indices(len(centre), 1)
    apart = centre[k] - centre[j]
    d = np.hypot(*apart.T)
    near = (d < reach[j] + reach[k]) & (d > np.abs(reach[j] - reach[k])) & (d > 0)
    j, k, apart, d = j[near], k[near], apart[near], d[near]
    along = (d**2 + reach[j] ** 2 - reach[k] ** 2) / (2 * d)
    across = np.sqrt(np.maximum(reach[j] ** 2 - along**2, 0.0))
    unit = apart / d[:, None]
    foot = centre[j] + along[:, None] * unit
    side = across[:, None] * np.column_stack([-unit[:, 1], unit[:, 0]])
    return np.concatenate([foot + side, foot - side])


def _spiral(
    centre: NDArray[np.float64], radius: NDArray[np.float64], start: int
) -> None:
    """Put the discs from `start` on around the others, on rings."""
    reach = (np.hypot(*centre[:start].T) + radius[:start]).max(initial=0.0)
    at = start
    while at < len(radius):
        wide = float(radius[at:].max())
        ring = reach + wide
        room = max(1, int(np.pi / np.arcsin(min(1.0, wide / ring))))
        stop = min(at + room, len(radius))
        angle = np.arange(stop - at) * (2 * np.pi / (stop - at))
        centre[at:stop] = ring * np.column_stack([np.cos(angle), np.sin(angle)])
        at, reach = stop, ring + wide


def backbone(adjacency: Any, n_edges: int) -> sparse.csr_array:
    """Return the edges that show the structure, at most about `n_edges` of them.

    First those of a spanning forest of the strongest edges, so that what is connected
    stays so; then the strongest of all others.

    Parameters
    ----------
    adjacency : CSR array of shape (n, n)
        Symmetric weights.
    n_edges : int
        How many edges; the forest is kept whole even if it has more.

    Returns
    -------
    chosen : CSR array of shape (n, n)
        The chosen edges, symmetric.
    """
    n = adjacency.shape[0]
    j, k, w = edges_of(adjacency)
    if len(w) > n_edges:
        # Strong is short; no length may be zero, because that means "no edge".
        length = w.max() - w
        length += max(float(length.max()), 1.0) * 1e-9
        tree = minimum_spanning_tree(sparse.csr_array((length, (j, k)), (n, n))).tocoo()
        pair = j.astype(np.int64) * n + k
        rows, cols = tree.coords
        in_tree = np.isin(pair, rows.astype(np.int64) * n + cols)
        order = np.lexsort((pair, -w, ~in_tree))
        chosen = order[: max(n_edges, int(in_tree.sum()))]
        j, k, w = j[chosen], k[chosen], w[chosen]
    both = np.r_[w, w], (np.r_[j, k], np.r_[k, j])
    matrix = sparse.csr_array(both, (n, n))
    matrix.sort_indices()
    return matrix
