"""Which pick stands for which feature, and how much of the table all picks cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["coverage", "represent"]

_BLOCK = 4096


def coverage(Z: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of the table that the first pick, the first two, … cover.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centred and of unit length.
    order : ndarray of int
        The picks, first to last.

    Returns
    -------
    coverage : ndarray
        ``Σ_j max_{s ≤ k} r_js² / n`` for k = 1, 2, ….
    """
    sums = np.zeros(len(order))
    for at in range(0, len(Z), _BLOCK):
        R = Z[order] @ Z[at : at + _BLOCK].T
        sums += np.maximum.accumulate(np.minimum(R * R, 1.0), axis=0).sum(axis=1)
    return sums / max(len(Z), 1)


def represent(
    Z: NDArray[np.float64], picks: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return for each feature the pick that it resembles most, and their correlation.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centred and of unit length.
    picks : ndarray of int
        The picks, first to last; of two that are as similar, the earlier one counts.

    Returns
    -------
    pick : ndarray of int
        The position of the pick among `picks`.
    r : ndarray of float
        The correlation with it, with its sign.
    """
    pick, r = np.empty(len(Z), np.intp), np.empty(len(Z))
    for at in range(0, len(Z), _BLOCK):
        R = Z[picks] @ Z[at : at + _BLOCK].T
        pick[at : at + _BLOCK] = np.argmax(np.abs(R).round(12), axis=0)
        r[at : at + _BLOCK] = R[pick[at : at + _BLOCK], np.arange(R.shape[1])]
    pick[picks], r[picks] = np.arange(len(picks)), 1.0
    return pick, np.clip(r, -1.0, 1.0)
