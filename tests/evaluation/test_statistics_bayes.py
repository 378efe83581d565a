"""The hierarchical test: against Stan's draws, and against sums over a grid."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats
from sklearn.exceptions import ConvergenceWarning

from data import reference_dir
from franet.evaluation.statistics import (
    Comparison,
    _gibbs,
    effective_size,
    hierarchical,
)
from franet.exceptions import DataError, UsageError

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def small(seed=0, sets=6, folds=5, shift=0.02):
    rng = np.random.default_rng(seed)
    a = rng.normal(0.5, 0.05, (sets, folds))
    return a, a + rng.normal(shift, 0.02, (sets, folds))


def quick(a, b, **settings):
    """Compare with few draws, of which few are forgotten."""
    sizes = {"n_draws": 4000, "n_chains": 40, "n_warmup": 100}
    return hierarchical(a, b, **{**sizes, **settings})


def surprise(draws, point, share):
    """Return by how many standard errors draws below a point miss their share."""
    below = (draws < point).astype(float)
    error = np.sqrt(share * (1 - share) / effective_size(below))
    return (below.mean() - share) / error


# Against Stan


@pytest.fixture(scope="module")
def stan():
    folder = reference_dir()
    path = folder / "bayes" if folder else None
    if path is None or not path.exists():
        pytest.skip("no draws of Stan here: set FRANET_DATA")
    with np.load(path / "scores.npz") as scores, np.load(path / "stan_draws.npz") as d:
        return scores["x"], scores["y"], dict(d)


@pytest.fixture(scope="module")
def compared(stan):
    return hierarchical(*stan[:2])


def test_probabilities_of_stan(compared):
    found = compared.p_first, compared.p_equal, compared.p_second
    assert found == pytest.approx((0.954, 0.0, 0.046), abs=0.01)
    assert sum(found) == pytest.approx(1.0)


def test_regions_of_stan(stan, compared):
    x, y, draws = stan
    unit = np.std(y - x, axis=1).mean()
    posterior = stats.t(draws["nu"], draws["mu"] * unit, draws["s"] * unit)
    above, below = posterior.sf(0.001), posterior.cdf(-0.001)
    expected = np.mean([above, 1 - above - below, below], axis=1)
    assert compared.next_set == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("name", ["mu", "s", "nu"])
def test_quantiles_of_stan(stan, compared, name):
    """They agree within the Monte-Carlo errors of both."""
    x, y, draws = stan
    unit = 1.0 if name == "nu" else np.std(y - x, axis=1).mean()
    ours = compared.draws[name] / unit
    for level in LEVELS:
        point = np.quantile(draws[name], level)
        below = (ours < point).astype(float)
        theirs = (draws[name] < point).astype(float)
        # In which order the chains of Stan were written down is not known.
        size = min(
            effective_size(theirs.reshape(4, -1)),
            effective_size(theirs.reshape(-1, 4).T),
        )
        variance = level * (1 - level) * (1 / size + 1 / effective_size(below))
        assert abs(below.mean() - level) < 4 * np.sqrt(variance)
        assert np.sqrt(variance) < 0.01


def test_it_converges(compared):
    assert max(compared.r_hat.values()) < 1.01
    assert min(compared.ess.values()) > 3000
    assert compared.seconds > 0


# Against sums over a grid, where everything but μ, s and ν is integrated out


class Grid:
    """The posterior of a small table with 5 folds, cell by cell; slow and literal."""

    def __init__(self, x, rho, far):
        self.x, self.rho = x, rho
        within, among = x.std(axis=1).mean(), x.mean(axis=1).std()
        self.bound = np.abs(x).max()
        self.sigma_most = far * within
        most = far * among
        self.mu = self._middles(-self.bound, self.bound, 40)
        self.log_s = self._middles(np.log(among) - 8, np.log(most), 64)
        self.log_nu = self._middles(np.log(1e-3), np.log(4000), 48)

    @staticmethod
    def _middles(low, high, n):
        edges = np.linspace(low, high, n + 1)
        return (edges[1:] + edges[:-1]) / 2

    def likelihood(self, i, delta):
        """Return the density of the folds of a set, but for a factor, without σ.

        For n = 5 folds and Q the quadratic form, the integral over σ up to its bound
        is Q⁻²·Γ(2, Q/2σ²), and Γ(2, z) = (1 + z)·exp(−z).
        """
        x = self.x[i]
        n = len(x)
        assert n == 5
        deviation = ((x - x.mean()) ** 2).sum() / (1 - self.rho)
        share = (1 + (n - 1) * self.rho) / n
        q = deviation + (x.mean() - delta) ** 2 / share
        z = q / (2 * self.sigma_most**2)
        return q**-2 * (1 + z) * np.exp(-z)

    def marginal(self, i, mu, s, nu, n=48):
        """Return the likelihood of a set given μ, s and ν, without δ.

        The product of two peaks is split between nodes at the one and at the other,
        each by the quantiles of a Cauchy distribution.
        """
        x = self.x[i]
        share = (1 + (len(x) - 1) * self.rho) / len(x)
        width = np.sqrt(share / (1 - self.rho) * ((x - x.mean()) ** 2).sum())
        node = np.tan(np.pi * ((np.arange(n) + 0.5) / n - 0.5))
        peaks = ((x.mean(), width), (mu, s))
        total = 0.0
        for k, (centre, scale) in enumerate(peaks):
            delta = centre + scale * node
            heights = [w / (w**2 + (delta - c) ** 2) / np.pi for c, w in peaks]
            part = heights[k] / (heights[0] ** 2 + heights[1] ** 2)
            log_t = -(nu + 1) / 2 * np.log1p(((delta - mu) / s) ** 2 / nu)
            value = np.exp(log_t) * self.likelihood(i, delta) * part
            total = total + value.mean(axis=-1)
        log_constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2)
        constant = np.exp(log_constant) / np.sqrt(nu * np.pi) / s
        return total * constant[..., 0]

    def degrees_prior(self):
        """Return the density of log(ν − 1), α and β integrated out."""
        alpha, beta = self._middles(1, 2, 60), self._middles(0.01, 0.1, 400)
        v = np.exp(self.log_nu)[:, None, None]
        density = stats.gamma.pdf(v, alpha[:, None], scale=1 / beta)
        return density.mean(axis=(1, 2)) * v[:, 0, 0]

    def weights(self):
        """Return the mass of each cell (μ, s, ν)."""
        out = np.empty((len(self.mu), len(self.log_s), len(self.log_nu)))
        nu = 1 + np.exp(self.log_nu)[:, None]
        s = np.exp(self.log_s)[:, None, None]
        for i, mu in enumerate(self.mu):
            sets = [self.marginal(k, mu, s, nu) for k in range(len(self.x))]
            out[i] = np.prod(sets, axis=0) * s[:, 0]
        out *= self.degrees_prior()
        return out / out.sum()


X4 = np.random.default_rng(8).normal([[0.3], [1.0], [-0.4], [0.8]], 0.5, (4, 5))


def test_the_grid_integrates():
    grid = Grid(X4, 0.2, 1000.0)
    for mu, s, nu in ((0.1, 0.8, 3.0), (1.0, 0.02, 40.0), (-0.5, 30.0, 1.2)):
        for i in range(4):
            found = grid.marginal(i, mu, s, np.array([[nu]]))[0]

            def integrand(delta, i=i, mu=mu, s=s, nu=nu):
                return stats.t.pdf(delta, nu, mu, s) * grid.likelihood(i, delta)

            middle = sorted([mu, X4[i].mean()])
            ends = (-np.inf, *middle, np.inf)
            exact = sum(
                integrate.quad(integrand, a, b, epsabs=0, limit=400)[0]
                for a, b in pairwise(ends)
            )
            assert found == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("far", [1000.0, 2.0])
def test_draws_against_the_grid(far, monkeypatch):
    """Twice: with bounds that hardly matter, and with bounds that cut everything."""
    monkeypatch.setattr(_gibbs, "FAR", far)
    found = hierarchical(np.zeros_like(X4), X4, rope=0.1, n_draws=32_000)
    grid = Grid(X4, 0.2, far)
    weights = grid.weights()
    values = (grid.mu, grid.log_s, grid.log_nu)
    drawn = (
        found.draws["mu"],
        np.log(found.draws["s"]),
        np.log(found.draws["nu"] - 1),
    )
    for axis, (cells, draws) in enumerate(zip(values, drawn, strict=True)):
        others = tuple({0, 1, 2} - {axis})
        share = weights.sum(axis=others).cumsum()
        edges = cells + (cells[1] - cells[0]) / 2
        for level in LEVELS:
            at = int(np.abs(share[:-1] - level).argmin())
            assert abs(surprise(draws, edges[at], share[at])) < 4


# What comes back


def test_the_same_seed_gives_the_same_draws():
    first, second, other = (quick(*small(), random_state=seed) for seed in (3, 3, 4))
    for name in ("mu", "s", "nu"):
        np.testing.assert_array_equal(first.draws[name], second.draws[name])
        assert (first.draws[name] != other.draws[name]).any()
    state = np.random.RandomState(3)
    again = quick(*small(), random_state=state)
    np.testing.assert_array_equal(first.draws["mu"], again.draws["mu"])


def test_who_is_first():
    a, b = small()
    found = quick(a, b)
    assert found.p_first > 0.9
    assert quick(b, a).p_second > 0.9
    assert quick(a, b, lower_is_better=False).p_second > 0.9
    assert np.median(found.draws["mu"]) == pytest.approx(0.02, abs=0.01)


def test_units():
    """Scores in per cent, with a rope in per cent, say the same."""
    a, b = small()
    one = quick(a, b)
    hundred = quick(100 * a, 100 * b, rope=0.1)
    assert one.p_first == hundred.p_first
    np.testing.assert_allclose(100 * one.draws["s"], hundred.draws["s"], rtol=1e-6)


def test_the_rope_widens():
    a, b = small()
    shares = [quick(a, b, rope=r).p_equal for r in (0, 0.01, 1)]
    assert shares[0] == 0.0
    assert shares[2] == 1.0
    assert sorted(shares) == shares


def test_more_correlation_less_certainty():
    a, b = small(sets=3)
    loose, tight = (np.std(quick(a, b, rho=rho).regions[:, 0]) for rho in (0.8, 0.0))
    assert loose > tight


def test_the_summary_is_json():
    found = quick(*small(), n_draws=4010, names=("FRANe", "random"))
    summary = json.loads(json.dumps(found.summary()))
    assert summary["names"] == ["FRANe", "random"]
    assert summary["n_draws"] == 4040  # the next multiple of 40 chains
    assert (summary["n_sets"], summary["n_folds"]) == (6, 5)
    assert summary["rho"] == 0.2
    median = summary["quantiles"]["mu"]["0.5"]
    assert median == pytest.approx(np.median(found.draws["mu"]))
    assert sum(summary["next_set"]) == pytest.approx(1.0)
    assert set(summary["r_hat"]) == set(summary["ess"]) == {"mu", "s", "nu"}
    text = str(found)
    assert text.startswith(f"FRANe better: {found.p_first:.3f}, equal (within 0.001)")
    assert "6 data sets × 5 folds" in text


def test_frames_are_compared_by_place():
    a, b = small()
    frames = pd.DataFrame(a, columns=list("abcde")), pd.DataFrame(b)
    found = quick(*frames)
    assert found.p_first == quick(a, b).p_first


def test_it_warns():
    with pytest.warns(ConvergenceWarning, match="effective draws.*raise n_draws"):
        hierarchical(*small(), n_draws=160, n_warmup=10)


# Degenerate tables


def test_no_difference_at_all():
    a, _ = small()
    found = quick(a, a)
    assert (found.p_first, found.p_equal, found.p_second) == (0.0, 1.0, 0.0)
    assert abs(np.median(found.draws["mu"])) < 1e-4
    with pytest.raises(DataError, match="the same in all folds; give rope > 0"):
        quick(a, a, rope=0.0)


@pytest.mark.parametrize("shift", [0.05, 1e-4])
def test_the_same_difference_everywhere(shift):
    a, _ = small()
    found = quick(a, a + shift)
    assert (found.p_first if shift > 0.001 else found.p_equal) == 1.0


def test_some_sets_without_spread():
    a, b = small(sets=8)
    b[:3] = a[:3]
    found = quick(a, b)
    again = quick(a, b)
    assert isinstance(found, Comparison)
    assert np.isfinite(found.regions).all()
    np.testing.assert_array_equal(found.regions, again.regions)  # no noise is added
    np.testing.assert_allclose(found.regions.sum(axis=1), 1.0)
    # Their mean is kept: where it is large, so is the advantage.
    b[:3] = a[:3] + 0.02
    assert quick(a, b).p_first > found.p_first


def test_without_a_rope_the_others_give_the_spread():
    a, b = small(sets=8)
    b[0] = a[0]
    found = quick(a, b, rope=0.0)
    assert found.p_equal == 0.0
    assert found.p_first > 0.9


@pytest.mark.parametrize("shape", [(2, 10), (3, 2)])
def test_the_smallest_tables(shape):
    rng = np.random.default_rng(1)
    a = rng.random(shape)
    found = hierarchical(a, a + rng.random(shape))
    assert np.isfinite(found.regions).all()
    assert 0.5 < found.p_first < 1.0


def test_one_set_far_off():
    a, b = small(sets=10, folds=10)
    b[0] += 1e3
    found = hierarchical(a, b)
    assert found.p_first > 0.99
    assert np.median(found.draws["mu"]) < 0.1  # the tails are heavy enough


A, B = small()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hierarchical(A[:1], B[:1]), DataError, "use correlated_t_test"),
        (lambda: hierarchical(A[:, :1], B[:, :1]), DataError, "one fold"),
        (lambda: hierarchical(A, B[:, :3]), DataError, "shapes are"),
        (lambda: hierarchical(A[0], B[0]), DataError, "a: the shape is"),
        (lambda: hierarchical(A, B * np.nan), DataError, "b: data set 0, fold 0"),
        (lambda: hierarchical(A, B, rope=-0.1), UsageError, "rope=-0.1"),
        (lambda: hierarchical(A, B, rope=np.inf), UsageError, "rope=inf"),
        (lambda: hierarchical(A, B, rho=1.0), UsageError, "rho=1.0"),
        (lambda: hierarchical(A, B, rho=-0.1), UsageError, "rho=-0.1"),
        (lambda: hierarchical(A, B, n_chains=2), UsageError, "n_chains=2"),
        (lambda: hierarchical(A, B, n_draws=10), UsageError, "n_draws=10"),
        (lambda: hierarchical(A, B, n_warmup=-1), UsageError, "n_warmup=-1"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# Steps of the sampler


def test_variances_up_to_their_bound():
    """1/σ² has a gamma distribution whose lower part is cut off."""
    model = _gibbs.Model(np.zeros(2), np.array([1.0, 0.5]), 4, 0.25, 1.0)
    object.__setattr__(model, "sigma_most", 1.1)
    walk = _gibbs._Chains(model, 20_000, np.random.default_rng(0))
    walk.delta[:] = 0.0
    drawn = walk._draw_variances()
    assert drawn.max() <= 1.1**2 * (1 + 1e-12)
    for j in range(2):
        law = stats.gamma(1.5, scale=2 / model.squares[j])
        start = law.cdf(1.1**-2)
        shares = (law.cdf(1 / drawn[:, j]) - start) / (1 - start)
        assert stats.kstest(shares, "uniform").pvalue > 1e-3


def test_the_prior_of_the_degrees():
    share, log = _gibbs.degrees_prior()
    rng = np.random.default_rng(0)
    n = 200_000
    drawn = rng.gamma(rng.uniform(1, 2, n)) / rng.uniform(0.01, 0.1, n)
    shares = np.interp(np.log(drawn), log, share)
    assert stats.kstest(shares, "uniform").pvalue > 1e-3
