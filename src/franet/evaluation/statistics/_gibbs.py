"""Draws from the posterior of the hierarchical correlated t-test.

The model, for fold k of data set i::

    x_i ~ N(δ_i·1, σ_i²·M)    M has 1 on the diagonal and ρ elsewhere
    δ_i ~ t(ν; μ, s)          σ_i uniform on (0, sigma_most)
    μ uniform on ±bound,      s uniform on (0, s_most)
    ν − 1 ~ Gamma(α, β)       α uniform on (1, 2), β uniform on (0.01, 0.1)

The t distribution is a mixture of normals, δ_i ~ N(μ, s²/λ_i), so that each step has a
known form but those for ν and s. These two are slice-sampled, after whatever ties them
down has been integrated out: λ for ν, all δ_i and μ for s. All chains run side by side:
arrays have a row for each chain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaln, ndtr, ndtri

Array = NDArray[np.float64]

ALPHA = (1.0, 2.0)
BETA = (0.01, 0.1)
# Bounds of the uniform priors, in spreads of the data.
FAR = 1000.0
# The smallest s, in units of its bound: what lies below has no mass.
LEAST = 1e-15
# A slice shrinks by about half each time; this often, nothing is left of it.
SHRINKS = 200
STEPS = 100


class Model:
    """What the data say, and the bounds of the priors.

    Parameters
    ----------
    mean, std : ndarray of shape (n_sets,)
        Mean and population deviation of the differences on each data set.
    n_folds : int
        Number of folds.
    rho : float
        The correlation of folds.
    most : float
        The largest difference.

    Attributes
    ----------
    mean : ndarray of shape (n_sets,)
        Mean difference on each data set.
    squares : ndarray of shape (n_sets,)
        Squared deviations from it, summed over folds, over 1 − ρ.
    n_folds : int
        Number of folds.
    share : float
        Variance of a mean over that of a fold: (1 + (n − 1)ρ)/n.
    bound, s_most, sigma_most : float
        Bounds of μ, s and the σ_i.
    s_start : float
        About where s is.
    """

    def __init__(
        self, mean: Array, std: Array, n_folds: int, rho: float, most: float
    ) -> None:
        within = float(std.mean())
        self.mean = mean
        self.squares = n_folds * std**2 / (1.0 - rho)
        self.n_folds = n_folds
        self.share = (1.0 + (n_folds - 1.0) * rho) / n_folds
        self.bound = most if most > 0 else float(std.max())
        # Where all means are equal the spread among them says nothing about the bound.
        self.s_start = max(float(mean.std()), within / FAR)
        self.s_most = FAR * self.s_start
        self.sigma_most = FAR * within


@lru_cache(maxsize=1)
def degrees_prior() -> tuple[Array, Array]:
    """Return the prior of ν as a table: probabilities, and log(ν − 1) at them."""
    node, weight = leggauss(24)
    alpha, beta = (
        (high + low) / 2 + (high - low) / 2 * node for low, high in (ALPHA, BETA)
    )
    log = np.linspace(-25.0, np.log(60.0 / BETA[0]), 4001)
    scaled = beta[:, None] * np.exp(log)
    share = np.zeros_like(log)
    for a, w in zip(alpha, weight, strict=True):
        share += w / 4.0 * (weight @ gammainc(a, scaled))
    return share, log


def sample(
    model: Model, n_chains: int, n_warmup: int, n_draws: int, rng: np.random.Generator
) -> Array:
    """Return draws of μ, s and ν, as an array (3, n_chains, n_draws)."""
    chains = _Chains(model, n_chains, rng)
    out = np.empty((3, n_chains, n_draws))
    for step in range(-n_warmup, n_draws):
        chains.step()
        if step >= 0:
            out[:, :, step] = chains.mu, chains.s, chains.nu
    return out


class _Chains:
    """The state of all chains."""

    def __init__(self, model: Model, n_chains: int, rng: np.random.Generator) -> None:
        self.model = model
        self.rng = rng
        far = float(np.abs(model.mean).max())
        self.mu = rng.uniform(-1.0, 1.0, n_chains) * min(far, model.bound)
        self.s = model.s_start * np.exp(rng.uniform(-2.0, 2.0, n_chains))
        self.u = rng.random(n_chains)
        self.nu = _degrees(self.u)
        # Between the data and μ: chains start with much shrinking, or with little.
        pull = rng.random((n_chains, 1))
        self.delta = pull * model.mean + (1.0 - pull) * self.mu[:, None]

    def step(self) -> None:
        """Draw every unknown once, given the others."""
        squared = ((self.delta - self.mu[:, None]) / self.s[:, None]) ** 2
        self._draw_degrees(squared)
        half = (self.nu[:, None] + 1.0) / 2.0
        shape = squared.shape
        weight = self.rng.standard_gamma(half, shape)
        weight *= 2.0 / (self.nu[:, None] + squared)
        noise = self.model.share * self._draw_variances()
        self._draw_scale_and_mean(1.0 / weight, noise)
        tie = weight / (self.s**2)[:, None]
        precision = 1.0 / noise + tie
        middle = (self.model.mean / noise + tie * self.mu[:, None]) / precision
        spread = 1.0 / np.sqrt(precision)
        self.delta = middle + spread * self.rng.standard_normal(shape)

    def _draw_degrees(self, squared: Array) -> None:
        """Draw ν given δ, μ and s; in the space of u its prior is flat."""
        q = squared.shape[1]

        def log_density(u: Array) -> Array:
            nu = _degrees(u)
            half = (nu + 1.0) / 2.0
            constant = gammaln(half) - gammaln(nu / 2.0) - 0.5 * np.log(nu)
            tails: Array = np.log1p(squared / nu[:, None]).sum(axis=1)
            return np.asarray(q * constant - half * tails)

        level = log_density(self.u) - self.rng.standard_exponential(len(self.u))
        low, high = np.zeros_like(self.u), np.ones_like(self.u)
        self.u = _shrink(log_density, self.u, level, low, high, self.rng)
        self.nu = _degrees(self.u)

    def _draw_variances(self) -> Array:
        """Draw σ² given δ: 1/σ² has a gamma distribution, cut off at its bound."""
        model = self.model
        half = (model.squares + (model.mean - self.delta) ** 2 / model.share) / 2.0
        shape = (model.n_folds - 1) / 2.0
        g = self.rng.standard_gamma(shape, half.shape)
        least = half / model.sigma_most**2
        cut = g < least
        if cut.any():
            tail = gammaincc(shape, least[cut]) * self.rng.random(int(cut.sum()))
            # No tail is left in floating point: all of it lies at the bound.
            g[cut] = np.where(tail > 0, gammainccinv(shape, tail), least[cut])
        return np.asarray(half / g)

    def _draw_scale_and_mean(self, stretch: Array, noise: Array) -> None:
        """Draw s given λ and σ, then μ given s: both without δ."""
        model, rng = self.model, self.rng

        def parts(log_s: Array) -> tuple[Array, Array, Array, Array, Array]:
            """Return precisions of means, and the truncated normal of μ."""
            precision = 1.0 / (np.exp(2.0 * log_s)[:, None] * stretch + noise)
            total = precision.sum(axis=1)
            middle = (precision @ model.mean) / total
            root = np.sqrt(total)
            low = ndtr((-model.bound - middle) * root)
            high = ndtr((model.bound - middle) * root)
            return precision, middle, root, low, high

        def log_density(log_s: Array) -> Array:
            precision, middle, root, low, high = parts(log_s)
            misfit = (precision * (model.mean - middle[:, None]) ** 2).sum(axis=1)
            fit = 0.5 * (np.log(precision).sum(axis=1) - misfit)
            # The last term turns a density of s into one of log s.
            return np.asarray(fit - np.log(root) + np.log(high - low) + log_s)

        most = np.log(model.s_most)
        log_s = _slice(log_density, np.log(self.s), most + np.log(LEAST), most, rng)
        self.s = np.exp(log_s)
        _, middle, root, low, high = parts(log_s)
        share = low + (high - low) * rng.random(len(low))
        mu = middle + ndtri(share) / root
        self.mu = np.clip(mu, -model.bound, model.bound)


def _degrees(u: Array) -> Array:
    share, log = degrees_prior()
    return 1.0 + np.exp(np.interp(u, share, log))


def _slice(
    log_density: Callable[[Array], Array],
    x: Array,
    least: float,
    most: float,
    rng: np.random.Generator,
) -> Array:
    """Return a step of slice sampling, stepping out by 1 (Neal 2003)."""
    level = log_density(x) - rng.standard_exponential(len(x))
    start = x - rng.random(len(x))
    ends = []
    for side, bound in ((-1.0, least), (1.0, most)):
        end = np.clip(start + max(side, 0.0), least, most)
        for _ in range(STEPS):
            out = (end != bound) & (log_density(end) > level)
            if not out.any():
                break
            end = np.where(out, np.clip(end + side, least, most), end)
        ends.append(end)
    low, high = ends
    return _shrink(log_density, x, level, low, high, rng)


def _shrink(
    log_density: Callable[[Array], Array],
    x: Array,
    level: Array,
    low: Array,
    high: Array,
    rng: np.random.Generator,
) -> Array:
    """Draw from intervals around x until each draw lies above its level."""
    out = x.copy()
    left = np.ones(len(x), dtype=bool)
    for _ in range(SHRINKS):
        drawn = low + (high - low) * rng.random(len(x))
        found = left & (log_density(drawn) >= level)
        out[found] = drawn[found]
        left &= ~found
        if not left.any():
            break
        below = drawn < x
        low = np.where(below, drawn, low)
        high = np.where(below, high, drawn)
    return out
