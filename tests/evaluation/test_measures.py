from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

import protocol
from data import load, needs_shared
from franet.evaluation import measures
from franet.evaluation._weights import ridge_weights
from franet.evaluation.folds import Fold, paper_folds
from franet.evaluation.measures import (
    MEASURES,
    FoldScorer,
    check_measures,
    feature_counts,
)
from franet.exceptions import DataError, UsageError


def table(m=40, n=20, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(3, size=m)
    X = random.normal(size=(m, n)) + 2.0 * y[:, None] * random.normal(size=n)
    X[:, 3] = 7.0  # constant
    return X, y


def test_rmae_is_that_of_the_protocol():
    X, _ = table()
    order = np.random.default_rng(1).permutation(20)
    ranks = np.argsort(order) + 1
    found = [
        FoldScorer(X, fold).score(order, [1, 4, 20], ["rmae"])["rmae"]
        for fold in paper_folds(40)
    ]
    for k in (1, 4, 20):
        expected = protocol.rmae(X, lambda _: ranks, k)
        assert np.mean([values[k] for values in found]) == pytest.approx(
            expected, rel=1e-12
        )


# "The last 16 columns": what published entries of collapsed rankers come from.
LAST = {
    "ORL": 0.703, "Yale": 0.749, "warpPIE10P": 0.526, "colon": 0.661,
    "leukemia": 0.833, "pixraw10P": 0.412, "arcene": 0.457, "madelon": 0.856,
}  # fmt: skip


@needs_shared
@pytest.mark.parametrize("name", LAST)
def test_the_last_columns_give_the_published_values(name):
    X, _ = load(name)
    order = np.arange(X.shape[1])[::-1]
    found = [
        FoldScorer(X, fold).score(order, [16], ["rmae"])["rmae"][16]
        for fold in paper_folds(len(X))
    ]
    assert np.mean(found) == pytest.approx(LAST[name], abs=0.0015)


def test_measures_do_not_see_the_scale_where_they_should_not():
    X, _ = table()
    scale = np.random.default_rng(2).uniform(0.1, 100.0, 20)
    fold, order = paper_folds(40)[0], np.arange(20)
    names = ["rmae", "rmae_scaled", "r2"]
    plain = FoldScorer(X, fold).score(order, [5], names)
    scaled = FoldScorer(X * scale, fold).score(order, [5], names)
    assert scaled["rmae_scaled"][5] == pytest.approx(plain["rmae_scaled"][5])
    assert scaled["r2"][5] == pytest.approx(plain["r2"][5])
    assert scaled["rmae"][5] != pytest.approx(plain["rmae"][5], rel=1e-3)


ORDER = np.random.default_rng(8).permutation(20)
UNLABELLED = ["rmae", "rmae_shared", "rmae_scaled", "r2"]


def score(X, y=None, number=0):
    scorer = FoldScorer(X, paper_folds(len(X))[number], y)
    names = UNLABELLED if y is None else [*UNLABELLED, "knn_accuracy"]
    return scorer.score(ORDER, [1, 2, 20], names)


def assert_alike(found, expected, rel=1e-9):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=rel, abs=1e-12), name


def test_powers_of_two_change_no_bit():
    X, y = table()
    expected = score(X, y)
    for power in (-900, 7, 1000):
        assert score(np.ldexp(X, power), y) == expected


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_huge_and_tiny_tables_have_the_values_of_others(factor):
    X, y = table()
    Y = factor * X
    Y[:, 3] = X[:, 3]  # constant
    assert_alike(score(Y, y), score(X, y))


def test_a_tiny_column_counts_where_it_is_alone():
    X, _ = table()
    found = []
    for factor in (1e-50, 1e-200):
        Y = X.copy()
        Y[3:, ORDER[0]] *= factor  # but for three values, which are near others later
        found.append(score(Y, number=1))
    assert_alike(found[1], found[0])


@pytest.mark.parametrize("part", ["train", "test"])
def test_one_huge_value_does_not_make_the_others_equal(part):
    """Whatever it is; as a mark for a missing value, for instance."""
    X, _ = table()
    row = getattr(paper_folds(40)[0], part)[0]
    found = []
    for mark in (1e30, 1.7e308):
        Y = X.copy()
        Y[row, ORDER[:2]] = mark
        found.append(score(Y))
    for values in found:
        assert np.isfinite(list(values.pop("r2").values())).all()
    assert_alike(found[1], found[0])


def test_test_examples_are_gone_through_in_parts(monkeypatch):
    X, y = table()
    expected = score(X, y)
    monkeypatch.setattr(measures, "_DISTANCES", 100)  # two examples, one, one
    assert_alike(score(X, y), expected, rel=1e-12)


def test_memory_does_not_grow_with_the_square_of_the_examples(monkeypatch):
    monkeypatch.setattr(measures, "_DISTANCES", 2**15)
    X = np.random.default_rng(0).normal(size=(2000, 4))
    scorer = FoldScorer(X, Fold(0, np.arange(1000), np.arange(1000, 2000)))
    tracemalloc.start()
    scorer.score(np.arange(4), [1, 2, 4], UNLABELLED)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1000 * 1000 * 8 / 4  # of one array of all distances


def test_copies_are_rebuilt_by_ridge_and_noise_is_not():
    random = np.random.default_rng(3)
    z, noise = random.normal(size=(60, 1)), random.normal(size=(60, 1))
    X = np.hstack([z * [1.0, -2.0, 3.0, 4.0], noise])
    found = FoldScorer(X, paper_folds(60)[0]).score(
        np.array([0, 4, 1, 2, 3]), [1, 2], ["r2"]
    )["r2"]
    assert 0.6 < found[1] < 0.85  # four of five
    assert found[2] > 0.95


