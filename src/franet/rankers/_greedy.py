"""What greedy rankers share: which feature is best, scores that fall."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet.search.ranking import EQUAL

__all__ = ["falling", "first_best"]

# More than `EQUAL`, so that the next score counts as smaller.
_STEP = 1.0 - 10 * EQUAL


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
