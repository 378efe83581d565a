"""Rebuilding examples: each as a weighted sum of the examples of a training part.

Every way to predict all features from a few of them is here a matrix of weights,
test rows × training rows. The weights depend on the few only, the prediction of all
features is then one product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.evaluation.kernels import add_squares

__all__ = ["N_NEIGHBOURS", "neighbour_weights", "nested_distances", "ridge_weights"]

N_NEIGHBOURS = 5
# Squared distances that differ by less, relatively, are equal: sums round so much.
_EQUAL = 1e-11
# Weights of which more than this share is not zero are multiplied as a dense matrix.
_DENSE = 0.05
# Penalties of ridge regression that are tried, for one example.
_PENALTIES = np.geomspace(1e-4, 1e4, 33)


def nested_distances(
    test: NDArray[np.float64],
    train: NDArray[np.float64],
    order: NDArray[np.intp],
    counts: Sequence[int],
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield for each count k the squared distances on the first k features.

    Each starts from the one before: all counts together cost as much as the last.
    Distances are sums of squared differences, not differences of products, so that
    equal examples have distance 0 and ties stay ties.

    Parameters
    ----------
    test, train : ndarray of shape (·, n)
        The examples.
    order : ndarray of int
        Features, the best first.
    counts : sequence of int
        Rising numbers of features.

    Yields
    ------
    k : int
        The count.
    distances : ndarray of shape (n_test, n_train)
        Changed in place for the next count.
    """
    total = np.zeros((len(test), len(train)))
    done = 0
    for k in counts:
        chosen = order[done:k]
        A, B = (np.ascontiguousarray(part[:, chosen].T) for part in (test, train))
        add_squares(A, B, D=total)
        done = k
        yield k, total


def neighbour_weights(distances: NDArray[np.float64], ties: str) -> Any:
    """Return the weights of the five nearest neighbours of each row.

    Parameters
    ----------
    distances : ndarray of shape (n_test, n_train)
        Squared distances.
    ties : {"position", "shared"}
        Of the examples that tie at the fifth distance, take the first in the order of
        the training part, or let all share what is left of the weight.

    Returns
    -------
    weights : CSR array or ndarray of shape (n_test, n_train)
        Each row sums to 1. An ndarray where many examples tie.
    """
    n_near = min(N_NEIGHBOURS, distances.shape[1])
    last = np.partition(distances, n_near - 1, axis=1)[:, n_near - 1, None]
    closer = distances < last * (1 - _EQUAL)
    tied = (distances <= last * (1 + _EQUAL)) & ~closer
    left = n_near - closer.sum(axis=1, keepdims=True)
    if ties == "position":
        # By column, as each row has its own number of places left.
        tied &= np.cumsum(tied, axis=1) <= left
        weights = np.where(closer | tied, 1 / n_near, 0.0)
    else:
        share = left / tied.sum(axis=1, keepdims=True)
        weights = np.where(tied, share, closer) / n_near
    if np.count_nonzero(weights) > _DENSE * weights.size:
        return weights
    return sparse.csr_array(weights)


def ridge_weights(
    test: NDArray[np.float64],
    train: NDArray[np.float64],
    gram: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weights of ridge regression with an intercept.

    One penalty for all targets, the one with the smallest generalised
    cross-validation error [1]_ on the training part.

    Parameters
    ----------
    test, train : ndarray of shape (·, k)
        The chosen features of the examples, centred on the training part.
    gram : ndarray of shape (n_train, n_train)
        Inner products of the examples of the training part over all targets, which
        are centred.

    Returns
    -------
    weights : ndarray of shape (n_test, n_train)
        ``weights @ Y`` is what the regression of Y on `train` predicts for `test`.

    References
    ----------
    .. [1] G. H. Golub, M. Heath, G. Wahba (1979), Generalized cross-validation as a
       method for choosing a good ridge parameter.
    """
    m, k = train.shape
    wide = k > m
    λ, V = np.linalg.eigh(train @ train.T if wide else train.T @ train)
    keep = λ > λ[-1] * max(m, k) * np.finfo(np.float64).eps
    λ, V = λ[keep], V[:, keep]
    # Left singular vectors, and what the targets have along each.
    U = V if wide else train @ V / np.sqrt(λ)
    along = np.einsum("ij,ij->j", U, gram @ U)
    α = _penalty(λ, along, float(np.trace(gram)), m)
    inner = test @ (train.T @ U) if wide else test @ V * np.sqrt(λ)
    H = (inner / (λ + α)) @ U.T
    # The intercept: train is centred, so the mean is what the rest leaves out.
    H += (1 - H.sum(axis=1, keepdims=True)) / m
    return np.asarray(H)


def _penalty(
    λ: NDArray[np.float64], along: NDArray[np.float64], total: float, m: int
) -> float:
    """Return the penalty with the smallest generalised cross-validation error."""
    α = m * _PENALTIES[:, None]
    shrunk = λ / (λ + α)
    missed = total - ((1 - (1 - shrunk) ** 2) * along).sum(axis=1)
    free = m - 1 - shrunk.sum(axis=1)  # the intercept takes one
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(free > 0, missed / free**2, np.inf)
    return float(α[np.argmin(error), 0])
