"""Which threshold wins, without looking at all pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine.graph_kernels import degree_bound
from franet.quality import rqh
from franet.search import exact
from franet.search.approximate._cells import Cells, Features
from franet.search.approximate._check import Approximation, check
from franet.search.approximate._dense import (
    DenseGraphs,
    DenseSolution,
    solve_complete,
)
from franet.search.approximate._pairs import Counts, NearGraphs, find_extremes
from franet.search.pagerank import Race

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


def search_approximately(
    table: Any,
    columns: NDArray[np.intp],
    settings: exact.Settings,
    *,
    similarity: str = "correlation",
    n_threads: int = 1,
) -> exact.Outcome:
    """Find about the threshold, and about the scores, that a full search finds.

    Parameters
    ----------
    table : ndarray or CSC array of shape (m, n_columns), or a store of columns
        The table without missing values. Anything with a shape of which
        ``table[:, columns]`` gives columns will do; it is read once, in parts.
    columns : ndarray of int
        The columns that take part, none of them constant.
    settings : Settings
        What is asked for; `random` draws the samples.
    similarity : {"correlation", "abs-correlation", "spearman"}
        How alike two features are.
    n_threads : int, default=1
        Number of threads; the outcome does not depend on it.

    Returns
    -------
    outcome : Outcome
        As of a full search; `approximation` says how far it may be off, and is None
        where there is no winner.
    """
    columns = np.asarray(columns)
    if len(columns) < 2:
        return exact.no_winner(len(columns), settings, exact.ONE_FEATURE)
    random = settings.random or np.random.mtrand._rand
    rows = Features(table, columns, similarity, n_threads, random)
    return _ApproximateSearch(rows, settings, random).run()


@dataclass
class _ApproximateSearch:
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

    columns: Features
    settings: exact.Settings
    random: np.random.RandomState
    # Of stored graphs.
    graphs: Any = None
    n_stored: int = 0
    scores: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    # Of the others: those solved, those of them that were solved by a sample, and the
    # better ones, by a larger one. Those without a sample are nearly complete.
    solved: dict[int, DenseSolution] = field(default_factory=dict)
    sampled: set[int] = field(default_factory=set)
    polished: set[int] = field(default_factory=set)
    bound: dict[int, float] = field(default_factory=dict)
    best: float = 0.0

    def run(self) -> exact.Outcome:
        """Find the winner."""
        columns, settings, self.n = self.columns, self.settings, self.columns.n
        drawn = self.random.permutation(self.n)
        counts = Counts(columns, drawn)
        self.cells = Cells(columns, self.random)
        # Where each feature has gone.
        self.place = np.argsort(self.cells.order)
        shallow = counts.limit(max(STORED * self.n, ALL_PAIRS))
        self.looks, shallow = self.cells.look(shallow)
        extrema, nearest = find_extremes(self.cells, self.looks, counts)
        if exact.all_equal(extrema):
            return exact.no_winner(self.n, settings, exact.ALL_EQUAL)
        thresholds, self.measure, self.edges = exact.lay_out(
            columns, columns.top, extrema, settings
        )
        self.n_pairs = counts.below(self.edges)
        self.dense = DenseGraphs(
            columns,
            self.edges,
            self.measure,
            settings.damping,
            self.place[drawn],
            nearest,
        )
        self._race(shallow, counts.limit(max(DEEP * self.n, DEEP_PAIRS)))
        return self._outcome(thresholds)

    def _race(self, shallow: float, deep: float) -> None:
        """Solve the sparse graphs, then denser ones that may win.

        The limits are those up to which edges are stored, at first and at the most.
        """
        self._solve_stored(self._n_found(shallow))
        dense = range(self.n_stored, len(self.edges))
        looks = self.dense.look([i for i in dense if self._is_candidate(i)], self.best)
        at_stake = [
            i
            for i, (quality, clear) in looks.items()
            if self.edges[i] <= deep and (not clear or quality >= _AT_STAKE * self.best)
        ]
        if at_stake:
            limit = float(self.edges[max(at_stake)])
            self.looks, limit = self.cells.look(limit, deep=True)
            self._solve_stored(max(self._n_found(limit), self.n_stored))
        rest = {i: look for i, (look, _) in looks.items() if i >= self.n_stored}
        self.bound |= rest
        promising = [i for i in rest if rest[i] >= _AT_STAKE * self.best]
        promising.sort(key=lambda i: (-rest[i], i))
        self._solve_complete(promising)
        promising = [i for i in promising if i not in self.solved]
        self._solve_by_sample(promising[:_SOLVED_BY_SAMPLE])
        self.bound |= {i: found.quality for i, found in self.solved.items()}

    def _n_found(self, limit: float) -> int:
        return int((self.edges <= limit).sum())

    def _is_candidate(self, i: int) -> bool:
        return bool(2 * self.n_pairs[i] / self.n >= self.settings.min_mean_degree)

    def _solve_stored(self, n_graphs: int) -> None:
        """Store some graphs, the sparsest, and solve those that can still win."""
        # The old ones go before the new ones come.
        self.graphs = None
        self.n_stored = n_graphs
        if not n_graphs:
            return
        graphs = NearGraphs(self.cells, self.looks, self.edges[:n_graphs], self.measure)
        self.graphs = graphs
        n_pairs = self.n_pairs[:n_graphs] = graphs.n_edges() // 2
        more = np.diff(n_pairs, prepend=-1) > 0
        waiting = [i for i in range(n_graphs) if more[i] and self._is_candidate(i)]
        δ = self.settings.damping

        def bound(i: int) -> float:
            d = graphs.degrees[i]
            return float(degree_bound(d, d, 0.0, 0.0, δ))

        bounds = self.columns.map(bound, waiting)
        # Anew: more edges may have been found, and move what was proven by a little.
        self.scores = {}
        race = Race(self.graphs, δ, self.scores, best=0.99 * self.best)
        race.enter(dict(zip(waiting, bounds, strict=True)))
        self.bound, self.best = race.bound, race.best

    def _solve_complete(self, graphs: list[int]) -> None:
        """Solve those of some graphs that lack few edges."""
        few = self.n * (self.n - 1) / 2 - max(STORED * self.n, ALL_PAIRS)
        nearly = [i for i in graphs if self.n_pairs[i] >= few]
        if not nearly or self.columns.absolute:
            return
        self.solved |= solve_complete(self.cells, self.dense, nearly)
        self.best = max([self.best, *(found.quality for found in self.solved.values())])

    def _solve_by_sample(self, graphs: list[int]) -> None:
        """Solve some graphs by a sample, and by a larger one those that may win."""
        solved, self.sampled = self.solved, set(graphs)
        solved |= {i: self.dense.solve(i) for i in graphs}
        while rest := self.sampled - self.polished:
            i = max(rest, key=lambda i: (solved[i].quality, -i))
            best = max((solved[j].quality for j in self.polished), default=0.0)
            if solved[i].quality < max(_BETTER * self.best, best):
                break
            solved[i] = self.dense.polish(i, solved[i])
            self.polished.add(i)

    def _outcome(self, thresholds: NDArray[np.float64]) -> exact.Outcome:
        n_edges = np.rint(np.maximum.accumulate(self.n_pairs)).astype(np.int64)
        too_sparse = 2 * n_edges / self.n < self.settings.min_mean_degree
        found = {i: rqh(scores) for i, scores in self.scores.items()}
        found |= {i: solution.quality for i, solution in self.solved.items()}
        # Of the others the numbers of edges are estimates.
        same_as = np.arange(len(thresholds))
        stored = n_edges[: self.n_stored]
        same_as[: self.n_stored] = np.searchsorted(stored, stored)
        outcome = exact.no_winner(
            self.n,
            self.settings,
            thresholds=thresholds,
            quality=exact.spread(found, same_as, too_sparse),
            quality_bound=exact.spread(self.bound | found, same_as, too_sparse),
            too_sparse=too_sparse,
            n_edges=n_edges,
        )
        fair = outcome.quality.copy()
        for i in self.sampled:
            fair[i] = fair[i] / _BETTER if i in self.polished else np.nan
        if not np.isnan(outcome.quality).all():
            self._finish(outcome, exact.best_of(fair))
        return outcome

    def _finish(self, outcome: exact.Outcome, winner: int) -> None:
        """Fill in what belongs to the winner, features in the order of the table."""
        outcome.winner, outcome.reason = winner, ""
        counts = None
        if winner < self.n_stored:
            scores, degrees = self.scores[winner], self.graphs.degrees[winner]
            z = scores / np.where(degrees > 0.0, degrees, np.inf)
            counts = self.graphs.counts(winner)
            outcome.network, outcome.truncated = self._network(winner)
        else:
            _, scores, degrees, z = self.solved[winner]
            # The strongest edges: the network is too dense to be stored.
            outcome.truncated = True
            if self.graphs is not None:
                outcome.network, _ = self._network(self.n_stored - 1)
        best = outcome.quality[winner]
        rivals = [
            i
            for i, value in self.bound.items()
            if i >= self.n_stored
            and i != winner
            and (i in self.sampled or i not in self.solved)
            and value >= (_RIVAL if i in self.sampled else _AT_STAKE) * best
        ]
        outcome.approximation = Approximation(
            sampled=winner in self.sampled,
            n_cells=self.cells.n_cells,
            n_probes=self.looks.probes.shape[1],
            n_rivals=len(rivals),
            **check(self.dense, winner, scores, degrees, z, counts, self.random),
        )
        outcome.scores, outcome.degrees = scores[self.place], degrees[self.place]

    def _network(self, i: int) -> tuple[sparse.csr_array, bool]:
        """Return a stored graph, and whether it has only the strongest edges."""
        most = self.settings.max_edges
        truncated = bool(self.graphs.n_edges()[i] // 2 > most)
        if truncated:
            found = self.graphs.strongest(i, max(1, most // self.n))
        else:
            found = self.graphs.matrix(i)
        found = found[self.place][:, self.place]
        found.sort_indices()
        return found, truncated
