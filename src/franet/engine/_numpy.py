"""The reductions over tiles, with BLAS and numba on the processor's cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine import kernels
from franet.engine.tiles import PairSource, Tile, TileGrid, TileRunner

__all__ = ["Extrema", "Measure", "Pairs", "TileEngine"]

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
    mean : float
        The mean.
    scale : float
        The scale of the measure.
    """

    low: float
    high: float
    next_low: float
    next_zero: float
    mean: float
    scale: float

    @property
    def zero(self) -> float:
        """The value up to which a distance or a gap is zero."""
        return ZERO * self.scale

    @property
    def slack(self) -> float:
        """How far a pair may miss a threshold and still be an edge."""
        return SLACK * self.scale


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


@dataclass(frozen=True)
class Pairs:
    """Pairs of features and their dissimilarities, in the order of the tiles."""

    j: NDArray[np.int32]
    k: NDArray[np.int32]
    d: NDArray[np.float64]


class TileEngine:
    """Reductions over all pairs of features; none of them stores the pairs.

    Parameters
    ----------
    source : PairSource
        The similarity.
    n_threads : int
        Number of threads; no result depends on it.
    """

    def __init__(self, source: PairSource, n_threads: int = 1) -> None:
        self.source = source
        self.n = source.n
        self.grid = TileGrid(source.n, source.block)
        self.runner = TileRunner(n_threads)

    def extrema(self) -> Extrema:
        """Return the extremes of the dissimilarities and their mean."""
        source, blocks = self.source, self.grid.n_blocks
        low = np.full((blocks, blocks), np.inf)
        high = np.full((blocks, blocks), -np.inf)
        total = np.zeros((blocks, blocks))

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = source.tile(*at)
            low[at], high[at], total[at] = kernels.extrema(
                D, *tile.shape, tile.is_diagonal
            )

        self.runner.run(self.grid.rounds(), visit, "extremes")
        if source.error:
            self._sharpen(low, high)
        return self._summary(low, high, float(total.sum()))

    def _sharpen(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Recompute in float64 the tiles that can hold an extreme."""
        ε = 2 * self.source.error
        near = (low <= low.min() + ε) | (high >= high.max() - ε)

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            low[at], high[at], _ = kernels.extrema(
                self.source.exact_tile(*at), *tile.shape, tile.is_diagonal
            )

        self.runner.run(self._chosen(near), visit, "extremes, exactly")

    def _summary(
        self, low: NDArray[np.float64], high: NDArray[np.float64], total: float
    ) -> Extrema:
        least, most = float(low.min()), float(high.max())
        scale = self.source.scale
        if scale is None:
            scale = max(abs(least), abs(most))
        zero = ZERO * scale
        if self.source.has_zero and least <= zero:
            least = 0.0
        next_low = next_zero = self._smallest_above(low, least + zero)
        if least > 0.0:
            next_zero = least
        return Extrema(
            low=least,
            high=most,
            next_low=next_low,
            next_zero=next_zero,
            mean=total / (self.n * (self.n - 1) / 2),
            scale=scale,
        )

    def _smallest_above(self, low: NDArray[np.float64], floor: float) -> float:
        """Return the smallest dissimilarity above `floor`, in float64.

        A tile whose smallest value is above the floor answers with it; only the
        others, and those that compete with the best answer, are computed again.
        """
        ε = self.source.error
        above = low > floor + 2 * ε
        best = low[above].min(initial=np.inf)
        again = low <= floor + 2 * ε
        if ε:
            again |= low <= best + 2 * ε
        again &= np.isfinite(low)
        answers = np.full(low.shape, np.inf)

        def visit(tile: Tile) -> None:
            D = self.source.exact_tile(tile.i, tile.j)
            answers[tile.i, tile.j] = kernels.smallest_above(
                D, *tile.shape, tile.is_diagonal, floor
            )

        self.runner.run(self._chosen(again), visit, "smallest gap")
        found = float(answers.min())
        return found if ε else min(found, float(best))

    def _chosen(self, mask: NDArray[np.bool_]) -> list[list[Tile]]:
        chosen = [[t for t in tiles if mask[t.i, t.j]] for tiles in self.grid.rounds()]
        return [tiles for tiles in chosen if tiles]

    def order_statistics(
        self, ranks: NDArray[np.int64], low: float, high: float
    ) -> NDArray[np.float64]:
        """Return the values that would stand at `ranks` if all pairs were sorted.

        Each pass counts the values near the wanted ones in finer cells, until a
        cell holds a single value; nothing is stored but the counts.
        """
        wanted = np.unique(ranks)
        found: dict[int, float] = {}
        lo, hi = np.array([low]), np.array([high])
        before = np.array([0])
        while len(found) < len(wanted):
            n_cells = max(2, (1 << 16) // len(lo))
            counts, lows, highs = self._count_cells(lo, hi, n_cells)
            open_cells: dict[tuple[float, float], int] = {}
            for c in range(len(lo)):
                ends = before[c] + np.cumsum(counts[c])
                inside = wanted[(wanted >= before[c]) & (wanted < ends[-1])]
                for rank in inside:
                    cell = int(np.searchsorted(ends, rank, side="right"))
                    first, last = lows[c, cell], highs[c, cell]
                    if first == last:
                        found[int(rank)] = float(first)
                    else:
                        open_cells[first, last] = int(ends[cell] - counts[c, cell])
            lo = np.array([cell[0] for cell in sorted(open_cells)])
            hi = np.array([cell[1] for cell in sorted(open_cells)])
            before = np.array([open_cells[cell] for cell in sorted(open_cells)])
        return np.array([found[int(rank)] for rank in ranks])

    def _count_cells(
        self, lo: NDArray[np.float64], hi: NDArray[np.float64], n_cells: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        shape = (len(lo), n_cells)
        parts: dict[int, tuple[Any, Any, Any]] = {}

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a block's counts have one writer.
            if tile.i not in parts:
                parts[tile.i] = (
                    np.zeros(shape, np.int64),
                    np.full(shape, np.inf),
                    np.full(shape, -np.inf),
                )
            counts, low, high = parts[tile.i]
            D = self.source.exact_tile(tile.i, tile.j)
            kernels.count_cells(
                D,
                *tile.shape,
                tile.is_diagonal,
                lo,
                hi,
                n_cells,
                counts=counts,
                low=low,
                high=high,
            )

        self.runner.run(self.grid.rounds(), visit, "order statistics")
        counts, low, high = zip(*parts.values(), strict=True)
        return np.sum(counts, 0), np.min(low, 0), np.max(high, 0)

    def degrees(
        self, edges: NDArray[np.float64], measure: Measure
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return number and total weight of each feature's edges in each graph.

        Graph ``i`` has the pairs with ``d <= edges[i]``; the results have one row
        for each feature and one column for each graph.
        """
        count = np.zeros((self.n, len(edges)), np.int64)
        weight = np.zeros((self.n, len(edges)))
        table = BinTable(edges)

        def visit(tile: Tile) -> None:
            kernels.degrees(
                self.source.exact_tile(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                *table.arguments,
                *measure.arguments,
                count=count,
                weight=weight,
            )

        self.runner.run(self.grid.rounds(), visit, "degrees")
        np.cumsum(count, axis=1, out=count)
        if not measure.weighted:
            return count, count.astype(np.float64)
        return count, np.cumsum(weight, axis=1, out=weight)

    def pairs_within(self, limit: float) -> Pairs:
        """Return the pairs with ``d <= limit``, with float64 dissimilarities."""
        parts: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = self.source.tile(*at)
            j, k, d = kernels.collect(
                D, *tile.shape, tile.is_diagonal, limit + self.source.error
            )
            if not len(j):
                return
            d = self.source.refine(*at, j, k, d)
            keep = slice(None) if self.source.error == 0.0 else d <= limit
            parts[at] = (
                (j + np.int32(tile.rows.start))[keep],
                (k + np.int32(tile.cols.start))[keep],
                d[keep],
            )

        self.runner.run(self.grid.rounds(), visit, "edges")
        columns = list(zip(*(parts[at] for at in sorted(parts)), strict=True))
        if not columns:
            none = np.empty(0, np.int32)
            return Pairs(none, none, np.empty(0))
        return Pairs(*(np.concatenate(column) for column in columns))

    def product(
        self,
        edges: NDArray[np.float64],
        measure: Measure,
        X: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the product of graph ``c`` with column ``c`` of X, for all columns."""
        Y = np.zeros_like(X)

        def visit(tile: Tile) -> None:
            kernels.masked_product(
                self.source.exact_tile(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                edges,
                *measure.arguments,
                measure.weighted,
                X,
                Y=Y,
            )

        self.runner.run(self.grid.rounds(), visit, "products")
        return Y

    def strongest_pairs(self, limit: float, per_feature: int) -> Pairs:
        """Return the pairs with ``d <= limit`` that are strongest for a feature.

        For each feature those `per_feature` with the smallest dissimilarity, ties by
        the position of the other feature; a pair is named once.
        """
        size = np.zeros(self.n, np.int64)
        values = np.empty((self.n, per_feature))
        features = np.empty((self.n, per_feature), np.int32)

        def visit(tile: Tile) -> None:
            kernels.strongest(
                self.source.exact_tile(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                limit,
                size=size,
                values=values,
                features=features,
            )

        self.runner.run(self.grid.rounds(), visit, "strongest edges")
        kept = np.arange(per_feature) < size[:, None]
        j = np.repeat(np.arange(self.n), size)
        k = features[kept].astype(np.int64)
        d = values[kept]
        pair = np.minimum(j, k) * self.n + np.maximum(j, k)
        pair, at = np.unique(pair, return_index=True)
        return Pairs(
            (pair // self.n).astype(np.int32), (pair % self.n).astype(np.int32), d[at]
        )


class BinTable:
    """Finds the first graph that holds a pair, by a table of equal cells."""

    def __init__(self, edges: NDArray[np.float64], n_cells: int = 4096) -> None:
        lo, hi = float(edges[0]), float(edges[-1])
        per_unit = n_cells / (hi - lo) if hi > lo else 0.0
        starts = lo + np.arange(n_cells) / per_unit if per_unit else np.array([lo])
        # One step back, so that rounding in a cell's limits cannot skip a graph.
        cells = np.maximum(np.searchsorted(edges, starts) - 1, 0)
        self.arguments = (edges, cells.astype(np.int64), lo, per_unit)

    def find(self, d: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the first graph of each dissimilarity."""
        out = np.empty(len(d), np.int32)
        kernels.find_bins(d, *self.arguments, out=out)
        return out
