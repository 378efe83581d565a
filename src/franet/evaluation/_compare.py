"""Two rankers over many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from franet.evaluation.statistics import Comparison, hierarchical
from franet.exceptions import UsageError

__all__ = ["compare"]


def compare(
    results_a: Mapping[str, Any],
    results_b: Mapping[str, Any],
    *,
    rope: float = 0.001,
    lower_is_better: bool = True,
    random_state: int = 0,
    **options: Any,
) -> Comparison:
    """Return how probable it is that one ranker is better on the next data set.

    The hierarchical Bayesian correlated t-test over data sets and folds.

    Parameters
    ----------
    results_a, results_b : mapping of str to array-like
        Values of the first and the second ranker, fold by fold, by data set:
        what `Results.scores` returns. Both must have the same data sets and folds.
    rope : float, default=0.001
        Differences up to this count as none.
    lower_is_better : bool, default=True
        Whether small values are good.
    random_state : int, default=0
        Seed of the sampler.
    **options
        More arguments of `franet.evaluation.statistics.hierarchical`.

    Returns
    -------
    comparison : Comparison
        Probabilities, draws, and how well the sampler converged.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.evaluation import compare
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (12, 10))
    >>> a = {f"set {i}": 0.5 + row for i, row in enumerate(noise)}
    >>> b = {name: row[::-1] + 0.1 for name, row in a.items()}
    >>> compare(a, b).p_first > 0.99
    True
    """
    for name, given in (("results_a", results_a), ("results_b", results_b)):
        if not isinstance(given, Mapping):
            raise UsageError(
                f"{name}: give values by data set, as Results.scores returns them"
            )
    odd = sorted(set(results_a) ^ set(results_b))
    if odd:
        raise UsageError(f"Only one of the two has: {', '.join(odd)}. Leave those out.")
    for name in results_a:
        if len(results_a[name]) != len(results_b[name]):
            raise UsageError(f"{name}: the two have different numbers of folds")
    first, second = (
        np.array([np.asarray(given[name], np.float64) for name in results_a])
        for given in (results_a, results_b)
    )
    return hierarchical(
        first,
        second,
        rope=rope,
        lower_is_better=lower_is_better,
        random_state=random_state,
        **options,
    )
