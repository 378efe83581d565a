"""Rankers that are not franet's, as estimators."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

sys.path.append(str(Path(__file__).resolve().parents[1]))

# Peers choose so many; what they choose depends on it.
N_CHOSEN = 16


class _Peer(BaseEstimator):
    """Ranks the chosen columns first, the others in their order."""

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

        return fastcan(X, N_CHOSEN)


class CUR(_Peer):
    """The columns of a CUR decomposition, by skmatter."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        from peers import skmatter_cur

        return skmatter_cur(X, N_CHOSEN)


class LastColumns(_Peer):
    """The last columns first: what a collapsed ranking comes down to."""

    def _choose(self, X: np.ndarray) -> np.ndarray:
        return np.arange(X.shape[1])[::-1]
