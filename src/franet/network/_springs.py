"""Positions by forces: connected features attract, all push each other away."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

__all__ = ["relax", "sunflower"]

_STEPS = 80
_PUSHES = 60
_GOLDEN = np.pi * (3.0 - 5.0**0.5)


def sunflower(n: int) -> NDArray[np.float64]:
    """Return n points spread evenly over a disc, the first in its middle."""
    at = np.arange(n)
    # The factor makes the distance to the next point about 1.
    radius, angle = 0.6 * np.sqrt(at), at * _GOLDEN
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def relax(
    start: NDArray[np.float64],
    j: NDArray[Any],
    k: NDArray[Any],
    w: NDArray[np.float64],
    spacing: float,
) -> NDArray[np.float64]:
    """Return positions after the forces of Fruchterman and Reingold have acted.

    Parameters
    ----------
    start : ndarray of shape (n, 2)
        Where the points are at first.
    j, k : ndarray of int
        Both ends of every edge.
    w : ndarray
        The weights of the edges, larger is stronger.
    spacing : float
        The distance that points shall have.

    Returns
    -------
    positions : ndarray of shape (n, 2)
        The new positions, around the origin, in a disc of as much area as they need.
    """
    n = len(start)
    x, y = start[:, 0].copy(), start[:, 1].copy()
    # A feature with many edges must not be torn into a point by their sum.
    degree = np.bincount(np.r_[j, k], np.r_[w, w], minlength=n)
    pull = w / np.sqrt(degree[j] * degree[k])
    heat = np.sqrt(n) * spacing * 0.25
    for step in range(_STEPS):
        limit = heat * (1.0 - step / _STEPS) + 1e-3
        dx, dy = x[:, None] - x, y[:, None] - y
        push = spacing**2 / (dx * dx + dy * dy + 1e-2 * spacing**2)
        fx, fy = (dx * push).sum(axis=1), (dy * push).sum(axis=1)
        ex, ey = x[j] - x[k], y[j] - y[k]
        draw = pull * np.hypot(ex, ey) / spacing
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
    return _fit(np.column_stack([x, y]), spacing)


def _fit(points: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Return the points in a disc of the area that they need, around its middle."""
    points = points - points.mean(axis=0)
    distance = np.hypot(*points.T)
    # Far ones are drawn in: half by how many are closer, half by the distance itself.
    order = np.argsort(np.argsort(distance, kind="stable"), kind="stable")
    even = 0.6 * np.sqrt(order + 0.5) * spacing
    scale = even.max() / max(float(distance.max()), 1e-9)
    wanted = 0.5 * even + 0.5 * distance * scale
    return _apart(points * (wanted / np.maximum(distance, 1e-9))[:, None], spacing)


def _apart(points: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Return the points moved until hardly any two are closer than the spacing."""
    n = len(points)
    for _ in range(_PUSHES):
        pairs = cKDTree(points).query_pairs(spacing, output_type="ndarray")
        if not len(pairs):
            break
        # In one order, so that sums round alike wherever the tree is built.
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        j, k = pairs.T
        gap = points[j] - points[k]
        length = np.maximum(np.hypot(*gap.T), 1e-6)
        push = (0.5 * (spacing - length) / length)[:, None] * gap
        for axis in (0, 1):
            points[:, axis] += np.bincount(j, push[:, axis], minlength=n)
            points[:, axis] -= np.bincount(k, push[:, axis], minlength=n)
    return points - (points.min(axis=0) + points.max(axis=0)) / 2
