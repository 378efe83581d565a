"""All thresholded graphs of a table: sparse ones stored, dense ones streamed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine._numpy import TileEngine
from franet.engine.graph_kernels import degree_bound
from franet.engine.graphs import KeptGraphs
from franet.engine.measure import Extrema, Measure
from franet.engine.pairs import adjacency

__all__ = ["Levels"]

# Pairs that are stored at the most: about 60 bytes each while they are sorted. Not a
# matter of the memory at hand, because scores must not depend on that.
KEPT_PAIRS = 5_000_000


class Levels:
    """The graphs of all thresholds.

    Where tiles are rough (float32), so are the degrees and products of streamed
    graphs; their edges are exact. They serve for bounds, never for an answer.

    Parameters
    ----------
    engine : TileEngine
        The reductions over all pairs.
    extrema : Extrema
        Tells how many graphs can be stored.
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.

    Attributes
    ----------
    n_edges : ndarray of int
        Number of ordered pairs with an edge in each graph.
    n_kept : int
        So many of the graphs, from the sparsest on, are stored.
    kept : KeptGraphs or None
        The stored graphs.
    is_rough : bool
        Whether the degrees of streamed graphs are rough.
    """

    def __init__(
        self,
        engine: TileEngine,
        extrema: Extrema,
        edges: NDArray[np.float64],
        measure: Measure,
    ) -> None:
        self.engine = engine
        self.edges = edges
        self.measure = measure
        self.n = engine.n
        self.n_kept = len(edges)
        if self.n * (self.n - 1) // 2 > KEPT_PAIRS:
            most = extrema.tally.at_most(edges + engine.source.error)
            self.n_kept = int((most <= KEPT_PAIRS).sum())
        limit = float(edges[self.n_kept - 1]) if self.n_kept else -np.inf
        self._dense = engine.harvest(limit, edges[self.n_kept :], measure)
        self.n_edges = self._dense.count.sum(axis=1)
        self.is_rough = self._dense.error > 0.0
        self.kept: KeptGraphs | None = None
        if self.n_kept:
            inside = edges[: self.n_kept]
            self.kept = KeptGraphs(
                self._dense.pairs,
                inside,
                measure,
                self.n,
                engine.runner,
                engine.store,
            )
            self.n_edges = np.concatenate([self.kept.n_edges(), self.n_edges])
        del self._dense.pairs

    def degrees(self, i: int) -> NDArray[np.float64]:
        """Return the weighted degrees of graph `i`."""
        if i < self.n_kept:
            assert self.kept is not None
            return self.kept.degrees[i]
        if self.is_rough:
            return self.products([i], np.ones((1, self.n)))[0]
        return self._dense.weight[i - self.n_kept]

    def rough_degrees(self, i: int) -> tuple[NDArray[np.float64], float, float]:
        """Return degrees that may be rough, and how rough they are.

        Returns
        -------
        degrees : ndarray
            The weighted degrees.
        degree_share, edge_share : float
            The share by which a degree, and the weight of an edge, may be off.
        """
        if i < self.n_kept or not self.is_rough:
            return self.degrees(i), 0.0, 0.0
        weight = self._dense.weight[i - self.n_kept]
        count = self._dense.count[i - self.n_kept]
        # A weight is off by `error`; if the edge had to be corrected, by twice that.
        off = 2 * self._dense.error
        lightest = self.measure.top - self.edges[i] - off
        edge_share = off / lightest if lightest > 0.0 else np.inf
        edges = count > 0
        if (off * count >= 0.5 * weight)[edges].any():
            return weight, np.inf, np.inf
        return weight, float((off * count[edges] / weight[edges]).max()), edge_share

    def degree_bound(self, i: int, damping: float) -> float:
        """Return an upper bound on RQH of the PageRank of graph `i`."""
        degrees, share, _ = self.rough_degrees(i)
        return float(degree_bound(degrees, share, damping)) if share < 1.0 else np.inf

    def products(
        self, graphs: list[int], X: NDArray[np.float64], rough: bool = False
    ) -> NDArray[np.float64]:
        """Return the products of some streamed graphs, each with a row of X."""
        Y = self.engine.product(self.edges[graphs], self.measure, X, rough)
        if rough:
            for row, i in enumerate(graphs):
                Y[row] += self._dense.corrections[i - self.n_kept] @ X[row]
        return Y

    def graph(self, i: int) -> _Level:
        """Return graph `i` as a centrality sees it."""
        return _Level(self, i)

    def matrix(self, i: int) -> Any:
        """Return the adjacency matrix of graph `i` as a CSR array."""
        if i < self.n_kept:
            assert self.kept is not None
            return self.kept.matrix(i)
        pairs = self.engine.pairs_within(float(self.edges[i]))
        return adjacency(pairs, self.measure.weights(pairs.d), self.n)


class _Level:
    """One of the graphs, stored or streamed."""

    def __init__(self, levels: Levels, i: int) -> None:
        self.n = levels.n
        self.weighted = levels.measure.weighted
        self._levels = levels
        self._i = i

    def degrees(self) -> NDArray[np.float64]:
        """Return the weighted degrees."""
        return self._levels.degrees(self._i)

    def product(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the adjacency matrix with a vector."""
        levels = self._levels
        if self._i < levels.n_kept:
            assert levels.kept is not None
            return levels.kept.product(self._i, x)
        row = np.ascontiguousarray(x, dtype=np.float64).reshape(1, -1)
        return levels.products([self._i], row)[0]

    def matrix(self) -> Any:
        """Return the adjacency matrix as a CSR array."""
        return self._levels.matrix(self._i)
