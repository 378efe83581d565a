"""Features by their variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import Ranker

__all__ = ["Variance"]

# Columns handled at a time, so that float64 copies stay in the cache.
_CHUNK = 1024


class Variance(Ranker):
    """Rank features by their variance: ``1/m Σ_i (x_ij − mean_j)²``.

    The simplest baseline. It knows nothing of other features, and a change of units
    changes it: it says something only where all features are measured on one scale,
    such as pixels or counts.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The variance of each feature, larger is better; 0 for constant columns.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best. Scores within 1e-9 of each other are equal.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints
    }

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def _score(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            dense = isinstance(X, np.ndarray)
            variance = _dense_variance(X) if dense else _sparse_variance(X)
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


def _sparse_variance(X: Any) -> NDArray[np.float64]:
    m, n = X.shape
    X = X.tocsc()
    values = X.data.astype(np.float64)
    filled = np.diff(X.indptr)
    column = np.repeat(np.arange(n), filled)
    mean = np.bincount(column, values, n) / m
    rest = values - mean[column]
    squares = np.bincount(column, rest * rest, n) + (m - filled) * mean * mean
    return np.asarray(squares / m)
