"""`Cover()` against its definition, line by line."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from franet import Cover, FRANe
from franet.datasets import make_groups
from franet.exceptions import DataError
from naive_cover import columns_of, cover_order, predictable, predicted, standardized
from tables import TABLES, blocks


def cover(n_features_to_select=None, **parameters):
    return Cover(n_features_to_select, **parameters)


def spiky():
    rng = np.random.default_rng(3)
    rates = np.geomspace(0.05, 0.6, 30)
    return (rng.random((60, 30)) < rates).astype(float) * rng.integers(1, 4, (60, 30))


def grouped(**parameters):
    return make_groups(60, 6, 5, n_noise=10, random_state=1, **parameters)


CASES = {**TABLES, "spiky": spiky(), "grouped": grouped(duplicates=4).X}
CASES["wide"] = np.random.default_rng(4).normal(size=(12, 90))


@pytest.mark.kernels
@pytest.mark.parametrize("objective", ["balanced", "linear", "neighbors"])
@pytest.mark.parametrize("name", CASES)
def test_definition(name, objective):
    X = CASES[name]
    order, gains = cover_order(X, 8, objective=objective)
    ranker = cover(objective=objective).fit(X)
    k = len(order)
    np.testing.assert_allclose(ranker.gains_[:k], gains, rtol=1e-7, atol=1e-10)
    assert ranker.order_[:k].tolist() == order.tolist()


def test_many_examples_take_no_matrix_of_them():
    X = np.random.default_rng(0).normal(size=(6000, 5))
    tracemalloc.start()
    try:
        cover().fit(X)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < 8 * 6000**2 / 4


def test_cost_is_what_a_gain_is_divided_by():
    X = grouped().X
    cost = np.random.default_rng(0).uniform(0.2, 5.0, X.shape[1])
    order, gains = cover_order(X, 6, cost)
    ranker = cover(cost=cost).fit(X)
    assert ranker.order_[:6].tolist() == order.tolist()
    np.testing.assert_allclose(ranker.gains_[:6], gains, rtol=1e-7)


def test_one_pick_for_each_group():
    made = make_groups(80, 8, 10, redundancy=0.9, random_state=0)
    picks = cover(8).fit(made.X).order_[:8]
    assert set(made.groups[picks]) == set(range(8))


def test_the_best_16_start_with_the_best_8():
    X = grouped().X
    few, many = (cover(k).fit(X).order_[:8] for k in (8, 16))
    np.testing.assert_array_equal(few, many)


@pytest.mark.parametrize("n_ranked", [5, 20])
def test_n_ranked(n_ranked):
    X = grouped().X
    ranker = cover(n_ranked=n_ranked).fit(X)
    assert ranker.n_ranked_ == n_ranked
    picks = ranker.order_[:n_ranked]
    np.testing.assert_array_equal(picks, cover().fit(X).order_[:n_ranked])
    first = np.argsort(ranker.ranking_)[:n_ranked]
    np.testing.assert_array_equal(first, picks)
    rest = np.setdiff1d(np.arange(X.shape[1]), first)
    assert ranker.scores_[rest].max() <= ranker.scores_[first].min()


def test_threads_change_nothing():
    fits = [cover(n_jobs=j).fit(blocks()) for j in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].scores_, other.scores_)
        np.testing.assert_array_equal(fits[0].order_, other.order_)


@pytest.mark.parametrize("kind", ["csr", "float32", "order"])
def test_the_form_of_the_table_does_not_matter(kind):
    from scipy import sparse

    X = spiky()
    same = {
        "csr": sparse.csr_array(X),
        "float32": X.astype(np.float32),
        "order": np.asfortranarray(X),
    }[kind]
    np.testing.assert_array_equal(cover().fit(same).order_, cover().fit(X).order_)


def in_units(X, seed=0):
    """Return the table with other units and offsets of its columns."""
    rng = np.random.default_rng(seed)
    factors = np.exp(3.0 * rng.normal(size=X.shape[1]))
    return X * factors + 10.0 * rng.normal(size=X.shape[1])


def test_units_do_not_matter():
    X = grouped().X
    wanted = cover().fit(X)
    for other in (X * 1e200, in_units(X), -X):
        found = cover().fit(other)
        np.testing.assert_array_equal(found.order_, wanted.order_)
        np.testing.assert_allclose(found.gains_, wanted.gains_, atol=1e-9)


@pytest.mark.parametrize("table", ["ranks", "quantiles"])
def test_columns_that_are_not_skewed(table):
    # More samples than those among which neighbors are searched: some are drawn.
    X = np.random.default_rng(0).normal(size=(2000, 5)).repeat(6, axis=1)
    X += np.random.default_rng(1).normal(size=X.shape)
    options = {"similarity": "spearman"} if table == "ranks" else {}
    if table == "quantiles":
        X = (X.argsort(axis=0).argsort(axis=0) // 500).astype(float)
    rng = np.random.default_rng(2)
    columns = rng.permutation(30)
    expected = Cover(8, **options).fit(X).order_[:8].tolist()
    for unit in (rng.uniform(0.1, 10.0, 30), 2.0 ** rng.integers(-9, 9, 30)):
        assert Cover(8, **options).fit(X * unit).order_[:8].tolist() == expected
    found = Cover(8, **options).fit(X[rng.permutation(2000)][:, columns]).order_[:8]
    assert columns[found].tolist() == expected


def test_own_units_are_those_of_neighbors():
    X = in_units(grouped().X)
    order, gains = cover_order(X, 8, raw=True)
    ranker = cover(scale=None).fit(X)
    assert ranker.order_[:8].tolist() == order.tolist()
    np.testing.assert_allclose(ranker.gains_[:8], gains, rtol=1e-7)
    assert order.tolist() != cover_order(X, 8)[0].tolist()
    linear = [
        cover(scale=s, objective="linear").fit(X).order_ for s in ("standard", None)
    ]
    np.testing.assert_array_equal(*linear)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["tall", "wide", "words"])
def test_order_of_rows_and_columns_does_not_matter(name, seed):
    rng = np.random.default_rng(seed)
    # More samples and more features than are drawn.
    X = {
        "tall": make_groups(700, 8, 5, redundancy=0.7, random_state=1).X,
        "wide": make_groups(30, 40, 60, redundancy=0.8, random_state=1).X,
        "words": (np.random.default_rng(1).random((90, 60)) < 0.1).astype(float),
    }[name]
    wanted = cover(12).fit(X)
    shuffled = cover(12).fit(X[rng.permutation(len(X))])
    np.testing.assert_array_equal(shuffled.order_, wanted.order_)
    np.testing.assert_array_equal(shuffled.scores_, wanted.scores_)
    np.testing.assert_allclose(shuffled.explained_, wanted.explained_, rtol=1e-9)
    assert shuffled.n_features_suggested_ == wanted.n_features_suggested_
    columns = rng.permutation(X.shape[1])
    permuted = cover(12).fit(X[:, columns])
    picks, others = X[:, wanted.order_[:12]], X[:, columns[permuted.order_[:12]]]
    r = [np.corrcoef(*pair)[0, 1] for pair in zip(picks.T, others.T, strict=True)]
    np.testing.assert_allclose(np.abs(r), 1.0, atol=1e-9)


def test_weights():
    X = in_units(grouped().X)
    w = np.random.default_rng(0).uniform(0.0, 2.0, X.shape[1])
    order, gains = cover_order(X, 8, weights=w)
    ranker = cover(weights=w).fit(X)
    assert ranker.order_[:8].tolist() == order.tolist()
    np.testing.assert_allclose(ranker.gains_[:8], gains, rtol=1e-7)
    few = {0: 3.0, "x5": 0.0}
    every = np.ones(X.shape[1])
    every[[0, 5]] = 3.0, 0.0
    for found in (cover(weights=few).fit(X), cover(weights=pd.Series(few)).fit(X)):
        np.testing.assert_array_equal(found.order_, cover(weights=every).fit(X).order_)


@pytest.mark.parametrize("m", [8, 30])
def test_the_oracle_leaves_samples_out(m):
    Z, S = standardized(np.random.default_rng(m).normal(size=(m, 9))), [2, 5, 7, 8]
    errors, total = np.zeros(9), np.zeros(9)
    for i in range(m):
        train = np.delete(Z, i, axis=0)
        mean = train.mean(axis=0)
        A = train[:, S] - mean[S]
        B = np.linalg.solve(A.T @ A + 3.0 * np.eye(4), A.T @ (train - mean))
        errors += (Z[i] - mean - (Z[i, S] - mean[S]) @ B) ** 2
        total += (Z[i] - mean) ** 2
    np.testing.assert_allclose(predicted(Z, S, 3.0), 1.0 - errors / total)


@pytest.mark.parametrize("m", [15, 50])
def test_variance_weights(m):
    X = in_units(grouped().X[:m])
    w = X.var(axis=0) * predictable(standardized(X)) ** 2
    order, gains = cover_order(X, 8, weights=w)
    ranker = cover(weights="variance").fit(X)
    assert ranker.order_[:8].tolist() == order.tolist()
    np.testing.assert_allclose(ranker.gains_[:8], gains, rtol=1e-6)


def test_noise_counts_little_by_variance():
    made = grouped()
    X = made.X.copy()
    X[:, made.groups < 0] *= 20.0
    picks = cover(6, weights="variance").fit(X).order_[:6]
    assert set(made.groups[picks]) == set(range(6))


def test_variance_weights_of_columns_that_share_nothing():
    X = np.eye(5) * [1.0, 2.0, 3.0, 4.0, 5.0]
    ranker = cover(weights="variance").fit(X)
    assert sorted(ranker.order_) == list(range(5))
    assert np.isfinite(ranker.gains_).all()


def test_a_column_of_one_sample_does_not_win_by_it():
    X = make_groups(60, 6, 5, random_state=1).X
    spikes = np.zeros((60, 20))
    spikes[3] = np.random.default_rng(0).uniform(50, 100, 20)
    for objective in ("balanced", "linear", "neighbors"):
        picks = cover(6, objective=objective).fit(np.hstack([X, spikes])).order_[:6]
        assert picks.max() < X.shape[1]


def test_more_picks_than_samples():
    found = []
    for seed in range(4):
        made = make_groups(30, 60, 8, redundancy=0.95, random_state=seed)
        found.append(len(set(made.groups[cover(60).fit(made.X).order_[:60]])))
    # Drawn at random they would be of 38; of 30 samples some groups are hardly apart.
    assert np.mean(found) >= 57


def test_constant_columns_come_last():
    X = np.column_stack([np.ones(60), grouped().X, np.full(60, 3.0)])
    ranker = cover(4).fit(X)
    assert set(np.argsort(ranker.ranking_)[-2:]) == {0, X.shape[1] - 1}
    assert ranker.representative_[0] == -1
    assert np.isnan(ranker.representative_corr_[0])
    assert not ranker.support_[[0, -1]].any()


def test_spearman_compares_ranks():
    X = grouped().X
    bent = np.exp(2 * X)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0) + 1.0
    plain = cover(3).fit(ranks)
    by_ranks = cover(3, similarity="spearman").fit(bent)
    np.testing.assert_array_equal(by_ranks.order_, plain.order_)
    np.testing.assert_allclose(by_ranks.gains_, plain.gains_, rtol=1e-9)


def test_more_features_than_are_drawn():
    made = make_groups(30, 60, 40, redundancy=0.95, n_noise=200, random_state=0)
    ranker = cover(60).fit(made.X)
    groups = made.groups[ranker.order_[:60]]
    # 512 of 2,600 are represented, and nearly every group is among them.
    assert len(set(groups) - {-1}) >= 57


def test_more_examples_than_are_drawn():
    made = make_groups(1500, 5, 6, redundancy=0.9, random_state=0)
    ranker = cover(5).fit(made.X)
    assert set(made.groups[ranker.order_[:5]]) == set(range(5))


def test_everything_is_picked_where_all_is_asked_for():
    X = grouped(duplicates=3).X
    n = X.shape[1]
    ranker = cover(n).fit(X)
    assert sorted(ranker.order_) == list(range(n))
    assert ranker.n_ranked_ <= n
    assert ranker.explained_[-1] == pytest.approx(1.0)
    assert ranker.support_.all()


def test_two_features():
    rng = np.random.default_rng(0)
    ranker = cover(1).fit(rng.normal(size=(5, 2)))
    assert ranker.support_.sum() == 1


def test_two_examples():
    ranker = cover(1).fit(np.array([[0.0, 1.0, 2.0], [1.0, 1.5, 0.0]]))
    # Of the other sample nothing is known: a pick explains itself.
    own = ranker.weights_[ranker.order_[0]]
    assert ranker.explained_[0] == pytest.approx(own)


def test_a_second_fit_forgets_the_first():
    X = grouped().X
    ranker = cover(3).fit(X)
    ranker.set_params(n_features_to_select=5, similarity="spearman").fit(X[:, :12])
    fresh = cover(5, similarity="spearman").fit(X[:, :12])
    assert vars(ranker).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(ranker.order_, fresh.order_)
    assert ranker.members_.keys() == fresh.members_.keys()


def test_the_table_is_not_changed():
    X = grouped().X
    before = X.copy()
    cover().fit(X)
    np.testing.assert_array_equal(X, before)


def test_the_network_connects_with_representatives():
    X = grouped().X
    ranker = cover(4).fit(X)
    net = ranker.network_
    assert net.n_edges == (ranker.representative_ >= 0).sum() - 4
    j = int(ranker.members_[ranker.order_[0]][0])
    assert net.neighbors(j).names == [f"x{ranker.order_[0]}"]


def test_clone_and_parameters():
    ranker = cover("auto", include=[1], cost={0: 2.0})
    assert clone(ranker).get_params() == ranker.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"similarity": "euclidean"}, "'similarity' parameter of Cover"),
        ({"backend": "dask"}, "backend='dask' cannot be used here; choose 'auto'"),
        ({"backend": "tcp://h:1"}, "backend='tcp://h:1' cannot be used here"),
        ({"n_features_to_select": 2, "include": [1, 2, 3]}, "include names 3 features"),
    ],
)
def test_what_does_not_go_together(parameters, message):
    with pytest.raises(ValueError, match=message):
        cover(**parameters).fit(grouped().X)


@pytest.mark.parametrize("name", ["include", "exclude", "cost", "groups", "n_ranked"])
def test_parameters_of_cover_are_not_those_of_frane(name):
    assert name in Cover().get_params()
    with pytest.raises(TypeError, match=f"'{name}'"):
        FRANe(**{name: None})
    with pytest.raises(ValueError, match="Invalid parameter 'redundancy'"):
        FRANe().set_params(redundancy="cover")
    with pytest.raises(ValueError, match="'n_features_to_select' parameter of FRANe"):
        FRANe("auto").fit(grouped().X)


def test_all_constant():
    with pytest.raises(DataError, match="All columns are constant"):
        cover().fit(np.ones((5, 3)))


def test_columns_of_the_oracle_are_not_constant():
    assert columns_of(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist() == [1]
