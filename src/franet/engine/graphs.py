"""The graphs of all kept thresholds in one sparse structure."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine import graph_kernels
from franet.engine.measure import BinTable, Measure
from franet.engine.memory import Store
from franet.engine.pairs import Pairs
from franet.engine.tiles import TileRunner

__all__ = ["KeptGraphs"]


class KeptGraphs:
    """The graphs of several thresholds; graph ``i`` holds the edges of ``i - 1``.

    Parameters
    ----------
    pairs : Pairs
        The edges of the densest graph.
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.
    n : int
        Number of features.
    runner : TileRunner
        The threads.
    store : Store
        Where the edges lie.
    """

    def __init__(
        self,
        pairs: Pairs,
        edges: NDArray[np.float64],
        measure: Measure,
        n: int,
        runner: TileRunner,
        store: Store,
    ) -> None:
        self.n = n
        self.n_graphs = len(edges)
        self.weighted = measure.weighted
        bins = BinTable(edges).find(pairs.d)
        weights = measure.weights(pairs.d)
        count = np.zeros((self.n_graphs, n), np.int64)
        # Weighted degrees, one row for each graph.
        self.degrees = np.zeros((self.n_graphs, n))
        self.columns = store.empty(2 * len(pairs.j), np.int32)
        self.weights = store.empty(2 * len(pairs.j), np.float64)
        cuts = np.linspace(0, n, runner.n_threads + 1).astype(np.int64)
        parts = list(itertools.pairwise(cuts))

        def add(part: tuple[int, int]) -> None:
            edges = pairs.j, pairs.k, weights, bins
            graph_kernels.add_edges(*part, *edges, count=count, degrees=self.degrees)

        runner.map(add, parts)
        np.cumsum(count, axis=0, out=count)
        np.cumsum(self.degrees, axis=0, out=self.degrees)
        self.start = np.zeros(n, np.int64)
        np.cumsum(count[-1, :-1], out=self.start[1:])
        # Where each row ends in each graph.
        self.end = np.add(count, self.start, out=count)
        order = graph_kernels.by_graph(bins, self.n_graphs)
        cursor = self.start.copy()

        def fill(part: tuple[int, int]) -> None:
            edges = pairs.j, pairs.k, weights, order
            rows = {"columns": self.columns, "weights": self.weights}
            graph_kernels.fill_rows(*part, *edges, cursor=cursor, **rows)

        runner.map(fill, parts)

    def n_edges(self) -> NDArray[np.int64]:
        """Return the number of ordered pairs with an edge in each graph."""
        return np.asarray(self.end.sum(axis=1) - self.start.sum())

    def product(self, i: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of graph `i` with a vector."""
        y = np.empty(self.n)
        graph_kernels.product(
            self.start, self.end[i], self.columns, self.weights, self.weighted, x, y=y
        )
        return y

    def pagerank(
        self, i: int, damping: float, best: float, rtol: float
    ) -> tuple[int, float, float, NDArray[np.float64]]:
        """Solve PageRank on graph `i`, or prove that its RQH is below `best`.

        Returns
        -------
        status : int
            One of the states of the kernel.
        low, high : float
            Bounds on RQH.
        scores : ndarray
            The scores; of use only if the state is not "discarded".
        """
        d, z = self.degrees[i], np.empty(self.n)
        status, low, high = graph_kernels.pagerank(
            self.start,
            self.end[i],
            self.columns,
            self.weights,
            self.weighted,
            d,
            damping,
            best,
            rtol,
            1000,
            z=z,
            work=np.empty((5, self.n)),
        )
        connected = d > 0.0
        scores = np.where(connected, d * z, (1.0 - damping) / self.n)
        return status, low, high, scores

    def matrix(self, i: int) -> sparse.csr_array:
        """Return graph `i` as a sparse matrix, columns sorted."""
        length = self.end[i] - self.start
        indptr = np.concatenate([[0], np.cumsum(length)])
        at = np.repeat(self.start - indptr[:-1], length) + np.arange(indptr[-1])
        weights: Any = self.weights[at]
        matrix = sparse.csr_array((weights, self.columns[at], indptr), (self.n, self.n))
        matrix.sort_indices()
        return matrix
