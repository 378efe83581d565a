"""What principal components explain of samples left out, by scikit-learn's PCA."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from franet import Cover
from franet.cover import _components
from franet.cover._components import components_explain
from franet.cover._order import order_by_values
from franet.datasets import make_groups


def slow(X, weights, k, order=None):
    X = X[order_by_values(X) if order is None else order]
    Z = (X - X.mean(axis=0)) / X.std(axis=0) * np.sqrt(weights)
    found, total = np.zeros(k), 0.0
    for fold in range(10):
        out = np.arange(len(Z)) % 10 == fold
        model = PCA().fit(Z[~out])
        scores = (model.transform(Z[out]) ** 2).sum(axis=0).cumsum()
        at = np.minimum(np.arange(k), len(scores) - 1)
        found += scores[at]
        total += ((Z[out] - model.mean_) ** 2).sum()
    return found / total


@pytest.mark.parametrize("shape", [(40, 12), (25, 60)])
def test_the_slow_way(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) + 2.0 * rng.normal(size=(shape[0], 1))
    w = rng.random(shape[1])
    found = components_explain(X, w, 15)
    np.testing.assert_allclose(found, slow(X, w, 15), rtol=1e-7)


def test_of_a_ranker():
    X = make_groups(60, 4, 5, n_noise=5, random_state=0).X
    X = np.column_stack([np.ones(60), X])
    ranker = Cover(4).fit(X)
    assert ranker.weights_[0] == 0.0
    assert ranker.weights_.sum() == pytest.approx(1.0)
    found, order = ranker.explained_by_components(X), order_by_values(X)
    np.testing.assert_allclose(found, slow(X[:, 1:], ranker.weights_[1:], 4, order))
    assert len(ranker.explained_by_components(X, 2)) == 2
    ranked = Cover(4, similarity="spearman").fit(X)
    by_rank = ranked.explained_by_components(X, 3)
    again = components_explain(X, ranked.weights_, 3, ranks=True)
    np.testing.assert_array_equal(by_rank, again)
    assert not np.allclose(by_rank, found[:3])
    with pytest.raises(ValueError, match="give a number from 1 on"):
        ranker.explained_by_components(X, 0)


def test_many_samples_are_drawn(monkeypatch):
    X = make_groups(300, 4, 5, exact=False, random_state=0).X
    every = components_explain(X, np.ones(20), 6)
    monkeypatch.setattr(_components, "SAMPLES", 100)
    some = components_explain(X, np.ones(20), 6)
    assert not np.array_equal(every, some)
    np.testing.assert_allclose(some, every, atol=0.05)
    shuffled = components_explain(X[::-1], np.ones(20), 6)
    np.testing.assert_allclose(shuffled, some, rtol=1e-9)
