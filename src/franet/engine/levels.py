"""All thresholded graphs of a table: sparse ones stored, dense ones streamed."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine._numpy import TileEngine
from franet.engine.graph_kernels import degree_bound
from franet.engine.graphs import KeptGraphs, adjacency, heap_edges
from franet.engine.measure import Extrema, Measure
from franet.engine.pairs import Gather
from franet.engine.passes import Degrees, Product, Strongest

# Dense graphs whose degrees are summed in one pass; others lie between two of them.
SAMPLED = 16


@dataclass(eq=False)
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
    is_rough : bool
        Whether the degrees of streamed graphs are rough.
    """

    engine: TileEngine
    extrema: InitVar[Extrema]
    edges: NDArray[np.float64]
    measure: Measure

    def __post_init__(self, extrema: Extrema) -> None:
        engine, edges, measure = self.engine, self.edges, self.measure
        self.n = engine.n
        self.n_kept = len(edges)
        capacity, error = self.n * (self.n - 1) // 2, engine.source.error
        if capacity > engine.kept_pairs:
            most = extrema.tally.at_most(edges + error)
            self.n_kept = int((most <= engine.kept_pairs).sum())
            capacity = int(most[self.n_kept - 1]) if self.n_kept else 0
        dense = np.arange(self.n_kept, len(edges))
        # The first and the last of them always.
        chosen = np.linspace(0, len(dense) - 1, SAMPLED).round().astype(np.intp)
        sampled = dense[np.unique(chosen)] if len(dense) > SAMPLED else dense
        what = Gather(edges, self.n_kept, sampled, measure, capacity, error)
        self._harvest = engine.harvest(what)
        self.kept = self._harvest.kept
        self.n_edges = 2 * self._harvest.n_pairs
        # Without weights the edges alone count, and they are exact.
        self._error = error if measure.weighted else 0.0
        self.is_rough = self._error > 0.0
        self._corrections: dict[int, Any] = {}
        self._degrees = {
            int(i): (self._harvest.count[row], self._harvest.weight[row])
            for row, i in enumerate(sampled)
        }

    def deepen(self, graphs: list[int]) -> bool:
        """Store more graphs, so that some of those named are stored, if they fit."""
        fit = [i for i in graphs if self.n_edges[i] // 2 <= self.engine.deep_pairs]
        if not fit or max(fit) < self.n_kept:
            return False
        # The old ones go before the new ones come.
        self._harvest.kept = self.kept = None
        self.n_kept = max(fit) + 1
        self.kept = self._store(self.edges[: self.n_kept], self.n_kept - 1)
        return True

    def _store(self, edges: NDArray[np.float64], densest: int) -> KeptGraphs:
        none, capacity = np.empty(0, np.intp), int(self.n_edges[densest]) // 2
        error = self.engine.source.error
        what = Gather(edges, len(edges), none, self.measure, capacity, error)
        kept = self.engine.harvest(what).kept
        assert kept is not None
        return kept

    def sample(self, graphs: list[int]) -> None:
        """Sum the degrees of streamed graphs that are not known yet."""
        wanted = [i for i in graphs if i >= self.n_kept and i not in self._degrees]
        for at in range(0, len(wanted), SAMPLED):
            part = wanted[at : at + SAMPLED]
            # As the tiles have them: where these are rough, so are the degrees.
            found = self.engine.reduce(Degrees(self.edges[part], self.measure))
            degrees = zip(part, found["count"], found["weight"], strict=True)
            for i, count, weight in degrees:
                limit = float(self.edges[i])
                self._harvest.correct_degrees(count, weight, limit, self.measure)
                self._degrees[i] = count, weight

    def degrees(self, i: int) -> NDArray[np.float64]:
        """Return the weighted degrees of graph `i`."""
        if self.kept is not None and i < self.n_kept:
            return self.kept.degrees[i]
        if self.is_rough or i not in self._degrees:
            return self.products([i], np.ones((1, self.n)))[0]
        return self._degrees[i][1]

    def rough_degrees(self, i: int) -> tuple[NDArray[np.float64], float, float]:
        """Return the degrees of a sampled graph, and how rough they are.

        Returns
        -------
        degrees : ndarray
            The weighted degrees.
        degree_share, edge_share : float
            The share by which a degree, and the weight of an edge, may be off;
            infinite where that is too much to be of use.
        """
        count, weight = self._degrees[i]
        if not self.is_rough:
            return weight, 0.0, 0.0
        # A weight is off by `error`; if the edge had to be corrected, by twice that.
        off = 2 * self._error
        lightest = self._lightest(i) - off
        edges = count > 0
        if (off * count >= 0.5 * weight)[edges].any():
            return weight, np.inf, np.inf
        share = (off * count[edges] / weight[edges]).max(initial=0.0)
        return weight, float(share), off / lightest if lightest > 0.0 else np.inf

    def _lightest(self, i: int) -> float:
        """Return the least weight that an edge of graph `i` can have."""
        return self.measure.top - float(self.edges[i]) if self.measure.weighted else 1.0

    def degree_bound(self, i: int, damping: float) -> float:
        """Return an upper bound on RQH of the PageRank of graph `i`."""
        if self.kept is not None and i < self.n_kept:
            d = self.kept.degrees[i]
            return float(degree_bound(d, d, 0.0, 0.0, damping))
        # Degrees grow with the graphs: those of i lie between two that were summed.
        below = max(k for k in self._degrees if k <= i)
        above = min(k for k in self._degrees if k >= i)
        low, low_share, _ = self.rough_degrees(below)
        high, high_share, _ = self.rough_degrees(above)
        share, lightest = max(low_share, high_share), self._lightest(i)
        if share >= 0.5 or (lightest <= 0.0 and below != above):
            return np.inf
        return float(degree_bound(low, high, share, lightest, damping))

    def products(
        self, graphs: list[int], X: NDArray[np.float64], rough: bool = False
    ) -> NDArray[np.float64]:
        """Return the products of some streamed graphs, each with a row of X.

        With `rough`, tiles are as imprecise as the source's `error` says.
        """
        what = Product(self.edges[graphs], self.measure, X, exact=not rough)
        Y = np.asarray(self.engine.reduce(what)["Y"])
        if rough:
            for y, x, i in zip(Y, X, graphs, strict=True):
                y += self._correction(i) @ x
        return Y

    def _correction(self, i: int) -> Any:
        if i not in self._corrections:
            limit = float(self.edges[i])
            self._corrections[i] = self._harvest.correction(limit, self.measure)
        return self._corrections[i]

    def matrix(self, i: int) -> Any:
        """Return the adjacency matrix of graph `i` as a CSR array."""
        if self.kept is not None and i < self.n_kept:
            return self.kept.matrix(i)
        return self._store(self.edges[[i]], i).matrix(0)

    def network(self, i: int, most: int) -> tuple[Any, bool]:
        """Return the adjacency matrix of graph `i`, and whether it is cut.

        Of more than `most` edges it has about as many: the strongest of each feature.
        """
        if self.n_edges[i] // 2 <= most:
            return self.matrix(i), False
        per_feature = max(1, most // self.n)
        if self.kept is not None and i < self.n_kept:
            return self.kept.strongest(i, per_feature), True
        heaps = self.engine.reduce(Strongest(float(self.edges[i]), per_feature))
        j, k, d = heap_edges(**heaps)
        return adjacency(j, k, self.measure.weights(d), self.n), True


class Level:
    """One of the graphs, stored or streamed, as a centrality sees it."""

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
        x = np.ascontiguousarray(x, dtype=np.float64)
        if levels.kept is not None and self._i < levels.n_kept:
            return levels.kept.product(self._i, x.ravel())
        return levels.products([self._i], x.reshape(1, -1))[0]

    def matrix(self) -> Any:
        """Return the adjacency matrix as a CSR array."""
        return self._levels.matrix(self._i)
