"""The sparse graphs: edges of all of them in one structure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine import graph_kernels
from franet.engine.measure import Measure
from franet.search.approximate import kernels
from franet.search.approximate._cells import Cells, Looks
from franet.search.approximate._pairs import join

__all__ = ["SparseGraphs"]


class SparseGraphs:
    """The graphs of the first thresholds, from edges between near features.

    Places are those of the cells. Edges lie as
    :mod:`franet.engine.graph_kernels` describes.

    Parameters
    ----------
    cells, looks : Cells, Looks
        Where near features are looked for.
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.
    """

    def __init__(
        self,
        cells: Cells,
        looks: Looks,
        edges: NDArray[np.float64],
        measure: Measure,
    ) -> None:
        self.n = cells.columns.n
        n_blocks = ((self.n - 1) >> 16) + 1
        parts, ends, tiles = [], [], []
        size = 0
        limit = float(edges[-1]) if len(edges) else -1.0
        for block, x, y, d in join(cells, looks, limit):
            index, weight, end = kernels.arrange(
                x, y, d, n_blocks, edges, *measure.arguments, measure.weighted
            )
            parts.append((index, weight))
            ends.append(size + end)
            starts = np.concatenate([[0], end[:-1, -1]]) if len(edges) else [0]
            tiles += [(block << 16, b << 16, size + s) for b, s in enumerate(starts)]
            size += len(index)
        self._row, self._col, self._start = np.array(tiles, np.int64).T.copy()
        self._ends = np.ascontiguousarray(np.concatenate(ends).T)
        self._index, self._weight = np.empty(size, np.uint32), np.empty(size)
        at = 0
        while parts:
            # Each part goes as soon as it is copied.
            index, weight = parts.pop(0)
            self._index[at : at + len(index)] = index
            self._weight[at : at + len(index)] = weight
            at += len(index)

    def n_edges(self) -> NDArray[np.int64]:
        """Return the number of edges, each pair once, of each graph."""
        return np.asarray((self._ends - self._start).sum(axis=1))

    def _graph(self, i: int) -> tuple[Any, ...]:
        tiles = self._row, self._col, self._start, self._ends[i]
        return *tiles, self._index, self._weight

    def degrees(self, i: int) -> NDArray[np.float64]:
        """Return the weighted degrees of graph `i`."""
        degrees = np.zeros((1, self.n))
        row, col, start, _, index, weight = self._graph(i)
        graph_kernels.add_degrees(
            row, col, start, self._ends[i : i + 1], index, weight, degrees=degrees
        )
        return degrees[0]

    def counts(self, i: int) -> NDArray[np.int64]:
        """Return the number of edges of each place in graph `i`."""
        counts = np.zeros(self.n, np.int64)
        graph_kernels.count_rows(*self._graph(i)[:-1], counts=counts)
        return counts

    def pagerank(
        self, i: int, d: NDArray[np.float64], damping: float, best: float, rtol: float
    ) -> tuple[int, float, float, NDArray[np.float64]]:
        """Solve PageRank on graph `i`, or prove that its RQH is below `best`.

        Returns the state of the kernel, bounds on RQH, and the scores.
        """
        z = np.empty(self.n)
        status, low, high = graph_kernels.pagerank(
            *self._graph(i),
            d,
            damping,
            best,
            rtol,
            10_000,
            z=z,
            work=np.empty((5, self.n)),
        )
        return status, low, high, np.where(d > 0.0, d * z, (1.0 - damping) / self.n)

    def matrix(self, i: int, places: NDArray[np.intp], most: int) -> tuple[Any, bool]:
        """Return graph `i` as a sparse matrix, ``places[p]`` the feature at place p.

        With more than `most` edges only the strongest of each feature; the second
        value says whether that was so.
        """
        *tiles, weight = self._graph(i)
        truncated = bool(self.n_edges()[i] > most)
        if truncated:
            j, k, w = self._strongest(i, max(1, most // self.n))
        else:
            counts = self.counts(i)
            cursor = np.cumsum(counts) - counts
            k = np.empty(int(counts.sum()), np.int32)
            w = np.empty(len(k))
            graph_kernels.fill_rows(*tiles, weight, cursor=cursor, columns=k, weights=w)
            j = np.repeat(np.arange(self.n), counts)
        shape = self.n, self.n
        matrix = sparse.coo_array((w, (places[j], places[k])), shape).tocsr()
        matrix.sort_indices()
        return matrix, truncated

    def _strongest(self, i: int, per_feature: int) -> tuple[Any, Any, Any]:
        """Return the edges, both ways, that are strongest for one of their ends."""
        size = np.zeros(self.n, np.int64)
        values = np.empty((self.n, per_feature))
        features = np.empty((self.n, per_feature), np.int32)
        graph_kernels.strongest(
            *self._graph(i), size=size, values=values, features=features
        )
        kept = np.arange(per_feature) < size[:, None]
        j = np.repeat(np.arange(self.n), size)
        k = features[kept].astype(np.int64)
        pair = np.minimum(j, k) * self.n + np.maximum(j, k)
        pair, at = np.unique(pair, return_index=True)
        w = -values[kept][at]
        one, other = pair // self.n, pair % self.n
        return np.r_[one, other], np.r_[other, one], np.r_[w, w]
