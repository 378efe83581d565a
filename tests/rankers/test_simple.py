"""Variance and random order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.exceptions import DegenerateRankingWarning
from franet.rankers import RandomRanking, Variance
from tables import TABLES, random

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


@pytest.mark.parametrize("name", TABLES)
def test_variance(name):
    X = TABLES[name]
    wanted = [sum((x - sum(c) / len(c)) ** 2 for x in c) / len(c) for c in X.T]
    wanted = np.where(X.max(axis=0) > X.min(axis=0), wanted, 0.0)
    np.testing.assert_allclose(Variance().fit(X).scores_, wanted, rtol=1e-10)


def test_variance_of_many_columns():
    X = random(9, 2500, seed=0)
    np.testing.assert_allclose(Variance().fit(X).scores_, X.var(axis=0), rtol=1e-12)


def test_variance_of_a_large_offset():
    X = random(50, 6, seed=1)
    for shifted in (X + 1e6, sparse.csc_array(X + 1e6)):
        np.testing.assert_allclose(Variance().fit(shifted).scores_, X.var(0), rtol=1e-6)


def test_variance_beyond_the_largest_number():
    X = random(10, 4, seed=2) * [1.0, 1e300, 1.0, 1.0]
    ranker = Variance().fit(X)
    assert ranker.ranking_[1] == 1
    assert np.isfinite(ranker.scores_).all()


def test_variance_of_a_constant_is_zero():
    X = random(11, 3, seed=3)
    X[:, 1] = 0.1  # its mean is rounded
    ranker = Variance().fit(X)
    assert ranker.scores_[1] == 0.0
    assert ranker.ranking_[1] == 3


def test_random_order_depends_on_the_seed_only():
    X = TABLES["random"]
    a = RandomRanking(random_state=1).fit(X)
    b = RandomRanking(random_state=1).fit(100.0 * X**3)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    assert not np.array_equal(a.ranking_, RandomRanking(random_state=2).fit(X).ranking_)
    assert sorted(a.ranking_) == list(range(1, X.shape[1] + 1))


def test_random_order_is_uniform():
    X = random(5, 4, seed=4)
    ranks = np.array(
        [RandomRanking(random_state=s).fit(X).ranking_ for s in range(400)]
    )
    counts = np.array([(ranks == r).sum(axis=0) for r in range(1, 5)])
    assert counts.sum() == 1600
    assert np.abs(counts - 100).max() < 40  # more than four standard deviations


def test_random_order_leaves_constants_last():
    X = TABLES["constant"]
    constant = X.max(axis=0) == X.min(axis=0)
    for seed in range(5):
        ranking = RandomRanking(random_state=seed).fit(X).ranking_
        assert ranking[constant].min() > ranking[~constant].max()


def test_equal_variances_are_told():
    X = np.vstack([np.eye(6), -np.eye(6)])
    with pytest.warns(DegenerateRankingWarning, match="6 of 6 features have the same"):
        Variance().fit(X)
