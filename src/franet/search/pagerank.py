"""PageRank on graphs that are known by their products with vectors only.

The same mathematics as :func:`franet.engine.graph_kernels.pagerank`, for graphs too
dense to be stored. Of those that are streamed several are solved at once: one pass over
the tiles serves a product of every graph.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from franet.engine.graph_kernels import rqh_interval
from franet.engine.graphs import Solution
from franet.engine.levels import Levels
from franet.quality import EQUAL

__all__ = ["solve_together", "solve_with"]

# Products without progress after which rounding, or roughness, is all that is left.
PATIENCE = 5


class _Iteration:
    """Conjugate gradients on one graph, one product at a time.

    Parameters
    ----------
    d : ndarray
        The weighted degrees.
    damping : float
        The damping factor.
    d_error, w_error : float, default=0
        The share by which a degree, and the weight of an edge, may be off.
    """

    def __init__(
        self,
        d: NDArray[np.float64],
        damping: float,
        d_error: float = 0.0,
        w_error: float = 0.0,
    ) -> None:
        self.d = d
        self.damping = damping
        self.d_error = d_error
        self.w_error = w_error
        self.base = (1.0 - damping) / len(d)
        self.root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0.0)
        self.y = (self.base + damping * d / d.sum()) * self.root
        self.residual: NDArray[np.float64] | None = None
        self.best_high = np.inf
        self.best_error = np.inf
        self.idle = 0
        # Conjugate gradients pause for some √κ rounds, and κ < 2 / (1 − damping).
        self.patience = max(PATIENCE, int(2.0 / np.sqrt(1.0 - damping)))

    def request(self) -> NDArray[np.float64]:
        """Return the vector whose product with the graph is needed next."""
        vector = self.y if self.residual is None else self.direction
        return vector * self.root

    def receive(self, product: NDArray[np.float64]) -> None:
        """Take the product and make one step."""
        product = self.damping * self.root * product
        if self.residual is None:
            self.residual = self.base * self.root + product - self.y
            self.direction = self.residual.copy()
            self.square = float((self.residual**2).sum())
            return
        image = self.direction - product
        step = self.square / float((self.direction * image).sum())
        self.y += step * self.direction
        self.residual -= step * image
        square = float((self.residual**2).sum())
        self.direction = self.residual + (square / self.square) * self.direction
        self.square = square

    def state(self, rtol: float) -> tuple[Solution, bool]:
        """Return what is known, and whether it will not get better."""
        assert self.residual is not None
        d, z = self.d, self.y * self.root
        connected = d > 0.0
        rest = np.abs(self.residual * self.root) + 1e-15 * np.abs(z)
        smallest = float(z.min(where=connected, initial=np.inf))
        if self.d_error > 0.0:
            rest += self._noise(z, rest) if smallest > 0.0 else np.inf
        ε = float(rest.max()) / (1.0 - self.damping)
        η = float((rest * d).max()) * (1.0 + self.d_error) / self.base
        η = η / (1.0 - η) if η < 1.0 and smallest > 0.0 else np.inf
        low, high = rqh_interval(z, d, self.d_error, ε, η, self.base)
        error = min(η, ε / smallest) if smallest > 0.0 else np.inf
        better = error < 0.9 * self.best_error or high < 0.99 * self.best_high
        self.idle = 0 if better else self.idle + 1
        self.best_error = min(error, self.best_error)
        self.best_high = min(high, self.best_high)
        done = error <= rtol or self.idle >= self.patience or self.square == 0.0
        scores = np.where(connected, d * z, self.base)
        return Solution(scores, float(low), float(high)), done

    def _noise(
        self, z: NDArray[np.float64], rest: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how far the PageRank map of rough weights is from the true one.

        The map's value is z plus the residual, at most ``z + rest``. Wrong degrees
        change it by their share; wrong weights by theirs, and also by no more than
        if every neighbour had the largest z.
        """
        value = z + rest
        by_edges = np.minimum(self.w_error * value, self.d_error * z.max())
        # Shares of shares are left: half of the degree is the most that was let in.
        return (self.d_error * value + by_edges) / (1.0 - self.d_error)


def solve_together(
    levels: Levels,
    graphs: list[int],
    damping: float,
    best: float,
    rtol: float,
    rough: bool = False,
) -> dict[int, Solution]:
    """Solve PageRank on several graphs, or prove that their RQH is below the best.

    Parameters
    ----------
    levels : Levels
        The graphs of all thresholds.
    graphs : list of int
        The streamed graphs that are asked for.
    damping : float
        The damping factor.
    best : float
        A graph whose RQH is provably smaller is discarded; raised to what the graphs
        of this call prove for themselves. With minus infinity all are solved.
    rtol : float
        Bound on the relative error of the scores.
    rough : bool, default=False
        Whether rough products are used: they can discard a graph, never solve it.
    """
    discard = best > -np.inf
    work: dict[int, _Iteration] = {}
    for i in graphs:
        if not rough:
            work[i] = _Iteration(levels.degrees(i), damping)
            continue
        d, d_error, w_error = levels.rough_degrees(i)
        if d_error < 0.5:
            work[i] = _Iteration(d, damping, d_error, w_error)
    solutions = {i: Solution(np.empty(0), 0.0, np.inf) for i in graphs if i not in work}
    while work:
        active = sorted(work)
        requests = np.stack([work[i].request() for i in active])
        products = levels.products(active, requests, rough)
        states = {}
        for row, i in enumerate(active):
            work[i].receive(products[row])
            states[i] = work[i].state(rtol)
        if discard:
            best = max(best, *(state.low for state, _ in states.values()))
        for i, (state, done) in states.items():
            if state.high < best * (1.0 - EQUAL):
                state.scores = None
            elif not done:
                continue
            solutions[i] = state
            del work[i]
    return solutions


def solve_with(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    d: NDArray[np.float64],
    damping: float,
    n_products: int,
) -> NDArray[np.float64]:
    """Return what a unit of weight passes on, of each node, about.

    Scores ``d z`` are in shares of 1/n: 1 is the mean.

    Parameters
    ----------
    product : callable
        Multiplies a vector by the matrix of weights.
    d : ndarray of shape (n,)
        The weighted degrees; a node without edges gets 0.
    damping : float
        The damping factor.
    n_products : int
        Number of steps at the most, a product each.
    """
    n = len(d)
    if not d.any():
        return np.zeros(n)
    work = _Iteration(d, damping)
    for _ in range(n_products + 1):
        work.receive(product(work.request()))
        if work.square * n <= 1e-24:
            break
    return work.y * work.root * n
