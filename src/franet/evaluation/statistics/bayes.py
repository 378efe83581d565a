"""Bayesian comparisons of two rankers, on one data set and over many.

G. Corani and A. Benavoli, "A Bayesian approach for comparing cross-validated algorithms
on multiple data sets", Machine Learning 100, 2015.

G. Corani, A. Benavoli, J. Demšar, F. Mangili and M. Zaffalon, "Statistical comparison
of classifiers through Bayesian hierarchical modelling", Machine Learning 106, 2017.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from franet._common.checked import check_value
from franet._common.joints import connected
from franet.evaluation.statistics._gibbs import Model, sample
from franet.evaluation.statistics.diagnostics import effective_size, r_hat
from franet.evaluation.statistics.ranks import check_between, check_scores
from franet.exceptions import DataError

QUANTITIES = ("mu", "s", "nu")
_LARGE = ("draws", "regions")
# What Vehtari et al. (2021) advise.
R_HAT_MOST = 1.01
SIZE_LEAST = 400.0
# A spread this small, relative to the scores, is rounding.
ZERO = 1e-12


class Regions(NamedTuple):
    """Probabilities that the first is better, both are equal, the second is better."""

    first: float
    equal: float
    second: float


def _differences(a: Any, b: Any, lower_is_better: bool) -> NDArray[np.float64]:
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


def _check_limits(rope: float, rho: float | None, n_folds: int) -> tuple[float, float]:
    """Return the half width of the region of equivalence, and the correlation."""
    rope = check_between("rope", rope, 0.0, np.inf, equal=True)
    rho = 1 / n_folds if rho is None else rho
    return rope, check_between("rho", rho, 0.0, 1.0, equal=True)


def _masses(mean: Any, scale: Any, df: Any, rope: float) -> NDArray[np.float64]:
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
    gap = _differences(first, second, lower_is_better)[0]
    n = len(gap)
    rope, rho = _check_limits(rope, rho, n)
    mean = gap.mean()
    scale = np.sqrt((1 / n + rho / (1 - rho)) * gap.var(ddof=1))
    if scale == 0:  # the limit: the difference is known
        side = [float(mean > rope), float(abs(mean) <= rope), float(mean < -rope)]
        return Regions(*side)
    return Regions(*_masses(mean, scale, n - 1, rope).tolist())


@dataclass(frozen=True, eq=False)
class Comparison:
    """The posterior of a comparison of two rankers.

    Attributes
    ----------
    p_first : float
        Probability that the first ranker is better by more than the rope on most
        data sets: the share of draws in which this region has the largest mass.
    p_equal : float
        Probability that the difference most likely lies within the rope.
    p_second : float
        Probability that the second ranker is better by more than the rope.
    names : tuple of str
        Names of the two rankers.
    rope : float
        Differences up to this count as equal.
    rho : float
        The correlation of folds.
    n_sets : int
        Number of data sets.
    n_folds : int
        Number of folds.
    draws : dict of ndarray of shape (n_chains, n_draws)
        Draws of `mu` and `s`, the mean and the scale of the differences among data
        sets, and of `nu`, their degrees of freedom. Positive differences mean that the
        first is better. Units are those of the scores.
    regions : ndarray of shape (n_chains * n_draws, 3)
        For each draw, the probabilities that on a further data set the first is better,
        both are equal, the second is better.
    r_hat : dict of float
        R-hat of each quantity; near 1 if the chains agree.
    ess : dict of float
        Effective number of draws of each quantity.
    seconds : float
        What the sampling took.
    """

    p_first: float
    p_equal: float
    p_second: float
    names: tuple[str, str]
    rope: float
    rho: float
    n_sets: int
    n_folds: int
    draws: dict[str, NDArray[np.float64]]
    regions: NDArray[np.float64]
    r_hat: dict[str, float]
    ess: dict[str, float]
    seconds: float

    @property
    def next_set(self) -> Regions:
        """Probabilities of the three regions on one further data set."""
        return Regions(*self.regions.mean(axis=0).tolist())

    def summary(self) -> dict[str, Any]:
        """Return all but the draws, ready for JSON.

        Returns
        -------
        summary : dict
            Probabilities, settings, diagnostics, and quantiles of each quantity.
        """
        levels = (0.05, 0.25, 0.5, 0.75, 0.95)
        chains, length = self.draws["mu"].shape
        found = {name: vars(self)[name] for name in vars(self) if name not in _LARGE}
        quantiles = {
            name: dict(
                zip(map(str, levels), np.quantile(x, levels).tolist(), strict=True)
            )
            for name, x in self.draws.items()
        }
        return {
            **found,
            "names": list(self.names),
            "next_set": list(self.next_set),
            "n_chains": chains,
            "n_draws": chains * length,
            "quantiles": quantiles,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the posterior in a triangle; see `franet.plotting.plot_simplex`.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; without them a figure is made.

        Returns
        -------
        ax : matplotlib axes
            With the picture.
        """
        return connected("plotting").plot_simplex(self, ax=ax)

    def __str__(self) -> str:
        """Say who is better, how surely, and whether the sampling can be trusted."""
        first, second = self.names
        low, middle, high = np.quantile(self.draws["mu"], (0.05, 0.5, 0.95))
        worst, least = max(self.r_hat.values()), min(self.ess.values())
        return (
            f"{first} better: {self.p_first:.3f}, equal (within {self.rope:g}): "
            f"{self.p_equal:.3f}, {second} better: {self.p_second:.3f}\n"
            f"mean advantage of {first} {middle:.4g} (90 % between {low:.4g} and "
            f"{high:.4g}), {self.n_sets} data sets × {self.n_folds} folds\n"
            f"R-hat at most {worst:.3f}, effective draws at least {least:,.0f}, "
            f"{self.seconds:.1f} s"
        )


