"""How the ranker behaves: warnings, choices, the network, ties and chance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse, stats

from franet import DegenerateRankingWarning, FRANe
from franet.exceptions import UsageError
from franet.network import AttributeNetwork
from naive import naive_frane
from tables import TABLES, blocks, random
from test_agreement import fit

X = TABLES["random"]


def messages(table, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = FRANe(**parameters).fit(table)
    assert all(w.category is DegenerateRankingWarning for w in caught)
    return ranker, [str(w.message) for w in caught]


def mostly_isolated():
    """Return five features that go together, and ten that go with nothing."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 15))
    table[:, :5] += 8 * rng.normal(size=(400, 1))
    return table


def test_isolated_majority_warns_with_the_count():
    ranker, said = messages(mostly_isolated())
    assert ranker.n_isolated_ == 10
    assert said == [
        "10 of 15 features have no edge at the winning threshold; they share one "
        "score and rank by column. tie_break='denser' looks at the next denser network."
    ]
    np.testing.assert_allclose(ranker.scores_[5:], 0.15 / 15, rtol=1e-15)
    np.testing.assert_array_equal(ranker.ranking_[5:], np.arange(6, 16))


def test_constant_columns_do_not_count_as_isolated():
    table = np.column_stack([np.ones((400, 20)), mostly_isolated()])
    ranker, said = messages(table)
    assert ranker.n_isolated_ == 10
    assert said[0].startswith("10 of 15 features")
    # Half is not a majority: nothing is said.
    half, said = messages(mostly_isolated()[:, :10])
    assert half.n_isolated_ == 5
    assert said == []


