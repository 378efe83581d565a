"""Whether chains have converged, and how many independent draws they are worth.

A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization,
folding, and localization: an improved R-hat", Bayesian Analysis 16, 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from franet.exceptions import DataError


def r_hat(draws: Any) -> float:
    """Compare the spread between chains with that within them.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws)
        The draws of one quantity.

    Returns
    -------
    r_hat : float
        Rank-normalised split R-hat, for location or for scale, whichever is larger.
        Near 1 if the chains agree; above 1.01 they should not be trusted.
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normal(halves)), _plain_r_hat(_normal(folded)))


def effective_size(draws: Any) -> float:
    """Return how many independent draws would say as much about the middle.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws)
        Draws of one quantity, as for `r_hat`.

    Returns
    -------
    size : float
        The bulk effective sample size.
    """
    x = _normal(_halves(draws))
    m, n = x.shape
    within, total = _variances(x)
    if total == 0:  # all draws are equal: there is nothing to be unsure of
        return float(m * n)
    size = next_fast_len(2 * n)
    spectrum = rfft(x - x.mean(axis=1, keepdims=True), size, axis=1)
    power = irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n]
    autocovariance = (power / (n - 1)).mean(axis=0)
    rho = 1.0 - (within - autocovariance) / total
    rho[0] = 1.0
    # Geyer: sums of neighbours are positive and fall; where not, noise has begun.
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2]
    negative = np.flatnonzero(pairs < 0)
    end = int(negative[0]) if len(negative) else len(pairs)
    tau = -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:end]).sum())
    most = m * n * np.log10(m * n)  # negative correlation helps, but not for ever
    return float(min(m * n / max(tau, 1e-12), most))


def _halves(draws: Any) -> NDArray[np.float64]:
    """Cut each chain in two, so that a drift shows as a difference between chains."""
    x = np.asarray(draws, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < 4:
        raise DataError(
            f"draws: the shape is {x.shape}, but chains of at least 4 draws are needed"
        )
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace values by the normal quantiles of their ranks; heavy tails do no harm."""
    rank = rankdata(x.ravel()).reshape(x.shape)
    return np.asarray(ndtri((rank - 0.375) / (x.size + 0.25)))


def _variances(x: NDArray[np.float64]) -> tuple[float, float]:
    """Return the variance within chains, and that of the whole."""
    n = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1))
    return within, within * (n - 1) / n + between


def _plain_r_hat(x: NDArray[np.float64]) -> float:
    within, total = _variances(x)
    if within == 0:
        return 1.0 if total == 0 else float("inf")
    return float(np.sqrt(total / within))
