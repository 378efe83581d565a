"""Columns made comparable: centred, of unit length, without overflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Standardisation", "constant_columns", "feature_rows"]

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


@dataclass(frozen=True)
class Standardisation:
    """What turns the rows of a table into centred rows of unit length.

    ``z = ((x * power - mean) - rest) * factor``: a power of two, which is exact,
    keeps sums and squares from overflowing; the mean is subtracted twice, because
    the first mean of a large offset is itself rounded.
    """

    power: NDArray[np.float64]
    mean: NDArray[np.float64]
    rest: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[Any], chunk: int = _CHUNK) -> Standardisation:
        """Measure the rows; constant ones get a factor of 1."""
        parts = [
            cls._measure(rows[at : at + chunk].astype(np.float64))
            for at in range(0, len(rows), chunk)
        ]
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @staticmethod
    def _measure(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        largest = np.abs(rows).max(axis=1, initial=0.0)
        # 2^-1074 … 2^1024 need an exponent that a double itself can hold.
        power = np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1022, 1022))
        rows *= power[:, None]
        mean = rows.mean(axis=1)
        rows -= mean[:, None]
        rest = rows.mean(axis=1)
        rows -= rest[:, None]
        spread = np.abs(rows).max(axis=1, initial=0.0)
        spread[spread == 0.0] = 1.0
        rows /= spread[:, None]
        length = np.sqrt(np.einsum("ji,ji->j", rows, rows)) * spread
        return power, mean, rest, 1.0 / np.where(length > 0.0, length, 1.0)

    def apply(self, rows: NDArray[Any], at: slice) -> NDArray[np.float64]:
        """Return the standardised rows; they stand at `at` of what was measured."""
        Z = rows.astype(np.float64)
        Z *= self.power[at, None]
        Z -= self.mean[at, None]
        Z -= self.rest[at, None]
        Z *= self.factor[at, None]
        return Z
