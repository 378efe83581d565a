"""What greedy rankers share: how many to order, which is best, scores that fall."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.estimators._validation import number_to_select
from franet.search.ranking import EQUAL

__all__ = ["AT_LEAST", "dense", "falling", "first_best", "how_many"]

# So many features are put in order even where fewer are selected.
AT_LEAST = 64
# More than `EQUAL`, so that the next score counts as smaller.
_STEP = 1.0 - 10 * EQUAL


def dense(X: Any) -> NDArray[Any]:
    """Return a checked table as a dense array; a dense one is not copied."""
    return X if isinstance(X, np.ndarray) else X.toarray()


def how_many(n_ranked: int | None, selected: Any, n: int) -> int:
    """Return how many of `n` features a greedy ranker puts in order."""
    if n_ranked is not None:
        return min(n_ranked, n)
    wanted = 0 if selected is None else number_to_select(selected, n)
    return min(max(AT_LEAST, wanted), n)


def first_best(values: NDArray[np.float64]) -> int:
    """Return the first position whose value equals the largest, up to rounding."""
    best = values.max()
    return int(np.argmax(values >= best - EQUAL * abs(best)))


def falling(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positive gains made strictly falling, so that scores tell the order.

    Examples
    --------
    >>> falling(np.array([5.0, 3.0, 4.0])).round(6)
    array([5., 3., 3.])
    """
    steps = _STEP ** np.arange(len(gains))
    return np.minimum.accumulate(gains / steps) * steps
