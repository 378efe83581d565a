"""What the rankers share beside FRANe: one fit, and a look at what came out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from franet.estimators._base import FeatureRanker
from franet.estimators._callbacks import telling
from franet.estimators._validation import check_table, fit_context, number_to_select
from franet.exceptions import DegenerateRankingWarning
from franet.search.ranking import tie_groups

__all__ = ["TIED_SHARE", "Ranker"]

# A ranking in which more than this share of the features tie says little.
TIED_SHARE = 0.5


class Ranker(FeatureRanker):
    """A base for rankers that score the columns of a checked table.

    A ranker implements `_score`: a float64 score for each column, larger is better.
    It may call `_collapse` to say that what it is built on has collapsed.
    """

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, SciPy CSR or CSC.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        with telling(self, X, y):
            table = check_table(self, X)
            # Before the work, not after it.
            number_to_select(self.n_features_to_select, self.n_features_in_)
            self._collapsed = self._diagnosis = ""
            self._set_scores(self._score(table))
            self._diagnose()
        return self

    @abstractmethod
    def _score(self, X: Any) -> NDArray[np.float64]:
        """Return a score for each column, larger is better."""

    def _collapse(self, reason: str) -> None:
        self._collapsed = reason

    def _diagnose(self) -> None:
        """Warn if the ranking says less than its length suggests."""
        n = len(self.scores_)
        largest = int(np.bincount(tie_groups(self.scores_)).max())
        if self._collapsed:
            message = self._collapsed
        elif largest > TIED_SHARE * n and n > 2:
            message = (
                f"{largest} of {n} features have the same score; they rank by column."
            )
        elif n > 4 and np.array_equal(self.ranking_, np.arange(1, n + 1)):
            message = "The ranking is the order of the columns."
        else:
            return
        # Kept before it is said: a warning may be an error, or go unseen.
        self._diagnosis = message
        warnings.warn(message, DegenerateRankingWarning, stacklevel=4)
