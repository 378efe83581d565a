"""From a checked table to what `Cover` says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import listening, report
from franet.cover._arrays import host
from franet.cover._chance import beats_chance
from franet.cover._constraints import Choice, Constraints
from franet.cover._explained import Curve, explain
from franet.cover._rebuild import Rebuild, fit_rebuild, rebuild_from
from franet.cover._represent import Closest, closest_picks
from franet.cover._rows import Rows
from franet.cover._shares import (
    FeatureTable,
    NearestSamples,
    linear_share,
    make_table,
)
from franet.pairs.tiles import TileRunner
from franet.search.ranking import EQUAL, STEP, falling

# Candidates of the largest gain for which neighbors are searched.
_SHORT = 32
# Gains and worths this close to zero are rounding errors.
NOTHING = 1e-12
# Where gains of a share differ by less, that share has no say.
_FLAT = 1e-9
# A feature whose correlation with a pick is this close to 1 is a copy of it.
_COPY = 1e-9
# How far values of copies may be apart: √(2 _COPY), and rounding.
_APART = 5e-5
# What the shares of an objective count: linear, by neighbors.
OBJECTIVES = {
    "balanced": (1.0, 1.0),
    "linear": (1.0, 0.0),
    "neighbors": (1.0, 2.0),
}
# Picks after which neighbors count in full: who is near in one or two columns is hardly
# ever near in all.
_NEAR = 4
# The share of what can be explained of others that the suggested picks explain.
ENOUGH = 0.95
# The most features that are picked to find out how many are needed, and how many
# beyond those that explain most of others show that no more will.
_MOST, _BEYOND, _AT_LEAST = 512, 0.25, 16


@dataclass(frozen=True, eq=False)
class CoverRanking:
    """What came out, by columns of the table.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        What each pick added; what each other feature would add now.
    last : ndarray of bool
        Features that may not be picked: they rank behind all others.
    order : ndarray of int
        The picks, first to last.
    gains : ndarray
        What each added.
    n_samples : int
        The number of rows of the table, some of which may have been drawn.
    weights : ndarray of shape (n,)
        What each feature counts where it is rebuilt; they sum to 1.
    curve : Curve
        How much of the table the first pick, the first two, … explain.
    is_subset : bool
        Whether they explain more of the others than chance would let them.
    is_settled : bool
        Whether further picks would hardly explain more of others.
    n_selected : int
        How many are selected.
    n_representatives : int
        How many of the picks are, and represent the others.
    closest : Closest
        The picks that resemble each feature most.
    rebuild : Rebuild
        The regression of all columns on the selected picks.
    """

    scores: NDArray[np.float64]
    last: NDArray[np.bool_]
    order: NDArray[np.intp]
    gains: NDArray[np.float64]
    n_samples: int
    weights: NDArray[np.float64]
    curve: Curve
    is_subset: bool
    is_settled: bool
    n_selected: int
    n_representatives: int
    closest: Closest
    rebuild: Rebuild


def rank_by_cover(
    rows: Rows,
    constraints: Constraints,
    *,
    n_select: int | str | None,
    n_picks: int,
    until_settled: bool = False,
    judges: bool = True,
    objective: str = "balanced",
    n_threads: int = 1,
    weights: str | NDArray[np.float64] = "robust",
    **options: Any,
) -> CoverRanking:
    """Rank the columns of a table by what each adds to those before it.

    Parameters
    ----------
    rows : Rows
        The rows from which features are picked.
    constraints : Constraints
        What may be picked.
    n_select : int, "auto" or None
        How many are selected: as many as are suggested if ``"auto"``, half if None.
    n_picks : int
        How many are picked, at least.
    until_settled : bool, default=False
        Whether more are picked as long as the suggestion needs them.
    judges : bool, default=True
        Whether picks are compared with those of permuted columns; nothing is suggested
        otherwise.
    objective : {"balanced", "linear", "neighbors"}, default="balanced"
        Which shares of the table picks raise.
    n_threads : int, default=1
        Number of threads; no result depends on it.
    weights : {"robust", "variance"} or ndarray of shape (n,), default="robust"
        What features count.
    **options : object
        How features are compared, and where; see `make_table`.
    """
    n = len(rows.constant)
    varying = np.flatnonzero(~rows.constant)
    # Torch has threads of its own.
    runner = TileRunner(n_threads if options.get("device") is None else 1)
    table = make_table(rows, varying, runner, weights=weights, **options)
    columns = table.columns
    picker = Picker(table, constraints.among(columns), objective, runner)
    limits = n_picks, until_settled, judges
    judged = _pick(picker, table, limits, objective, runner)
    curve = judged.curve
    order = np.array(picker.order, np.intp)
    wanted: Any = n_select
    if n_select == "auto":
        wanted = judged.count or len(order)
    last = rows.constant.copy()
    last[columns] |= picker.blocked()
    n_selected = constraints.n_selected(wanted, last)
    n_representatives = min(n_selected, len(order))
    picks = order[:n_representatives]
    if options.get("ranks"):
        # Ranks cannot be turned into values: of these a regression of its own is made.
        weighed = np.zeros(n)
        weighed[columns] = host(table.weights)
        rebuild = fit_rebuild(rows.X, columns[picks], weights=weighed, runner=runner)
    else:
        penalty = float(curve.penalties[n_representatives - 1])
        rebuild = rebuild_from(table, picks, penalty, rows.X, runner)
    scores = np.zeros(n)
    scores[columns] = _scores(picker)
    counts = np.zeros(n)
    counts[columns] = host(table.weights)
    scores[last] = 0.0
    return CoverRanking(
        scores=scores,
        last=last,
        order=columns[order],
        gains=np.array(picker.gains),
        n_samples=rows.n_rows,
        weights=counts,
        curve=curve,
        is_subset=judged.is_subset,
        is_settled=judged.is_settled,
        n_selected=n_selected,
        n_representatives=n_representatives,
        closest=closest_picks(table.Z, order).among(columns),
        rebuild=rebuild,
    )


@dataclass(frozen=True, eq=False)
class _Judged:
    curve: Curve
    is_subset: bool
    is_settled: bool

    @property
    def count(self) -> int:
        """How many picks are enough; 0 if that is not known."""
        known = self.is_subset and self.is_settled
        return self.curve.reaching(ENOUGH) if known else 0


def _pick(
    picker: Picker,
    table: FeatureTable,
    limits: tuple[int, bool, bool],
    objective: str,
    runner: TileRunner,
) -> _Judged:
    """Pick, and go on as long as more are needed to say how many are enough."""
    n_picks, until_settled, judges = limits
    alone = TileRunner(1)

    def by_chance(permuted: FeatureTable, k: int) -> Curve:
        n = len(permuted.Z)
        with listening(lambda stage, done, total: None):
            again = Picker(permuted, Constraints.none(n), objective, alone)
            again.go_on(k)
        order = np.array(again.order, np.intp)
        return explain(permuted.Z, permuted.weights, order, alone)

    is_subset: bool | None = None
    while True:
        more = picker.go_on(n_picks)
        order = np.array(picker.order, np.intp)
        curve = explain(table.Z, table.weights, order, runner)
        if is_subset is None:
            is_subset = judges and beats_chance(table, curve, by_chance)
        enough = (1.0 + _BEYOND) * curve.best + _AT_LEAST
        is_settled = not more or len(order) >= enough
        if is_settled or not (until_settled and is_subset) or n_picks >= _MOST:
            return _Judged(curve, is_subset, is_settled)
        n_picks = min(2 * n_picks, _MOST)


def _scores(picker: Picker) -> NDArray[np.float64]:
    """Return scores that fall along the picks, and are lower for all others.

    Each score exceeds the next by more than what counts as equal, so that the order of
    scores is the order of picks.
    """
    scores = picker.remaining()
    scores[scores <= NOTHING] = 0.0  # rounding errors of copies, which rank by column
    # Neighbours may be worse with a further feature, and a later pick may add more.
    fallen = falling(picker.gains, float(np.finfo(np.float64).eps))
    scores = np.minimum(scores, fallen[-1] / STEP)
    scores[picker.order] = fallen
    return scores


class Picker:
    """Picks features so that shares of the table grow most.

    Parameters
    ----------
    table : FeatureTable
        The features, none of them constant.
    constraints : Constraints
        What may be picked.
    objective : {"balanced", "linear", "neighbors"}
        What the shares count.
    runner : TileRunner
        The threads.

    Attributes
    ----------
    order : list of int
        The features picked so far.
    gains : list of float
        What each added: the mean of the shares, each as often as it counts.
    """

    def __init__(
        self,
        table: FeatureTable,
        constraints: Constraints,
        objective: str,
        runner: TileRunner,
    ) -> None:
        self._choice = Choice(constraints)
        self.order = self._choice.order
        self.gains: list[float] = []
        self._runner, self._Z = runner, table.Z
        self._copies = np.zeros(len(table.Z), bool)
        self._counts = np.array(OBJECTIVES[objective])
        with runner.one_blas_thread():
            self._linear = linear_share(table, runner)
            self._nearest = NearestSamples(table, runner) if self._counts[1] else None
        # As if samples drawn at random were the nearest.
        self._error = 1.0 + 1.0 / self._nearest.k if self._nearest else 0.0

    def go_on(self, k: int) -> bool:
        """Pick until there are `k`; return whether more can be picked."""
        # Tiles and candidates are parallel already.
        with self._runner.one_blas_thread():
            while len(self.order) < k:
                if not self._next():
                    return False
                report("picks", len(self.order), k)
        return bool(self._candidates().any())

    def remaining(self) -> NDArray[np.float64]:
        """Return what each feature would add now, neighbors aside."""
        if self._candidates().any():
            self._short_list()
        share = self._counts[0] / self._counts.sum()
        gains = self._linear.gains().clip(min=0.0) * share
        # Copies of picks add nothing but rounding.
        return np.where(self._copies, 0.0, gains)

    def blocked(self) -> NDArray[np.bool_]:
        """Return the features that come after all others; see `Choice`."""
        return self._choice.blocked(self.remaining())

    def _candidates(self) -> NDArray[np.bool_]:
        return self._choice.open & ~self._copies

    def _next(self) -> bool:
        """Pick a feature; return whether there was one."""
        forced = self._choice.forced()
        if self._candidates().any():
            part, gains = self._short_list()
        elif forced is None:
            return False
        if forced is not None:
            part = np.array([forced])
            gains = self._linear.exact_gains(part)
        errors = self._nearest.errors(part) if self._nearest else np.zeros(len(part))
        found = np.stack([gains, self._error - errors])
        best = _first_best(self._worth(found), self._choice.cost[part])
        j, self._error = int(part[best]), float(errors[best])
        for share in (self._linear, self._nearest):
            if share:
                share.add(j)
        self._copies[self._copies_of(j)] = True
        self._choice.pick(j)
        self.gains.append(float(self._counts @ found[:, best] / self._counts.sum()))
        return True

    def _short_list(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the candidates that predict most, in order of column, and their gains.

        The penalty is raised as long as none of them predicts anything.
        """
        part = np.flatnonzero(self._candidates())
        cost = self._choice.cost[part]
        while True:
            worth = _for_cost(self._linear.gains()[part], cost)
            # The sort is stable: of equal ones the first are taken.
            short = part[np.sort(np.argsort(-worth, kind="stable")[:_SHORT])]
            gains = self._linear.exact_gains(short)
            if gains.max() > 0.0 or not self._linear.reconsider():
                return short, gains

    def _copies_of(self, j: int) -> NDArray[np.intp]:
        """Return the features that are copies of feature j, itself included."""
        # Copies differ nowhere by more than the length of their difference.
        z = host(self._Z[j])
        i = int(np.abs(z).argmax())
        near = np.flatnonzero(np.abs(np.abs(host(self._Z[:, i])) - abs(z[i])) <= _APART)
        r = host(abs(self._Z[near] @ self._Z[j]))
        return near[r >= 1.0 - _COPY]

    def _worth(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what candidates are worth: their gains, each share on its own scale.

        The scale is by how much the best of them exceeds the median one. Shares grow
        by different numbers, and this lets the share decide in which they differ.
        """
        spread = gains.max(axis=1) - np.median(gains, axis=1)
        counts = self._counts * [1.0, min(1.0, len(self.order) / _NEAR)]
        scale = np.divide(counts, spread, out=np.zeros(2), where=spread > _FLAT)
        return np.asarray(scale @ gains)


def _for_cost(
    worth: NDArray[np.float64], cost: NDArray[np.float64]
) -> NDArray[np.float64]:
    # A loss divided by a large cost would look small.
    return np.where(worth > 0.0, worth / cost, worth * cost)


def _first_best(worth: NDArray[np.float64], cost: NDArray[np.float64]) -> int:
    """Return the first position of the largest worth for its cost."""
    worth = _for_cost(worth, cost)
    best = worth.max()
    return int(np.argmax(worth >= best - EQUAL * abs(best) - NOTHING))
