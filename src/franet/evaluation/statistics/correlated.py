"""The Bayesian correlated t-test on one data set.

G. Corani and A. Benavoli, "A Bayesian approach for comparing cross-validated algorithms
on multiple data sets", Machine Learning 100, 2015.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from franet.evaluation.statistics._check import (
    check_between,
    check_rope,
    check_scores,
)
from franet.exceptions import DataError

__all__ = ["Regions", "correlated_t_test", "differences", "masses"]


class Regions(NamedTuple):
    """Probabilities that the first is better, both are equal, the second is better."""

    first: float
    equal: float
    second: float


def differences(a: Any, b: Any, lower_is_better: bool) -> NDArray[np.float64]:
    """Return by how much the first is better in each fold (data sets × folds)."""
    first = check_scores(a, "a", "fold")
    second = check_scores(b, "b", "fold")
    if first.shape != second.shape:
        raise DataError(
            f"a and b: the shapes are {first.shape} and {second.shape}, but scores "
            "must be of the same data sets and folds"
        )
    if first.shape[1] < 2:
        raise DataError("a and b: there is one fold, but the spread needs at least two")
    return second - first if lower_is_better else first - second


def masses(
    mean: Any,
    scale: Any,
    df: Any,
    rope: float,
) -> NDArray[np.float64]:
    """Return the mass of t distributions above, within and below the rope."""
    above = stdtr(df, (mean - rope) / scale)
    below = stdtr(df, (-rope - mean) / scale)
    return np.stack([above, np.maximum(0.0, 1.0 - above - below), below], axis=-1)


def correlated_t_test(
    a: Any,
    b: Any,
    *,
    rope: float = 0.001,
    rho: float | None = None,
    lower_is_better: bool = True,
) -> Regions:
    """Compare two rankers on the folds of one data set.

    The folds share training data, so their scores are correlated, and the usual t-test
    is too sure. The posterior of the mean difference is a t distribution with the
    variance (1/n + ρ/(1 − ρ))·s².

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of the first and the second ranker, fold by fold.
    rope : float, default=0.001
        Mean differences up to this count as equal.
    rho : float, optional
        The correlation of folds, by default 1/n_folds. After r repetitions of a
        cross-validation with k folds, give 1/k.
    lower_is_better : bool, default=True
        Whether scores are errors.

    Returns
    -------
    regions : Regions
        The posterior probabilities `first`, `equal` and `second`.

    Examples
    --------
    >>> from franet.evaluation.statistics import correlated_t_test
    >>> found = correlated_t_test([0.1, 0.2, 0.1, 0.2], [0.3, 0.3, 0.2, 0.4])
    >>> round(found.first, 3)
    0.978
    """
    first, second = (np.asarray(part, dtype=np.float64)[None] for part in (a, b))
    gap = differences(first, second, lower_is_better)[0]
    n = len(gap)
    rope = check_rope(rope)
    rho = check_between("rho", 1 / n if rho is None else rho, 0.0, 1.0, equal=True)
    mean = gap.mean()
    scale = np.sqrt((1 / n + rho / (1 - rho)) * gap.var(ddof=1))
    if scale == 0:  # the limit: the difference is known
        side = [float(mean > rope), float(abs(mean) <= rope), float(mean < -rope)]
        return Regions(*side)
    return Regions(*masses(mean, scale, n - 1, rope).tolist())
