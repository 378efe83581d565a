"""Dense graphs, whose edges are too many to store.

By a sample of the features, which represents all. PageRank is solved on the network
between them; every other feature then has its score from its edges to the sample. The
features with the largest and the smallest scores, which decide RQH, get theirs from
all their edges.

Nearly complete graphs by all pairs, less those missing. The weight of a pair is
``(top − 1) + r``, so that the matrix of all weights is ``(top − 1) 11ᵀ + ZZᵀ − top I``
with the standardized columns as rows of Z: a product with it costs as much as reading
the table, and the matrix is never formed. Pairs without an edge are opposites, and are
found as near features are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.engine.graphs import adjacency
from franet.engine.measure import Measure
from franet.quality import rqh
from franet.search.approximate import kernels
from franet.search.approximate._cells import Cells, Features
from franet.search.approximate._pairs import join
from franet.search.pagerank import solve_with

# Features of the sample: for a first look, to solve a graph, and to polish the scores
# of the winner, in so many rounds.
ROUGH, FINE, POLISH = 4096, 8192, 32_768
_POLISHED = 2
# Below this many edges of the second largest hub to the sample a look says nothing.
_FEWEST_EDGES = 12
# Features at either end of the ranking whose scores take in all their edges.
_ENDS, _FEW_ENDS = 256, 64
# Graphs that are looked at together, and the share of the best quality from which on
# more than the network between the features of the sample is looked at.
_TOGETHER, _WORTH = 8, 0.25
_PART = 512
# Products that a solution by a sample takes, enough for an error below 1e-4; and one of
# a nearly complete graph, whose columns are read in larger parts.
_PRODUCTS, _COMPLETE_PRODUCTS = 14, 60
_COMPLETE_PART = 2048


class DenseSolution(NamedTuple):
    """A graph that was solved without its edges.

    Attributes
    ----------
    quality : float
        RQH of the scores.
    scores, degrees, z : ndarray of shape (n,)
        The scores, the weighted degrees, and what a unit of weight passes on.
    """

    quality: float
    scores: NDArray[np.float64]
    degrees: NDArray[np.float64]
    z: NDArray[np.float64]


@dataclass
class DenseGraphs:
    """The graphs of the thresholds, seen through a sample of the features.

    Parameters
    ----------
    columns : Features
        What is compared.
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.
    damping : float
        The damping factor.
    drawn : ndarray of int
        All features in random order; the first ones are the sample.
    nearest : ndarray of shape (n,)
        The largest similarity of each feature: it shows which have no edge.
    """

    columns: Features
    edges: NDArray[np.float64]
    measure: Measure
    damping: float
    drawn: NDArray[np.intp]
    nearest: NDArray[np.float32]

    @property
    def n(self) -> int:
        """Number of features."""
        return self.columns.n

    def isolated(self, i: int) -> NDArray[np.bool_]:
        """Return which features have no edge in graph `i`."""
        closest = 1.0 - self.nearest.astype(np.float64)
        return np.asarray(closest > self.edges[i] + self.columns.error)

    def look(self, graphs: list[int], best: float) -> dict[int, tuple[float, bool]]:
        """Return for some graphs a rough RQH, and whether it says anything.

        The network between the features of a sample tells first; it does not know
        the largest hubs. Where it does not fall far behind the best quality so far,
        all features are looked at.
        """
        rows = np.sort(self.drawn[:ROUGH])
        R = self._within(rows)
        found: dict[int, tuple[float, bool]] = {}
        for at in range(0, len(graphs), _TOGETHER):
            part = graphs[at : at + _TOGETHER]
            solved = self.columns.map(lambda i: self._solve_within(i, R), part)
            z = {}
            for i, (d, z_i) in zip(part, solved, strict=True):
                share = np.where(d > 0.0, d * z_i, 1.0 - self.damping)
                hub = np.partition(d, -2)[-2] / self.measure.top
                clear = bool(hub >= _FEWEST_EDGES or len(rows) == self.n)
                found[i] = self._rqh(i, share), clear
                if found[i][0] >= _WORTH * best:
                    z[i] = self._seen_from_outside(i, rows, d, z_i)
            for i, solution in self._spread(rows, z, _FEW_ENDS).items():
                found[i] = solution.quality, found[i][1]
            report("dense candidates", at + len(part), len(graphs))
        return found

    def _rqh(self, i: int, share: NDArray[np.float64]) -> float:
        """Return RQH of scores in shares of 1/n; isolated features have the least."""
        least = np.full(2, 1.0 - self.damping)
        some = share if self.isolated(i).sum() < 2 else np.concatenate([share, least])
        return rqh(some)

    def _within(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        parts = np.array_split(rows, max(1, len(rows) // 512))
        work = self.columns.work[rows].T
        return np.concatenate(
            self.columns.map(lambda part: self.columns.work[part] @ work, parts)
        )

    def _solve_within(
        self, i: int, R: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return degrees and z of the network between the features of a sample."""
        places = np.arange(len(R))
        d, _ = self._sums(i, R, places, 0, np.zeros(len(R)))
        return d, solve_with(
            lambda u: self._sums(i, R, places, 0, u)[1], d, self.damping, _PRODUCTS
        )

    def _sums(
        self,
        i: int,
        T: NDArray[Any],
        xs: NDArray[np.intp],
        y0: int,
        u: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return degrees and products with u in a tile; see `kernels.row_sums`."""
        measure, sums = self.measure, np.zeros((2, len(T)))
        rule = float(self.edges[i]), *measure.arguments, measure.weighted
        absolute = self.columns.absolute
        kernels.row_sums(T, xs, y0, absolute, *rule, u, degree=sums[0], out=sums[1])
        return sums

    def _seen_from_outside(
        self, i: int, rows: NDArray[np.intp], d: Any, z: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return z of a sample's features as other features meet it.

        Degrees in the sample are to all degrees as s is to n.
        """
        passed = np.where(d > 0.0, z - (1.0 - self.damping) / np.maximum(d, 1e-300), 0)
        # A feature without edges in the sample may have some to others.
        passed[d == 0.0] = np.median(passed[d > 0.0]) if (d > 0.0).any() else 0.0
        z = self._unbiased(i, len(rows), d, passed, 1.0) * (len(rows) / self.n)
        return np.where(self.isolated(i)[rows], 0.0, z)

    def _unbiased(
        self, i: int, size: int, d: Any, passed: NDArray[np.float64], scale: float
    ) -> NDArray[np.float64]:
        """Return ``z = (1−δ)/d + passed`` from degrees by a sample of some size.

        With c edges to the sample, 1/c is too large on average, and 1/(c + 1), which
        counts the edge over which z is met, is right.
        """
        measure = self.measure
        lightest = max(measure.top - float(self.edges[i]), 0.0)
        one = 0.5 * (lightest + measure.top) if measure.weighted else 1.0
        more = d + one * scale * (1.0 - size / self.n)
        return (1.0 - self.damping) / np.where(more > 0.0, more, np.inf) + passed

    def solve(self, i: int) -> DenseSolution:
        """Solve graph `i` by the sample."""
        rows = np.sort(self.drawn[:FINE])
        d, z = self._solve_within(i, self._within(rows))
        z = self._seen_from_outside(i, rows, d, z)
        return self._spread(rows, {i: z}, _ENDS)[i]

    def polish(self, i: int, solution: DenseSolution) -> DenseSolution:
        """Return a solution of graph `i` by the edges to a larger sample."""
        rows = np.sort(self.drawn[:POLISH])
        for _ in range(_POLISHED):
            z = solution.z[rows] * self.n
            solution = self._spread(rows, {i: z}, _ENDS)[i]
        return solution

    def _spread(
        self, rows: NDArray[np.intp], z: dict[int, NDArray[np.float64]], n_ends: int
    ) -> dict[int, DenseSolution]:
        """Return solutions for all features from z of those of a sample."""
        if not z:
            return {}
        found = {}
        for i, degrees, share in zip(z, *self._extend(rows, z), strict=True):
            held = np.where(degrees > 0.0, degrees, np.inf)
            passed = (share - (1.0 - self.damping)) / held
            scale = self.n / len(rows)
            z_all = self._unbiased(i, len(rows), degrees, passed, scale)
            found[i] = self.settle(i, degrees, share, z_all, n_ends)
        return found

    def settle(
        self,
        i: int,
        degrees: NDArray[np.float64],
        share: NDArray[np.float64],
        z: NDArray[np.float64],
        n_ends: int = _ENDS,
    ) -> DenseSolution:
        """Return a solution of graph `i`, with all edges of those that decide RQH.

        Scores and z are in shares of 1/n. What is given is changed.
        """
        z[degrees == 0.0] = 0.0
        order = np.argsort(share, kind="stable")
        ends = np.unique(np.concatenate([order[:n_ends], order[-n_ends:]]))
        degrees[ends], passed = self.rows(i, ends, z)
        share[ends] = (1.0 - self.damping) + self.damping * passed
        z[ends] = share[ends] / np.where(degrees[ends] > 0.0, degrees[ends], 1.0)
        z[degrees == 0.0] = 0.0
        # Of the others no score counts as an extreme: it is less sure.
        quality = self._rqh(i, share[ends])
        return DenseSolution(quality, share / self.n, degrees, z / self.n)

    def _extend(
        self, rows: NDArray[np.intp], z: dict[int, NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return degrees and scores, in shares of 1/n, by the edges to the sample.

        A row of each for every graph of which z is given.
        """
        columns, measure = self.columns, self.measure
        least = (1.0 - self.edges[list(z)]).astype(np.float32)
        offset, u = np.float32(measure.top - 1.0), np.array(list(z.values()), "f4")
        rule = columns.absolute, least, offset, measure.weighted
        in_sample = np.zeros(self.n, bool)
        in_sample[rows] = True
        # Position in the sample, for features that are not to meet themselves.
        own = np.where(in_sample, np.cumsum(in_sample) - 1, -1)
        degree, share = np.empty((2, len(z), self.n))

        def extend(part: slice) -> None:
            T = columns.work[part] @ columns.work[rows].T
            sums = {"degree": degree[:, part], "out": share[:, part]}
            kernels.rough_sums(T, own[part], *rule, u, **sums)

        columns.map(extend, columns.parts(_PART))
        # A feature of the sample has one fewer to meet there.
        scale = (self.n - 1) / np.maximum(len(rows) - in_sample, 1)
        degree *= scale
        share *= scale
        for g, (i, z_i) in enumerate(z.items()):
            # A feature that has edges, but none to the sample, has few.
            few = (degree[g] == 0.0) & ~self.isolated(i)
            lightest = measure.top - min(self.edges[i], measure.top)
            degree[g, few] = 0.5 * scale[few] * (lightest if measure.weighted else 1.0)
            middle = np.median(z_i[z_i > 0.0]) if (z_i > 0.0).any() else 0.0
            share[g, few] = degree[g, few] * middle
        return degree, (1.0 - self.damping) + self.damping * share

    def rows(
        self, i: int, chosen: NDArray[np.intp], z: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return degrees, and products with z, of some features by all their edges.

        In float64, as each edge counts.
        """
        Z = self.columns.exact

        def add(part: slice) -> NDArray[np.float64]:
            T = Z[chosen] @ Z[part].T
            return self._sums(i, T, chosen, part.start, z[part])

        degree, out = np.sum(self.columns.map(add, self.columns.parts(_PART)), axis=0)
        return degree, out


def solve_complete(
    cells: Cells, graphs: DenseGraphs, wanted: list[int]
) -> dict[int, DenseSolution]:
    """Solve graphs that lack few edges, where the pairs without an edge are found.

    Parameters
    ----------
    cells : Cells
        Where opposites are looked for.
    graphs : DenseGraphs
        The graphs, which here give rows in full.
    wanted : list of int
        The graphs to solve; the sparsest decides how far is looked.
    """
    columns, Z = cells.columns, cells.columns.exact
    n, δ = columns.n, graphs.damping
    top, weighted = graphs.measure.top, graphs.measure.weighted
    parts = columns.parts(_COMPLETE_PART)
    # Two features are as far from opposites as their weight is from nothing.
    opposite = 2.0 - graphs.edges
    looks, limit = cells.look(float(opposite[min(wanted)]), sign=-1.0)
    found = [pairs for _, *pairs in join(cells, looks, limit)]
    x, y, d = (np.concatenate(ends) for ends in zip(*found, strict=True))
    d = 2.0 - d

    def times_all(u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with the weights of all pairs."""
        if not weighted:
            return u.sum() - u
        s = np.sum(columns.map(lambda part: u[part] @ Z[part], parts), axis=0)
        r = np.concatenate(columns.map(lambda part: Z[part] @ s, parts))
        return np.asarray((top - 1.0) * u.sum() + r - top * u)

    def solve(i: int) -> DenseSolution:
        lost = d > graphs.edges[i]
        weights = top - d[lost] if weighted else np.ones(lost.sum())
        missing = adjacency(x[lost], y[lost], weights, n)
        some = np.diff(missing.indptr) < n - 1

        def product(u: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.where(some, times_all(u) - missing @ u, 0.0)

        degrees = product(np.ones(n))
        z = solve_with(product, degrees, δ, _COMPLETE_PRODUCTS)
        return graphs.settle(i, degrees, (1.0 - δ) + δ * product(z), z)

    return {i: solve(i) for i in wanted if opposite[i] <= limit}
