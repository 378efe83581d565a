"""Where to draw the features: communities apart, and the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.features import edges_of
from franet.exceptions import UsageError
from franet.network._communities import Communities
from franet.network._pack import pack_discs
from franet.network._springs import relax, sunflower

__all__ = ["layout"]

# Larger communities are spread evenly: forces take time that grows with the square.
_MOST_BY_FORCE = 1200
# Room that a feature takes, and between communities, in the unit of all lengths.
_SPACING = 1.0
_GAP = 1.2


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
    j, k, w = edges_of(adjacency)
    groups = [np.flatnonzero(labels == c) for c in range(labels.max(initial=-1) + 1)]
    groups = [g[np.argsort(rank[g], kind="stable")] for g in groups if len(g)]
    inner = [_inside(group, j, k, w, n, rng) for group in groups]
    radius = np.array([_radius(points) for points in inner])
    owner = np.full(n, -1)
    for c, group in enumerate(groups):
        owner[group] = c
    centre = pack_discs(radius + _GAP / 2, *_between(owner, j, k, w))
    positions = np.zeros((n, 2))
    for c, group in enumerate(groups):
        positions[group] = centre[c] + inner[c]
    _turn(positions, centre, owner, groups, (j, k, w))
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
        raise UsageError(f"communities has shape {labels.shape}, not ({n},)")
    return labels


def _inside(
    group: NDArray[np.intp],
    j: NDArray[Any],
    k: NDArray[Any],
    w: NDArray[np.float64],
    n: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the positions of the features of one community around its centre."""
    size = len(group)
    start = sunflower(size) * _SPACING
    if size <= 2 or size > _MOST_BY_FORCE:
        return start - start.mean(axis=0)
    at = np.full(n, -1)
    at[group] = np.arange(size)
    here = (at[j] >= 0) & (at[k] >= 0)
    start += rng.normal(scale=0.05 * _SPACING, size=start.shape)
    return relax(start, at[j[here]], at[k[here]], w[here], _SPACING)


def _radius(points: NDArray[np.float64]) -> float:
    return float(np.hypot(*points.T).max(initial=0.0)) + _SPACING / 2


def _between(
    owner: NDArray[np.intp], j: NDArray[Any], k: NDArray[Any], w: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Return the edges between communities, as pairs of communities and weights."""
    a, b = owner[j], owner[k]
    across = (a != b) & (a >= 0) & (b >= 0)
    return a[across], b[across], w[across]


def _turn(
    positions: NDArray[np.float64],
    centre: NDArray[np.float64],
    owner: NDArray[np.intp],
    groups: list[NDArray[np.intp]],
    edges: tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]],
) -> None:
    """Turn each community so that its features face those they are connected with."""
    j, k, w = edges
    across = (owner[j] != owner[k]) & (owner[j] >= 0) & (owner[k] >= 0)
    pull = np.zeros_like(positions)
    for a, b in ((j[across], k[across]), (k[across], j[across])):
        away = centre[owner[b]] - centre[owner[a]]
        length = np.hypot(*away.T)[:, None]
        np.add.at(pull, a, w[across][:, None] * away / length)
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
    width = max(float(high[0] - low[0]), np.sqrt(4.0 * len(alone)) * _SPACING)
    in_row = min(len(alone), max(1, int(width / _SPACING)))
    row, column = np.divmod(np.arange(len(alone)), max(in_row, 1))
    middle = (low[0] + high[0]) / 2
    positions[alone, 0] = middle + (column - (in_row - 1) / 2) * _SPACING
    positions[alone, 1] = low[1] - 2 * _GAP - row * _SPACING
