"""Picking features one after another, each for what the earlier ones do not tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.cover._arrays import host
from franet.cover._constraints import Constraints
from franet.cover._shares import (
    FeatureTable,
    Linear,
    NearestSamples,
    Representatives,
    sample_of,
)
from franet.pairs.tiles import TileRunner
from franet.search.ranking import EQUAL

# Candidates of the largest gain for which neighbours are searched.
_SHORT = 64
# What a pick must add, as a share of the table, to be one.
NOTHING = 1e-12


class Picker:
    """Picks features so that three shares of the table grow most.

    Parameters
    ----------
    table : FeatureTable
        The features, none of them constant.
    constraints : Constraints
        What may be picked.
    n_threads : int
        Number of threads, where the table is in NumPy; no result depends on it.

    Attributes
    ----------
    order : list of int
        The features picked so far.
    gains : list of float
        What each added: the mean of the three shares.
    """

    def __init__(
        self, table: FeatureTable, constraints: Constraints, n_threads: int
    ) -> None:
        self.order: list[int] = []
        self.gains: list[float] = []
        # Torch has threads of its own.
        self._runner = TileRunner(n_threads if isinstance(table.Z, np.ndarray) else 1)
        self._constraints = constraints
        self._open = ~constraints.closed
        self._single = Representatives(table.Z, *sample_of(table), self._runner)
        self._linear = Linear(table)
        self._nearest = NearestSamples(table, self._runner)
        # As if five examples drawn at random were the nearest.
        self._error = 1.0 + 1.0 / self._nearest.k
        self._forced: Iterator[int] = iter(constraints.include)

    def go_on(self, k: int) -> bool:
        """Pick until there are `k`; return whether more can be picked."""
        # Tiles and candidates are parallel already.
        with self._runner.one_blas_thread():
            while len(self.order) < k:
                if not self._next():
                    return False
                report("picks", len(self.order), k)
        return bool(self._open.any())

    def remaining(self) -> NDArray[np.float64]:
        """Return what each feature would add now, neighbours aside."""
        return host((self._single.gains() + self._linear.gains()) / 3.0)

    def blocked(self) -> NDArray[np.bool_]:
        """Return the features that come after all others: closed, or in a full group.

        Of a group without a pick all but the one that would add most.
        """
        blocked = ~self._open
        blocked[self.order] = False
        groups, gains = self._constraints.groups, self.remaining()
        for group in np.unique(groups[self._open & (groups >= 0)]):
            members = np.flatnonzero(self._open & (groups == group))
            blocked[members] = True
            blocked[members[np.argmax(gains[members])]] = False
        return blocked

    def _next(self) -> bool:
        gains = self.remaining()
        forced = next(self._forced, None)
        if forced is not None:
            part = np.array([forced])
        else:
            gains[~self._open] = -np.inf
            worth = gains / self._constraints.cost
            part = np.argpartition(-worth, min(_SHORT, len(worth)) - 1)[:_SHORT]
            # By column, so that the first of equal ones is found.
            part = np.sort(part[gains[part] > NOTHING])
            if not len(part):
                return False
        errors = self._nearest.errors(part)
        total = gains[part] + (self._error - errors) / 3.0
        best = _first_best(total, self._constraints.cost[part])
        self._take(int(part[best]), float(total[best]), float(errors[best]))
        return True

    def _take(self, j: int, gain: float, error: float) -> None:
        self._single.add(j)
        self._linear.add(j)
        self._nearest.add(j)
        self._error = error
        self.order.append(j)
        self.gains.append(gain)
        self._open[j] = False
        group = self._constraints.groups[j]
        if group >= 0:
            self._open[self._constraints.groups == group] = False


def _first_best(gains: NDArray[np.float64], cost: NDArray[np.float64]) -> int:
    """Return the first position of the largest gain for its cost."""
    # A loss divided by a large cost would look small.
    worth = np.where(gains > 0.0, gains / cost, gains * cost)
    best = worth.max()
    # Gains are differences of shares, which round by the size of these.
    return int(np.argmax(worth >= best - EQUAL * abs(best) - NOTHING))
