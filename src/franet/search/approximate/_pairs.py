"""Pairs of near features: the extremes of all, and the edges below a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.engine.measure import ZERO, Extrema, Tally
from franet.search.approximate import kernels
from franet.search.approximate._cells import Cells, Looks
from franet.search.approximate._features import Features

__all__ = ["Counts", "Nearest", "find_extremes", "join"]

# Features along the sides of a tile.
_ROWS, _COLS = 1024, 1024
# Cells into which the opposite of a feature looks, for the smallest correlation.
_OPPOSITE = 32
# Features whose pairs with all others are counted.
_COUNTED = 2048
_COUNT_CELLS = 4000
# Cells worked on before the next report.
_BATCH = 256


class Counts:
    """How many pairs lie below a dissimilarity, by the pairs of a sample.

    Parameters
    ----------
    columns : Features
        What is compared.
    drawn : ndarray of int
        The features of the sample.
    """

    def __init__(self, columns: Features, drawn: NDArray[np.intp]) -> None:
        drawn = drawn[:_COUNTED]
        per_unit = np.float32(_COUNT_CELLS / columns.top)

        def count(part: slice) -> tuple[NDArray[np.int64], float]:
            counts = np.zeros(_COUNT_CELLS, np.int64)
            T = columns.similarities(drawn, part)
            kernels.count_values(T, columns.absolute, per_unit, counts=counts)
            least = np.abs(T).min() if columns.absolute else T.min()
            return counts, float(least)

        found = columns.map(count, columns.parts(_COLS))
        counts = np.sum([counts for counts, _ in found], axis=0)
        # Each feature has met itself.
        counts[0] = max(counts[0] - len(drawn), 0)
        self.smallest = min(least for _, least in found)
        total = columns.n * (columns.n - 1) / 2
        self._pairs = np.cumsum(counts) / max(counts.sum(), 1) * total
        self._ends = np.arange(1, _COUNT_CELLS + 1) / float(per_unit)

    def below(self, d: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many pairs have at most these dissimilarities, about."""
        known = np.concatenate([[0.0], self._pairs])
        return np.interp(d, np.concatenate([[0.0], self._ends]), known)

    def limit(self, n_pairs: float) -> float:
        """Return the dissimilarity below which so many pairs lie, about; or less."""
        if self._pairs[-1] <= n_pairs:
            return np.inf
        at = int(np.searchsorted(self._pairs, n_pairs, side="right"))
        return float(self._ends[at - 1]) if at else -1.0


class Nearest:
    """The largest similarity of each place, as far as it was found."""

    def __init__(self, n: int) -> None:
        self.best = np.full(n, -np.inf, np.float32)

    def take(self, places: Any, best: NDArray[np.float32]) -> None:
        """Take in similarities of some places, each named once."""
        self.best[places] = np.maximum(self.best[places], best)


def _tiles(
    cells: Cells, looks: Looks, c: int
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32], int]]:
    """Yield how alike, or opposite, those are that look into a cell and those in it."""
    columns, visitors = cells.columns, looks.visitors[c]
    first, last = int(cells.start[c]), int(cells.start[c + 1])
    for at in range(first, last, _COLS):
        across = columns.work[at : min(at + _COLS, last)].T
        for row in range(0, len(visitors), _ROWS):
            xs = visitors[row : row + _ROWS]
            T = columns.work[xs] @ across
            if columns.absolute:
                np.abs(T, out=T)
            yield T if looks.sign > 0.0 else np.negative(T, out=T), xs, at


