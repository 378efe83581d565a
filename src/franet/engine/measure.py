"""Numbers about all dissimilarities, and what they make of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# d below this share of the scale is rounding (the smallest genuine value seen in real
# data is 8e-7); an edge may miss its threshold by this much.
ZERO = 1e-9
SLACK = 1e-12


@dataclass(frozen=True)
class Extrema:
    """Extremes of the dissimilarities ``d`` between different features.

    Attributes
    ----------
    low, high : float
        The smallest and the largest.
    next_low : float
        The smallest that is not `low` up to rounding; infinity where there is none.
    next_zero : float
        The smallest that is not 0 up to rounding; infinity where there is none.
    scale : float
        The scale of the measure.
    tally : Tally
        Roughly how many pairs lie below a value.
    """

    low: float
    high: float
    next_low: float
    next_zero: float
    scale: float
    tally: Tally

    @property
    def zero(self) -> float:
        """The value up to which a distance or a gap is zero."""
        return ZERO * self.scale

    @property
    def slack(self) -> float:
        """How far a pair may miss a threshold and still be an edge."""
        return SLACK * self.scale


class Tally:
    """Counts of pairs by the leading bits of their values in single precision."""

    SHIFT = 19
    SIZE = 1 << (32 - SHIFT)

    def __init__(self, counts: NDArray[np.int64]) -> None:
        bits = np.arange(self.SIZE, dtype=np.uint32) << np.uint32(self.SHIFT)
        last = bits + np.uint32((1 << self.SHIFT) - 1)
        # Bit patterns of negative numbers ascend as the numbers descend; those that
        # are no numbers hold no pairs.
        low = np.fmin(bits.view(np.float32), last.view(np.float32))
        cells = np.flatnonzero(~np.isnan(low))
        cells = cells[np.argsort(low[cells], kind="stable")]
        low = low[cells].astype(np.float64)
        # Single precision may have rounded a value into the next cell.
        self._low = low - 1e-6 * np.abs(np.where(np.isfinite(low), low, 0.0))
        self._count = np.cumsum(counts[cells])

    def at_most(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return upper bounds on the number of pairs with ``d <= value``."""
        at = np.searchsorted(self._low, values, side="right") - 1
        return np.where(at >= 0, self._count[at], 0)


@dataclass(frozen=True)
class Measure:
    """How a dissimilarity becomes a weight: ``w = top - d``, or 1 if unweighted.

    Equal up to rounding means equal: dissimilarities up to `snap` are `snap_to`, and
    weights up to `floor` are 0 (a degree must not be a sum of rounding errors).
    """

    top: float
    snap: float
    snap_to: float
    floor: float
    weighted: bool

    @property
    def arguments(self) -> tuple[float, float, float, float]:
        """What a kernel needs to compute a weight."""
        return self.top, self.snap, self.snap_to, self.floor

    def weights(self, d: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of edges with these dissimilarities."""
        if not self.weighted:
            return np.ones_like(d)
        w = self.top - np.where(d <= self.snap, self.snap_to, d)
        w[w <= self.floor] = 0.0
        return w


def bin_table(edges: NDArray[np.float64], n_cells: int = 4096) -> tuple[Any, ...]:
    """Return what a kernel needs to find the first graph that holds a pair.

    A table of equal cells of values: ``edges, cells, lo, per_unit``.
    """
    lo, hi = float(edges[0]), float(edges[-1])
    per_unit = n_cells / (hi - lo) if hi > lo else 0.0
    starts = lo + np.arange(n_cells) / per_unit if per_unit else np.array([lo])
    # One step back, so that rounding in a cell's limits cannot skip a graph.
    cells = np.maximum(np.searchsorted(edges, starts) - 1, 0)
    return edges, cells.astype(np.int64), lo, per_unit


def near_table(
    edges: NDArray[np.float64], error: float, n_cells: int = 1 << 16
) -> tuple[Any, ...]:
    """Return what a kernel needs to find values within some error of a limit.

    A table of equal cells of values: ``edges, error, flags, lo, per_unit``.
    """
    lo, hi = float(edges[0]) - error, float(edges[-1]) + error
    width = max((hi - lo) / n_cells, 1e-30)
    # A cell more on both sides, for rounding, and for what lies outside.
    first = np.floor((edges - error - lo) / width).astype(np.int64) - 1
    last = np.floor((edges + error - lo) / width).astype(np.int64) + 1
    flags = np.zeros(n_cells, np.bool_)
    for a, b in zip(first, last, strict=True):
        flags[max(a, 0) : b + 1] = True
    flags[0] = flags[-1] = True
    return edges, error, flags, lo, 1.0 / width
