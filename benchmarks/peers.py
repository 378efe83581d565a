"""Rankers of other libraries, called as ours are; for comparison, not part of franet.

Each function takes a table and a number k, and returns k columns, best first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def standardized(X: np.ndarray) -> np.ndarray:
    """Return centred columns of unit length; constant ones become 0."""
    Z = X - X.mean(axis=0)
    norm = np.sqrt((Z * Z).sum(axis=0))
    return Z / np.where(norm > 0.0, norm, 1.0)


def fastcan(X: np.ndarray, k: int) -> np.ndarray:
    """Return what explains the principal components best, by fastcan."""
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    Z = standardized(X)
    n_targets = max(min(k, *X.shape) - 1, 1)
    targets = PCA(n_targets, random_state=0).fit_transform(Z)
    return FastCan(k, verbose=0).fit(Z, targets).indices_


def skmatter_cur(X: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of a CUR decomposition, by skmatter."""
    from skmatter.feature_selection import CUR

    Z = standardized(X)
    return CUR(n_to_select=k, progress_bar=False).fit(Z).selected_idx_


def skmatter_fps(X: np.ndarray, k: int) -> np.ndarray:
    """Return columns far from each other, by skmatter."""
    from skmatter.feature_selection import FPS

    Z = standardized(X)
    return FPS(n_to_select=k, progress_bar=False, initialize=0).fit(Z).selected_idx_


def agglomeration(X: np.ndarray, k: int) -> np.ndarray:
    """Return the medoid of each of k clusters of features, by scikit-learn."""
    from sklearn.cluster import FeatureAgglomeration

    Z = standardized(X)
    varied = np.flatnonzero((Z != 0.0).any(axis=0))
    Z = Z[:, varied]
    labels = FeatureAgglomeration(k).fit(Z).labels_
    medoids = []
    for label in range(k):
        members = np.flatnonzero(labels == label)
        R = np.abs(Z[:, members].T @ Z[:, members])
        medoids.append((-len(members), varied[members[np.argmax(R.sum(axis=0))]]))
    return np.array([j for _, j in sorted(medoids)])


def skfeature_laplacian(X: np.ndarray, k: int) -> np.ndarray:
    """Return the columns with the best Laplacian score, by scikit-feature."""
    from skfeature.function.similarity_based.lap_score import lap_score

    return lap_score(standardized(X), mode="index")[:k]


def skfeature_mcfs(X: np.ndarray, k: int) -> np.ndarray:
    """Return what spectral regression on five clusters weighs most, by scikit-feature.

    Each regression may use k columns.
    """
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return mcfs(standardized(X), n_selected_features=k, mode="index")[:k]


PEERS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "fastcan on components": fastcan,
    "skmatter CUR": skmatter_cur,
    "skmatter FPS": skmatter_fps,
    "agglomeration + medoid": agglomeration,
    "scikit-feature lap_score": skfeature_laplacian,
    "scikit-feature MCFS": skfeature_mcfs,
}
