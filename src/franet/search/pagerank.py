"""PageRank and RQH: which candidates can still win, with proofs for the others.

Stored graphs are solved by :func:`franet.engine.graph_kernels.pagerank`; those too
dense to be stored by the same mathematics, from their products with vectors. Of these
several are solved at once: one pass over the tiles serves a product of every graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.engine.graph_kernels import rqh_interval
from franet.engine.graphs import Solution
from franet.engine.levels import Levels
from franet.quality import EQUAL

# Products without progress after which rounding, or roughness, is all that is left.
PATIENCE = 5
# Relative tolerance of the scores, and of those that only serve to compare graphs.
RTOL = 1e-12
LOOSE = 1e-3
# Of dense graphs, every fifth is tried first: they are expensive, and a good one that
# is found early spares the others.
DEEP_STRIDE = 5
# Streamed graphs share a pass over the tiles.
STREAM_BATCH = 32


@dataclass
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

    d: NDArray[np.float64]
    damping: float
    d_error: float = 0.0
    w_error: float = 0.0

    def __post_init__(self) -> None:
        d, damping = self.d, self.damping
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

    def state(self) -> tuple[Solution, bool]:
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
        done = error <= RTOL or self.idle >= self.patience or self.square == 0.0
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


@dataclass
class Race:
    """Solves PageRank on the graphs that can still have the largest RQH.

    Parameters
    ----------
    levels : Levels
        The graphs of all thresholds; to `enter`, stored ones will do.
    damping : float
        The damping factor.
    solved : dict
        Takes in the scores of the graphs that are solved.
    """

    levels: Levels
    damping: float
    solved: dict[int, NDArray[np.float64]]
    # Upper bounds on RQH, the best that is proven, and who may still beat it.
    bound: dict[int, float] = field(default_factory=dict)
    best: float = 0.0
    waiting: set[int] = field(default_factory=set)

    def run(self, candidates: list[int]) -> None:
        """Solve candidates, the sparsest first, unless they provably cannot win.

        Sparse graphs are cheap, and what they reach spares the dense ones. Upper bounds
        on RQH are in `bound`; they hold for the solved ones too.
        """
        levels = self.levels
        self.enter({i: levels.degree_bound(i, self.damping) for i in candidates})
        if levels.deepen(self._at_stake()):
            self._sharpen_bounds()
            self._solve_kept(stride=DEEP_STRIDE)
        levels.sample(self._at_stake())
        self._sharpen_bounds()
        if levels.is_rough or levels.engine.streams_together:
            at_stake = self._at_stake()
            found = self._streamed(at_stake, self.best, rough=levels.is_rough)
            self._take(found)
            if not levels.is_rough:
                self.waiting -= set(at_stake)
        while at_stake := self._at_stake():
            # The most promising first: it may spare the others.
            first = max(at_stake, key=lambda i: (self.bound[i], -i))
            self._take(self._streamed([first], self.best))
            self.waiting.discard(first)

    def enter(self, bound: dict[int, float]) -> None:
        """Take in candidates, with upper bounds on RQH, and solve those stored."""
        self.bound = bound
        self.waiting = set(bound)
        self._solve_kept()

    def _sharpen_bounds(self) -> None:
        for i in self._at_stake():
            bound = self.levels.degree_bound(i, self.damping)
            self.bound[i] = min(self.bound[i], bound)

    def _at_stake(self) -> list[int]:
        """Return the candidates that may still win, or tie with the best."""
        return [i for i in sorted(self.waiting) if self.bound[i] >= _just(self.best)]

    def _solve_kept(self, stride: int = 1) -> None:
        """Solve the stored graphs: all of them loosely, then those still at stake.

        With a stride k, every k-th first: what they reach spares the others.
        """
        n_kept, size = self.levels.n_kept, self._batch
        rest = [i for i in self._at_stake() if i < n_kept]
        rest.sort(key=lambda i: (i % stride > 0, i))
        while rest := [i for i in rest if self.bound[i] >= _just(self.best)]:
            batch, rest = rest[:size], rest[size:]
            self._take(self._kept(batch, self.best, LOOSE))
            report("candidates", len(self.bound) - len(rest), len(self.bound))
        while batch := [i for i in self._at_stake() if i < n_kept]:
            batch = sorted(batch, key=lambda i: (-self.bound[i], i))[:size]
            self._take(self._kept(batch, self.best, RTOL))
            self.waiting -= set(batch)

    @property
    def _batch(self) -> int:
        return 1 if self.levels.kept is None else self.levels.kept.batch

    def _take(self, found: dict[int, Solution]) -> None:
        for i, solution in found.items():
            self.bound[i] = min(self.bound[i], solution.high)
            self.best = max(self.best, solution.low)

    def solve(self, graphs: list[int]) -> None:
        """Solve graphs, whatever they may be worth."""
        kept = [i for i in graphs if i < self.levels.n_kept]
        size = self._batch
        for at in range(0, len(kept), size):
            self._kept(kept[at : at + size], -np.inf, RTOL)
            report("PageRank", min(at + size, len(kept)), len(kept))
        self._streamed([i for i in graphs if i >= self.levels.n_kept], -np.inf)

    def _kept(self, graphs: list[int], best: float, rtol: float) -> dict[int, Solution]:
        """Solve stored graphs unless their RQH is provably below the best."""
        kept, runner = self.levels.kept, self.levels.engine.runner
        assert kept is not None
        answers = kept.solve(graphs, self.damping, _just(best), rtol, runner)
        found = dict(zip(graphs, answers, strict=True))
        if rtol == RTOL:
            self._keep(found)
        return found

    def _streamed(
        self, graphs: list[int], best: float, rough: bool = False
    ) -> dict[int, Solution]:
        """Solve streamed graphs, several in one pass, unless provably below the best.

        Rough products discard graphs, or find bounds; they do not solve them.
        """
        found: dict[int, Solution] = {}
        for at in range(0, len(graphs), STREAM_BATCH):
            answers = self._together(graphs[at : at + STREAM_BATCH], best, rough)
            found.update(answers)
            best = max(best, *(s.low for s in answers.values())) if best >= 0 else best
        if not rough:
            self._keep(found)
        return found

    def _together(
        self, graphs: list[int], best: float, rough: bool
    ) -> dict[int, Solution]:
        """Solve streamed graphs in the same passes, or prove that they are below.

        The best is raised to what the graphs prove for themselves; with minus infinity
        all are solved.
        """
        levels, discard = self.levels, best > -np.inf
        work: dict[int, _Iteration] = {}
        for i in graphs:
            if not rough:
                work[i] = _Iteration(levels.degrees(i), self.damping)
                continue
            d, d_error, w_error = levels.rough_degrees(i)
            if d_error < 0.5:
                work[i] = _Iteration(d, self.damping, d_error, w_error)
        unknown = (i for i in graphs if i not in work)
        solutions = {i: Solution(np.empty(0), 0.0, np.inf) for i in unknown}
        while work:
            active = sorted(work)
            requests = np.stack([work[i].request() for i in active])
            products = levels.products(active, requests, rough)
            states = {}
            for i, product in zip(active, products, strict=True):
                work[i].receive(product)
                states[i] = work[i].state()
            if discard:
                best = max(best, *(state.low for state, _ in states.values()))
            for i, (state, done) in states.items():
                if state.high < _just(best):
                    state.scores = None
                elif not done:
                    continue
                solutions[i] = state
                del work[i]
        return solutions

    def _keep(self, found: dict[int, Solution]) -> None:
        for i, solution in found.items():
            if solution.scores is not None:
                self.solved[i] = solution.scores


def _just(best: float) -> float:
    """Return the RQH from which on a candidate counts as equal to the best."""
    return best * (1.0 - EQUAL)
