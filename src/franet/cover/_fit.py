"""From a checked table to what `Cover` says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.cover._arrays import Array, host, kernels_of, namespace
from franet.cover._constraints import Choice, Constraints
from franet.cover._rows import Rows
from franet.cover._shares import (
    FeatureTable,
    NearestSamples,
    linear_share,
    make_table,
)
from franet.cover._suggest import Suggestion, suggest
from franet.engine.graphs import adjacency
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
# The most features that are picked to find out how many are needed.
_MOST = 512
# Features whose correlations with all picks are looked at together.
_WIDE = 4096


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
    coverage : ndarray
        The share of the table that the first pick, the first two, … cover.
    suggestion : Suggestion
        How many are enough.
    n_selected : int
        How many are selected.
    n_representatives : int
        How many of the picks represent all features.
    representative : ndarray of int
        The pick that represents each feature; itself for those picks, -1 for
        constant columns.
    representative_corr : ndarray
        The correlation with it; NaN for constant columns.
    """

    scores: NDArray[np.float64]
    last: NDArray[np.bool_]
    order: NDArray[np.intp]
    gains: NDArray[np.float64]
    coverage: NDArray[np.float64]
    suggestion: Suggestion
    n_selected: int
    n_representatives: int
    representative: NDArray[np.intp]
    representative_corr: NDArray[np.float64]


def rank_by_cover(
    rows: Rows,
    constraints: Constraints,
    *,
    n_select: int | str | None,
    n_picks: int,
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
        How many are picked, at least; more if the suggestion asks for it.
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
    suggestion = _pick(picker, table.Z, n_picks, n_select == "auto")
    order = np.array(picker.order, np.intp)
    wanted: Any = n_select
    if n_select == "auto":
        wanted = suggestion.count or len(order)
    n_selected = constraints.n_selected(wanted, n)
    n_representatives = min(n_selected, len(order))
    pick, r = represent(table.Z, order[:n_representatives])
    scores, last = np.zeros(n), rows.constant.copy()
    last[columns] |= picker.blocked()
    scores[columns] = _scores(picker)
    scores[last] = 0.0
    by, correlation = np.full(n, -1, np.intp), np.full(n, np.nan)
    by[columns], correlation[columns] = columns[order[pick]], r
    return CoverRanking(
        scores=scores,
        last=last,
        order=columns[order],
        gains=np.array(picker.gains),
        coverage=coverage(table.Z, order),
        suggestion=suggestion,
        n_selected=n_selected,
        n_representatives=n_representatives,
        representative=by,
        representative_corr=correlation,
    )


def star(ranking: CoverRanking) -> Any:
    """Return the network in which features are connected with their representatives.

    Returns
    -------
    adjacency : CSR array of shape (n, n)
        Symmetric; an edge weighs the absolute correlation.
    """
    by = ranking.representative
    j = np.flatnonzero((by >= 0) & (by != np.arange(len(by))))
    return adjacency(j, by[j], np.abs(ranking.representative_corr[j]), len(by))


def _pick(picker: Picker, Z: Array, n_picks: int, until_settled: bool) -> Suggestion:
    """Pick, and go on as long as more are needed to say how many are enough."""
    while True:
        more = picker.go_on(n_picks)
        suggestion = suggest(Z, np.array(picker.order, np.intp), final=not more)
        if not (until_settled and suggestion.more and n_picks < _MOST):
            return suggestion
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


def coverage(Z: Array, order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of the table that the first pick, the first two, … cover.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n, m)
        The features as rows, centred and of unit length.
    order : ndarray of int
        The picks, first to last.

    Returns
    -------
    coverage : ndarray
        ``Σ_j max_{s ≤ k} r_js² / n`` for k = 1, 2, ….
    """
    sums = np.zeros(len(order))
    for at in range(0, len(Z), _WIDE):
        R = Z[order] @ Z[at : at + _WIDE].T
        best = kernels_of(Z).running_max((R * R).clip(max=1.0))
        sums += host(best.sum(axis=1))
    return sums / max(len(Z), 1)


def represent(
    Z: Array, picks: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return for each feature the pick that it resembles most, and their correlation.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n, m)
        The features as rows, centred and of unit length.
    picks : ndarray of int
        The picks, first to last; of two that are as similar, the earlier one counts.

    Returns
    -------
    pick : ndarray of int
        The position of the pick among `picks`.
    r : ndarray of float
        The correlation with it, with its sign.
    """
    xp = namespace(Z)
    pick, r = np.empty(len(Z), np.intp), np.empty(len(Z))
    for at in range(0, len(Z), _WIDE):
        R = Z[picks] @ Z[at : at + _WIDE].T
        best = xp.argmax(xp.round(abs(R), decimals=12), axis=0)
        pick[at : at + _WIDE] = host(best)
        r[at : at + _WIDE] = host(R[best, np.arange(R.shape[1])])
    pick[picks], r[picks] = np.arange(len(picks)), 1.0
    return pick, np.clip(r, -1.0, 1.0)


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
        if not self._candidates().any():
            return False
        part, gains = self._short_list()
        forced = self._choice.forced()
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
