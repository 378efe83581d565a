"""How good a ranking is without labels: the spread of its scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["QUALITIES", "coefficient_of_variation", "entropy_gap", "gini", "rqh"]

# Qualities that differ by less, relatively, are the same.
EQUAL = 1e-9
# Smaller scores count as this in the denominator of RQH, as in the authors' code.
SMALLEST_SCORE = 1e-10


def rqh(scores: NDArray[np.float64]) -> float:
    """Return the second largest score over the second smallest.

    The ranking quality heuristic of the paper: the medians of the three largest and
    of the three smallest scores. With one or two scores the largest over the
    smallest.
    """
    ordered = np.sort(np.maximum(scores, SMALLEST_SCORE))
    if len(ordered) <= 2:
        return float(ordered[-1] / ordered[0])
    return float(ordered[-2] / ordered[1])


def gini(scores: NDArray[np.float64]) -> float:
    """Return the Gini coefficient of the scores: 0 all equal, near 1 all in one."""
    total = scores.sum()
    if total <= 0.0:
        return 0.0
    n = len(scores)
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float((weights * np.sort(scores)).sum() / (n * total))


def coefficient_of_variation(scores: NDArray[np.float64]) -> float:
    """Return the standard deviation of the scores over their mean."""
    mean = scores.mean()
    return float(scores.std() / mean) if mean > 0.0 else 0.0


def entropy_gap(scores: NDArray[np.float64]) -> float:
    """Return how far the entropy of the scores lies below that of equal scores."""
    total = scores.sum()
    if total <= 0.0:
        return 0.0
    p = scores[scores > 0.0] / total
    return float(np.log(len(scores)) + (p * np.log(p)).sum())


QUALITIES: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "cv": coefficient_of_variation,
    "entropy": entropy_gap,
    "gini": gini,
    "rqh": rqh,
}


def __dir__() -> list[str]:
    return sorted(__all__)
