"""Nearly complete graphs: all pairs as products with the table, less those missing.

The weight of a pair is ``(top − 1) + r``, so that the matrix of all weights is
``(top − 1) 11ᵀ + ZZᵀ − top I`` with the standardized columns as rows of Z: a product
with it costs as much as reading the table, and the matrix is never formed. Pairs
without an edge are opposites, and are found as near features are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine.measure import Measure
from franet.search.approximate._cells import Cells
from franet.search.approximate._dense import DenseGraphs, DenseSolution
from franet.search.approximate._pairs import join
from franet.search.approximate._solve import solve

__all__ = ["CompleteGraphs"]

_PART = 2048
_PRODUCTS = 60


class CompleteGraphs:
    """The graphs of the last thresholds, which lack few edges.

    Parameters
    ----------
    cells : Cells
        Where opposites are looked for.
    graphs : DenseGraphs
        The graphs, which here give rows in full.
    measure : Measure
        Turns dissimilarities into weights.
    first : int
        The sparsest graph whose missing pairs are few.

    Attributes
    ----------
    first : int
        The sparsest graph whose missing pairs are found: the same or a later one.
    """

    def __init__(
        self, cells: Cells, graphs: DenseGraphs, measure: Measure, first: int
    ) -> None:
        self.columns = cells.columns
        self.graphs = graphs
        self.measure = measure
        # Two features are as far from opposites as their weight is from nothing.
        opposite = 2.0 - graphs.edges
        looks, limit = cells.look(float(opposite[first]), sign=-1.0)
        self.first = max(first, int((opposite > limit).sum()))
        found = [pairs for _, *pairs in join(cells, looks, limit)]
        x, y, d = (np.concatenate(parts) for parts in zip(*found, strict=True))
        self._x, self._y, self._d = x, y, 2.0 - d

    def solve(self, i: int) -> DenseSolution:
        """Solve graph `i`, one of those from `first` on."""
        n, δ = self.columns.n, self.graphs.damping
        missing, counts = self._missing(i)
        some = counts < n - 1

        def product(u: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(np.where(some, self._all(u) - missing @ u, 0.0))

        degrees = product(np.ones(n))
        z = solve(product, degrees, δ, _PRODUCTS)
        return self.graphs.settle(i, degrees, (1.0 - δ) + δ * product(z), z)

    def _missing(self, i: int) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """Return the weights of the missing pairs, and how many a feature misses."""
        n, top = self.columns.n, self.measure.top
        lost = self._d > self.graphs.edges[i]
        x, y, d = self._x[lost], self._y[lost], self._d[lost]
        w = top - d if self.measure.weighted else np.ones(len(d))
        ends = np.concatenate([x, y]), np.concatenate([y, x])
        matrix = sparse.csr_array((np.concatenate([w, w]), ends), (n, n))
        return matrix, np.bincount(ends[0], minlength=n)

    def _all(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with the weights of all pairs."""
        if not self.measure.weighted:
            return u.sum() - u
        columns, top = self.columns, self.measure.top
        parts = columns.parts(_PART)
        Z = columns.exact
        s = np.sum(columns.map(lambda part: u[part] @ Z[part], parts), axis=0)
        r = np.concatenate(columns.map(lambda part: Z[part] @ s, parts))
        return np.asarray((top - 1.0) * u.sum() + r - top * u)
