"""Numbers about all pairs of features, from passes over tiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import ArrayStore
from franet._common.supports import Supports
from franet.engine import passes
from franet.engine._windows import chosen_of
from franet.engine.graphs import KeptGraphs
from franet.engine.measure import ZERO, Extrema, Tally
from franet.engine.pairs import Gather, Harvest, Pairs
from franet.engine.passes import Pass, State
from franet.exceptions import Setting
from franet.pairs.similarity import CORRELATIONS
from franet.pairs.tiles import PairSource, Tile, TileRunner

if TYPE_CHECKING:
    from franet.engine.checkpoint import Checkpoint


class TileEngine:
    """Reductions over all pairs of features; none of them stores the pairs.

    This engine visits tiles with BLAS and compiled loops on the processor's cores.
    Others differ in :meth:`visit_tiles` or :meth:`run_pass`, and in where stored graphs
    lie.

    Parameters
    ----------
    source : PairSource
        The similarity.
    n_threads : int
        Number of threads; no result depends on it.
    store : ArrayStore, optional
        Where pairs are kept; no result depends on it.
    checkpoint : Checkpoint, optional
        Remembers the passes that are done.
    """

    supports: ClassVar = Supports(Setting("backend", "numpy"), stored=CORRELATIONS)
    # Pairs that are stored: of the sparse graphs at first, and of denser ones if these
    # turn out to matter. Constants, not a matter of the memory at hand, because scores
    # must not depend on that.
    KEPT_PAIRS = 5_000_000
    DEEP_PAIRS = 27_000_000
    # Whether products of several graphs in one pass cost little more than that of one.
    streams_together = False

    def __init__(
        self,
        source: PairSource,
        n_threads: int = 1,
        store: ArrayStore | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.source = source
        self.store = store or ArrayStore(on_disk=False)
        self.checkpoint = checkpoint
        self.n = source.n
        self.kept_pairs, self.deep_pairs = self.KEPT_PAIRS, self.DEEP_PAIRS
        self.grid = source.grid()
        self.runner = TileRunner(n_threads)

    def reduce(self, what: Pass, chosen: NDArray[np.bool_] | None = None) -> State:
        """Return the state of a pass over all tiles, or over some.

        Parameters
        ----------
        what : Pass
            What is computed.
        chosen : ndarray of bool of shape (n_blocks, n_blocks), optional
            The tiles that are visited.
        """
        compute = partial(self.run_pass, what, chosen)
        if self.checkpoint is None:
            return compute()
        return self.checkpoint.remember(what, chosen, compute)

    def run_pass(self, what: Pass, chosen: NDArray[np.bool_] | None) -> State:
        """Make a pass, as :meth:`reduce` describes it."""
        return self.visit_tiles(what, chosen_of(self.grid.rounds(), chosen))

    def visit_tiles(self, what: Pass, rounds: list[list[Tile]]) -> State:
        """Return the state of a pass over some tiles."""
        state = what.start(self.grid, self.store)
        self.runner.run(
            rounds, lambda tile: what.visit(self.source, tile, state), what.stage
        )
        self.source.rest()
        return what.close(state)

    def graphs(self, edges: State) -> KeptGraphs:
        """Return the graphs that a pass has stored."""
        return KeptGraphs(self.n, **edges)

    def extrema(self) -> Extrema:
        """Return the extremes of the dissimilarities."""
        source = self.source
        noise = ZERO * (source.scale or 0.0) + 2 * source.error
        survey = passes.TileExtremes(None if source.scale is None else noise)
        found = self.reduce(survey)
        low, high, above = found["low"], found["high"], found["above"]
        # Copies of features: their tiles need not be looked at twice.
        copies = source.scale is not None and low.min() <= noise
        if source.error:
            high = -self._sharpened(-high, -1.0)
            low = low if copies else self._sharpened(low, 1.0)
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
        return Extrema(least, most, next_low, next_zero, scale, Tally(found["counts"]))

    def _sharpened(
        self, values: NDArray[np.float64], sign: float
    ) -> NDArray[np.float64]:
        """Return the smallest ``sign · d`` of tiles, in float64 where it matters."""
        limit = float(values.min()) + 2 * self.source.error
        near = values <= limit
        least = self.reduce(passes.Sharpen(sign, limit), near)["least"]
        return np.where(near, least, values)

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
        near = (low <= limit) | (above <= limit)
        found = self.reduce(passes.Sharpen(1.0, limit, zero), near)
        return float(found["least"].min()), float(found["above"].min())

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
        found = float(self.reduce(passes.LeastAbove(floor), again)["least"].min())
        return found if ε else min(found, float(best))

    def mean(self) -> float:
        """Return the mean of the dissimilarities."""
        sums = self.reduce(passes.Total())["sums"]
        return float(sums.sum()) / (self.n * (self.n - 1) / 2)

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
            cells = passes.CountCells(lo, hi, n_cells)
            found_in = self.reduce(cells)
            counts, lows, highs = (found_in[x] for x in ("counts", "low", "high"))
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

    def harvest(self, what: Gather) -> Harvest:
        """Return the sparse graphs, and the degrees of some of the dense ones."""
        state = self.reduce(what)
        kept = self.graphs(state["edges"]) if what.n_kept else None
        n_pairs = state["n_pairs"]
        if kept is not None:
            n_pairs = np.concatenate([kept.n_edges() // 2, n_pairs])
        near = Pairs(**state["near"])
        harvest = Harvest(kept, n_pairs, **state["degrees"], near=near)
        harvest.correct(what)
        return harvest
