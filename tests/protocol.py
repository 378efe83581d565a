"""The evaluation behind the paper's table: how well 5-NN rebuilds all features.

Ten folds of one seed; a ranking of the training part; five nearest neighbours on its
best features, raw and unscaled, predict all features; the mean absolute error of each
feature relative to its standard deviation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial.distance import cdist

SEED = 123
N_FOLDS = 10
N_NEIGHBOURS = 5


def folds(m: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows of the training part, in shuffled order, and of the test part."""
    rows = list(range(m))
    random.Random(SEED).shuffle(rows)
    parts = np.array_split(rows, N_FOLDS)  # the first ones are longer
    for f, test in enumerate(parts):
        yield np.concatenate(parts[:f] + parts[f + 1 :]), test


def predict(train: np.ndarray, test: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return what five neighbours on the chosen features say about all features."""
    # Differences, not products: ties stay ties, and go by position.
    distance = cdist(test[:, chosen], train[:, chosen], "sqeuclidean")
    near = np.argsort(distance, axis=1, kind="stable")[:, :N_NEIGHBOURS]
    total = train[near[:, 0]].copy()
    for q in range(1, near.shape[1]):
        total += train[near[:, q]]
    return total / near.shape[1]


def rmae(
    X: np.ndarray, rank: Callable[[np.ndarray], np.ndarray], n_chosen: int = 16
) -> float:
    """Return the mean over ten folds; `rank` gives the ranks (1 is best) of columns."""
    σ = X.std(axis=0)
    varied = X.max(axis=0) > X.min(axis=0)
    found = []
    for train, test in folds(len(X)):
        chosen = np.argsort(rank(X[train]), kind="stable")[:n_chosen]
        error = np.abs(predict(X[train], X[test], chosen) - X[test]).mean(axis=0)
        found.append((error[varied] / σ[varied]).mean())
    return float(np.mean(found))
