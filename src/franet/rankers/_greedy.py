"""What the rankers share that pick one feature after another."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet.cover._constraints import Choice
from franet.estimators._constrained import ConstrainedRanker
from franet.estimators._validation import check_table, dense
from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import BaseRanker
from franet.search.ranking import EQUAL, falling


class Picked(NamedTuple):
    """What came of picking.

    Attributes
    ----------
    gains : ndarray
        What each pick added.
    remaining : ndarray of shape (n,)
        What each feature that was not picked would add now.
    total : float
        What all features add at the most.
    unit : float, default=1.0
        What a gain of 1 is worth.
    """

    gains: NDArray[np.float64]
    remaining: NDArray[np.float64]
    total: float
    unit: float = 1.0


class GreedyRanker(ConstrainedRanker, BaseRanker):
    """A base for rankers that pick one feature after another.

    Parameters
    ----------
    n_ranked : int, default=None
        How many features are put in order by picking, at least as many as
        `n_features_to_select` asks for; None: that number, or 64 if it is None. The
        others are ordered by what each alone would add after the last pick.

    Attributes
    ----------
    n_ranked_ : int
        How many features were picked, one after another: fewer than asked for where no
        other feature would add anything.
    gains_ : ndarray of shape (n_ranked_,)
        What each pick added, as it was.
    """

    include: Any = None
    exclude: Any = None
    cost: Any = None
    groups: Any = None
    n_ranked: int | None = None

    def _fit(self, X: Any) -> None:
        table = check_table(self, X)
        n, constant = table.shape[1], constant_in(table)
        allowed = self._allowed(constant)
        n_select = self._n_select(allowed)
        k = self._n_picks(allowed, n_select)
        self._collapsed = self._diagnosis = ""
        columns = np.flatnonzero(~constant)
        choice = Choice(allowed.among(columns))
        nothing = Picked(np.empty(0), np.empty(0), 1.0)
        found = self._pick(dense(table), columns, choice, k) if k else nothing
        scores, last = np.full(n, -1.0), constant.copy()
        if k:
            last[columns] = choice.blocked(found.remaining)
            scores[columns] = _scores(choice.order, found, last[columns])
        self.n_ranked_ = len(choice.order)
        self.gains_ = found.gains * found.unit
        self._set_shares(np.minimum(np.cumsum(found.gains) / found.total, 1.0))
        asked = n_select if isinstance(n_select, int) else None
        n_selected = allowed.n_selected(asked, last)
        self._set_scores(scores, last=last, n_selected=n_selected)
        self._diagnose(barred=last & ~constant)

    @abstractmethod
    def _pick(
        self, X: NDArray[Any], columns: NDArray[np.intp], choice: Choice, k: int
    ) -> Picked:
        """Pick up to `k` of some columns, none of them constant."""

    @abstractmethod
    def _set_shares(self, shares: NDArray[np.float64]) -> None:
        """Keep the share of the table that the first pick, the first two, … have."""


def _scores(
    order: list[int], found: Picked, last: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return scores that fall along the picks, and are lower for all others; last: -1.

    A pick has its gain; or the largest gain after it, where that is larger.
    """
    scores = found.remaining.copy()
    scores[order] = 0.0
    smallest = float(np.finfo(np.float64).eps) * float(found.gains.max(initial=0.0))
    least = max(smallest, float(scores[~last].max(initial=0.0)))
    scores[order] = falling(found.gains.tolist(), least)
    scores[scores > 0.0] *= found.unit
    scores[last] = -1.0
    return scores


def first_best(values: NDArray[np.float64]) -> int:
    """Return the first position whose value equals the largest, up to rounding."""
    best = values.max()
    return int(np.argmax(values >= best - EQUAL * abs(best)))
