"""Rankers that are not franet's, as estimators."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
from general import n_chosen
from sklearn.base import BaseEstimator

sys.path.append(str(Path(__file__).resolve().parents[1]))


class _Peer(BaseEstimator):
    """Ranks the chosen columns first, the others in their order.

    How many are chosen matters: what is chosen depends on it.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        chosen = np.asarray(self._choose(X))
        order = np.concatenate([chosen, np.setdiff1d(np.arange(X.shape[1]), chosen)])
        self.ranking_ = np.argsort(order) + 1
        return self

    def _choose(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class FastCan(_Peer):
    """The fastcan package, with principal components as its targets."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        from peers import fastcan

        return fastcan(X, n_chosen(X.shape[1]))


class CUR(_Peer):
    """The columns of a CUR decomposition, by skmatter."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        from peers import skmatter_cur

        return skmatter_cur(X, n_chosen(X.shape[1]))


class Agglomeration(_Peer):
    """The medoids of scikit-learn's clusters of features."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        from peers import agglomeration

        return agglomeration(X, n_chosen(X.shape[1]))


class LastColumns(_Peer):
    """The last columns first: what a collapsed ranking comes down to."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        return np.arange(X.shape[1])[::-1]
