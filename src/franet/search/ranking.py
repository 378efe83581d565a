"""From scores to an order: 1 is best, ties by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["falling", "rank_correlation", "rank_scores", "tie_groups"]

# Scores that differ by less, relative to the larger one, are equal: two-node
# components and twins tie by structure, and solver noise must not order them.
EQUAL = 1e-9
# More than `EQUAL`, so that the larger of two scores counts as larger.
STEP = 1.0 + 10 * EQUAL


def tie_groups(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each score the number of its group of equal scores, 0 the largest."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    new = ordered[:-1] - ordered[1:] > EQUAL * np.abs(ordered[:-1])
    groups = np.empty(len(scores), np.intp)
    groups[order] = np.concatenate([[0], np.cumsum(new)])
    return groups


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Spearman's correlation; 1 if both have one score only, 0 if one has."""
    from scipy.stats import rankdata

    # Equal scores share a rank.
    x, y = (rankdata(-tie_groups(scores)) for scores in (one, other))
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return float(np.ptp(x) == np.ptp(y))
    return float(np.corrcoef(x, y)[0, 1])


def rank_scores(
    scores: NDArray[np.float64],
    last: NDArray[np.bool_] | None = None,
    second: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Return the rank of each feature, a permutation of 1 … n.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Larger is better; equal up to 1e-9 is equal.
    last : ndarray of bool, optional
        Features that rank behind all others (constant columns).
    second : ndarray of shape (n,), optional
        Orders features of equal scores; what still ties ranks by position.
    """
    n = len(scores)
    # The sort is stable: what ties stays by position.
    keys = [tie_groups(some) for some in (second, scores) if some is not None]
    if last is not None:
        keys.append(last.astype(np.intp))
    ranking = np.empty(n, np.intp)
    ranking[np.lexsort(keys)] = np.arange(1, n + 1)
    return ranking


def falling(gains: Sequence[float], least: float) -> NDArray[np.float64]:
    """Return scores of picks, in falling order: the largest gain from there on.

    Parameters
    ----------
    gains : sequence of float
        What each pick added.
    least : float
        What all scores exceed; positive.

    Examples
    --------
    >>> falling([5.0, 3.0, 4.0], 1.0).round(6)
    array([5., 4., 4.])
    """
    scores = np.empty(len(gains))
    for i in reversed(range(len(gains))):
        least = scores[i] = max(least * STEP, gains[i])
    return scores
