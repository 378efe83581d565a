"""Networks of some features, and at other thresholds, against the whole table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import DataError
from franet.exceptions import UsageError
from network.nets import SMALL, TRIANGLES, fit, make
from tables import TABLES, blocks, random

CHOICES = [
    {},
    {"similarity": "abs-correlation"},
    {"similarity": "spearman"},
    {"similarity": "euclidean"},
    {"similarity": "canberra"},
    {"variant": "reference"},
    {"variant": "reference", "similarity": "manhattan"},
    {"weighted": False},
    {"thresholds": "quantile", "n_thresholds": 20},
]


def same_edges(a, b):
    assert a.n_edges == b.n_edges
    np.testing.assert_allclose(
        a.adjacency.toarray(), b.adjacency.toarray(), rtol=1e-12, atol=1e-12
    )


def test_best_features():
    part = TRIANGLES.subgraph(top=4)
    assert list(part.names) == ["f1", "f3", "f7", "f6"]
    np.testing.assert_array_equal(part.ranking, [1, 2, 3, 4])
    np.testing.assert_array_equal(part.scores, [0.9, 0.8, 0.7, 0.6])
    assert part.n_edges == 1
    assert part.threshold == TRIANGLES.threshold
    assert len(TRIANGLES.subgraph(top=100)) == 9


def test_named_features():
    part = TRIANGLES.subgraph(["f2", 0, "f8"])
    assert list(part.names) == ["f2", "f0", "f8"]
    np.testing.assert_array_equal(part.ranking, TRIANGLES.ranking[[2, 0, 8]])
    full = TRIANGLES.adjacency.toarray()
    np.testing.assert_array_equal(
        part.adjacency.toarray(), full[np.ix_([2, 0, 8], [2, 0, 8])]
    )
    assert part.explain("f0").redundant_with.names == ["f2"]
    assert part.subgraph(["f8"]).n_edges == 0
    assert part.adjacency.has_sorted_indices


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give either features"),
        ({"features": [0], "top": 1}, "give either features"),
        ({"top": 0}, "top=0: give a number of features, at least 1"),
        ({"features": []}, "give at least one feature"),
        ({"features": ["f1", 1]}, "feature 'f1' is given twice"),
        ({"features": "f1"}, "features must be a list or None, not 'f1'"),
    ],
)
def test_bad_choices(given, message):
    with pytest.raises(UsageError, match=message):
        TRIANGLES.subgraph(**given)


@pytest.mark.parametrize(
    "table", ["random", "tied", "duplicated", "constant", "blocks"]
)
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_threshold(table, choice):
    X = blocks(m=20, n=300) if table == "blocks" else TABLES[table]
    ranker = fit(X, min_mean_degree=3, **choice)
    net = ranker.network_
    for i in range(0, len(ranker.thresholds_), 7):
        t = ranker.thresholds_[i]
        other = net.at(t, X=X)
        assert other.n_edges == ranker.n_edges_[i] == other.adjacency.nnz // 2
        assert other.threshold == t
        assert not other.truncated_
        assert other.scores is net.scores
        assert other.ranking is net.ranking
        if t > net.threshold and choice.get("weighted", True):
            same_edges(net.at(t), other)
        # There and back.
        if i % 3 == 0:
            same_edges(other.at(net.threshold, X=X), net)


def test_the_same_threshold_is_the_same_network():
    ranker = fit(TABLES["random"], min_mean_degree=3, weighted=False)
    same_edges(ranker.network_.at(ranker.threshold_), ranker.network_)
    same_edges(TRIANGLES.at(TRIANGLES.threshold), TRIANGLES)


def test_rounding_at_the_threshold():
    assert TRIANGLES.at(0.7).n_edges == 6
    assert TRIANGLES.at(0.7 + 9e-13).n_edges == 6
    assert TRIANGLES.at(0.7 + 2e-12).n_edges == 5
    assert TRIANGLES.at(2.0).n_edges == 0


def test_denser_needs_the_table():
    net = fit(TABLES["random"], min_mean_degree=3).network_
    with pytest.raises(DataError) as caught:
        net.at(0.5)
    assert str(caught.value) == (
        f"threshold=0.5 is below that of the network, which holds those of "
        f"{net.threshold:g}: weaker edges are not stored. Pass the table of the fit: "
        "at(0.5, X=X)."
    )
    with pytest.raises(DataError, match="which holds no edges"):
        SMALL["no threshold"].at(0.5)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(UsageError, match="give a finite number"):
            net.at(bad)


def test_unweighted_edges_need_the_table():
    ranker = fit(TABLES["random"], min_mean_degree=3, weighted=False)
    with pytest.raises(
        DataError, match=r"no weights \(weighted=False\).*at\(1.99, X=X"
    ):
        ranker.network_.at(1.99)


def test_a_network_of_unknown_origin():
    with pytest.raises(DataError, match="How this network was made is not known"):
        TRIANGLES.at(0.01, X=np.ones((3, 9)))


def test_no_winner_and_then_edges():
    X = TABLES["random"]
    net = fit(X, min_mean_degree=1e6).network_
    assert np.isnan(net.threshold)
    whole = fit(X, min_mean_degree=3)
    same_edges(net.at(whole.threshold_, X=X), whole.network_)


def test_another_table_is_refused():
    X = TABLES["random"]
    net = fit(X, min_mean_degree=3).network_
    with pytest.raises(DataError, match="not the table of the fit: the similarities"):
        net.at(0.5, X=random(seed=9))
    with pytest.raises(DataError, match="X has 10 features"):
        net.at(0.5, X=X[:, :10])
    with pytest.raises(DataError, match="X has 30 features"):
        net.at(0.5, X=np.column_stack([X, X[:, :6] ** 2]))
    named = pd.DataFrame(X).add_prefix("g")
    net = fit(named, min_mean_degree=3).network_
    with pytest.raises(DataError, match="Column 0 of X is"):
        net.at(0.5, X=named[named.columns[::-1]])
    same_edges(net.at(0.5, X=named), net.at(0.5, X=X))


def test_sparse_tables():
    X = np.where(np.random.default_rng(0).random((40, 30)) < 0.3, random(40, 30), 0.0)
    net = fit(sparse.csr_array(X), min_mean_degree=2).network_
    for table in (X, sparse.csr_array(X), sparse.csc_array(X)):
        same_edges(net.at(0.9, X=table), net.at(0.9, X=X))


def test_a_part_at_another_threshold():
    X = TABLES["random"]
    net = fit(X, min_mean_degree=3).network_
    chosen = [5, 2, 11, 17, 3]
    part = net.subgraph(chosen).at(0.6, X=X)
    same_edges(part, net.at(0.6, X=X).subgraph(chosen))
    assert list(part.names) == [f"x{j}" for j in chosen]
    ordered = net.subgraph(list(range(6))).at(0.6, X=X)
    same_edges(ordered, net.at(0.6, X=X).subgraph(list(range(6))))


def test_precomputed():
    W = np.abs(np.corrcoef(TABLES["random"], rowvar=False))
    ranker = fit(W, similarity="precomputed", min_mean_degree=3)
    t = ranker.thresholds_[-1]
    assert ranker.network_.at(t, X=W).n_edges == ranker.n_edges_[-1]


@pytest.mark.parametrize("table", ["random", "duplicated", "constant"])
def test_truncated(table):
    X = TABLES[table]
    choice = {"min_mean_degree": 6, "n_thresholds": 30}
    whole = fit(X, **choice).network_
    n = int((~fit(X, **choice).constant_).sum())
    net = fit(X, max_edges=2 * n, **choice).network_
    assert net.truncated_
    refused = answered = 0
    for t in np.linspace(whole.threshold, whole.adjacency.data.max(), 40):
        expected = whole.at(t)
        try:
            got = net.at(t)
        except DataError as err:
            assert "The network is truncated" in str(err)
            assert "X=X" in str(err)
            refused += 1
            got = net.at(t, X=X)
            if got.truncated_:
                assert got.n_edges == expected.n_edges > 2 * n
                continue
        else:
            answered += 1
            assert not got.truncated_
        same_edges(got, expected)
    # Three copies of a feature look as if there might be a fourth.
    assert refused and (answered or table == "duplicated")


def test_truncated_part_and_truncated_again():
    X = blocks(m=20, n=60)
    choice = {"min_mean_degree": 10, "n_thresholds": 30}
    whole = fit(X, **choice).network_
    net = fit(X, max_edges=300, **choice).network_
    part = net.subgraph(top=20)
    assert part.truncated_
    high = float(np.sort(whole.adjacency.data)[-6])
    same_edges(part.at(high), whole.subgraph(top=20).at(high))
    low = net.at(whole.threshold - 0.1, X=X)
    assert low.truncated_
    assert low.n_edges == whole.at(whole.threshold - 0.1, X=X).n_edges
    same_edges(low.at(high), whole.at(high))
    with pytest.raises(DataError, match="truncated"):
        low.at(whole.threshold)
    with pytest.raises(DataError, match="truncated"):
        SMALL["truncated"].at(0.5)


def test_empty_networks():
    assert make(0, []).at(0.5).n_edges == 0
    assert make(7, []).at(0.9).n_edges == 0
    assert len(make(7, []).subgraph(top=3)) == 3
