"""PageRank on graphs that are streamed, several at once.

The same mathematics as :func:`franet.engine.graph_kernels.pagerank`, for graphs too
dense to be stored: one pass over the tiles serves a product of every graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from franet.engine.graph_kernels import rqh_interval
from franet.engine.levels import Levels
from franet.quality import EQUAL

__all__ = ["Solution", "solve_together"]


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


class _Iteration:
    """Conjugate gradients on one graph, one product at a time.

    Parameters
    ----------
    d : ndarray
        The weighted degrees.
    d_error : float
        The share by which degrees, and the weights behind them, may be off.
    damping : float
        The damping factor.
    """

    def __init__(self, d: NDArray[np.float64], d_error: float, damping: float) -> None:
        self.d = d
        self.d_error = d_error
        self.damping = damping
        self.base = (1.0 - damping) / len(d)
        self.root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0.0)
        self.y = (self.base + damping * d / d.sum()) * self.root
        self.residual: NDArray[np.float64] | None = None
        self.best_error = np.inf
        self.idle = 0

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
        z = self.y * self.root
        largest = float(np.abs(z).max())
        # The PageRank map of weights that are off by a share e of the degree, applied
        # to |z| <= largest, is off by 2 e · largest.
        noise = (1e-15 + 2 * self.d_error) * largest
        ε = float(np.abs(self.residual * self.root).max()) + noise
        ε /= 1.0 - self.damping
        self.idle = 0 if ε < 0.9 * self.best_error else self.idle + 1
        self.best_error = min(ε, self.best_error)
        low, high = rqh_interval(z, self.d, self.d_error, ε, self.base)
        connected = self.d > 0.0
        scores = np.where(connected, self.d * z, self.base)
        error = ε / float(z.min(where=connected, initial=np.inf))
        patience = 12 if self.d_error == 0.0 else 2
        done = error <= rtol or self.idle >= patience or self.square == 0.0
        return Solution(scores, float(low), float(high)), done


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
        d, d_error = levels.rough_degrees(i) if rough else (levels.degrees(i), 0.0)
        work[i] = _Iteration(d, d_error, damping)
    solutions: dict[int, Solution] = {}
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
