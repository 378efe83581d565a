"""PageRank and RQH: which candidates can still win, with proofs for the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.engine.graphs import Solution
from franet.engine.levels import Levels
from franet.quality import EQUAL
from franet.search.pagerank import solve_together

__all__ = ["Race"]

# Relative tolerance of the scores, and of those that only serve to compare graphs.
RTOL = 1e-12
LOOSE = 1e-3
# Of dense graphs, every so-manyth is tried first: they are dear, and a good one that
# is found early spares the others.
DEEP_STRIDE = 5
# Streamed graphs share a pass over the tiles.
STREAM_BATCH = 32


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

    def __init__(
        self, levels: Levels, damping: float, solved: dict[int, NDArray[np.float64]]
    ) -> None:
        self.levels = levels
        self.damping = damping
        self.solved = solved
        # Upper bounds on RQH, the best that is proven, and who may still beat it.
        self.bound: dict[int, float] = {}
        self.best = 0.0
        self.waiting: set[int] = set()

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

        With a stride, every so-manyth first: what they reach spares the others.
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
            batch = graphs[at : at + STREAM_BATCH]
            damping = self.damping
            answers = solve_together(self.levels, batch, damping, best, RTOL, rough)
            found.update(answers)
            best = max(best, *(s.low for s in answers.values())) if best >= 0 else best
        if not rough:
            self._keep(found)
        return found

    def _keep(self, found: dict[int, Solution]) -> None:
        for i, solution in found.items():
            if solution.scores is not None:
                self.solved[i] = solution.scores


def _just(best: float) -> float:
    """Return the RQH from which on a candidate counts as equal to the best."""
    return best * (1.0 - EQUAL)
