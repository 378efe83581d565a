"""Features in random order, the control of every comparison."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import Ranker

__all__ = ["RandomRanking"]


class RandomRanking(Ranker):
    """Rank features at random: any order of them is equally likely.

    The control. Random features repeat each other little, so that they are harder to
    beat than one would think; a ranker that does not has found nothing. Only constant
    columns are told apart: they rank last.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        1/n, 2/n, …, 1 in random order; 0 for constant columns. They mean nothing.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best.
    order_ : ndarray of int of shape (n_features_in_,)
        All features, best first.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps.
    n_features_ : int
        How many those are.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Examples
    --------
    >>> from franet.rankers import RandomRanking
    >>> RandomRanking(random_state=0).fit([[1, 0, 5], [2, 4, 5], [3, 9, 5]]).ranking_
    array([1, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _score(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[1]
        scores = (check_random_state(self.random_state).permutation(n) + 1.0) / n
        scores[constant_in(X)] = 0.0
        return np.asarray(scores)