def find_extremes(
    cells: Cells, looks: Looks, counts: Counts
) -> tuple[Extrema, Nearest]:
    """Return the extremes of the dissimilarities, and the nearest of each place."""
    columns = cells.columns
    nearest = Nearest(columns.n)

    def visit(c: int) -> tuple[NDArray[np.float64], list[Any]]:
        low = np.full(3, np.inf)
        found = []
        for T, xs, at in _tiles(cells, looks, c):
            kernels.leave_out_self(T, xs, at)
            best = T.max(axis=1)
            found += [(xs, best), (slice(at, at + T.shape[1]), T.max(axis=0))]
            numbers = best, 2 * columns.error, ZERO, columns.exact
            kernels.scan(T, xs, at, columns.absolute, *numbers, low=low)
        return low, found

    low = []
    for batch in _batches(cells):
        for found, best in columns.map(visit, batch):
            low.append(found)
            for places, values in best:
                nearest.take(places, values)
        report("extremes", batch[-1] + 1, cells.n_cells)
    least, next_low, next_zero = _lowest(np.array(low))
    high = _highest(cells, counts)
    tally = Tally(np.zeros(Tally.SIZE, np.int64))
    return Extrema(least, high, next_low, next_zero, 1.0, tally), nearest


def _lowest(low: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the smallest, the next and the smallest that is not zero."""
    smallest = float(low[:, 1].min())
    if low[:, 0].min() == 0.0:
        return 0.0, smallest, smallest
    others = low[:, 1:][low[:, 1:] > smallest + ZERO]
    return smallest, float(others.min(initial=np.inf)), smallest


def _batches(cells: Cells) -> list[range]:
    n = cells.n_cells
    return [range(at, min(at + _BATCH, n)) for at in range(0, n, _BATCH)]


def _highest(cells: Cells, counts: Counts) -> float:
    """Return the largest dissimilarity: of the nearest opposites, in float64.

    Without signs it belongs to the pair that is nearest to uncorrelated. There is
    always one close to it, and the sample tells how close.
    """
    columns = cells.columns
    if columns.absolute and cells.n_cells > 1:
        return 1.0 - counts.smallest
    looks = cells.look_into(_OPPOSITE, -1.0)

    def largest(c: int) -> float:
        tiles = _tiles(cells, looks, c)
        return max((float(T.max()) for T, _, _ in tiles), default=-np.inf)

    rough = [r for batch in _batches(cells) for r in columns.map(largest, batch)]
    limit = max(rough) - 2 * columns.error
    best = -np.inf
    for c in np.flatnonzero(np.array(rough) >= limit):
        for T, xs, at in _tiles(cells, looks, int(c)):
            j, k = np.nonzero(limit <= T)
            exact = np.empty(len(j))
            kernels.products(xs[j], at + k, columns.exact, out=exact)
            exact = np.abs(exact) if columns.absolute else exact
            other = xs[j] != at + k
            best = max(best, float(-exact[other].min(initial=np.inf)))
    return 1.0 + best


def join(
    cells: Cells, looks: Looks, limit: float
) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]]:
    """Yield the pairs with ``d <= limit`` that are found, each once.

    Where features look for opposites, d is the dissimilarity from these. Pairs come
    by blocks of 65,536 places of their second ends: the number of the block, both
    ends, and dissimilarities in float64.
    """
    columns = cells.columns

    def visit(c: int) -> list[Any]:
        return [
            kernels.collect(
                T,
                xs,
                at,
                columns.absolute,
                columns.error,
                looks.sign,
                limit,
                c,
                cells.cell,
                looks.probes,
                columns.exact,
            )
            for T, xs, at in _tiles(cells, looks, c)
        ]

    none = np.empty(0, np.uint32)
    waiting: list[Any] = [(none, none, np.empty(0))]
    block = 0
    for batch in _batches(cells):
        for found in columns.map(visit, batch):
            waiting += found
        done = int(cells.start[batch[-1] + 1])
        report("edges", batch[-1] + 1, cells.n_cells)
        while done >= (block + 1) << 16 or done == columns.n:
            pairs, waiting = _cut(waiting, block)
            yield block, *pairs
            block += 1
            if block << 16 >= columns.n:
                return


def _cut(waiting: list[Any], block: int) -> tuple[Any, list[Any]]:
    """Return the pairs of a block, and the pairs of later ones."""
    x, y, d = (np.concatenate(parts) for parts in zip(*waiting, strict=True))
    now = y >> 16 == block
    if now.all():
        return (x, y, d), [(x[:0], y[:0], d[:0])]
    return (x[now], y[now], d[now]), [(x[~now], y[~now], d[~now])]
