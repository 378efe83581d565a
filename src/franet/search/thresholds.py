"""The progressions of thresholds: from the sparsest graph to the densest.

A progression gives *limits*, ascending: graph ``i`` holds the pairs whose
dissimilarity is at most ``limits[i]``. In terms of similarities ``w = top - d`` the
thresholds descend. End points are data values themselves, not results of arithmetic,
so that the pair that defines one cannot miss it by rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.returned import finite_numbers
from franet.engine._numpy import TileEngine
from franet.engine.measure import Extrema
from franet.exceptions import Setting, UsageError

if TYPE_CHECKING:
    from franet.search.exact import Settings

__all__ = ["lay_limits"]


def lay_limits(
    settings: Settings, engine: Any, extrema: Extrema, top: float
) -> NDArray[np.float64]:
    """Return the limits as the paper defines them, or as the authors' code has them.

    Parameters
    ----------
    settings : Settings
        Its `variant`, `n_thresholds`, and the progression: its name, or a function
        ``f(smallest, largest, n)`` that returns n thresholds in terms of similarities.
    engine : TileEngine or object
        Has the number of features, n, and computes what the extremes do not give: the
        mean and order statistics. Neither is needed for a function, or for
        ``"geometric"``, ``"linear"`` and ``"logspace"``.
    extrema : Extrema
        The extremes of the dissimilarities.
    top : float
        ``w + d``.
    """
    progression, n = settings.thresholds, settings.n_thresholds
    paper, high = settings.variant == "paper", extrema.high
    origin, first = extrema.low, extrema.next_low
    start, zeros = origin, 0
    if not paper:
        # From zero on, and of the full matrix, the zeros of its diagonal included.
        origin, first = 0.0, extrema.next_zero
        start, zeros = first, engine.n
    if callable(progression):
        returned = progression(top - high, top - start, n)
        thresholds = finite_numbers(returned, (n,), "The thresholds function")
        return np.sort(top - thresholds)
    last = high
    match progression:
        case "geometric":
            # The gap to `origin` grows by a constant factor from one limit to the next.
            growth = (high - origin) / (first - origin)
            limits = origin + (first - origin) * growth ** (np.arange(n) / (n - 1))
            return _with_ends(limits, first, high)
        case "logspace":
            # Powers of ten: beyond the data, infinity will do.
            with np.errstate(over="ignore"):
                return origin + np.logspace(first - origin, high - origin, n)
        case "linear-mean":
            last = engine.mean()
            last = last if paper else last * (engine.n - 1) / engine.n
        case "linear-median":
            last = _median(engine, extrema, zeros)
        case "quantile":
            if paper:
                return _quantiles(engine, extrema, np.arange(n) / (n - 1))
            raise UsageError(
                "{} has no reference definition: the authors' code lacks it.",
                Setting("thresholds", "quantile"),
                Setting("variant", "paper"),
                remedy="Use {1}, or another progression.",
            )
    return _with_ends(np.linspace(start, last, n), start, last)


def _with_ends(
    limits: NDArray[np.float64], first: float, last: float
) -> NDArray[np.float64]:
    limits[0], limits[-1] = first, last
    # Rounding may put an inner limit a hair outside the end points. The median of the
    # authors' full matrix may even lie below its smallest non-zero value.
    return np.sort(np.clip(limits, min(first, last), max(first, last)))


def _pair_values(
    engine: TileEngine, extrema: Extrema, ranks: NDArray[np.int64], zeros: int
) -> NDArray[np.float64]:
    """Return order statistics of `zeros` zeros and every pair counted twice."""
    pairs = np.maximum(ranks - zeros, 0) // 2
    # Rounding leaves some values a hair outside the extremes.
    values = engine.order_statistics(
        pairs, extrema.low - extrema.zero, extrema.high + extrema.zero
    )
    values[values <= extrema.low + extrema.zero] = extrema.low
    return np.where(ranks < zeros, 0.0, values)


def _median(engine: TileEngine, extrema: Extrema, zeros: int) -> float:
    size = engine.n * (engine.n - 1) + zeros
    middle = np.array([(size - 1) // 2, size // 2])
    return float(_pair_values(engine, extrema, middle, zeros).mean())


def _quantiles(
    engine: TileEngine, extrema: Extrema, levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return quantiles of the off-diagonal values, linear between neighbours."""
    last = engine.n * (engine.n - 1) - 1
    position = levels * last
    below = np.floor(position).astype(np.int64)
    ranks = np.concatenate([below, np.minimum(below + 1, last)])
    values = _pair_values(engine, extrema, ranks, zeros=0)
    first, second = values[: len(below)], values[len(below) :]
    return first + (second - first) * (position - below)
