"""Whether a ranker beats random columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM
from franet.evaluation.statistics import correlated_t_test
from franet.exceptions import UsageError

if TYPE_CHECKING:
    from franet.evaluation.results import Results

__all__ = ["BETTER", "EQUAL", "WORSE", "verdict", "verdicts"]

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


def verdicts(
    results: Results,
    dataset: str,
    at: int,
    measure: str,
    rope: float,
    rankers: Iterable[str],
) -> dict[str, str]:
    """Return the verdict on each ranker that was measured on a table."""
    if RANDOM not in results.rankers:
        raise UsageError("There is no ranking by chance in these results")
    chance = results.values(dataset, RANDOM, at, measure)
    folds = results.of(dataset, RANDOM)
    shares = [r.test_share for r in folds if r.test_share is not None]
    rho = float(np.mean(shares)) if shares else None
    return {
        ranker: verdict(
            results.values(dataset, ranker, at, measure),
            chance,
            lower_is_better=MEASURES[measure].lower_is_better,
            rope=rope,
            rho=rho,
        )
        for ranker in rankers
        if ranker != RANDOM and results.has(dataset, ranker, measure)
    }
