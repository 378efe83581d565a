"""What one pass over the tiles brings in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine.graphs import KeptGraphs, adjacency
from franet.engine.measure import Measure

__all__ = ["Harvest", "Pairs"]


@dataclass(frozen=True)
class Pairs:
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
        names = ("j", "k", "d", "rough")
        return cls(*(np.concatenate([getattr(p, x) for p in ordered]) for x in names))


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

    def correction(self, limit: float, measure: Measure) -> Any:
        """Return what rough tiles miss of a graph, as a sparse matrix.

        The weights of edges that they miss, and the negative ones of those that they
        add. `limit` is the largest dissimilarity of an edge.
        """
        near = self.near
        sign = (near.d <= limit).astype(np.int8) - (near.rough <= limit)
        wrong = sign != 0
        signed = sign[wrong] * measure.weights(near.d[wrong])
        n = self.count.shape[1]
        return adjacency(near.j[wrong], near.k[wrong], signed, n)

    def correct(
        self,
        edges: NDArray[np.float64],
        sampled: NDArray[np.intp],
        measure: Measure,
    ) -> None:
        """Decide the pairs near a limit by their exact values."""
        near = self.near
        for i, limit in enumerate(edges):
            sign = (near.d <= limit).astype(np.int8) - (near.rough <= limit)
            self.n_pairs[i] += int(sign.sum())
        for row, i in enumerate(sampled):
            limit = float(edges[i])
            self.correct_degrees(self.count[row], self.weight[row], limit, measure)

    def correct_degrees(
        self,
        count: NDArray[np.int32],
        weight: NDArray[np.float64],
        limit: float,
        measure: Measure,
    ) -> None:
        """Decide the pairs near a limit in the degrees of its graph, in place."""
        weight += self.correction(limit, measure).sum(axis=0)
        counts = self.correction(limit, replace(measure, weighted=False)).sum(axis=0)
        count += np.rint(counts).astype(np.int32)
