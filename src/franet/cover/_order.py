"""An order of samples and features that depends on what they hold, not on where.

Samples and features are drawn from sorted ones. So shuffled rows and permuted columns
draw the same, and so does a table in other units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover.kernels import hash_columns, hash_rows
from franet.pairs.tiles import TileRunner

# Samples of one block of a table: a copy of it stays small.
_ENTRIES = 2**20
# How often samples and columns are hashed: once is not enough where values are few.
_ROUNDS = 2
# Features standardized at a time.
_FEATURES = 512
# Sums of cubes of features that are not rounding errors.
_SKEWED = 1e-12
# Decimals of numbers of features: fewer than rounding changes.
_DIGITS = 11


def order_by_values(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the samples in an order that only depends on their values.

    Samples and columns are hashed in turn, each value with the hash of the other, so
    that the order of columns does not matter, either: sums of integers are exact in any
    order. Only samples that still tie are ordered by the positions of their values.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table.
    """
    m, n = X.shape
    size = max(_ENTRIES // n, 1)
    parts = [slice(at, at + size) for at in range(0, m, size)]
    places = np.arange(1, n + 1, dtype=np.uint64) << np.uint64(32)
    rows, by_place = np.zeros(m, np.uint64), np.zeros(m, np.uint64)
    # Hashes wrap around, of which NumPy warns where kernels are not compiled.
    with np.errstate(over="ignore"):
        for _ in range(_ROUNDS):
            columns = np.zeros(n, np.uint64)
            for part in parts:
                hash_columns(bits_of(X[part]), rows[part], out=columns)
            rows = np.zeros(m, np.uint64)
            for part in parts:
                hash_rows(bits_of(X[part]), columns, out=rows[part])
        for part in parts:
            hash_rows(bits_of(X[part]), places, out=by_place[part])
    return np.lexsort((by_place, rows))


def bits_of(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of values, by which they are hashed."""
    # A negative zero is a zero.
    return (np.ascontiguousarray(rows, np.float64) + 0.0).view(np.uint64)


def content_keys(Z: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a number for each sample and each feature, from their content.

    Signs do not matter, and copies of a feature have equal numbers; see `feature_keys`.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centered and of unit length.
    """
    features, power = _keys(Z)
    samples = _sum_of_powers(Z, features, power)
    features = np.abs(features)
    return samples, np.round(features / (features.max() or 1.0), _DIGITS)


def feature_keys(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a number for each feature, from its content.

    Neither units nor the order of samples or features matter, rounding aside; with a
    sign the number has the other sign, or the same one where no feature is skewed.
    Numbers are products with the table, or with its squares if no feature is skewed, as
    ranks. A second product separates features that are alike in the first.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centered and of unit length.
    """
    return _keys(Z)[0]


def _keys(Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return numbers of features, and the power of the table that these come from."""
    skew = _products(Z, 3, np.ones(Z.shape[1]))
    if np.abs(skew).max(initial=0.0) > _SKEWED:
        with TileRunner.one_blas_thread():
            return Z @ _sum_of_powers(Z, skew, 1) ** 2, 1
    lengths = _sum_of_powers(Z, np.ones(len(Z)), 2)
    products = _products(Z, 2, lengths - lengths.mean())
    # Of few values many sums are equal, but hardly any of roots.
    return -np.sqrt(np.abs(products)), 2


def _products(
    Z: NDArray[np.float64], power: int, samples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the products of powers of features with a vector."""
    found = np.empty(len(Z))
    for at in range(0, len(Z), _FEATURES):
        part = Z[at : at + _FEATURES]
        found[at : at + _FEATURES] = np.einsum("ji,i->j", part**power, samples)
    return found


def _sum_of_powers(
    Z: NDArray[np.float64], features: NDArray[np.float64], power: int
) -> NDArray[np.float64]:
    """Return the sum of powers of features, each times a number."""
    with TileRunner.one_blas_thread():
        if power == 1:
            return features @ Z
        parts = (slice(at, at + _FEATURES) for at in range(0, len(Z), _FEATURES))
        return np.asarray(sum(features[part] @ Z[part] ** 2 for part in parts))
