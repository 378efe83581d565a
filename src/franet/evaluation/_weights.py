"""Rebuilding examples: each as a weighted sum of the examples of a training part.

Every way to predict all features from a few of them is here a matrix of weights,
test rows × training rows. The weights depend on the few only, the prediction of all
features is then one product. Where there are more examples than features, ridge
regression predicts without that matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.evaluation.kernels import add_squares, kth_smallest

Array = NDArray[np.float64]

N_NEIGHBOURS = 5
# Squared distances that differ by less, relatively, are equal: sums round so much.
_EQUAL = 1e-11
# Weights of which more than this share is not zero are multiplied as a dense matrix.
_DENSE = 0.05
# Squares of values this many powers of two from 1 are far from the limits of a double.
_STEP = 256
# Penalties of ridge regression that are tried, for one example.
_PENALTIES = np.geomspace(1e-4, 1e4, 33)


def sizes_of(X: Array) -> NDArray[np.intp]:
    """Return roughly how large the values of each column are, as exponents of two.

    The mean exponent of the values, zeros aside: not the largest, because a single
    huge value would make all others look equal. In large steps, so that it is 0 for
    whatever squares without harm. Constant columns, which tell no examples apart, are
    as small as can be.
    """
    there = (X != 0) & (X.max(axis=0) > X.min(axis=0))
    total = np.frexp(X)[1].sum(axis=0, where=there, dtype=np.intp)
    steps = np.rint(total / np.maximum(there.sum(axis=0), 1) / _STEP)
    return np.where(there.any(axis=0), _STEP * steps, -1024).astype(np.intp)


def nested_distances(
    test: Array,
    train: Array,
    order: NDArray[np.intp],
    counts: Sequence[int],
    sizes: NDArray[np.intp] | None = None,
) -> Iterator[tuple[int, Array]]:
    """Yield for each count k the squared distances on the first k features.

    Each starts from the one before: all counts together cost as much as the last,
    unless sizes rise. Distances are sums of squared differences, not differences of
    products, so that equal examples have distance 0 and ties stay ties.

    Parameters
    ----------
    test, train : ndarray of shape (·, n)
        The examples.
    order : ndarray of int
        Features, the best first.
    counts : sequence of int
        Rising numbers of features.
    sizes : ndarray of int, optional
        From `sizes_of`, for tables whose squares a double may not hold. Distances are
        then those of features divided by ``2 ** size``, the largest size so far.

    Yields
    ------
    k : int
        The count.
    distances : ndarray of shape (n_test, n_train)
        Changed in place for the next count.
    """
    total = np.zeros((len(test), len(train)))
    done, size = 0, 0
    for k in counts:
        largest = 0 if sizes is None else int(sizes[order[:k]].max())
        if largest != size:
            # Not scaled but begun again: what was too far to tell may be near now.
            total[:] = 0.0
            done, size = 0, largest
        chosen = order[done:k]
        A, B = (_divided(part[:, chosen].T, size) for part in (test, train))
        add_squares(A, B, D=total)
        done = k
        yield k, total


def _divided(X: Array, size: int) -> Array:
    """Return X / 2**size, contiguous; what overflows becomes the largest double."""
    X = np.ascontiguousarray(X)
    if size == 0:
        return X
    with np.errstate(over="ignore"):
        X = np.ldexp(X, -size)
    # Not infinite: equal values differ by 0.
    largest = np.finfo(np.float64).max
    return np.clip(X, -largest, largest)


def neighbour_weights(distances: Array, ties: str) -> Any:
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
    last = np.empty((len(distances), 1))
    kth_smallest(distances, n_near, out=last[:, 0])
    closer = distances < last * (1 - _EQUAL)
    tied = (distances <= last * (1 + _EQUAL)) & ~closer
    left = n_near - closer.sum(axis=1, keepdims=True)
    n_tied = tied.sum(axis=1, keepdims=True)
    if ties == "position":
        if (n_tied > left).any():
            # By column, as each row has its own number of places left.
            tied &= np.cumsum(tied, axis=1) <= left
        weights = np.where(closer | tied, 1 / n_near, 0.0)
    else:
        weights = np.where(tied, left / n_tied, closer) / n_near
    if np.count_nonzero(weights) > _DENSE * weights.size:
        return weights
    return sparse.csr_array(weights)


def ridge_weights(test: Array, train: Array, gram: Array) -> Array:
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
    m = len(train)
    λ, U, inner = _decomposed(test, train)
    along = np.einsum("ij,ij->j", U, gram @ U)
    α = _penalty(λ, along, float(np.trace(gram)), m)
    H = (inner / (λ + α)) @ U.T
    # The intercept: train is centred, so the mean is what the rest leaves out.
    H += (1 - H.sum(axis=1, keepdims=True)) / m
    return np.asarray(H)


def ridge_prediction(test: Array, train: Array, goals: Array) -> Array:
    """Return what the regression of `ridge_weights` predicts, less the mean.

    It takes no matrix of the examples, and is the faster way if there are more of them
    than targets.

    Parameters
    ----------
    test, train : ndarray of shape (·, k)
        The chosen features of the examples, centred on the training part.
    goals : ndarray of shape (n_train, n)
        The targets, centred.

    Returns
    -------
    prediction : ndarray of shape (n_test, n)
        For the targets of `test`, centred as `goals`.
    """
    λ, U, inner = _decomposed(test, train)
    along = U.T @ goals
    α = _penalty(λ, (along**2).sum(axis=1), float((goals**2).sum()), len(train))
    return np.asarray((inner / (λ + α)) @ along)


def _decomposed(test: Array, train: Array) -> tuple[Array, Array, Array]:
    """Return eigenvalues, left singular vectors, and products of `test` with them."""
    m, k = train.shape
    wide = k > m
    λ, V = np.linalg.eigh(train @ train.T if wide else train.T @ train)
    keep = λ > λ[-1] * max(m, k) * np.finfo(np.float64).eps
    λ, V = λ[keep], V[:, keep]
    if wide:
        return λ, V, test @ (train.T @ V)
    return λ, train @ V / np.sqrt(λ), test @ V * np.sqrt(λ)


def _penalty(λ: Array, along: Array, total: float, m: int) -> float:
    """Return the penalty with the smallest generalised cross-validation error."""
    α = m * _PENALTIES[:, None]
    shrunk = λ / (λ + α)
    missed = total - ((1 - (1 - shrunk) ** 2) * along).sum(axis=1)
    free = m - 1 - shrunk.sum(axis=1)  # the intercept takes one
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(free > 0, missed / free**2, np.inf)
    return float(α[np.argmin(error), 0])
