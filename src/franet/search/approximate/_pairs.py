"""Pairs of near features: the extremes of all, and the graphs of the strongest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.engine import graph_kernels
from franet.engine.graphs import KeptGraphs
from franet.engine.kernels import pack
from franet.engine.measure import ZERO, Extrema, Measure, Tally, bin_table
from franet.search.approximate import kernels
from franet.search.approximate._cells import Cells, Features, Looks

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
            T = columns.similarities(drawn, part)
            at = ((np.float32(1.0) - T) * per_unit).astype(np.int32).ravel()
            counts = np.bincount(at.clip(0, _COUNT_CELLS - 1), minlength=_COUNT_CELLS)
            return counts, float(T.min())

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


def _tiles(
    cells: Cells, looks: Looks, c: int
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int32], int]]:
    """Yield how alike, or opposite, those are that look into a cell and those in it."""
    columns, visitors = cells.columns, looks.visitors[c]
    first, last = int(cells.start[c]), int(cells.start[c + 1])
    for at in range(first, last, _COLS):
        across = slice(at, min(at + _COLS, last))
        for row in range(0, len(visitors), _ROWS):
            xs = visitors[row : row + _ROWS]
            T = columns.similarities(xs, across)
            yield T if looks.sign > 0.0 else np.negative(T, out=T), xs, at


def _over_cells(cells: Cells, visit: Callable[[int], Any], what: str) -> Iterator[Any]:
    """Yield what a function returns for each cell, computed on the threads."""
    for at in range(0, cells.n_cells, _BATCH):
        batch = range(at, min(at + _BATCH, cells.n_cells))
        found = cells.columns.map(visit, batch)
        report(what, batch.stop, cells.n_cells)
        # Each goes as it is taken: edges are many.
        while found:
            yield found.pop(0)


def find_extremes(
    cells: Cells, looks: Looks, counts: Counts
) -> tuple[Extrema, NDArray[np.float32]]:
    """Return the extremes of the dissimilarities.

    And the largest similarity of each place, as far as it was found.
    """
    columns = cells.columns
    nearest = np.full(columns.n, -np.inf, np.float32)

    def visit(c: int) -> tuple[NDArray[np.float64], list[Any]]:
        low = np.full(3, np.inf)
        found = []
        for T, xs, at in _tiles(cells, looks, c):
            here = np.flatnonzero((xs >= at) & (xs < at + T.shape[1]))
            # No feature is its own neighbor.
            T[here, xs[here] - at] = -2.0
            best = T.max(axis=1)
            found += [(xs, best), (slice(at, at + T.shape[1]), T.max(axis=0))]
            numbers = best, 2 * columns.error, ZERO, columns.exact
            kernels.scan(T, xs, at, columns.absolute, *numbers, low=low)
        return low, found

    low = []
    for found, best in _over_cells(cells, visit, "extremes"):
        low.append(found)
        for places, values in best:
            nearest[places] = np.maximum(nearest[places], values)
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

    rough = np.array(list(_over_cells(cells, largest, "opposites")))
    limit = float(rough.max()) - 2 * columns.error
    best = -np.inf
    for c in np.flatnonzero(rough >= limit):
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
        rule = columns.absolute, columns.error, looks.sign, limit
        lists = c, cells.cell, looks.probes, columns.exact
        tiles = _tiles(cells, looks, c)
        return [kernels.collect(*tile, *rule, *lists) for tile in tiles]

    none = np.empty(0, np.uint32)
    waiting: list[Any] = [(none, none, np.empty(0))]
    block = 0
    for c, found in enumerate(_over_cells(cells, visit, "edges")):
        waiting += found
        done = int(cells.start[c + 1])
        while block << 16 < done and (done == columns.n or (block + 1) << 16 <= done):
            pairs, waiting = _cut(waiting, block)
            yield block, *pairs
            block += 1


def _cut(waiting: list[Any], block: int) -> tuple[Any, list[Any]]:
    """Return the pairs of a block, and the pairs of later ones."""
    x, y, d = (np.concatenate(parts) for parts in zip(*waiting, strict=True))
    now = y >> 16 == block
    if now.all():
        return (x, y, d), [(x[:0], y[:0], d[:0])]
    return (x[now], y[now], d[now]), [(x[~now], y[~now], d[~now])]


class NearGraphs(KeptGraphs):
    """The graphs of the first thresholds, from edges between near features.

    Features are in the order of the cells.

    Parameters
    ----------
    cells, looks : Cells, Looks
        Where near features are looked for.
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.

    Attributes
    ----------
    n_kept, engine : int, Features
        What a race asks of graphs, beside `kept`.
    """

    def __init__(
        self, cells: Cells, looks: Looks, edges: NDArray[np.float64], measure: Measure
    ) -> None:
        n = cells.columns.n
        blocks = np.arange(((n - 1) >> 16) + 1)
        bins = bin_table(edges)
        tiles, ends, parts = [], [], []
        for block, x, y, d in join(cells, looks, float(edges[-1])):
            for across in blocks:
                own = x >> 16 == across
                j, k = ((z[own] & 0xFFFF).astype(np.int32) for z in (y, x))
                *part, end = pack(
                    j, k, d[own], *bins, *measure.arguments, measure.weighted
                )
                tiles.append((block << 16, across << 16))
                ends.append(end)
                parts.append(part)
        start = np.cumsum([0] + [len(weight) for _, weight in parts])
        index, weight = np.empty(start[-1], np.uint32), np.empty(start[-1])
        for at in start[:-1]:
            # Each part goes as soon as it is copied.
            part = parts.pop(0)
            here = slice(at, at + len(part[0]))
            index[here], weight[here] = part
        row, col = np.array(tiles, np.int64).T.copy()
        within = np.ascontiguousarray(start[:-1] + np.array(ends).T)
        where = {"row": row, "col": col, "start": start[:-1], "ends": within}
        super().__init__(n, **where, index=index, weight=weight)
        self.n_kept, self.engine = len(edges), cells.columns

    @property
    def kept(self) -> NearGraphs:
        """The graphs themselves; not as an attribute, which would keep them alive."""
        return self

    @staticmethod
    def _sum_degrees(n: int, *edges: Any) -> Any:
        return _Degrees(n, edges)

    def counts(self, i: int) -> NDArray[np.int64]:
        """Return the number of edges of each place in graph `i`."""
        counts = np.zeros(self.n, np.int64)
        graph_kernels.count_rows(*self._graph(i)[:-1], counts=counts)
        return counts


@dataclass(frozen=True)
class _Degrees:
    """Degrees that are summed when they are asked for: those of all graphs are large.

    Attributes
    ----------
    n : int
        Number of features.
    edges : tuple of ndarray
        As :mod:`franet.engine.graph_kernels` describes them.
    """

    n: int
    edges: tuple[Any, ...]

    def __getitem__(self, i: int) -> Any:
        row, col, start, ends, *rest = self.edges
        one = row, col, start, ends[i : i + 1], *rest
        return KeptGraphs._sum_degrees(self.n, *one)[0]
