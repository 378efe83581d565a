"""Discs side by side: close to the middle and to those they are connected with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack_discs"]

# How much nearness to connected discs counts against nearness to the middle.
_PULL = 0.7
# More discs than this are spread by their size alone.
_MOST_PACKED = 400


def pack_discs(
    radius: NDArray[np.float64],
    a: NDArray[Any],
    b: NDArray[Any],
    w: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return centres of discs that do not overlap.

    The first disc lies in the middle. Each further one touches two that are there
    already, where it is close to the middle and to the discs it is connected with.

    Parameters
    ----------
    radius : ndarray of shape (n,)
        Their radii.
    a, b : ndarray of int
        Pairs of discs that are connected; the same pair may come several times.
    w : ndarray
        How strongly.

    Returns
    -------
    centres : ndarray of shape (n, 2)
        Their centres; the whole is centred on the origin.
    """
    n = len(radius)
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
    if len(radius) <= start:
        return
    reach = float((np.hypot(*centre[:start].T) + radius[:start]).max())
    at = start
    while at < len(radius):
        wide = float(radius[at:].max())
        ring = reach + wide
        room = max(1, int(np.pi / np.arcsin(min(1.0, wide / ring))))
        stop = min(at + room, len(radius))
        angle = np.arange(stop - at) * (2 * np.pi / (stop - at))
        centre[at:stop] = ring * np.column_stack([np.cos(angle), np.sin(angle)])
        at, reach = stop, ring + wide
