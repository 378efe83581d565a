"""R-hat and the effective number of draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from franet.evaluation.statistics import effective_size, r_hat
from franet.exceptions import DataError


def chains(phi, n=2000, m=4, seed=0):
    """Return chains in which neighbours correlate by phi."""
    noise = np.random.default_rng(seed).normal(size=(m, n))
    out = noise.copy()
    for t in range(1, n):
        out[:, t] = phi * out[:, t - 1] + np.sqrt(1 - phi**2) * noise[:, t]
    return out


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.9, -0.5])
def test_the_effective_size_of_known_chains(phi):
    tables = [chains(phi, n=10_000, seed=seed) for seed in range(8)]
    expected = 40_000 * (1 - phi) / (1 + phi)
    found = np.mean([effective_size(x) for x in tables])
    assert found == pytest.approx(expected, rel=0.1)
    x = tables[0]  # ranks are all that counts
    assert effective_size(np.exp(x)) == pytest.approx(effective_size(x), rel=1e-9)


def test_the_effective_size_step_by_step():
    x = chains(0.6, n=101, m=3)
    halves = np.concatenate([x[:, :50], x[:, -50:]])
    z = stats.norm.ppf((stats.rankdata(halves) - 3 / 8) / (300 + 1 / 4)).reshape(6, 50)
    within = z.var(axis=1, ddof=1).mean()
    total = within * 49 / 50 + z.mean(axis=1).var(ddof=1)

    def rho(t):
        centred = z - z.mean(axis=1, keepdims=True)
        lagged = (centred[:, : 50 - t] * centred[:, t:]).sum(axis=1) / 49
        return 1 - (within - lagged.mean()) / total

    tau, before, t = -1.0, np.inf, 0
    while t + 1 < 50:
        pair = (1.0 if t == 0 else rho(t)) + rho(t + 1)
        if pair < 0:
            break
        before = min(before, pair)
        tau, t = tau + 2 * before, t + 2
    assert effective_size(x) == pytest.approx(300 / tau, rel=1e-9)


def test_r_hat_of_chains_that_agree():
    assert r_hat(chains(0.0)) == pytest.approx(1.0, abs=0.003)


def test_r_hat_sees_location_scale_and_drift():
    x = chains(0.0)
    moved, wide = x.copy(), x.copy()
    moved[0] += 1.0
    wide[0] *= 4.0
    assert r_hat(moved) > 1.05
    assert r_hat(wide) > 1.05
    assert r_hat(x + np.linspace(0, 2, 2000)) > 1.05


def test_chains_without_spread():
    assert r_hat(np.ones((4, 10))) == 1.0
    assert effective_size(np.ones((4, 10))) == 40
    assert r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf
    with pytest.raises(DataError, match="at least 4 draws"):
        r_hat(np.ones((4, 3)))
