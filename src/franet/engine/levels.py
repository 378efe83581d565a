"""All thresholded graphs of a table: sparse ones stored, dense ones streamed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine._numpy import Measure, TileEngine
from franet.engine.graph_kernels import degree_bound
from franet.engine.graphs import KeptGraphs

__all__ = ["Levels"]

# Pairs that are stored at the most: about 60 bytes each while they are sorted.
KEPT_PAIRS = 6_000_000


class Levels:
    """The graphs of all thresholds.

    Parameters
    ----------
    engine : TileEngine
        The reductions over all pairs.
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
    """

    def __init__(
        self, engine: TileEngine, edges: NDArray[np.float64], measure: Measure
    ) -> None:
        self.engine = engine
        self.edges = edges
        self.measure = measure
        self.n = engine.n
        self._degrees: NDArray[np.float64] | None = None
        if self.n * (self.n - 1) // 2 <= KEPT_PAIRS:
            self.n_kept = len(edges)
        else:
            count, weight = engine.degrees(edges, measure)
            self._degrees = np.ascontiguousarray(weight.T)
            self.n_edges = count.sum(axis=0)
            self.n_kept = int(
                np.searchsorted(self.n_edges, 2 * KEPT_PAIRS, side="right")
            )
        self.kept: KeptGraphs | None = None
        if self.n_kept:
            inside = edges[: self.n_kept]
            pairs = engine.pairs_within(float(inside[-1]))
            self.kept = KeptGraphs(pairs, inside, measure, self.n)
            if self._degrees is None:
                self.n_edges = self.kept.n_edges()

    def degrees(self, i: int) -> NDArray[np.float64]:
        """Return the weighted degrees of graph `i`."""
        if i < self.n_kept:
            assert self.kept is not None
            return self.kept.degrees[i]
        assert self._degrees is not None
        return self._degrees[i]

    def degree_bound(self, i: int, damping: float) -> float:
        """Return an upper bound on RQH of the PageRank of graph `i`."""
        return float(degree_bound(self.degrees(i), damping))

    def products(
        self, graphs: list[int], X: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the products of some graphs, each with a column of X."""
        return self.engine.product(self.edges[graphs], self.measure, X)

    def graph(self, i: int) -> _Level:
        """Return graph `i` as a centrality sees it."""
        return _Level(self, i)


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
        column = np.ascontiguousarray(x, dtype=np.float64).reshape(-1, 1)
        return levels.products([self._i], column)[:, 0]

    def matrix(self) -> Any:
        """Return the adjacency matrix as a CSR array."""
        from franet.engine.graphs import adjacency

        levels = self._levels
        if self._i < levels.n_kept:
            assert levels.kept is not None
            return levels.kept.matrix(self._i)
        pairs = levels.engine.pairs_within(float(levels.edges[self._i]))
        return adjacency(pairs, levels.measure.weights(pairs.d), self.n)
