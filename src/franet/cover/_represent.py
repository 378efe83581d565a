"""Which pick represents each feature, for any number of picks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from franet.cover._arrays import Array, host
from franet.engine.graphs import adjacency

# At which level a correlation with one of all picks is significant.
LEVEL = 0.05
# Features whose correlations with all picks are looked at together.
_WIDE = 4096


def floor_of(n_samples: int, k: int, level: float) -> float:
    """Return the |r| that independent normal samples exceed with probability level/k.

    Infinite for two samples, of which any two features have |r| = 1.
    """
    if n_samples < 3:
        return np.inf
    return float(np.sqrt(beta.isf(level / max(k, 1), 0.5, (n_samples - 2) / 2)))


@dataclass(frozen=True, eq=False)
class Closest:
    """For each feature the picks that resemble it more than all picks before them.

    Attributes
    ----------
    picks : ndarray of int
        The picks, first to last.
    feature, place : ndarray of int
        A feature and the place of such a pick, by feature, and by place then.
    r : ndarray
        Their correlation.
    n_samples : int
        The samples by which it is taken.
    """

    picks: NDArray[np.intp]
    feature: NDArray[np.intp]
    place: NDArray[np.intp]
    r: NDArray[np.float64]
    n_samples: int

    def among(self, columns: NDArray[np.intp]) -> Closest:
        """Return the same for a table of which these columns were looked at."""
        place, r = self.place, self.r
        picks, feature = columns[self.picks], columns[self.feature]
        return Closest(picks, feature, place, r, self.n_samples)

    def represent(self, k: int, level: float, n: int) -> Representatives:
        """Return what represents each of `n` features, of the first k picks."""
        k = min(k, len(self.picks))
        by, r = np.full(n, -1, np.intp), np.full(n, np.nan)
        # Of one feature the last one in order counts, which is the closest.
        held = np.flatnonzero(self.place < k)
        feature = self.feature[held]
        held = held[np.append(feature[1:] != feature[:-1], True)] if k else held[:0]
        floor = floor_of(self.n_samples, k, level)
        held = held[np.abs(self.r[held]) >= floor]
        feature = self.feature[held]
        by[feature], r[feature] = self.picks[self.place[held]], self.r[held]
        own = self.picks[:k]
        by[own], r[own] = own, 1.0
        strongest = np.lexsort((np.arange(n), -np.abs(r)))
        members = {
            int(j): strongest[(by[strongest] == j) & (strongest != j)] for j in own
        }
        return Representatives(by, r, members, floor)


@dataclass(frozen=True, eq=False)
class Representatives:
    """What represents each feature.

    Attributes
    ----------
    representative : ndarray of int
        The pick that resembles each feature most, by position; itself for a pick, -1
        for features that no pick represents.
    correlation : ndarray
        The correlation with it; NaN where there is none.
    members : dict of int to ndarray of int
        For each pick, in order, the other features that it represents, the closest
        first.
    floor : float
        The least |r| at which a pick represents a feature.
    """

    representative: NDArray[np.intp]
    correlation: NDArray[np.float64]
    members: dict[int, NDArray[np.intp]]
    floor: float


def star(found: Representatives) -> Any:
    """Return the network in which features are connected with their representatives.

    Returns
    -------
    adjacency : CSR array of shape (n, n)
        Symmetric; an edge weighs the absolute correlation.
    """
    by = found.representative
    j = np.flatnonzero((by >= 0) & (by != np.arange(len(by))))
    return adjacency(j, by[j], np.abs(found.correlation[j]), len(by))


def closest_picks(Z: Array, picks: NDArray[np.intp]) -> Closest:
    """Return for each feature the picks that resemble it most, so far.

    Parameters
    ----------
    Z : ndarray or tensor of shape (n, m)
        The features as rows, centered and of unit length.
    picks : ndarray of int
        The picks, first to last; of two that are as similar, the earlier one counts.
    """
    features, places, values = [], [], []
    for at in range(0, len(Z), _WIDE):
        R = host(Z[picks] @ Z[at : at + _WIDE].T)
        strength = np.abs(R).round(12)
        before = np.maximum.accumulate(strength[:-1], axis=0)
        is_new = np.ones(R.shape, bool)
        is_new[1:] = strength[1:] > before
        feature, place = is_new.T.nonzero()
        features.append(feature + at)
        places.append(place)
        values.append(R[place, feature])
    return Closest(
        picks,
        np.concatenate(features),
        np.concatenate(places),
        np.concatenate(values).clip(-1.0, 1.0),
        Z.shape[1],
    )
