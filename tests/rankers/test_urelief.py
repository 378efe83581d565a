"""URelief against its formula, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from franet.rankers import URelief
from franet.rankers.urelief import _weights
from tables import TABLES, random

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def literal(X, k, rows):
    """Return the weights, one pair and one feature at a time."""
    m, n = X.shape
    span = X.max(axis=0) - X.min(axis=0)

    def differ(r, s, j):
        return abs(X[r, j] - X[s, j]) / span[j] if span[j] > 0.0 else 0.0

    def distance(r, s):
        return sum(differ(r, s, j) for j in range(n)) / n

    pairs = []
    for r in rows:
        others = sorted((round(distance(r, s), 12), s) for s in range(m) if s != r)
        pairs += [(r, s) for _, s in others[:k]]
    P = np.mean([distance(*pair) for pair in pairs])
    weights = []
    for j in range(n):
        if span[j] == 0.0:
            weights.append(-1.0)
            continue
        own = np.mean([differ(*pair, j) for pair in pairs])
        joint = np.mean([differ(*pair, j) * distance(*pair) for pair in pairs])
        alike = (own - joint) / (1 - P) if P < 1.0 - 1e-12 else 0.0
        weights.append(joint / P - alike)
    return np.array(weights)


@pytest.mark.kernels
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("name", ["random", "duplicated", "constant", "tiny3x4"])
def test_formula(name, k):
    X = TABLES[name]
    wanted = literal(X, min(k, len(X) - 1), range(len(X)))
    ranker = URelief(n_neighbors=k).fit(X)
    np.testing.assert_allclose(ranker.scores_, wanted, rtol=1e-9, atol=1e-12)


def test_two_rows():
    # Every feature differs by its whole range: P = 1, and there is no pair alike.
    ranker = URelief().fit([[0.0, 5.0, 1.0], [1.0, 7.0, -1.0]])
    np.testing.assert_array_equal(ranker.scores_, 1.0)


def test_some_rows_as_references():
    X = random(25, 7, seed=1)
    rows = np.random.RandomState(3).permutation(25)[:10]
    for wanted in (10, 0.4):
        ranker = URelief(n_neighbors=5, n_references=wanted, random_state=3).fit(X)
        np.testing.assert_allclose(ranker.scores_, literal(X, 5, rows), rtol=1e-9)
    whole = URelief(n_references=25, random_state=0).fit(X)
    np.testing.assert_allclose(whole.scores_, URelief().fit(X).scores_, rtol=1e-9)


def test_chunks_of_references(monkeypatch):
    X = random(25, 7, seed=2)
    whole = URelief().fit(X).scores_
    monkeypatch.setattr("franet.rankers.urelief._DISTANCES", 60)
    np.testing.assert_allclose(URelief().fit(X).scores_, whole, rtol=1e-12)


def test_features_of_planted_clusters_come_first():
    # With more neighbours than a cluster has rows, pairs differ where clusters do.
    rng = np.random.default_rng(0)
    cluster = np.repeat([0, 1, 2, 3], 10)
    X = rng.uniform(size=(40, 16))
    planted = rng.permutation(16)[:6]
    X[:, planted] = rng.uniform(size=(4, 6))[cluster] + 0.02 * rng.normal(size=(40, 6))
    ranker = URelief(n_neighbors=20).fit(X)
    assert set(np.argsort(ranker.ranking_)[:6]) == set(planted)


def test_scores_lie_above_those_of_constants():
    X = random(30, 50, seed=3)
    X[:, 7] = 2.0
    ranker = URelief().fit(X)
    assert ranker.ranking_[7] == 50
    rest = np.delete(ranker.scores_, 7)
    assert ((rest > -1.0) & (rest <= 1.0)).all()


def test_units_do_not_matter():
    X = random(30, 10, seed=5)
    scaled = X * np.logspace(-3, 3, 10) - 4.0
    np.testing.assert_allclose(
        URelief().fit(X).scores_, URelief().fit(scaled).scores_, rtol=1e-6
    )
    huge = URelief().fit(X * 1e307)
    np.testing.assert_allclose(huge.scores_, URelief().fit(X).scores_, rtol=1e-9)


def test_neighbours_at_no_distance():
    Z = np.zeros((3, 2))
    np.testing.assert_array_equal(_weights(Z, 2, np.arange(3), 1), 0.0)
