"""Parts of a pass on workers that come and go, as a discrete simulation."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Pass:
    """The tiles of each part of a pass, and the bytes that it sends back."""

    tiles: list[int]
    bytes_out: list[float]

    @property
    def moved(self) -> float:
        """Bytes that come back in all."""
        return sum(self.bytes_out)


@dataclass
class Losses:
    """How workers are lost.

    Attributes
    ----------
    every : float
        Seconds until a worker is lost, on average.
    back : float
        Seconds until it is there again, with the table.
    random : Generator
        Draws when.
    """

    every: float
    back: float
    random: np.random.Generator


def simulate(
    work: Pass,
    tile: float,
    workers: int,
    price: tuple[float, float],
    losses: Losses | None = None,
) -> float:
    """Return the seconds of a pass.

    Parts go to workers in their order. Of a worker that is lost, the part in work is
    done again. Results are taken by the client, one after the other.

    Parameters
    ----------
    work : Pass
        The parts.
    tile : float
        Seconds of a tile on a worker, all cores at work.
    workers : int
        Their number.
    price : tuple of float
        Seconds of the client for a result, and for each byte of it.
    losses : Losses, optional
        How workers are lost; by default none is.
    """
    free = [(0.0, w) for w in range(workers)]
    ends = []
    for tiles, size in zip(work.tiles, work.bytes_out, strict=True):
        while True:
            start, w = heapq.heappop(free)
            end = start + tiles * tile
            lost = math.inf
            if losses is not None:
                lost = start + losses.random.exponential(losses.every)
            if losses is None or lost >= end:
                break
            heapq.heappush(free, (lost + losses.back, w))
        heapq.heappush(free, (end, w))
        ends.append((end, price[0] + price[1] * size))
    client = 0.0
    for end, seconds in sorted(ends):
        client = max(client, end) + seconds
    return client
