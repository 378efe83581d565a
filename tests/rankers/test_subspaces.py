"""Rankings by random subspaces of the features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet import Cover, FRANe
from franet.exceptions import ApproximationWarning, UsageError
from franet.rankers import LaplacianScore, RandomSubspaces, Variance
from search.approximate.made import agreement, factors

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning",
    "ignore::franet.exceptions.ApproximationWarning",
)


def test_few_features_are_ranked_at_once():
    X = factors(120)
    ranker = RandomSubspaces(random_state=0).fit(X)
    exact = FRANe().fit(X)
    shares = exact.scores_ / exact.scores_.mean()
    np.testing.assert_allclose(ranker.scores_, shares, rtol=1e-9)
    np.testing.assert_array_equal(ranker.ranking_, exact.ranking_)
    assert str(ranker.approximation_) == "All features ranked at once."
    assert (ranker.n_drawn_ == 1).all()


def test_the_mean_over_the_subspaces_of_a_feature():
    """Line by line: the draws again, a fit of each, and the mean of shares."""
    X = factors(150)
    ranker = RandomSubspaces(
        ranker=Variance(), size=50, n_rounds=4, random_state=3
    ).fit(X)
    random = np.random.RandomState(3)
    drawn = list(ranker._draw(np.arange(150), X.var(axis=0), random))
    assert [len(columns) for columns in drawn] == [50] * 12
    assert sorted(np.concatenate(drawn[:3])) == list(range(150))
    shares = [[] for _ in range(150)]
    for columns in drawn:
        assert len(set(columns)) == 50
        variance = X[:, columns].var(axis=0)
        for j, value in zip(columns, variance, strict=True):
            shares[j].append(value / variance.mean())
    np.testing.assert_allclose(ranker.scores_, [np.mean(s) for s in shares])
    np.testing.assert_array_equal(ranker.n_drawn_, [len(s) for s in shares])


def test_large_variances_are_drawn_more_often():
    X = factors(400)
    X[:, :40] *= 100.0 / X[:, :40].std(axis=0)
    X[:, 40:] /= X[:, 40:].std(axis=0)
    options = {"size": 40, "n_rounds": 3, "random_state": 0}
    drawn = RandomSubspaces(ranker=Variance(), **options).fit(X).n_drawn_
    assert drawn.min() == 1
    assert drawn[:40].mean() > 15.0
    drawn = (
        RandomSubspaces(ranker=Variance(), weights="uniform", **options).fit(X).n_drawn_
    )
    assert drawn[:40].mean() < 5.0
    assert drawn.sum() == 3 * 400


@pytest.mark.parametrize("similarity", ["correlation", "euclidean"])
def test_the_whole_ranking_is_resembled(similarity):
    X = factors(1200)
    base = FRANe(similarity=similarity)
    ranker = RandomSubspaces(ranker=base, size=400, n_rounds=6, random_state=0).fit(X)
    told = ranker.approximation_
    assert agreement(ranker.scores_, base.fit(X).scores_) > 0.6
    assert told.n_compared == 1200
    assert told.n_subspaces == 18
    # All features were compared: what is told is what holds for another draw.
    assert told.score_agreement == pytest.approx(
        agreement(ranker.scores_, base.scores_), abs=0.1
    )


def test_a_poor_ranking_is_told():
    X = np.random.default_rng(0).normal(size=(20, 300))
    with pytest.warns(ApproximationWarning, match=r"on 80 features ranked both ways"):
        RandomSubspaces(size=20, random_state=0).fit(X)


def test_scores_below_zero_count_by_their_ranks():
    X = factors(200)
    base = LaplacianScore()
    assert (base.fit(X).scores_ < 0.0).any()
    scores = RandomSubspaces(ranker=base, size=50, random_state=0).fit(X).scores_
    assert agreement(scores, base.scores_) > 0.8
    assert scores.min() > 0.0


def test_constant_columns_and_sparse_tables():
    X = np.where(np.abs(factors(90)) > 1.0, factors(90), 0.0)
    X[:, ::3] = 0.0
    dense = RandomSubspaces(size=25, random_state=0).fit(X)
    other = RandomSubspaces(size=25, random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_allclose(dense.scores_, other.scores_, rtol=1e-9)
    constant = np.ptp(X, axis=0) == 0.0
    np.testing.assert_array_equal(dense.n_drawn_ == 0, constant)
    np.testing.assert_array_equal(dense.scores_ == 0.0, constant)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (FRANe(similarity="precomputed"), "similarity='precomputed'"),
        (Cover(include=["a"]), "ranker has include"),
    ],
)
def test_rankers_of_the_whole_table_are_refused(ranker, message):
    with pytest.raises(UsageError, match=message):
        RandomSubspaces(ranker=ranker).fit(factors(20))
