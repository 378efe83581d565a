"""What the approximation says of itself, against what is true."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from franet.search.approximate import Approximation
from search.approximate.made import (
    agreement,
    approximate,
    dense_winner,
    factors,
    with_constants,
)

# The tables have loners on purpose.
pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


@pytest.fixture
def blind(monkeypatch):
    """Small cells, and one to look into: many edges are missed."""
    with_constants(
        monkeypatch,
        ONE_CELL=500,
        CELL=32,
        FEWEST=1,
        MOST=1,
        DEEP_MOST=1,
        WORTH=0.0,
        ALL_PAIRS=0,
        DEEP_PAIRS=0,
    )


def at_the_same_threshold(X, outcome):
    """Return the exact scores, degrees and network at the threshold that won."""
    threshold = outcome.thresholds[outcome.winner]
    W = 1.0 + np.corrcoef(X.T)
    np.fill_diagonal(W, -np.inf)
    W = np.where(W >= threshold - 1e-12, W, 0.0)
    n, d = len(W), W.sum(axis=1)
    P = W / np.where(d > 0.0, d, 1.0)
    return np.linalg.solve(np.eye(n) - 0.85 * P, np.full(n, 0.15 / n)), d, W


def test_missed_edges_are_told(blind):
    X = factors(2000)
    outcome = approximate(X)
    told = outcome.approximation
    _, degrees, W = at_the_same_threshold(X, outcome)
    counts = (W > 0.0).sum(axis=1)
    found = np.diff(outcome.network.indptr)
    some = counts > 0
    recall = (found[some] / counts[some]).mean()
    assert recall < 0.95
    assert told.recall == pytest.approx(recall, abs=0.05)
    assert told.is_poor
    error = np.abs(outcome.degrees - degrees).mean() / degrees.mean()
    assert told.degree_error == pytest.approx(error, rel=0.35)


def test_score_error_is_a_bound(blind):
    X = factors(2000)
    outcome = approximate(X)
    scores, _, _ = at_the_same_threshold(X, outcome)
    error = np.abs(outcome.scores - scores).mean() / scores.mean()
    assert error > 0.01
    assert error < outcome.approximation.score_error < 20 * error
    ranks = agreement(outcome.scores, scores)
    assert outcome.approximation.score_agreement == pytest.approx(ranks, abs=0.05)


def test_a_sample_tells_its_error(monkeypatch):
    with_constants(
        monkeypatch,
        ONE_CELL=500,
        ALL_PAIRS=0,
        DEEP_PAIRS=0,
        STORED=5,
        DEEP=10,
        ROUGH=300,
        FINE=500,
        POLISH=500,
    )
    X = dense_winner(2000)
    outcome = approximate(X)
    told = outcome.approximation
    assert told.sampled
    assert np.isnan(told.recall)
    scores, degrees, _ = at_the_same_threshold(X, outcome)
    error = np.abs(outcome.scores - scores).mean() / scores.mean()
    assert 0.005 < error < told.score_error < 20 * error
    ranks = agreement(outcome.scores, scores)
    assert told.score_agreement == pytest.approx(ranks, abs=0.05)
    error = np.abs(outcome.degrees - degrees).mean() / degrees.mean()
    assert told.degree_error == pytest.approx(error, rel=0.35)


def test_full_search_is_not_poor():
    outcome = approximate(factors(1000))
    told = outcome.approximation
    assert not told.is_poor
    assert told.top_agreement == 1.0
    assert told.n_rivals == 0
    exact = FRANe().fit(factors(1000))
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=1e-9)


def test_text():
    figures = {
        "n_checked": 512,
        "n_cells": 390,
        "n_probes": 8,
        "degree_error": 0.01,
        "score_error": 0.0123,
        "score_agreement": 0.98765,
        "top_agreement": 0.97,
    }
    told = Approximation(sampled=False, recall=0.9987, n_rivals=0, **figures)
    assert str(told) == (
        "Approximate: 99.87 % of the edges found; mean error of a score at most 1.2 %, "
        "rank correlation 0.988, 97 % of the first 100 stay, by all edges of 512 "
        "features."
    )
    figures["score_error"] = 1e-14
    told = Approximation(sampled=True, recall=np.nan, n_rivals=1, **figures)
    assert "at most 0.001 %, rank" in str(told)
    assert "scores from a sample of the features" in str(told)
    assert str(told).endswith("; another threshold may be as good.")
    assert told.is_poor
