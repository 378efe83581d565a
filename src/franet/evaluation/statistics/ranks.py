"""Ranks of rankers, and the tests of Friedman, Nemenyi, and Bonferroni and Dunn.

As in J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
Journal of Machine Learning Research 7, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from franet._common.checked import check_value
from franet.exceptions import DataError

# Ranks are sums of halves over an integer: a difference may miss the critical one by
# rounding only.
ROUNDING = 1e-9
TIES = ("average", "min")
Ties = Literal["average", "min"]


def check_scores(
    scores: Any, what: str = "scores", columns: str = "ranker"
) -> NDArray[np.float64]:
    """Return a table of numbers, one row per data set; name what is missing."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what}: not a table of numbers") from None
    if table.ndim != 2:
        raise DataError(
            f"{what}: the shape is {table.shape}, but a table is needed with a row for "
            f"each data set and a column for each {columns}"
        )
    if not table.size:
        raise DataError(f"{what}: the table is empty, its shape is {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0].tolist()
        more = f" ({len(bad)} such values in all)" if len(bad) > 1 else ""
        raise DataError(
            f"{what}: data set {_name(scores, 'index', i)}, {columns} "
            f"{_name(scores, 'columns', j)} is {table[i, j]}{more}: "
            f"leave out the data set or the {columns}"
        )
    return table


def _name(scores: Any, axis: str, at: int) -> str:
    """Return the label that a data frame has for a row or a column, else its number."""
    labels = getattr(scores, axis, None)
    if labels is None or callable(labels):  # list.index is a method
        return str(at)
    return repr(labels[at])


def check_between(
    name: str, value: float, low: float, high: float, *, equal: bool = False
) -> float:
    """Return a number between two others; the lower one itself where equal."""
    inside = low < value < high or (equal and value == low)  # NaN is not
    least = "at least" if equal else "above"
    check_value(name, value, inside, f"give a number {least} {low}, below {high}")
    return float(value)


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
    check_value("ties", ties, ties in TIES, f"choose one of {', '.join(TIES)}")
    table = check_scores(scores)
    out = stats.rankdata(table if lower_is_better else -table, method=ties, axis=1)
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
        What equal scores get, as in `ranks`.
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


@dataclass(frozen=True, eq=False)
class Friedman:
    """What the test of Friedman found.

    Attributes
    ----------
    statistic : float
        Friedman's χ².
    p_value : float
        The probability of one at least as large, were all rankers the same.
    f_statistic : float
        The statistic of Iman and Davenport, which is less conservative.
    f_p_value : float
        Its probability.
    ranks : ndarray of shape (n_rankers,)
        Average ranks.
    n_sets : int
        Number of data sets.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    ranks: NDArray[np.float64]
    n_sets: int


@dataclass(frozen=True, eq=False)
class PostHoc:
    """What a post-hoc test found.

    Attributes
    ----------
    ranks : ndarray of shape (n_rankers,)
        Average ranks.
    critical_difference : float
        Two average ranks that differ by more than this differ significantly.
    p_values : ndarray of shape (n_rankers, n_rankers)
        Adjusted p-values of pairs; with a control, NaN for pairs without it.
    alpha : float
        The level of the test.
    n_sets : int
        Number of data sets.
    control : int or None
        The ranker that all others are compared with; None if all pairs are compared.
    """

    ranks: NDArray[np.float64]
    critical_difference: float
    p_values: NDArray[np.float64]
    alpha: float
    n_sets: int
    control: int | None = None

    def groups(self) -> list[list[int]]:
        """Return the groups of rankers that do not differ significantly.

        Returns
        -------
        groups : list of list of int
            Columns of rankers, best first. Only groups of two or more that lie in no
            larger one are listed. With a control there is one group: its own.
        """
        if self.control is None:
            return within(self.ranks, self.critical_difference)
        near = np.abs(self.ranks - self.ranks[self.control])
        kept = near <= self.critical_difference + ROUNDING
        order = np.argsort(self.ranks, kind="stable")
        group = [j for j in order.tolist() if kept[j]]
        return [group] if len(group) > 1 else []


def within(mean: NDArray[np.float64], width: float) -> list[list[int]]:
    """Return the largest groups of two or more whose ranks differ by at most width."""
    order = np.argsort(mean, kind="stable")
    place = mean[order]
    out: list[list[int]] = []
    reached = 0
    for first in range(len(place)):
        end = int(np.searchsorted(place, place[first] + width + ROUNDING, "right"))
        if end > reached and end - first > 1:
            out.append(order[first:end].tolist())
        reached = max(reached, end)
    return out


def friedman(
    scores: Any, *, lower_is_better: bool = True, correct_ties: bool = True
) -> Friedman:
    """Test whether all rankers do equally well.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    lower_is_better : bool, default=True
        Whether scores are errors; it turns the ranks round and changes nothing else.
    correct_ties : bool, default=True
        Whether χ² allows for ties. Demšar's formula does not, which is conservative.

    Returns
    -------
    result : Friedman
        Both statistics, their probabilities, and the average ranks.

    Examples
    --------
    >>> from franet.evaluation.statistics import friedman
    >>> result = friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (6.5, 0.039)
    """
    place = ranks(scores, lower_is_better=lower_is_better)
    n, k = place.shape
    _check_two(k)
    middle = (k + 1) / 2
    mean = place.mean(axis=0)
    # The spread of the ranks is k(k² − 1)/12 in a row, less where there are ties.
    spread = float(((place - middle) ** 2).sum()) / (k - 1)
    if not correct_ties:
        spread = n * k * (k + 1) / 12
    chi2 = n**2 * float(((mean - middle) ** 2).sum()) / spread if spread else 0.0
    rest = n * (k - 1) - chi2
    if rest > ROUNDING * n * (k - 1):
        f = (n - 1) * chi2 / rest
        f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))) if n > 1 else 1.0
    else:  # every data set ranks alike
        f, f_p = np.inf, 0.0
    return Friedman(
        chi2, float(stats.chi2.sf(chi2, k - 1)), float(f), f_p, np.asarray(mean), n
    )


def nemenyi(
    scores: Any, *, alpha: float = 0.05, lower_is_better: bool = True
) -> PostHoc:
    """Compare all pairs of rankers by their average ranks.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    alpha : float, default=0.05
        The probability of any false difference, were all rankers the same.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    result : PostHoc
        The critical difference, p-values of pairs, and groups.

    Examples
    --------
    >>> from franet.evaluation.statistics import nemenyi
    >>> found = nemenyi([[1, 2, 3]] * 6)
    >>> round(found.critical_difference, 3), found.groups()
    (1.353, [[0, 1], [1, 2]])
    """
    place = ranks(scores, lower_is_better=lower_is_better)
    return from_ranks(place.mean(axis=0), len(place), alpha=alpha)


def bonferroni_dunn(
    scores: Any, control: int, *, alpha: float = 0.05, lower_is_better: bool = True
) -> PostHoc:
    """Compare all rankers with one of them by their average ranks.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_rankers)
        A score of each ranker on each data set. None may be missing.
    control : int
        The column of the ranker that the others are compared with.
    alpha : float, default=0.05
        The probability of any false difference, were all rankers the same.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    result : PostHoc
        The critical difference, and p-values of pairs with the control.

    Examples
    --------
    >>> from franet.evaluation.statistics import bonferroni_dunn
    >>> found = bonferroni_dunn([[1, 2, 3]] * 6, control=0)
    >>> found.p_values[0].round(4)
    array([1.    , 0.1665, 0.0011])
    """
    place = ranks(scores, lower_is_better=lower_is_better)
    return from_ranks(place.mean(axis=0), len(place), alpha=alpha, control=control)


def from_ranks(
    mean: NDArray[np.float64],
    n_sets: int,
    *,
    alpha: float = 0.05,
    control: int | None = None,
) -> PostHoc:
    """Return the test of average ranks over n_sets: all pairs, or with a control."""
    k = len(mean)
    _check_two(k)
    check_between("alpha", alpha, 0.0, 1.0)
    error = float(np.sqrt(k * (k + 1) / (6.0 * n_sets)))
    if control is None:
        gap = np.abs(mean[:, None] - mean) / error
        p = np.ones((k, k))
        above = np.triu_indices(k, 1)
        p[above] = stats.studentized_range.sf(gap[above] * np.sqrt(2.0), k, np.inf)
        p.T[above] = p[above]
        width = float(stats.studentized_range.isf(alpha, k, np.inf) / np.sqrt(2.0))
        return PostHoc(mean, width * error, p, alpha, n_sets)
    is_column = 0 <= control < k
    check_value("control", control, is_column, f"give a column from 0 to {k - 1}")
    gap = np.abs(mean - mean[control]) / error
    p = np.full((k, k), np.nan)
    p[control] = np.minimum(1.0, 2.0 * (k - 1) * stats.norm.sf(gap))
    p[:, control] = p[control]
    width = float(stats.norm.isf(alpha / (2 * (k - 1))))
    return PostHoc(mean, width * error, p, alpha, n_sets, int(control))


def _check_two(k: int) -> None:
    if k < 2:
        raise DataError(f"scores: there is {k} ranker, a comparison needs two")
