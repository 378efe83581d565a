"""Columns made comparable: centred, of unit length, without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Columns handled at a time, so that float64 copies stay small.
_CHUNK = 1024


def constant_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns of a dense table hold one value only (NaN aside)."""
    if X.dtype.kind == "f" and np.isnan(X.min(initial=np.inf)):
        lo = np.where(np.isnan(X), np.inf, X).min(axis=0)
        hi = np.where(np.isnan(X), -np.inf, X).max(axis=0)
        return np.asarray(~(hi > lo))
    # Peak to peak, because variance rounds for constant columns.
    return np.asarray(X.max(axis=0) == X.min(axis=0))


def feature_rows(
    X: NDArray[Any], columns: NDArray[np.intp], n_rows: int, dtype: Any
) -> NDArray[Any]:
    """Return the chosen columns as contiguous rows, padded with zeros to `n_rows`."""
    rows = np.zeros((n_rows, X.shape[0]), dtype)
    for at in range(0, len(columns), _CHUNK):
        part = columns[at : at + _CHUNK]
        rows[at : at + len(part)] = X[:, part].T
    return rows


def powers_of_two(largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return factors, exact in floating point, that bring values to about one."""
    # The exponent of a tiny number's inverse is more than a double can hold.
    return np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1022, 1022))


def standardize(rows: NDArray[np.float64]) -> None:
    """Centre each row in place and scale it to unit length; constant rows become 0.

    A power of two keeps sums and squares from overflowing; the mean
    is subtracted twice, because the first mean of a large offset is itself rounded.
    """
    for at in range(0, len(rows), _CHUNK):
        part = rows[at : at + _CHUNK]
        largest = np.abs(part).max(axis=1, initial=0.0)
        part *= powers_of_two(largest)[:, None]
        for _ in range(2):
            part -= part.mean(axis=1)[:, None]
        spread = np.abs(part).max(axis=1, initial=0.0)
        part /= np.where(spread > 0.0, spread, 1.0)[:, None]
        length = np.sqrt(np.einsum("ji,ji->j", part, part))
        part /= np.where(length > 0.0, length, 1.0)[:, None]
