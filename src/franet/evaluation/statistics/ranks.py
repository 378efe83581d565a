"""Ranks of rankers, and how often each is the best."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from franet.evaluation.statistics._check import check_scores
from franet.exceptions import UsageError

__all__ = ["average_ranks", "ranks", "wins"]

TIES = ("average", "min")
Ties = Literal["average", "min"]


def ranks(
    scores: Any, *, ties: Ties = "average", lower_is_better: bool = True
) -> NDArray[np.float64]:
    """Rank the rankers on each data set; 1 is best.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    ties : {'average', 'min'}, default='average'
        What equal scores get: the mean of their ranks, which the tests assume, or the
        smallest of them, as in the paper on FRANe.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    ranks : ndarray of shape (n_sets, n_rankers)
        The ranks in each row.

    Examples
    --------
    >>> from franet.evaluation.statistics import ranks
    >>> ranks([[0.2, 0.1, 0.2]])
    array([[2.5, 1. , 2.5]])
    """
    if ties not in TIES:
        raise UsageError(f"ties={ties!r}: choose one of {', '.join(TIES)}")
    table = check_scores(scores)
    out = rankdata(table if lower_is_better else -table, method=ties, axis=1)
    return np.asarray(out, dtype=np.float64)


def average_ranks(
    scores: Any, *, ties: Ties = "average", lower_is_better: bool = True
) -> NDArray[np.float64]:
    """Average the ranks of each ranker over the data sets.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    ties : {'average', 'min'}, default='average'
        What equal scores get: the mean of their ranks, which the tests assume, or the
        smallest of them, as in the paper on FRANe.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    ranks : ndarray of shape (n_rankers,)
        The average ranks; 1 is best.

    Examples
    --------
    >>> from franet.evaluation.statistics import average_ranks
    >>> average_ranks([[0.1, 0.2, 0.3], [0.4, 0.4, 0.5]])
    array([1.25, 1.75, 3.  ])
    >>> average_ranks([[0.1, 0.2, 0.3], [0.4, 0.4, 0.5]], ties="min")
    array([1. , 1.5, 3. ])
    """
    table = ranks(scores, ties=ties, lower_is_better=lower_is_better)
    return np.asarray(table.mean(axis=0))


def wins(scores: Any, *, lower_is_better: bool = True) -> NDArray[np.intp]:
    """Count the data sets on which each ranker is the best.

    A win that is shared counts for each of those who share it, so the sum may exceed
    the number of data sets.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    wins : ndarray of shape (n_rankers,)
        The numbers of wins.

    Examples
    --------
    >>> from franet.evaluation.statistics import wins
    >>> wins([[0.1, 0.2, 0.3], [0.4, 0.4, 0.5]])
    array([2, 1, 0])
    """
    place = ranks(scores, ties="min", lower_is_better=lower_is_better)
    return np.asarray((place == 1).sum(axis=0), dtype=np.intp)
