"""What the rankers share beside FRANe: one fit, and a look at what came out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from inspect import signature
from numbers import Integral, Real
from typing import Any, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from franet.estimators._base import FeatureRanker
from franet.estimators._parameters import GREEDY, constraints
from franet.estimators._validation import check_table, number_to_select
from franet.exceptions import DegenerateRankingWarning
from franet.search.ranking import tie_groups

# A ranking in which more than this share of the features tie says little.
TIED_SHARE = 0.5

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
# What parameters of more than one ranker may be, by name.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    **FeatureRanker._parameter_constraints,
    **constraints(GREEDY),
    "affinity": [StrOptions({"heat", "binary", "cosine"})],
    "max_iter": [COUNT],
    "n_clusters": [COUNT],
    "n_jobs": [Integral, None],
    "n_neighbors": [COUNT],
    "n_ranked": [None, COUNT],
    "random_state": ["random_state"],
    "standardize": ["boolean"],
    "tol": [NOT_NEGATIVE],
    "width": [StrOptions({"auto"}), POSITIVE],
}


@dataclass_transform(eq_default=False, kw_only_default=True)
@dataclass(eq=False, repr=False)
class BaseRanker(FeatureRanker):
    """A base for rankers whose parameters are the fields of a dataclass.

    A ranker names the constraints of those of its parameters that are not in
    `SHARED_CONSTRAINTS`. It sets `_collapsed` to why what it is built on has collapsed,
    if it has.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    max_iter : int, default=50
        Largest number of iterations.
    tol : float, default=1e-4
        The iteration ends when the vector of scores moves by less than this share of
        its length.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.
    """

    n_features_to_select: int | float | None = field(default=None, kw_only=False)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(eq=False, repr=False, kw_only=True)(cls)
        known = {**SHARED_CONSTRAINTS, **cls._parameter_constraints}
        # Those that it has, in their order; a base for other rankers has none.
        names = [name for name in signature(cls).parameters if name in known]
        if names:
            cls._parameter_constraints = {name: known[name] for name in names}

    def _diagnose(self, barred: NDArray[np.bool_] | None = None) -> None:
        """Warn if the ranking says less than its length suggests.

        Parameters
        ----------
        barred : ndarray of bool, optional
            Features that tie because the user does not want them.
        """
        scores = self.scores_ if barred is None else self.scores_[~barred]
        n = len(scores)
        largest = int(np.bincount(tie_groups(scores)).max())
        if self._collapsed:
            message = self._collapsed
        elif largest > TIED_SHARE * n and n > 2:
            message = (
                f"{largest} of {n} features have the same score; they rank by column."
            )
        elif n > 4 and np.array_equal(
            self.ranking_, np.arange(1, len(self.ranking_) + 1)
        ):
            message = "The ranking is the order of the columns."
        else:
            return
        # Kept before it is said: a warning may be an error, or go unseen.
        self._diagnosis = message
        warnings.warn(message, DegenerateRankingWarning, stacklevel=5)


class Ranker(BaseRanker):
    """A base for rankers that score the columns of a checked table.

    A ranker implements `_score`: a float64 score for each column, larger is better.
    """

    def _fit(self, X: Any) -> None:
        table = check_table(self, X)
        # Before the work, not after it.
        number_to_select(self.n_features_to_select, self.n_features_in_)
        self._collapsed = self._diagnosis = ""
        scores = self._score(table)
        # Constant columns rank last, whatever their score, where they are known.
        self._set_scores(scores, last=getattr(self, "constant_", None))
        self._diagnose()

    @abstractmethod
    def _score(self, X: Any) -> NDArray[np.float64]:
        """Return a score for each column, larger is better."""
