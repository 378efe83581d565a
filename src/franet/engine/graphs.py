"""The graphs of several thresholds in one structure of edges."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.memory import ArrayStore, give_pages_back
from franet.engine import graph_kernels, kernels
from franet.engine.measure import Measure, bin_table
from franet.engine.passes import empty_heaps
from franet.pairs.tiles import Tile, TileRunner

# Rounds of conjugate gradients at the most: far more than a graph takes.
_MOST_ROUNDS = 10_000
# The arrays of edges, as :mod:`franet.engine.graph_kernels` describes them; the first
# four have an entry for each tile.
_EDGES = ("row", "col", "start", "ends", "index", "weight")


@dataclass
class Solution:
    """What is known of the PageRank of one graph.

    Attributes
    ----------
    scores : ndarray or None
        The scores; None if the graph was discarded, or not solved.
    low, high : float
        Bounds on RQH.
    """

    scores: NDArray[np.float64] | None
    low: float
    high: float


def adjacency(j: Any, k: Any, weights: Any, n: int) -> sparse.csr_array:
    """Return the symmetric sparse matrix of some edges, columns sorted."""
    ends = np.concatenate([j, k]), np.concatenate([k, j])
    matrix = sparse.coo_array((np.concatenate([weights, weights]), ends), (n, n))
    matrix = matrix.tocsr()
    matrix.sort_indices()
    return matrix


class EdgeSink:
    """Takes in the edges of tiles, on any thread and in any order.

    Parameters
    ----------
    edges : ndarray
        For each graph the largest dissimilarity of an edge, ascending.
    measure : Measure
        Turns dissimilarities into weights.
    capacity : int
        Number of edges that will come at the most.
    store : ArrayStore
        Where the edges lie.
    """

    def __init__(
        self,
        edges: NDArray[np.float64],
        measure: Measure,
        capacity: int,
        store: ArrayStore,
    ) -> None:
        self._table = bin_table(edges)
        self._measure = measure
        # Room that is never written to takes no memory.
        self._index = store.empty(capacity, np.uint32)
        self._weight = store.empty(capacity, np.float64)
        self._size = 0
        self._lock = threading.Lock()
        # For each tile: where its edges lie, and how many of them each graph has.
        self._tiles: dict[tuple[int, int], tuple[Tile, int, NDArray[np.int64]]] = {}

    def add(self, tile: Tile, j: Any, k: Any, d: NDArray[np.float64]) -> None:
        """Take in the pairs at some positions of a tile."""
        if not len(d):
            return
        measure = self._measure
        index, weight, ends = kernels.pack(
            j, k, d, *self._table, *measure.arguments, measure.weighted
        )
        with self._lock:
            start = self._size
            self._size += len(d)
        self._index[start : start + len(d)] = index
        self._weight[start : start + len(d)] = weight
        give_pages_back(self._index.base)
        give_pages_back(self._weight.base)
        self._tiles[tile.i, tile.j] = tile, start, ends

    def close(self) -> dict[str, NDArray[Any]]:
        """Return the edges, as :class:`KeptGraphs` takes them: tiles in one order."""
        tiles = [self._tiles[at] for at in sorted(self._tiles)]
        n_graphs = len(self._table[0])
        ends = np.zeros((n_graphs, len(tiles)), np.int64)
        for t, (_, start, end) in enumerate(tiles):
            ends[:, t] = start + end
        return {
            "row": np.array([tile.rows.start for tile, _, _ in tiles], np.int64),
            "col": np.array([tile.cols.start for tile, _, _ in tiles], np.int64),
            "start": np.array([start for _, start, _ in tiles], np.int64),
            "ends": ends,
            "index": self._index[: self._size],
            "weight": self._weight[: self._size],
        }


def merge_edges(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the edges of several sinks, which had different tiles, as one."""
    before = np.cumsum([0] + [len(part["index"]) for part in parts[:-1]])
    shifted = [
        {**part, "start": part["start"] + at, "ends": part["ends"] + at}
        for part, at in zip(parts, before, strict=True)
    ]
    found = {x: np.concatenate([part[x] for part in shifted], axis=-1) for x in _EDGES}
    order = np.lexsort((found["col"], found["row"]))
    return found | {name: found[name][..., order] for name in _EDGES[:4]}


