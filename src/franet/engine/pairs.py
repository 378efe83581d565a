"""The pass that collects edges: sparse graphs whole, of dense ones the degrees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import ArrayStore
from franet.engine import kernels
from franet.engine._windows import Window
from franet.engine.graphs import EdgeSink, KeptGraphs, adjacency, merge_edges
from franet.engine.measure import Measure, near_table
from franet.engine.passes import Degrees, Pass, State
from franet.pairs.tiles import PairSource, Tile, TileGrid


class Pairs(NamedTuple):
    """Pairs of features and their dissimilarities.

    `rough` are the dissimilarities as the tiles gave them.
    """

    j: NDArray[np.int32]
    k: NDArray[np.int32]
    d: NDArray[np.float64]
    rough: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: dict[tuple[int, int], Pairs]) -> Pairs:
        """Return the pairs of several tiles as one."""
        none = np.empty(0, np.int32)
        ordered = [cls(none, none, np.empty(0), np.empty(0))]
        ordered += [parts[at] for at in sorted(parts)]
        return cls(*map(np.concatenate, zip(*ordered, strict=True)))


@dataclass(frozen=True)
class Gather(Pass):
    """Edges of the sparse graphs, and the degrees of some of the dense ones.

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
    error : float
        Bound on what tiles are off.
    """

    edges: NDArray[np.float64]
    n_kept: int
    sampled: NDArray[np.intp]
    measure: Measure
    capacity: int
    error: float
    stage = "edges"

    @property
    def degrees(self) -> Degrees:
        """The part of the pass that adds up degrees."""
        return Degrees(self.edges[self.sampled], self.measure)

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return an empty sink, and zeros."""
        sink = None
        if self.n_kept:
            kept = self.edges[: self.n_kept]
            sink = EdgeSink(kept, self.measure, self.capacity, store)
        dense = self.edges[self.n_kept :]
        rough = self.error > 0.0 and len(dense) > 0
        return {
            "sink": sink,
            "near": {},
            "near_table": near_table(dense, self.error) if rough else None,
            "n_pairs": np.zeros((grid.n_blocks, len(dense)), np.int64),
            **self.degrees.start(grid, store),
        }

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Keep the edges of a tile and count the others."""
        at = tile.i, tile.j
        D = source.tile(*at)
        pairs = D, *tile.shape, tile.is_diagonal
        if state["sink"] is not None:
            limit = float(self.edges[self.n_kept - 1])
            j, k, d = kernels.collect(*pairs, limit + self.error)
            if self.error:
                d = source.refine(*at, j, k, d)
                inside = d <= limit
                j, k, d = j[inside], k[inside], d[inside]
            state["sink"].add(tile, j, k, d)
        dense = self.edges[self.n_kept :]
        if not len(dense):
            return
        kernels.count_pairs(*pairs, dense, counts=state["n_pairs"][tile.i])
        if state["near_table"] is not None:
            j, k, rough = kernels.collect_near(*pairs, *state["near_table"])
            d = source.refine(*at, j, k, rough)
            rows, cols = np.int32(tile.rows.start), np.int32(tile.cols.start)
            state["near"][at] = Pairs(j + rows, k + cols, d, rough)
        self.degrees.add(tile, D, state)

    def close(self, state: State) -> State:
        """Return the edges, counts and degrees; pairs near a limit tile by tile."""
        degrees = {name: state[name] for name in Degrees.layout}
        return {
            "edges": None if state["sink"] is None else state["sink"].close(),
            "n_pairs": state["n_pairs"].sum(axis=0),
            "degrees": self.degrees.close(degrees),
            "near": Pairs.joined(state["near"])._asdict(),
        }

    def assemble(self, grid: TileGrid, parts: Iterable[tuple[Window, State]]) -> State:
        """Join the edges of parts, all at once, and add up the others."""
        degrees = self.degrees.blank(grid)
        edges, near, n_pairs = [], [], 0
        for window, part in parts:
            self.degrees.put(degrees, part["degrees"], window)
            n_pairs = n_pairs + part["n_pairs"]
            edges.append(_renamed(part["edges"], window, "row", "col"))
            near.append(_renamed(part["near"], window, "j", "k"))
        return {
            "edges": merge_edges(edges) if self.n_kept else None,
            "n_pairs": n_pairs,
            "degrees": degrees,
            "near": {x: np.concatenate([part[x] for part in near]) for x in near[0]},
        }


def _renamed(found: Any, window: Window, *names: str) -> Any:
    """Return what was found in a window with the features' positions in the table."""
    if found is None:
        return None
    features = window.features
    ends = {x: features[found[x]].astype(found[x].dtype) for x in names}
    return {**found, **ends}


@dataclass
class Harvest:
    """What one pass over the tiles brings in.

    Attributes
    ----------
    kept : KeptGraphs or None
        The graphs that are stored.
    n_pairs : ndarray of int
        Number of pairs with an edge in each graph, stored or not; exact.
    count : ndarray of int of shape (n_sampled, n)
        Number of edges of each feature in some graphs that are not stored.
    weight : ndarray of shape (n_sampled, n)
        Their weights added up.
    near : Pairs
        The pairs that rough tiles may have put into the wrong graph.
    """

    kept: KeptGraphs | None
    n_pairs: NDArray[np.int64]
    count: NDArray[np.int32]
    weight: NDArray[np.float64]
    near: Pairs

    def _missed(self, limit: float) -> NDArray[np.int8]:
        """Return 1 for the pairs that rough tiles miss of a graph, -1 for others."""
        return (self.near.d <= limit).astype(np.int8) - (self.near.rough <= limit)

    def correction(self, limit: float, measure: Measure) -> Any:
        """Return what rough tiles miss of a graph, as a sparse matrix.

        The weights of edges that they miss, and the negative ones of those that they
        add. `limit` is the largest dissimilarity of an edge.
        """
        near, sign = self.near, self._missed(limit)
        wrong = sign != 0
        signed = sign[wrong] * measure.weights(near.d[wrong])
        n = self.count.shape[1]
        return adjacency(near.j[wrong], near.k[wrong], signed, n)

    def correct(self, what: Gather) -> None:
        """Decide the pairs near a limit by their exact values."""
        if not len(self.near.d):
            return
        for i, limit in enumerate(what.edges):
            self.n_pairs[i] += int(self._missed(limit).sum())
        degrees = zip(what.sampled, self.count, self.weight, strict=True)
        for i, count, weight in degrees:
            self.correct_degrees(count, weight, float(what.edges[i]), what.measure)

    def correct_degrees(
        self, count: Any, weight: Any, limit: float, measure: Measure
    ) -> None:
        """Decide the pairs near a limit in the degrees of its graph, in place."""
        weight += self.correction(limit, measure).sum(axis=0)
        counts = self.correction(limit, replace(measure, weighted=False)).sum(axis=0)
        count += np.rint(counts).astype(np.int32)
