from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.linear_model import Ridge

from franet.evaluation import _weights
from franet.evaluation._weights import (
    neighbour_weights,
    nested_distances,
    ridge_prediction,
    ridge_weights,
    sizes_of,
)
from franet.evaluation.kernels import kth_smallest


def naive_neighbours(distances, ties):
    """Sort one row at a time; a tie is a distance equal to the fifth."""
    weights = np.zeros_like(distances)
    k = min(5, distances.shape[1])
    for i, row in enumerate(distances):
        order = sorted(range(len(row)), key=lambda j: (row[j], j))
        if ties == "position":
            weights[i, order[:k]] = 1 / k
            continue
        last = row[order[k - 1]]
        closer = [j for j in order if row[j] < last]
        tied = [j for j in order if row[j] == last]
        weights[i, closer] = 1 / k
        weights[i, tied] = (k - len(closer)) / len(tied) / k
    return weights


def dense(weights):
    return weights if isinstance(weights, np.ndarray) else weights.toarray()


@pytest.mark.parametrize("ties", ["position", "shared"])
def test_few_neighbours_are_stored_sparsely(ties, monkeypatch):
    distances = np.random.default_rng(0).random((6, 300))
    found = neighbour_weights(distances, ties)
    assert sparse.issparse(found)
    monkeypatch.setattr(_weights, "_DENSE", 0.0)
    np.testing.assert_array_equal(neighbour_weights(distances, ties), found.toarray())


@pytest.mark.parametrize("ties", ["position", "shared"])
@pytest.mark.parametrize("n_train", [3, 5, 40])
@pytest.mark.parametrize("n_values", [2, 5, 10**6])
def test_neighbours_agree_with_sorting(ties, n_train, n_values):
    random = np.random.default_rng(n_train + n_values)
    distances = random.integers(n_values, size=(30, n_train)).astype(float)
    found = dense(neighbour_weights(distances, ties))
    np.testing.assert_allclose(found, naive_neighbours(distances, ties), atol=1e-15)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_rounding_does_not_break_ties():
    distances = np.array([[0.3, 0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.9]])
    assert distances[0, 1] > 0.3
    found = dense(neighbour_weights(distances, "position"))[0]
    assert found.tolist() == [0.2, 0.2, 0.2, 0.2, 0.2, 0, 0]
    shared = dense(neighbour_weights(distances, "shared"))[0]
    np.testing.assert_allclose(shared, [1 / 6] * 6 + [0])


def test_sharing_does_not_depend_on_the_order_of_the_examples():
    random = np.random.default_rng(0)
    distances = random.integers(4, size=(8, 50)).astype(float)
    order = random.permutation(50)
    found = dense(neighbour_weights(distances[:, order], "shared"))
    expected = dense(neighbour_weights(distances, "shared"))[:, order]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.kernels
def test_distances_grow_with_the_features():
    random = np.random.default_rng(1)
    train, test = random.normal(size=(20, 12)), random.normal(size=(5, 12))
    order = random.permutation(12)
    seen = []
    for k, distances in nested_distances(test, train, order, [1, 4, 12]):
        expected = cdist(test[:, order[:k]], train[:, order[:k]], "sqeuclidean")
        np.testing.assert_allclose(distances, expected, rtol=1e-13)
        seen.append(k)
    assert seen == [1, 4, 12]


def test_distances_are_those_of_features_divided_by_the_largest_size():
    random = np.random.default_rng(2)
    train, test = random.normal(size=(20, 4)), random.normal(size=(5, 4))
    powers = np.array([-1000, -800, 0, 500])
    sizes = sizes_of(np.ldexp(np.vstack([train, test]), powers))
    np.testing.assert_array_equal(sizes, [-1024, -768, 0, 512])
    big_test, big_train = np.ldexp(test, powers), np.ldexp(train, powers)
    for k, distances in nested_distances(
        big_test, big_train, np.arange(4), [1, 2, 4], sizes
    ):
        scale = powers[:k] - sizes[:k].max()
        A, B = np.ldexp(test[:, :k], scale), np.ldexp(train[:, :k], scale)
        np.testing.assert_allclose(distances, cdist(A, B, "sqeuclidean"), rtol=1e-13)


def test_sizes_of_ordinary_columns_are_zero():
    X = np.array([[1e-30, 1e30, 0.0, 1.0, 1e200], [1e-20, 0.0, 1.0, 1.0, 1e200]])
    assert sizes_of(X).tolist() == [0, 0, 0, -1024, -1024]


@pytest.mark.kernels
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_smallest_values_of_rows(k):
    D = np.random.default_rng(3).integers(6, size=(9, 5)).astype(float)
    D[D == 5] = np.inf
    found = np.empty(9)
    kth_smallest(D, k, out=found)
    np.testing.assert_array_equal(found, np.sort(D, axis=1)[:, k - 1])


def ridge_tables(k, signal):
    random = np.random.default_rng(k)
    train, test = random.normal(size=(15, k)), random.normal(size=(4, k))
    train, test = train - train.mean(axis=0), test - train.mean(axis=0)
    Y = random.normal(3.0, 2.0, size=(15, 7))
    Y += signal * train @ random.normal(size=(k, 7))
    return train, test, Y


@pytest.mark.parametrize("signal", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("k", [1, 6, 15, 30])
def test_ridge_takes_the_penalty_of_cross_validation(k, signal):
    """Every penalty by scikit-learn, with the hat matrix of unit targets."""
    train, test, Y = ridge_tables(k, signal)
    centred = Y - Y.mean(axis=0)
    errors, guesses = [], []
    for α in 15 * _weights._PENALTIES:
        model = Ridge(alpha=α, solver="svd").fit(train, Y)
        hat = Ridge(alpha=α, solver="svd").fit(train, np.eye(15)).predict(train)
        missed = np.sum((model.predict(train) - Y) ** 2)
        free = 15 - np.trace(hat)
        errors.append(missed / free**2 if free > 1e-6 else np.inf)
        guesses.append(model.predict(test))
    found = ridge_weights(test, train, centred @ centred.T) @ Y
    np.testing.assert_allclose(found, guesses[np.argmin(errors)], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("signal", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("k", [1, 6, 15, 30])
def test_ridge_predicts_without_weights(k, signal):
    train, test, Y = ridge_tables(k, signal)
    mean = Y.mean(axis=0)
    centred = Y - mean
    expected = ridge_weights(test, train, centred @ centred.T) @ Y
    found = ridge_prediction(test, train, centred) + mean
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_ridge_gives_the_mean_where_there_is_no_signal_to_find():
    train, test, Y = ridge_tables(40, 0.0)
    centred = Y - Y.mean(axis=0)
    found = ridge_weights(test, train, centred @ centred.T) @ Y
    assert np.abs(found - Y.mean(axis=0)).max() < 0.7 * np.abs(centred).max()


def test_ridge_on_columns_that_say_nothing():
    train, test, Y = ridge_tables(3, 0.0)
    centred = Y - Y.mean(axis=0)
    zero = np.zeros_like
    found = ridge_weights(zero(test), zero(train), centred @ centred.T)
    np.testing.assert_allclose(found @ Y, np.tile(Y.mean(axis=0), (4, 1)))