def hierarchical(
    a: Any,
    b: Any,
    *,
    rope: float = 0.001,
    rho: float | None = None,
    lower_is_better: bool = True,
    names: tuple[str, str] = ("first", "second"),
    n_draws: int = 48_000,
    n_chains: int = 16,
    n_warmup: int = 500,
    random_state: Any = 0,
) -> Comparison:
    """Compare two rankers over data sets and folds, by a hierarchical Bayesian model.

    Parameters
    ----------
    a, b : array-like of shape (n_sets, n_folds)
        Scores of the first and the second ranker on the same folds of the same data
        sets. None may be missing.
    rope : float, default=0.001
        Mean differences on a data set up to this count as equal.
    rho : float, optional
        The correlation of folds, by default 1/n_folds. After r repetitions of a
        cross-validation with k folds, give 1/k.
    lower_is_better : bool, default=True
        Whether scores are errors.
    names : tuple of str, default=('first', 'second')
        Names of the two rankers, for what is printed and drawn.
    n_draws : int, default=48000
        Draws in all; rounded up to a multiple of the chains.
    n_chains : int, default=16
        Number of chains, at least 4, each from its own start.
    n_warmup : int, default=500
        Draws that each chain forgets.
    random_state : int, RandomState instance or None, default=0
        The seed. The same seed gives the same draws.

    Returns
    -------
    comparison : Comparison
        Probabilities, draws and diagnostics.

    Warns
    -----
    ConvergenceWarning
        If R-hat exceeds 1.01 or there are fewer than 400 effective draws.

    Notes
    -----
    A data set on which the difference is the same in all folds has no spread, for which
    the posterior does not exist. It is taken as if folds deviated by rope/√3, or by the
    mean spread of the other sets if that is less; its mean is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.evaluation.statistics import hierarchical
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(0.50, 0.01, (8, 10))
    >>> b = a + rng.normal(0.02, 0.01, (8, 10))
    >>> found = hierarchical(a, b, n_draws=4000)
    >>> round(found.p_first, 2), round(found.p_second, 2)
    (1.0, 0.0)
    """
    gap = _differences(a, b, lower_is_better)
    n_sets, n_folds = gap.shape
    rope, rho = _check_limits(rope, rho, n_folds)
    if n_sets < 2:
        raise DataError(
            "a and b: there is one data set, so nothing to learn how sets differ from; "
            "use correlated_t_test"
        )
    for name, value, least, why in (
        ("n_chains", n_chains, 4, ", to compare them"),
        ("n_draws", n_draws, 4 * n_chains, f", 4 for each of the {n_chains} chains"),
        ("n_warmup", n_warmup, 0, ""),
    ):
        check_value(name, value, value >= least, f"give at least {least}{why}")
    start = perf_counter()
    seed = check_random_state(random_state).randint(2**31 - 1)
    size = np.maximum(np.abs(np.asarray(a)), np.abs(np.asarray(b)))
    model, unit = _scaled(gap, size, rho, rope)
    length = -(-n_draws // n_chains)
    rng = np.random.default_rng(seed)
    mu, s, nu = sample(model, n_chains, n_warmup, length, rng)
    regions = _masses(mu.ravel(), s.ravel(), nu.ravel(), rope / unit)
    largest = np.bincount(regions.argmax(axis=1), minlength=3) / len(regions)
    first, equal, second = largest.tolist()
    draws = {"mu": mu * unit, "s": s * unit, "nu": nu}
    seconds = perf_counter() - start
    hats = {name: r_hat(draws[name]) for name in QUANTITIES}
    sizes = {name: effective_size(draws[name]) for name in QUANTITIES}
    _warn(hats, sizes)
    return Comparison(
        p_first=first,
        p_equal=equal,
        p_second=second,
        names=(str(names[0]), str(names[1])),
        rope=rope,
        rho=rho,
        n_sets=n_sets,
        n_folds=n_folds,
        draws=draws,
        regions=regions,
        r_hat=hats,
        ess=sizes,
        seconds=seconds,
    )


def _scaled(
    gap: NDArray[np.float64], size: NDArray[np.float64], rho: float, rope: float
) -> tuple[Model, float]:
    """Return the model in units of the mean spread within data sets, and the unit."""
    mean, std = gap.mean(axis=1), gap.std(axis=1)
    same = std <= ZERO * size.max(axis=1)
    if same.any():
        choices = [rope / np.sqrt(3.0)] if rope > 0 else []
        if not same.all():
            choices.append(float(std[~same].mean()))
        if not choices:
            raise DataError(
                "a and b: on every data set the difference is the same in all folds; "
                "give rope > 0, which then serves as the spread"
            )
        std = np.where(same, min(choices), std)
    unit = float(std.mean())
    most = float(np.abs(gap).max()) / unit
    return Model(mean / unit, std / unit, gap.shape[1], rho, most), unit


def _warn(hats: dict[str, float], sizes: dict[str, float]) -> None:
    bad = [
        f"{name} (R-hat {hats[name]:.3f}, {sizes[name]:.0f} effective draws)"
        for name in QUANTITIES
        if not (hats[name] <= R_HAT_MOST and sizes[name] >= SIZE_LEAST)
    ]
    if bad:
        warnings.warn(
            f"The chains have not converged for {', '.join(bad)}: "
            "raise n_draws and n_warmup",
            ConvergenceWarning,
            stacklevel=3,
        )