class KeptGraphs:
    """The graphs of several thresholds; graph ``i`` holds the edges of ``i - 1``.

    So many (`batch`) are solved at a time. Constant, so that what is solved, and not
    only the winner, is the same on any number of threads.

    Parameters
    ----------
    n : int
        Number of features.
    **edges : ndarray
        The edges: row, col, start, ends, index and weight, as
        :mod:`franet.engine.graph_kernels` describes them.
    """

    batch = 4

    def __init__(self, n: int, **edges: NDArray[Any]) -> None:
        self.n = n
        self._edges = tuple(edges[name] for name in _EDGES)
        self.degrees = self._sum_degrees(n, *self._edges)

    @staticmethod
    def _sum_degrees(n: int, *edges: Any) -> Any:
        """Return the weighted degrees, one row for each graph."""
        degrees = np.zeros((len(edges[3]), n))
        graph_kernels.add_degrees(*edges, degrees=degrees)
        return degrees

    def n_edges(self) -> NDArray[np.int64]:
        """Return the number of ordered pairs with an edge in each graph."""
        _, _, start, ends, *_ = self._edges
        return np.asarray(2 * (ends - start).sum(axis=1))

    def _graph(self, i: int) -> tuple[Any, ...]:
        row, col, start, ends, *edges = self._edges
        return row, col, start, ends[i], *edges

    def product(self, i: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of graph `i` with a vector."""
        y = np.empty(self.n)
        graph_kernels.product(*self._graph(i), x, y)
        return y

    def solve(
        self,
        graphs: list[int],
        damping: float,
        best: float,
        rtol: float,
        runner: TileRunner,
    ) -> list[Solution]:
        """Solve PageRank on some graphs, or prove that their RQH is below `best`."""

        def one(i: int) -> Solution:
            d, z, work = self.degrees[i], np.empty(self.n), np.empty((5, self.n))
            limits = damping, best, rtol, _MOST_ROUNDS
            status, low, high = graph_kernels.pagerank(
                *self._graph(i), d, *limits, z=z, work=work
            )
            if status == graph_kernels.DISCARDED:
                return Solution(None, low, high)
            scores = np.where(d > 0.0, d * z, (1.0 - damping) / self.n)
            return Solution(scores, low, high)

        return runner.map(one, graphs)

    def matrix(self, i: int) -> sparse.csr_array:
        """Return graph `i` as a sparse matrix, columns sorted."""
        row, col, start, end, index, weight = self._graph(i)
        size = end - start
        at = np.arange(size.sum()) + np.repeat(start - np.cumsum(size) + size, size)
        j = (np.repeat(row, size) + (index[at] >> 16)).astype(np.int32)
        k = (np.repeat(col, size) + (index[at] & 0xFFFF)).astype(np.int32)
        return adjacency(j, k, weight[at], self.n)

    def strongest(self, i: int, per_feature: int) -> sparse.csr_array:
        """Return the edges of graph `i` that are strongest for one of their ends.

        For each feature so many, ties by the position of the other feature.
        """
        heaps = empty_heaps(self.n, per_feature)
        graph_kernels.strongest(*self._graph(i), **heaps)
        j, k, negative = heap_edges(**heaps)
        return adjacency(j, k, -negative, self.n)


def heap_edges(
    size: NDArray[np.int64], values: NDArray[np.float64], features: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Any]:
    """Return both ends and the value of each edge in some heaps, every edge once."""
    kept = np.arange(values.shape[1]) < size[:, None]
    j = np.repeat(np.arange(len(size)), size)
    return unique_edges(j, features[kept], values[kept], len(size))


def unique_edges(
    j: Any, k: Any, values: Any, n: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Any]:
    """Return edges of `n` features that may come from both their ends, each once."""
    pair = np.minimum(j, k) * np.int64(n) + np.maximum(j, k)
    pair, at = np.unique(pair, return_index=True)
    return (pair // n).astype(np.int32), (pair % n).astype(np.int32), values[at]
