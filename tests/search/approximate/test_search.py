"""The approximate search against the exact one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tables
from franet import FRANe
from franet.datasets import make_groups
from franet.exceptions import UsageError
from franet.search.approximate import search_approximately
from franet.search.exact import Settings
from franet.search.ranking import rank_scores
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
def small_cells(monkeypatch):
    """Many cells, few stored edges: what many features meet, on few."""
    with_constants(monkeypatch, ONE_CELL=500, CELL=64, ALL_PAIRS=0, DEEP_PAIRS=0)


def assert_same(outcome, exact):
    used = ~exact.constant_
    assert outcome.winner == exact.winner_
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=1e-9)
    np.testing.assert_array_equal(outcome.n_edges, exact.n_edges_)
    np.testing.assert_array_equal(outcome.too_sparse, exact.too_sparse_)
    np.testing.assert_allclose(outcome.scores, exact.scores_[used], rtol=1e-9)


@pytest.mark.parametrize("name", list(tables.TABLES))
@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_one_cell_is_exact(name, variant):
    X = tables.TABLES[name]
    outcome = approximate(X, variant=variant)
    assert_same(outcome, FRANe(variant=variant).fit(X))


@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
@pytest.mark.parametrize("thresholds", ["geometric", "linear"])
@pytest.mark.parametrize("weighted", [True, False])
def test_every_option_on_one_cell(similarity, thresholds, weighted):
    X = factors(300)
    options = {"thresholds": thresholds, "weighted": weighted, "damping": 0.7}
    outcome = approximate(X, similarity, **options)
    exact = FRANe(similarity=similarity, **options).fit(X)
    assert_same(outcome, exact)
    difference = outcome.network - exact.network_.adjacency
    assert abs(difference).max() < 1e-9
    assert outcome.approximation.recall == 1.0
    assert outcome.approximation.score_error < 1e-9


def test_float32_is_as_exact():
    X = factors(400).astype(np.float32)
    assert_same(approximate(X), FRANe().fit(X))


@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
def test_cells_find_the_same_network(small_cells, similarity):
    X = factors(3000)
    outcome = approximate(X, similarity)
    exact = FRANe(similarity=similarity).fit(X)
    assert outcome.approximation.n_cells > 40
    assert outcome.winner == exact.winner_
    # Without signs the largest dissimilarity comes from a sample.
    off = 1e-3 if similarity == "abs-correlation" else 1e-9
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=off)
    assert agreement(outcome.scores, exact.scores_) > 0.99
    first = rank_scores(outcome.scores) <= 100
    assert (first & (exact.ranking_ <= 100)).sum() >= 95


def test_threads_do_not_matter(small_cells):
    X = factors(1500).astype(np.float32)
    one, two, three = (approximate(X, n_threads=k) for k in (1, 2, 3))
    for other in (two, three):
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.quality_bound, other.quality_bound)
        assert one.approximation == other.approximation


def test_threads_do_not_matter_for_dense_winners(small_cells, monkeypatch):
    with_constants(monkeypatch, ROUGH=300, FINE=600, POLISH=600)
    X = dense_winner(1500)
    one, two = (approximate(X, n_threads=k) for k in (1, 2))
    np.testing.assert_array_equal(one.scores, two.scores)
    assert str(one.approximation) == str(two.approximation)


def test_random_state_matters_little(small_cells):
    X = factors(2000)
    one, other = approximate(X, seed=0), approximate(X, seed=1)
    assert agreement(one.scores, other.scores) > 0.99


def test_hubs_keep_all_their_edges(small_cells):
    """A hub has far more neighbours than any list of a fixed length would hold."""
    sizes, redundancy = [400] + [10] * 60, [0.95] + [0.7] * 60
    X = make_groups(80, 61, sizes, redundancy=redundancy, n_noise=600, random_state=0).X
    outcome = approximate(X)
    exact = FRANe().fit(X)
    assert outcome.winner == exact.winner_
    assert outcome.n_edges[outcome.winner] >= 0.999 * exact.network_.n_edges
    assert np.diff(outcome.network.indptr).max() >= 399
    assert agreement(outcome.scores, exact.scores_) > 0.99


def test_copies_in_different_order(small_cells):
    X = factors(800)
    rng = np.random.default_rng(1)
    X = np.hstack([X, 3.0 * X[:, :200] - 7.0, X[:, 100:150] + 1e3])
    X = X[:, rng.permutation(X.shape[1])]
    outcome = approximate(X)
    exact = FRANe().fit(X)
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=1e-9)
    assert outcome.winner == exact.winner_
    assert agreement(outcome.scores, exact.scores_) > 0.99


def test_many_examples_use_a_latent_space(small_cells):
    X = factors(1500, m=700)
    outcome = approximate(X)
    exact = FRANe().fit(X)
    assert outcome.winner == exact.winner_
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=1e-9)
    assert agreement(outcome.scores, exact.scores_) > 0.99


def test_a_dense_winner_is_noticed(small_cells, monkeypatch):
    with_constants(monkeypatch, ROUGH=800, FINE=1500, POLISH=1500, STORED=5, DEEP=10)
    X = dense_winner(3000)
    outcome = approximate(X)
    exact = FRANe().fit(X)
    told = outcome.approximation
    assert told.sampled
    assert "sample of the features" in str(told)
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=1e-9)
    assert agreement(outcome.scores, exact.scores_) > 0.9
    # Another threshold may win, but not one that is worse by much.
    i, best = outcome.winner, exact.winner_
    assert outcome.quality[i] == pytest.approx(exact.quality_[best], rel=0.15)
    assert outcome.truncated


def test_copies_in_masses_leave_no_sparse_graph(small_cells, monkeypatch):
    """Every graph has more edges than are stored: all are seen through the sample."""
    with_constants(monkeypatch, STORED=5, DEEP=10)
    X = factors(900)
    X = np.hstack([X, np.outer(X[:, 0], np.linspace(1.0, 2.0, 600))])
    outcome = approximate(X)
    exact = FRANe().fit(X)
    assert outcome.approximation.sampled
    assert outcome.approximation.is_poor
    np.testing.assert_allclose(outcome.thresholds, exact.thresholds_, atol=1e-9)
    assert outcome.quality[outcome.winner] == pytest.approx(
        exact.quality_[exact.winner_], rel=0.05
    )
    assert outcome.network.nnz == 0


def test_a_sample_of_all_features_solves_dense_graphs_exactly(monkeypatch):
    with_constants(monkeypatch, STORED=1, DEEP=1, ALL_PAIRS=0, DEEP_PAIRS=0)
    X = dense_winner(600)
    outcome = approximate(X)
    exact = FRANe().fit(X)
    assert outcome.approximation.sampled
    assert outcome.winner == exact.winner_
    # The sample's similarities are of single precision.
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=2e-3)


def test_table_is_read_in_parts():
    X = factors(2500)
    asked = []

    class Store:
        shape = X.shape

        def __getitem__(self, key):
            rows, columns = key
            assert rows == slice(None)
            asked.append(len(columns))
            return X[:, columns]

    columns = np.arange(0, 2500, 2)
    outcome = search_approximately(
        Store(), columns, Settings(random=np.random.RandomState(0))
    )
    assert max(asked) <= 1024
    assert sum(asked) == len(columns)
    assert_same(outcome, FRANe().fit(X[:, ::2]))


def test_no_winner():
    X = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2])
    outcome = approximate(X)
    assert outcome.winner is None
    assert "equal" in outcome.reason
    np.testing.assert_array_equal(outcome.scores, 0.5)
    outcome = approximate(factors(50), min_mean_degree=60)
    assert outcome.winner is None
    assert "mean degree of at least 60" in outcome.reason
    assert approximate(X[:, :1]).reason == "there is only one feature to rank"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarity": "euclidean"}, "similarity='euclidean'"),
        ({"thresholds": "quantile"}, "thresholds='quantile': others need all pairs"),
        (
            {"thresholds": lambda low, high, n: np.linspace(low, high, n)},
            "a function as thresholds.* to 'geometric' or 'linear',",
        ),
        ({"centrality": "degree"}, "centrality='degree'"),
        ({"quality": "gini"}, "quality='gini'"),
        ({"store_candidates": True}, "store_candidates=True"),
        ({"tie_break": "denser"}, "tie_break='denser'"),
    ],
)
def test_what_has_no_approximate_search(options, message):
    message = f"^search='approximate' does not support {message}"
    with pytest.raises(UsageError, match=message) as error:
        FRANe(search="approximate", **options).fit(factors(20))
    assert "or set search='exact'." in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
def test_sparse_tables(make, similarity):
    X = np.where(np.random.default_rng(0).random((60, 300)) < 0.3, factors(300), 0.0)
    X[:, 5] = 0.0
    ranker = FRANe(search="approximate", similarity=similarity, random_state=0)
    expected = ranker.fit(X).scores_
    np.testing.assert_array_equal(ranker.fit(make(X)).scores_, expected)


@pytest.mark.parametrize("n", [20, 300])
def test_gaps_are_refused(n):
    X = factors(n)
    X[3, 5] = np.nan
    with pytest.raises(UsageError, match=r"missing=.*without gaps") as error:
        FRANe(search="approximate", missing="pairwise").fit(X)
    assert "search='exact'" in str(error.value)
    assert "\n" not in str(error.value)


def test_text_is_refused_by_name():
    frame = pd.DataFrame({"a": list("xyxz"), "b": np.arange(4.0), "c": [1, 4, 2, 2]})
    with pytest.raises(UsageError, match="does not support similarity="):
        FRANe(search="approximate", similarity="mixed").fit(frame)
