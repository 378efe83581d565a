"""The reductions over tiles, with BLAS and numba on the processor's cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine import kernels
from franet.engine.graphs import EdgeSink, Heaps
from franet.engine.measure import ZERO, Extrema, Measure, NearTable, Tally
from franet.engine.memory import Store
from franet.engine.pairs import Harvest, Pairs
from franet.engine.tiles import PairSource, Tile, TileGrid, TileRunner

__all__ = ["TileEngine"]


class TileEngine:
    """Reductions over all pairs of features; none of them stores the pairs.

    Parameters
    ----------
    source : PairSource
        The similarity.
    n_threads : int
        Number of threads; no result depends on it.
    store : Store, optional
        Where pairs are kept; no result depends on it.
    """

    def __init__(
        self, source: PairSource, n_threads: int = 1, store: Store | None = None
    ) -> None:
        self.source = source
        self.store = store or Store(on_disk=False)
        self.n = source.n
        self.grid = TileGrid(source.n, source.block)
        self.runner = TileRunner(n_threads)

    def extrema(self) -> Extrema:
        """Return the extremes of the dissimilarities."""
        source, blocks = self.source, self.grid.n_blocks
        shape = (blocks, blocks)
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        above = np.full(shape, np.inf)
        counts = np.zeros((blocks, Tally.SIZE), np.int64)
        noise = ZERO * (source.scale or 0.0) + 2 * source.error

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = source.tile(*at)
            low[at], high[at] = self._ends(D, tile)
            pairs = D, *tile.shape, tile.is_diagonal
            kernels.tally(*pairs, counts=counts[tile.i])
            above[at] = low[at]
            if source.scale is not None and low[at] <= noise:
                above[at] = kernels.smallest_above(*pairs, noise)

        self.runner.run(self.grid.rounds(), visit, "extremes")
        # Copies of features: their tiles need not be looked at twice.
        copies = source.scale is not None and low.min() <= noise
        if source.error:
            self._sharpen(None if copies else low, high)
        most, next_low = float(high.max()), np.inf
        if copies:
            least, next_low = self._next_to_copies(low, above, noise)
        else:
            least = float(low.min())
        scale = max(abs(least), abs(most)) if source.scale is None else source.scale
        zero = ZERO * scale
        if source.has_zero and least <= zero:
            least = 0.0
        if not copies or least > 0.0:
            next_low = self._smallest_above(low, least + zero)
        next_zero = least if least > 0.0 else next_low
        tally = Tally(counts.sum(axis=0))
        return Extrema(least, most, next_low, next_zero, scale, tally)

    def _ends(self, D: NDArray[Any], tile: Tile) -> tuple[float, float]:
        if tile.is_diagonal or tile.shape != D.shape:
            return kernels.extrema(D, *tile.shape, tile.is_diagonal)
        return float(D.min()), float(D.max())

    def _sharpen(
        self, low: NDArray[np.float64] | None, high: NDArray[np.float64]
    ) -> None:
        """Recompute in float64 the pairs that can be an extreme, in place."""
        self._sharpen_end(high, -1.0)
        if low is not None:
            self._sharpen_end(low, 1.0)

    def _sharpen_end(self, values: NDArray[np.float64], sign: float) -> None:
        limit = float((sign * values).min()) + 2 * self.source.error

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = sign * self.source.tile(*at)
            j, k, d = kernels.collect(D, *tile.shape, tile.is_diagonal, limit)
            exact = self.source.refine(*at, j, k, sign * d)
            values[at] = sign * (sign * exact).min()

        near = self._chosen(sign * values <= limit)
        self.runner.run(near, visit, "extremes, exactly")

    def _next_to_copies(
        self, low: NDArray[np.float64], above: NDArray[np.float64], noise: float
    ) -> tuple[float, float]:
        """Return the smallest dissimilarity, and the smallest that is not zero.

        `above` holds what each tile has above the noise. Only pairs in the noise,
        and those that compete with the smallest above it, are computed again.
        """
        best = float(above.min())
        if not self.source.error:
            return float(low.min()), best
        zero = ZERO * (self.source.scale or 0.0)
        limit = max(noise, best + 2 * self.source.error) if best < np.inf else noise
        answers = np.full((2, *low.shape), np.inf)

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = self.source.tile(*at)
            j, k, d = kernels.collect(D, *tile.shape, tile.is_diagonal, limit)
            d = self.source.refine(*at, j, k, d)
            answers[0, *at] = d.min(initial=np.inf)
            answers[1, *at] = d.min(where=d > zero, initial=np.inf)

        near = (low <= limit) | (above <= limit)
        self.runner.run(self._chosen(near), visit, "smallest gap")
        return float(answers[0].min()), float(answers[1].min())

    def _smallest_above(self, low: NDArray[np.float64], floor: float) -> float:
        """Return the smallest dissimilarity above `floor`, in float64.

        A tile whose smallest value is above the floor answers with it; only the
        others, and those that compete with the best answer, are computed again.
        """
        ε = self.source.error
        best = low[low > floor + 2 * ε].min(initial=np.inf)
        again = (low <= floor + 2 * ε) & np.isfinite(low)
        if ε:
            again |= (low <= best + 2 * ε) & np.isfinite(low)
        answers = np.full(low.shape, np.inf)

        def visit(tile: Tile) -> None:
            D = self.source.exact_tile(tile.i, tile.j)
            answers[tile.i, tile.j] = kernels.smallest_above(
                D, *tile.shape, tile.is_diagonal, floor
            )

        self.runner.run(self._chosen(again), visit, "smallest gap")
        found = float(answers.min())
        return found if ε else min(found, float(best))

    def mean(self) -> float:
        """Return the mean of the dissimilarities."""
        sums = np.zeros((self.grid.n_blocks, self.grid.n_blocks))

        def visit(tile: Tile) -> None:
            D = self.source.exact_tile(tile.i, tile.j)
            sums[tile.i, tile.j] = kernels.total(D, *tile.shape, tile.is_diagonal)

        self.runner.run(self.grid.rounds(), visit, "mean")
        return float(sums.sum()) / (self.n * (self.n - 1) / 2)

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

    def harvest(
        self,
        edges: NDArray[np.float64],
        n_kept: int,
        sampled: NDArray[np.intp],
        measure: Measure,
        capacity: int = 0,
    ) -> Harvest:
        """Return the sparse graphs, and the degrees of some of the dense ones.

        Parameters
        ----------
        edges : ndarray
            Graph ``i`` has the pairs with ``d <= edges[i]``; ascending.
        n_kept : int
            So many graphs are stored.
        sampled : ndarray of int
            The graphs whose degrees are summed.
        measure : Measure
            Turns dissimilarities into weights.
        capacity : int
            Number of edges of the stored graphs at the most.
        """
        source, dense = self.source, edges[n_kept:]
        sink = None
        if n_kept:
            sink = EdgeSink(edges[:n_kept], measure, capacity, self.store)
        near: dict[tuple[int, int], Pairs] = {}
        rough = source.error > 0.0 and len(dense) > 0
        close = NearTable(dense, source.error) if rough else None
        pairs_of_block = np.zeros((self.grid.n_blocks, len(dense)), np.int64)
        count = np.zeros((len(sampled), self.n), np.int32)
        weight = np.zeros((len(sampled), self.n))

        def visit(tile: Tile) -> None:
            at = tile.i, tile.j
            D = source.tile(*at)
            pairs = D, *tile.shape, tile.is_diagonal
            if sink is not None:
                self._keep(sink, tile, D, float(edges[n_kept - 1]))
            if not len(dense):
                return
            kernels.count_pairs(*pairs, dense, counts=pairs_of_block[tile.i])
            if close is not None:
                found = kernels.collect_near(*pairs, *close.arguments)
                near[at] = self._exactly(tile, *found)
            self._add_degrees(tile, D, edges[sampled], measure, count, weight)

        self.runner.run(self.grid.rounds(), visit, "edges")
        if not measure.weighted:
            weight[:] = count
        kept = None if sink is None else sink.graphs(self.n)
        n_pairs = pairs_of_block.sum(axis=0)
        if kept is not None:
            n_pairs = np.concatenate([kept.n_edges() // 2, n_pairs])
        harvest = Harvest(kept, n_pairs, count, weight, Pairs.joined(near))
        harvest.correct(edges, sampled, measure)
        return harvest

    def degrees(
        self, edges: NDArray[np.float64], measure: Measure
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return number and weight of each feature's edges in some graphs.

        As the tiles have them: where these are rough, so is the answer.
        """
        count = np.zeros((len(edges), self.n), np.int32)
        weight = np.zeros((len(edges), self.n))

        def visit(tile: Tile) -> None:
            D = self.source.tile(tile.i, tile.j)
            self._add_degrees(tile, D, edges, measure, count, weight)

        self.runner.run(self.grid.rounds(), visit, "degrees")
        if not measure.weighted:
            weight[:] = count
        return count, weight

    def _add_degrees(
        self,
        tile: Tile,
        D: NDArray[Any],
        edges: NDArray[np.float64],
        measure: Measure,
        count: NDArray[np.int32],
        weight: NDArray[np.float64],
    ) -> None:
        kernels.degrees(
            D,
            *tile.shape,
            tile.is_diagonal,
            tile.rows.start,
            tile.cols.start,
            edges,
            *measure.arguments,
            count=count,
            weight=weight,
        )

    def _keep(self, sink: EdgeSink, tile: Tile, D: NDArray[Any], limit: float) -> None:
        """Put the pairs of a tile with ``d <= limit`` into the sink."""
        ε = self.source.error
        j, k, d = kernels.collect(D, *tile.shape, tile.is_diagonal, limit + ε)
        if ε:
            d = self.source.refine(tile.i, tile.j, j, k, d)
            inside = d <= limit
            j, k, d = j[inside], k[inside], d[inside]
        sink.add(tile, j, k, d)

    def _exactly(self, tile: Tile, j: Any, k: Any, rough: Any) -> Pairs:
        """Return pairs found in a tile with their float64 values."""
        d = self.source.refine(tile.i, tile.j, j, k, rough)
        rows, cols = np.int32(tile.rows.start), np.int32(tile.cols.start)
        return Pairs(j + rows, k + cols, d, rough)

    def product(
        self,
        edges: NDArray[np.float64],
        measure: Measure,
        X: NDArray[np.float64],
        rough: bool = False,
    ) -> NDArray[np.float64]:
        """Return the product of graph ``i`` with row ``i`` of X, for all rows.

        With `rough`, tiles are as imprecise as the source's `error` says.
        """
        Y = np.zeros_like(X)
        tile_of = self.source.tile if rough else self.source.exact_tile

        def visit(tile: Tile) -> None:
            kernels.masked_product(
                tile_of(tile.i, tile.j),
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
        heaps = Heaps(self.n, per_feature)

        def visit(tile: Tile) -> None:
            kernels.strongest(
                self.source.exact_tile(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                limit,
                **heaps.arguments,
            )

        self.runner.run(self.grid.rounds(), visit, "strongest edges")
        j, k, d = heaps.edges()
        return Pairs(j, k, d, d)