def test_equal_similarities_warn():
    for table, given in [
        (X[:, :2], {}),
        (np.eye(5), {}),
        (np.ones((4, 4)), {"similarity": "precomputed"}),
        (np.ones((4, 4)), {"similarity": "euclidean"}),
    ]:
        ranker, said = messages(table, **given)
        n = table.shape[1]
        assert said == [
            "All features score the same: all similarities between features are equal."
        ]
        np.testing.assert_array_equal(ranker.scores_, np.full(n, 1 / n))
        np.testing.assert_array_equal(ranker.ranking_, np.arange(1, n + 1))
        assert ranker.winner_ is None
        assert np.isnan(ranker.threshold_)
        assert ranker.network_.n_edges == ranker.network_.adjacency.nnz == 0
        assert ranker.transform(table).shape == (len(table), n // 2)


def test_no_candidate_warns():
    ranker, said = messages(X, min_mean_degree=100)
    assert said == [
        "All features score the same: no threshold gives a graph with a mean degree "
        "of at least 100."
    ]
    assert ranker.too_sparse_.all()
    assert np.isnan(ranker.quality_).all()
    np.testing.assert_array_equal(ranker.scores_, np.full(24, 1 / 24))
    np.testing.assert_array_equal(
        fit(X, min_mean_degree=100, variant="reference").scores_, np.ones(24)
    )


def test_one_column_that_varies_warns():
    table = np.column_stack([np.ones(30), X[:, 0], np.zeros(30)])
    ranker, said = messages(table, store_candidates=True)
    assert said == ["All features score the same: there is only one feature to rank."]
    np.testing.assert_array_equal(ranker.constant_, [True, False, True])
    np.testing.assert_array_equal(ranker.scores_, [0, 1, 0])
    np.testing.assert_array_equal(ranker.ranking_, [2, 1, 3])
    assert ranker.all_scores_.shape == (0, 3)


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_ordinary_tables_do_not_warn(variant):
    _, said = messages(X, variant=variant)
    assert said == []


def test_denser_orders_what_ties():
    table = mostly_isolated()
    # The clique alone, then all pairs: the second key tells everything apart.
    choice = {"thresholds": "linear", "n_thresholds": 3}
    plain = fit(table, store_candidates=True, **choice)
    ranker, said = messages(table, tie_break="denser", **choice)
    assert said == [
        "10 of 15 features have no edge at the winning threshold; they share one "
        "score and rank by their scores in the next denser network."
    ]
    np.testing.assert_array_equal(ranker.scores_, plain.scores_)
    assert ranker.winner_ == plain.winner_
    denser = np.flatnonzero(plain.n_edges_ > plain.n_edges_[plain.winner_])[0]
    second = plain.all_scores_[denser]
    # Not one of the ten is left to its column here.
    assert np.diff(np.sort(second[5:])).min() > 1e-6
    expected = 6 + np.argsort(np.argsort(-second[5:]))
    np.testing.assert_array_equal(ranker.ranking_[5:], expected)
    np.testing.assert_array_equal(ranker.ranking_[:5], plain.ranking_[:5])
    assert list(expected) != list(plain.ranking_[5:])


def test_denser_without_a_denser_network_is_by_column():
    table = np.array([[0.0, 5, 1, 1], [5, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    choice = {"similarity": "precomputed", "thresholds": "linear", "n_thresholds": 2}
    ranker = fit(table, min_mean_degree=2, tie_break="denser", **choice)
    assert ranker.winner_ == 1
    np.testing.assert_array_equal(ranker.ranking_, [1, 2, 3, 4])


def test_random_choice_is_reproducible():
    for seed in range(5):
        a = FRANe(quality="random", random_state=seed).fit(X)
        b = FRANe(quality="random", random_state=seed).fit(X)
        assert a.winner_ == b.winner_
        np.testing.assert_array_equal(a.scores_, b.scores_)
    winners = {
        FRANe(quality="random", random_state=s).fit(X).winner_ for s in range(20)
    }
    assert len(winners) > 5
    state = np.random.RandomState(0)
    several = [FRANe(quality="random", random_state=state).fit(X) for _ in range(20)]
    assert len({ranker.winner_ for ranker in several}) > 5


def test_random_choice_is_uniform_over_candidates():
    # The control of the paper: any candidate, whatever its quality.
    every = fit(X, n_thresholds=20, store_candidates=True)
    dense_enough = np.flatnonzero(~every.too_sparse_)
    _, first = np.unique(every.n_edges_[dense_enough], return_index=True)
    candidates = dense_enough[first]
    assert 5 < len(candidates) < 20
    state = np.random.RandomState(7)
    chosen = FRANe(quality="random", n_thresholds=20, random_state=state)
    draws = []
    for _ in range(800):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateRankingWarning)
            draws.append(chosen.fit(X).winner_)
        np.testing.assert_allclose(
            chosen.scores_, every.all_scores_[draws[-1]], rtol=1e-11
        )
    assert set(draws) == set(candidates)
    counts = np.array([draws.count(i) for i in candidates])
    assert stats.chisquare(counts).pvalue > 1e-3


def test_centrality_function():
    seen = []

    def strength(W):
        seen.append(W)
        scores = np.asarray(W.sum(axis=1)).ravel()
        W.data[:] = -1.0  # its own copy
        return list(scores / scores.sum())

    own, named = fit(X, centrality=strength), fit(X, centrality="degree")
    np.testing.assert_allclose(own.scores_, named.scores_, rtol=1e-12)
    np.testing.assert_allclose(own.quality_, named.quality_, rtol=1e-12)
    np.testing.assert_array_equal(
        own.network_.adjacency.toarray(), named.network_.adjacency.toarray()
    )
    assert all(sparse.issparse(W) and W.format == "csr" for W in seen)
    assert all(W.shape == (24, 24) and W.dtype == np.float64 for W in seen)


def test_centrality_function_does_not_see_constant_columns():
    shapes = set()

    def ones_but_one(W):
        shapes.add(W.shape)
        return np.arange(W.shape[0]) + 1.0

    ranker = fit(TABLES["constant"], centrality=ones_but_one)
    assert shapes == {(11, 11)}
    np.testing.assert_array_equal(ranker.scores_[~ranker.constant_], np.arange(1, 12))
    assert set(ranker.ranking_[ranker.constant_]) == {12, 13, 14}


def test_quality_function():
    def spread(scores):
        return np.float32(scores.max() - scores.min())

    ranker = fit(X, quality=spread, n_thresholds=20)
    expected = naive_frane(X, n_thresholds=20)
    candidates = ~expected.too_sparse
    quality = np.ptp(expected.all_scores, axis=1)
    np.testing.assert_allclose(
        ranker.quality_[candidates], quality[candidates], rtol=1e-6
    )
    assert (
        ranker.winner_
        == np.flatnonzero(
            candidates & (quality >= quality[candidates].max() * (1 - 1e-7))
        ).min()
    )
    # The largest wins, below zero too, and whole numbers are numbers.
    worst = fit(X, quality=lambda s: -spread(s), n_thresholds=20)
    assert quality[worst.winner_] == pytest.approx(quality[candidates].min())
    assert fit(X, quality=lambda s: 1).winner_ == np.flatnonzero(~fit(X).too_sparse_)[0]


def strongest(full, per_node):
    """Return the edges that are among the strongest of one of their ends."""
    kept = np.zeros(full.shape, bool)
    for j, row in enumerate(full):
        neighbours = np.flatnonzero(row)
        order = sorted(neighbours, key=lambda k: (-row[k], k))
        kept[j, order[:per_node]] = True
    return np.where(kept | kept.T, full, 0.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "table", ["random", "tied", "duplicated", "constant", "blocks"]
)
def test_truncated_network(table, dtype):
    table = blocks(m=30, n=300) if table == "blocks" else TABLES[table]
    choice = {"min_mean_degree": 6, "n_thresholds": 20}
    whole = fit(table.astype(dtype), **choice)
    n_used = int((~whole.constant_).sum())
    n_edges = whole.network_.n_edges
    full = whole.network_.adjacency.toarray()
    assert not whole.network_.truncated_
    assert n_edges == np.count_nonzero(full) // 2 == whole.n_edges_[whole.winner_]
    for per_node in (1, 2, 5):
        ranker = fit(table.astype(dtype), max_edges=per_node * n_used, **choice)
        if per_node * n_used >= n_edges:
            assert not ranker.network_.truncated_
            continue
        network = ranker.network_
        assert network.truncated_
        assert network.n_edges == n_edges
        part = network.adjacency.toarray()
        np.testing.assert_array_equal(part, part.T)
        assert not part.diagonal().any()
        assert network.adjacency.nnz // 2 <= per_node * n_used
        np.testing.assert_allclose(part, strongest(full, per_node), rtol=1e-12)
        np.testing.assert_array_equal(ranker.scores_, whole.scores_)


def test_fewer_edges_than_features_keep_one_of_each():
    ranker = fit(X, max_edges=1, min_mean_degree=6)
    full = fit(X, min_mean_degree=6).network_.adjacency.toarray()
    np.testing.assert_allclose(
        ranker.network_.adjacency.toarray(), strongest(full, 1), rtol=1e-12
    )


@pytest.mark.parametrize("table", ["random", "tied", "duplicated", "constant"])
def test_redundant_with(table):
    network = fit(TABLES[table], min_mean_degree=3).network_
    W = network.adjacency.toarray()
    feature, weight = network.redundant_with()
    for j in range(len(network)):
        better = [
            (-W[j, k], network.ranking[k], k)
            for k in np.flatnonzero(W[j])
            if network.ranking[k] < network.ranking[j]
        ]
        if better:
            assert feature[j] == min(better)[2]
            assert weight[j] == W[j, feature[j]]
        else:
            assert feature[j] == -1
            assert np.isnan(weight[j])
    assert (feature[network.ranking == 1] == -1).all()
    assert (feature >= 0).any()


def test_network_of_a_fitted_ranker():
    ranker = fit(TABLES["constant"])
    network = ranker.network_
    assert isinstance(network, AttributeNetwork)
    assert len(network) == network.adjacency.shape[0] == 14
    assert network.threshold == ranker.threshold_ == ranker.thresholds_[ranker.winner_]
    assert network.scores is ranker.scores_
    assert network.ranking is ranker.ranking_
    W = network.adjacency.toarray()
    assert not W[ranker.constant_].any()
    assert not W[:, ranker.constant_].any()
    assert W[W > 0].min() >= network.threshold - 1e-12
    assert "n_edges=" in repr(network)
    assert "\n" not in repr(network)


def test_no_edges_are_redundant_with_nothing():
    feature, weight = fit(X[:, :2]).network_.redundant_with()
    np.testing.assert_array_equal(feature, [-1, -1])
    assert np.isnan(weight).all()


def test_two_dense_groups_win_over_noise():
    # The point of it all: the hub of the larger group comes out on top.
    rng = np.random.default_rng(1)
    hub, other = rng.normal(size=(2, 300, 1))
    table = np.hstack([hub, hub + 0.3 * rng.normal(size=(300, 8))])
    table = np.hstack([table, other + 0.3 * rng.normal(size=(300, 4))])
    table = np.hstack([table, random(300, 6, 2)])
    assert FRANe().fit(table).ranking_[0] == 1


@pytest.mark.parametrize(
    "given",
    [
        {"search": "approximate"},
        {"backend": "torch"},
        {"backend": "torch:cpu"},
        {"backend": "dask"},
        {"backend": "tcp://h:1"},
    ],
    ids=str,
)
def test_plan_is_of_the_exact_search_on_the_cores(given):
    message = "^A prediction of time and memory does not support (search|backend)="
    with pytest.raises(UsageError, match=message) as error:
        FRANe(**given).plan(X)
    assert "\n" not in str(error.value)
