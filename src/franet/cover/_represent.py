"""Which pick stands for which feature, and how much of the table all picks cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet.cover._arrays import Array, host, kernels_of, namespace

__all__ = ["coverage", "represent"]

_BLOCK = 4096


def coverage(Z: Array, order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of the table that the first pick, the first two, … cover.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n, m)
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
        best = kernels_of(Z).running_max((R * R).clip(max=1.0))
        sums += host(best.sum(axis=1))
    return sums / max(len(Z), 1)


def represent(
    Z: Array, picks: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return for each feature the pick that it resembles most, and their correlation.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n, m)
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
    xp = namespace(Z)
    pick, r = np.empty(len(Z), np.intp), np.empty(len(Z))
    for at in range(0, len(Z), _BLOCK):
        R = Z[picks] @ Z[at : at + _BLOCK].T
        best = xp.argmax(xp.round(abs(R), decimals=12), axis=0)
        pick[at : at + _BLOCK] = host(best)
        r[at : at + _BLOCK] = host(R[best, np.arange(R.shape[1])])
    pick[picks], r[picks] = np.arange(len(picks)), 1.0
    return pick, np.clip(r, -1.0, 1.0)
