"""Whether a ranker beats random columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet.evaluation.statistics import correlated_t_test

__all__ = ["BETTER", "EQUAL", "WORSE", "verdict"]

BETTER = "better than random"
EQUAL = "no better than random"
WORSE = "worse than random"
_SURE = 0.95


def verdict(
    values: NDArray[np.float64],
    chance: NDArray[np.float64],
    *,
    lower_is_better: bool,
    rope: float,
    rho: float | None,
) -> str:
    """Return how a ranker compares with chance, in words.

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
        A measure of the ranker.
    chance : ndarray of shape (n_folds,)
        The same of random columns on the same folds.
    lower_is_better : bool
        Whether small values are good.
    rope : float
        Differences up to this count as none.
    rho : float or None
        The correlation of folds: the share of the examples in a test part.

    Returns
    -------
    verdict : str
        `BETTER`, `EQUAL` or `WORSE`.
    """
    if len(values) < 2:
        return EQUAL  # one fold proves nothing
    found = correlated_t_test(
        values, chance, rope=rope, rho=rho, lower_is_better=lower_is_better
    )
    if found.first >= _SURE:
        return BETTER
    return WORSE if found.second >= _SURE else EQUAL
