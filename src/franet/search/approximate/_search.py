"""Which threshold wins, without looking at all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.progress import report
from franet.engine.graph_kernels import DISCARDED, degree_bound
from franet.quality import EQUAL, rqh
from franet.search.approximate._cells import Cells
from franet.search.approximate._check import Approximation, check
from franet.search.approximate._complete import CompleteGraphs
from franet.search.approximate._dense import DenseGraphs, DenseSolution
from franet.search.approximate._features import Features
from franet.search.approximate._graphs import SparseGraphs
from franet.search.approximate._pairs import Counts, find_extremes
from franet.search.exact import Outcome, Settings, lay_out, no_winner

__all__ = ["Search"]

# Edges that are stored, for each feature: of the sparse graphs at first, and of denser
# ones where these may win; with few features so many at least. Of nearly complete
# graphs so many missing edges are stored as edges at first.
STORED, DEEP = 60, 400
ALL_PAIRS, DEEP_PAIRS = 5_000_000, 60_000_000
# Estimates may be off by a third. A graph is at stake if the look at it gives at least
# this share of the best quality so far. It is a rival of the winner if it was only
# looked at, and reaches the same share, or if it was solved by a sample, and reaches
# the second share. It wins only if it is better by the factor.
_AT_STAKE, _RIVAL, _BETTER = 0.6, 0.85, 1.5
# Graphs solved by a sample at the most: those that look best.
_SOLVED_BY_SAMPLE = 4
_RTOL, _LOOSE = 1e-12, 1e-3
_BATCH = 4


class Search:
    """One approximate search.

    Parameters
    ----------
    columns : Features
        What is compared.
    settings : Settings
        What is asked for.
    random : RandomState
        Draws the samples.
    """

    def __init__(
        self, columns: Features, settings: Settings, random: np.random.RandomState
    ) -> None:
        self.columns = columns
        self.settings = settings
        self.random = random
        self.n = columns.n
        self.scores: dict[int, NDArray[np.float64]] = {}
        # Solutions of graphs that are not stored: by a sample, the better ones by a
        # larger one, and those of nearly complete graphs.
        self.by_sample: dict[int, DenseSolution] = {}
        self.polished: set[int] = set()
        self.complete: dict[int, DenseSolution] = {}
        self.bound: dict[int, float] = {}
        self.best = 0.0
        self.graphs: SparseGraphs | None = None
        self.n_stored = 0

    def run(self) -> Outcome:
        """Find the winner."""
        columns, settings = self.columns, self.settings
        drawn = self.random.permutation(self.n)
        counts = Counts(columns, drawn)
        self.cells = Cells(columns, self.random)
        # Places have changed: of the features drawn, too.
        place = np.empty(self.n, np.intp)
        place[self.cells.order] = np.arange(self.n)
        drawn = place[drawn]
        self.limits = [
            counts.limit(max(STORED * self.n, ALL_PAIRS)),
            counts.limit(max(DEEP * self.n, DEEP_PAIRS)),
        ]
        self.looks, self.limits[0] = self.cells.look(self.limits[0])
        extrema, nearest = find_extremes(self.cells, self.looks, counts)
        high, low = extrema.high, extrema.low
        if not np.isfinite(extrema.next_low) or high - low <= extrema.zero:
            return no_winner(
                self.n, settings, "all similarities between features are equal"
            )
        thresholds, self.measure, self.edges = lay_out(
            columns, columns.top, extrema, settings
        )
        self.n_pairs = counts.below(self.edges)
        self.dense = DenseGraphs(
            columns, self.edges, self.measure, settings.damping, drawn, nearest
        )
        self._race()
        return self._outcome(thresholds)

    def _race(self) -> None:
        """Solve the sparse graphs, then denser ones that may win."""
        self._store(self._n_found(self.limits[0]))
        self._solve_stored()
        dense = range(self.n_stored, len(self.edges))
        candidates = [i for i in dense if self._is_candidate(i)]
        looks = self.dense.look(candidates, self.best)
        deep = self._n_found(self.limits[1])
        at_stake = [
            i
            for i, (quality, clear) in looks.items()
            if i < deep and (not clear or quality >= _AT_STAKE * self.best)
        ]
        if at_stake:
            limit = float(self.edges[max(at_stake)])
            self.looks, limit = self.cells.look(limit, deep=True)
            self._store(max(self._n_found(limit), self.n_stored))
            self._solve_stored()
        self.bound |= {i: look for i, (look, _) in looks.items() if i >= self.n_stored}
        promising = [
            i
            for i in sorted(looks, key=lambda i: (-looks[i][0], i))
            if i >= self.n_stored and looks[i][0] >= _AT_STAKE * self.best
        ]
        self._solve_complete(promising)
        promising = [i for i in promising if i not in self.complete]
        self._solve_by_sample(promising[:_SOLVED_BY_SAMPLE])
        for solved in (self.by_sample, self.complete):
            self.bound |= {i: found.quality for i, found in solved.items()}

    def _solve_complete(self, graphs: list[int]) -> None:
        """Solve those of some graphs that lack few edges."""
        few = self.n * (self.n - 1) / 2 - max(STORED * self.n, ALL_PAIRS)
        nearly = [i for i in graphs if self.n_pairs[i] >= few]
        if not nearly or self.columns.absolute:
            return
        complete = CompleteGraphs(self.cells, self.dense, self.measure, min(nearly))
        for i in nearly:
            if i >= complete.first:
                self.complete[i] = complete.solve(i)
                self.best = max(self.best, self.complete[i].quality)

    def _solve_by_sample(self, graphs: list[int]) -> None:
        """Solve some graphs by a sample, and by a larger one those that may win."""
        solved = self.by_sample
        solved |= {i: self.dense.solve(i) for i in graphs}
        while rest := set(solved) - self.polished:
            i = max(rest, key=lambda i: (solved[i].quality, -i))
            best = max((solved[j].quality for j in self.polished), default=0.0)
            if solved[i].quality < max(_BETTER * self.best, best):
                break
            solved[i] = self.dense.polish(i, solved[i])
            self.polished.add(i)

    def _n_found(self, limit: float) -> int:
        return int((self.edges <= limit).sum())

    def _is_candidate(self, i: int) -> bool:
        return 2 * self.n_pairs[i] / self.n >= self.settings.min_mean_degree

    def _store(self, n_graphs: int) -> None:
        # The old ones go before the new ones come.
        self.graphs = None
        self.n_stored = n_graphs
        if n_graphs:
            edges = self.edges[:n_graphs]
            self.graphs = SparseGraphs(self.cells, self.looks, edges, self.measure)
            self.n_pairs[:n_graphs] = self.graphs.n_edges()

    def _solve_stored(self) -> None:
        """Solve the stored graphs that can still win: loosely, then to the end."""
        graphs = self.graphs
        if graphs is None:
            return
        δ, n_pairs = self.settings.damping, self.n_pairs
        # Anew: more edges may have been found, and move what was proven by a little.
        self.scores, self.bound = {}, {}
        self.best *= 0.99
        first = [
            i for i in range(self.n_stored) if i == 0 or n_pairs[i] > n_pairs[i - 1]
        ]
        waiting = [i for i in first if self._is_candidate(i)]

        def bound(i: int) -> float:
            d = graphs.degrees(i)
            return float(degree_bound(d, d, 0.0, 0.0, δ))

        def solve(i: int) -> Any:
            just = self.best * (1.0 - EQUAL)
            return graphs.pagerank(i, graphs.degrees(i), δ, just, rtol)

        bounds = self.columns.map(bound, waiting)
        self.bound.update(zip(waiting, bounds, strict=True))
        rest, rtol = list(waiting), _LOOSE
        while rest := self._at_stake(rest):
            batch, rest = rest[:_BATCH], rest[_BATCH:]
            self._take(batch, self.columns.map(solve, batch))
            report("candidates", len(waiting) - len(rest), len(waiting))
        rest, rtol = list(waiting), _RTOL
        while rest := self._at_stake(rest):
            batch = sorted(rest, key=lambda i: (-self.bound[i], i))[:_BATCH]
            rest = [i for i in rest if i not in batch]
            self._take(batch, self.columns.map(solve, batch), final=True)

    def _at_stake(self, graphs: list[int]) -> list[int]:
        return [i for i in graphs if self.bound[i] >= self.best * (1.0 - EQUAL)]

    def _take(self, graphs: list[int], found: Any, final: bool = False) -> None:
        for i, (status, low, high, scores) in zip(graphs, found, strict=True):
            self.bound[i] = min(self.bound[i], high)
            self.best = max(self.best, low)
            if status != DISCARDED and final:
                self.scores[i] = scores

    def _outcome(self, thresholds: NDArray[np.float64]) -> Outcome:
        n_edges = np.rint(np.maximum.accumulate(self.n_pairs)).astype(np.int64)
        too_sparse = 2 * n_edges / self.n < self.settings.min_mean_degree
        quality = np.full(len(thresholds), np.nan)
        bound = np.full(len(thresholds), np.nan)
        for i, value in self.bound.items():
            bound[i] = value
        for i, scores in self.scores.items():
            quality[i] = bound[i] = rqh(scores)
        for i, solution in (self.by_sample | self.complete).items():
            quality[i] = bound[i] = solution.quality
        # Stored graphs with equal edges are one candidate; the first stands for all.
        first = np.arange(len(thresholds))
        stored = n_edges[: self.n_stored]
        first[: self.n_stored] = np.searchsorted(stored, stored)
        quality, bound = (
            np.where(too_sparse, np.nan, v[first]) for v in (quality, bound)
        )
        if np.isnan(quality).all():
            reason = (
                "no threshold gives a graph with a mean degree of at least "
                f"{self.settings.min_mean_degree:g}"
            )
            outcome = no_winner(self.n, self.settings, reason)
            outcome.thresholds, outcome.too_sparse = thresholds, too_sparse
            outcome.quality, outcome.quality_bound = quality, bound
            outcome.n_edges = n_edges
            return outcome
        fair = quality.copy()
        for i in self.by_sample:
            fair[i] = fair[i] / _BETTER if i in self.polished else np.nan
        best = np.nanmax(fair)
        winner = int(np.argmax(fair >= best - EQUAL * abs(best)))
        outcome = Outcome(
            scores=np.empty(0),
            thresholds=thresholds,
            quality=quality,
            quality_bound=bound,
            too_sparse=too_sparse,
            n_edges=n_edges,
            winner=winner,
            network=None,
            degrees=np.empty(0),
        )
        self._finish(outcome, winner)
        return outcome

    def _finish(self, outcome: Outcome, winner: int) -> None:
        """Fill in what belongs to the winner, features in the order of the table."""
        order, most = self.cells.order, self.settings.max_edges
        counts = None
        if winner < self.n_stored:
            assert self.graphs is not None
            scores, degrees = self.scores[winner], self.graphs.degrees(winner)
            z = scores / np.where(degrees > 0.0, degrees, np.inf)
            counts = self.graphs.counts(winner)
            outcome.network, outcome.truncated = self.graphs.matrix(winner, order, most)
        else:
            solution = (self.by_sample | self.complete)[winner]
            scores, degrees, z = solution.scores, solution.degrees, solution.z
            outcome.network, outcome.truncated = self._strongest(), True
        best = outcome.quality[winner]
        rivals = [
            i
            for i, value in self.bound.items()
            if i >= self.n_stored
            and i not in (winner, *self.complete)
            and value >= (_RIVAL if i in self.by_sample else _AT_STAKE) * best
        ]
        outcome.approximation = Approximation(
            sampled=winner in self.by_sample,
            n_cells=self.cells.n_cells,
            n_probes=self.looks.probes.shape[1],
            n_rivals=len(rivals),
            **check(self.dense, winner, scores, degrees, z, counts, self.random),
        )
        outcome.scores, outcome.degrees = np.empty(self.n), np.empty(self.n)
        outcome.scores[order], outcome.degrees[order] = scores, degrees

    def _strongest(self) -> Any:
        """Return the strongest edges of a network that is too dense to be stored."""
        if self.graphs is None:
            return sparse.csr_array((self.n, self.n))
        last, most = self.n_stored - 1, self.settings.max_edges
        return self.graphs.matrix(last, self.cells.order, most)[0]