def test_the_share_explained_is_that_of_all_features_alike():
    X, _ = table()
    fold = paper_folds(40)[2]
    σ = X.std(axis=0)
    goals = X[:, σ > 0] / σ[σ > 0]
    train, test = X[fold.train, :4], X[fold.test, :4]
    scale = np.where(train.std(axis=0) > 0, train.std(axis=0), 1)
    train, test = (
        (train - train.mean(axis=0)) / scale,
        (test - train.mean(axis=0)) / scale,
    )
    mean = goals[fold.train].mean(axis=0)
    centred = goals[fold.train] - mean
    guess = ridge_weights(test, train, centred @ centred.T) @ goals[fold.train]
    left, spread = guess - goals[fold.test], goals[fold.test] - mean
    expected = 1 - np.sum(left**2) / np.sum(spread**2)
    found = FoldScorer(X, fold).score(np.arange(20), [4], ["r2"])["r2"][4]
    assert found == pytest.approx(expected, rel=1e-9)


def test_hidden_classes_are_predicted_as_by_scikit_learn():
    X, y = table()
    fold = paper_folds(40)[1]
    order = np.arange(20)
    model = KNeighborsClassifier(5, algorithm="brute")
    model.fit(X[fold.train][:, :6], y[fold.train])
    expected = model.score(X[fold.test][:, :6], y[fold.test])
    found = FoldScorer(X, fold, y).score(order, [6], ["knn_accuracy"])
    assert found["knn_accuracy"][6] == expected


def test_clusters_are_compared_with_the_classes():
    random = np.random.default_rng(4)
    y = np.repeat([5, 9, 11], 12)
    X = np.column_stack([y + random.normal(0, 0.05, 36), random.normal(size=(36, 3))])
    fold = Fold(0, np.arange(30), np.arange(30, 36))
    names = ["nmi", "cluster_accuracy"]
    good = FoldScorer(X, fold, y).score(np.arange(4), [1], names)
    assert good == {"nmi": {1: 1.0}, "cluster_accuracy": {1: 1.0}}
    bad = FoldScorer(X, fold, y).score(np.array([2, 1, 3, 0]), [1], names)
    scorer = FoldScorer(X, fold, y)
    again = scorer.score(np.array([2, 1, 3, 0]), [1], names)
    assert bad == again
    assert bad["nmi"][1] < 0.5
    # No better matching of clusters and classes exists.
    from sklearn.cluster import KMeans

    column = X[fold.train][:, [2]]
    column = (column - column.mean()) / column.std()
    clusters = KMeans(3, n_init=5, random_state=0).fit_predict(column)
    truth = np.unique(y, return_inverse=True)[1][fold.train]
    best = max(
        np.mean(np.array(names_of)[clusters] == truth)
        for names_of in itertools.permutations(range(3))
    )
    assert bad["cluster_accuracy"][1] == pytest.approx(best)
    assert bad["nmi"][1] == pytest.approx(normalized_mutual_info_score(truth, clusters))


def test_clusters_stop_at_many_features():
    X, y = table(30, 300)
    found = FoldScorer(X, paper_folds(30)[0], y).score(
        np.arange(300), [256, 300], ["nmi", "rmae"]
    )
    assert list(found["nmi"]) == [256]
    assert list(found["rmae"]) == [256, 300]


def test_fewer_different_examples_than_classes_are_no_error():
    y = np.arange(30) % 5
    X = np.zeros((30, 2))
    X[::2] = 1.0
    scorer = FoldScorer(X, paper_folds(30)[0], y)
    assert 0 <= scorer.score(np.arange(2), [2], ["nmi"])["nmi"][2] <= 1


def test_no_input_is_changed():
    X, y = table()
    before = X.copy()
    FoldScorer(X, paper_folds(40)[0], y).score(np.arange(20), [1, 20], list(MEASURES))
    np.testing.assert_array_equal(X, before)


def test_nothing_to_rebuild_is_an_error():
    with pytest.raises(DataError, match="constant"):
        FoldScorer(np.ones((30, 4)), paper_folds(30)[0])


def test_a_test_part_without_spread_is_explained_or_not():
    X = np.zeros((30, 2))
    X[:, 0] = np.arange(30) - np.arange(24).mean()
    fold = Fold(0, np.arange(24), np.arange(24, 30))
    X[24:] = 0
    found = FoldScorer(X, fold).score(np.arange(2), [1, 2], ["r2"])["r2"]
    assert found[1] in (0.0, 1.0)


def test_counts():
    assert feature_counts("powers", 1) == [1]
    assert feature_counts("powers", 16) == [1, 2, 4, 8, 16]
    assert feature_counts(16, 2000) == [16]
    assert feature_counts([64, 16, 16], 20) == [16]
    assert feature_counts(16, 3) == [3]
    for wrong in ("all", 0, [2.5], [], [[1]]):
        with pytest.raises(UsageError, match="n_features="):
            feature_counts(wrong, 10)


def test_measures_are_checked():
    assert check_measures(None, False) == ["rmae", "rmae_shared", "rmae_scaled", "r2"]
    assert check_measures("nmi", True) == ["nmi"]
    with pytest.raises(UsageError, match="'mse'"):
        check_measures(["mse"], True)
    with pytest.raises(UsageError, match="needs the classes"):
        check_measures(["nmi"], False)
    with pytest.raises(UsageError, match="at least one"):
        check_measures([], False)
    X, _ = table()
    with pytest.raises(UsageError, match="examples, y"):
        FoldScorer(X, paper_folds(40)[0]).score(np.arange(20), [1], ["nmi"])
