"""Baselines that know nothing of other features: variance, and chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from franet.pairs.similarity._sparse import constant_in, moments
from franet.rankers._base import Ranker

# Columns handled at a time, so that float64 copies stay in the cache.
_CHUNK = 1024


class RandomRanking(Ranker):
    """Rank features at random: any order of them is equally likely.

    The control. Random features repeat each other little, so that they are harder to
    beat than one would think; a ranker that does not has found nothing. Only constant
    columns are told apart: they rank last.

    Parameters
    ----------
    {n_features_to_select}
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        1/n, 2/n, …, 1 in random order; 0 for constant columns. They mean nothing.
    {attributes}

    Examples
    --------
    >>> from franet.rankers import RandomRanking
    >>> RandomRanking(random_state=0).fit([[1, 0, 5], [2, 4, 5], [3, 9, 5]]).ranking_
    array([1, 2, 3])
    """

    random_state: Any = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[1]
        scores = (check_random_state(self.random_state).permutation(n) + 1.0) / n
        scores[constant_in(X)] = 0.0
        return np.asarray(scores)


class Variance(Ranker):
    """Rank features by their variance: ``1/m Σ_i (x_ij − mean_j)²``.

    The simplest baseline. It knows nothing of other features, and a change of units
    changes it: it says something only where all features are measured on one scale,
    such as pixels or counts.

    Parameters
    ----------
    {n_features_to_select}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The variance of each feature, larger is better; 0 for constant columns.
    {attributes}

    Notes
    -----
    Time is O(m·n); a sparse table stays sparse. A variance beyond the largest float
    is reported as that float.

    Examples
    --------
    >>> from franet.rankers import Variance
    >>> Variance(n_features_to_select=1).fit([[1, 0, 5], [2, 4, 5], [3, 8, 5]]).scores_
    array([ 0.66666667, 10.66666667,  0.        ])
    """

    _relates = False

    def _score(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(X, np.ndarray):
                variance = _dense_variance(X)
            else:
                variance = moments(X.tocsc().astype(np.float64))[1] / X.shape[0]
        variance[constant_in(X)] = 0.0
        largest = np.finfo(np.float64).max
        return np.nan_to_num(variance, nan=largest, posinf=largest)


def _dense_variance(X: NDArray[Any]) -> NDArray[np.float64]:
    variance = np.empty(X.shape[1])
    for at in range(0, X.shape[1], _CHUNK):
        part = X[:, at : at + _CHUNK].astype(np.float64)
        part -= part.mean(axis=0)
        variance[at : at + _CHUNK] = np.einsum("ij,ij->j", part, part) / len(X)
    return variance
