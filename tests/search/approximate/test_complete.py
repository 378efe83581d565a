"""Nearly complete networks, as products with the table."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from search.approximate.made import agreement, approximate, with_constants


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch):
    """Small cells, few stored edges, and samples that tell little."""
    with_constants(
        monkeypatch,
        ONE_CELL=500,
        CELL=64,
        STORED=60,
        DEEP=60,
        ALL_PAIRS=0,
        DEEP_PAIRS=0,
    )
    with_constants(monkeypatch, ROUGH=200, FINE=200, POLISH=200)


def mixed_signs(n, m=60, seed=0):
    """Columns that follow two signals, some of them upside down."""
    rng = np.random.default_rng(seed)
    share = rng.beta(2.0, 3.0, n)
    sign = np.where(rng.random(n) < 0.2, -1.0, 1.0)
    signal = rng.normal(size=(m, 2))[:, rng.integers(0, 2, n)]
    noise = rng.normal(size=(m, n)) * np.sqrt(1.0 - share)
    return sign * np.sqrt(share) * signal + noise


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_nearly_complete_networks_are_solved(weighted, variant):
    n = 1500
    X = mixed_signs(n)
    # Few pairs are missing where nine in ten features must be neighbours.
    options = {
        "min_mean_degree": 0.97 * n,
        "thresholds": "linear",
        "weighted": weighted,
        "variant": variant,
    }
    outcome = approximate(X, **options)
    exact = FRANe(**options).fit(X)
    told = outcome.approximation
    i = outcome.winner
    assert i == exact.winner_
    assert exact.n_edges_[i] < n * (n - 1) // 2
    assert not told.sampled
    assert np.isnan(told.recall)
    assert "nearly complete" in str(told)
    assert outcome.quality[i] == pytest.approx(exact.quality_[i], rel=1e-5)
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=1e-3)
    assert agreement(outcome.scores, exact.scores_) > 0.999


def test_the_complete_network_is_exact():
    n = 1200
    X = mixed_signs(n)
    options = {"min_mean_degree": n - 1.5, "thresholds": "linear"}
    outcome = approximate(X, **options)
    exact = FRANe(**options).fit(X)
    assert outcome.winner == exact.winner_
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=1e-9)
    assert outcome.approximation.score_error < 1e-9


def test_features_without_edges_get_the_least_score():
    """Two columns against all others: their pairs are all missing."""
    rng = np.random.default_rng(0)
    n, signal = 1200, rng.normal(size=(60, 1))
    X = signal + rng.normal(size=(60, n)) * rng.uniform(0.1, 0.5, n)
    X[:, :2] = rng.normal(size=(60, 2)) - signal
    options = {"min_mean_degree": 0.99 * n, "thresholds": "linear"}
    outcome = approximate(X, **options)
    exact = FRANe(**options).fit(X)
    assert outcome.winner == exact.winner_
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=1e-6)


def test_threads_do_not_matter():
    X = mixed_signs(1500)
    options = {"min_mean_degree": 1450, "thresholds": "linear"}
    one, two = (approximate(X, n_threads=k, **options) for k in (1, 2))
    np.testing.assert_array_equal(one.scores, two.scores)
    assert str(one.approximation) == str(two.approximation)


def test_without_signs_there_are_no_such_products():
    """The weights |r| are not of low rank; the sample remains."""
    X = mixed_signs(900)
    options = {"min_mean_degree": 890, "thresholds": "linear"}
    outcome = approximate(X, "abs-correlation", **options)
    assert outcome.approximation.sampled
