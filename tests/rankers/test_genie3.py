"""Genie3 against the definition, node by node."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from franet._common.progress import listening
from franet.rankers import Genie3
from franet.rankers.genie3 import components
from tables import TABLES, random

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def standardized(X):
    Z = X - X.mean(axis=0)
    return Z / Z.std(axis=0)


def literal(tree, Z, seen, chosen):
    """Walk the rows of a sample down a tree; sum what each split removes."""
    scores = np.zeros(Z.shape[1])

    def variance(rows):
        return Z[rows].var(axis=0).mean()

    def walk(node, rows):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            return
        j = tree.feature[node]
        goes = seen[rows, j] <= tree.threshold[node]
        a, b = rows[goes], rows[~goes]
        after = (len(a) * variance(a) + len(b) * variance(b)) / len(rows)
        scores[j] += len(rows) / len(chosen) * (variance(rows) - after)
        walk(left, a)
        walk(right, b)

    walk(0, chosen)
    return scores


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize(("m", "n"), [(30, 12), (12, 30)])
def test_definition(m, n, bootstrap, monkeypatch):
    forests = []

    class Recorded(ExtraTreesRegressor):
        def fit(self, X, y):
            forests.append((self, X))
            return super().fit(X, y)

    monkeypatch.setattr("franet.rankers.genie3.ExtraTreesRegressor", Recorded)
    X = random(m, n, seed=1)
    Z = standardized(X)
    ranker = Genie3(n_estimators=25, bootstrap=bootstrap, random_state=5).fit(X)
    found = []
    for forest, seen in forests:
        np.testing.assert_allclose(seen, Z, rtol=1e-5, atol=1e-6)
        for tree, sample in zip(
            forest.estimators_, forest.estimators_samples_, strict=True
        ):
            found.append(literal(tree.tree_, Z, seen, np.asarray(sample)))
    assert len(found) == 25
    np.testing.assert_allclose(ranker.scores_, np.mean(found, axis=0), rtol=1e-5)
    if not bootstrap:  # all variance is removed by trees grown to the end
        assert ranker.scores_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("m", "n"), [(40, 10), (10, 40)])
def test_components_keep_the_variance_of_every_group(m, n):
    Z = standardized(random(m, n, seed=2))
    Y = components(Z, None)
    assert Y.shape[1] <= min(m, n)
    rng = np.random.default_rng(0)
    for size in (2, 3, 7, m):
        rows = rng.choice(m, size, replace=False)
        wanted = Z[rows].var(axis=0).sum()
        assert Y[rows].var(axis=0).sum() == pytest.approx(wanted)
    few = components(Z, 3)
    np.testing.assert_array_equal(few, Y[:, :3])
    assert (np.diff(few.var(axis=0)) <= 0.0).all()


def test_one_component():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 1)) * np.arange(1, 7)
    ranker = Genie3(bootstrap=False, random_state=0).fit(X)
    assert ranker.scores_.sum() == pytest.approx(1.0)


def test_features_of_planted_factors_come_first():
    rng = np.random.default_rng(0)
    planted = rng.permutation(30)[:12]
    X = rng.normal(size=(80, 30))
    factor = rng.normal(size=(80, 2))
    X[:, planted] = factor[:, np.arange(12) % 2] + 0.2 * X[:, planted]
    for bootstrap in (True, False):
        ranker = Genie3(bootstrap=bootstrap, random_state=0).fit(X)
        assert set(np.argsort(ranker.ranking_)[:12]) == set(planted)


def test_threads_change_nothing():
    X = TABLES["random"]
    a, b = (Genie3(random_state=3, n_jobs=j).fit(X) for j in (1, 2))
    np.testing.assert_array_equal(a.scores_, b.scores_)
    c = Genie3(random_state=4).fit(X)
    assert not np.array_equal(a.scores_, c.scores_)


def test_parameters_reach_the_trees():
    X = random(40, 10, seed=3)
    plain = Genie3(n_estimators=15, random_state=0).fit(X).scores_
    for changed in (
        {"max_features": None},
        {"max_features": 0.5},
        {"max_features": 1},
        {"min_samples_leaf": 10},
        {"bootstrap": False},
        {"n_components": 1},
        {"n_estimators": 25},
    ):
        parameters = {"n_estimators": 15, "random_state": 0, **changed}
        assert not np.allclose(Genie3(**parameters).fit(X).scores_, plain)


def test_constant_columns_and_progress():
    told = []
    X = TABLES["constant"]
    with listening(lambda *what: told.append(what)):
        ranker = Genie3(n_estimators=25, random_state=0).fit(X)
    assert told == [("trees", 10, 25), ("trees", 20, 25), ("trees", 25, 25)]
    constant = X.max(axis=0) == X.min(axis=0)
    assert (ranker.scores_[constant] == -1.0).all()
    assert (ranker.scores_[~constant] >= 0.0).all()
    assert (Genie3().fit(np.ones((4, 3))).scores_ == -1.0).all()


def test_warning_filters_stay_where_threads_of_scikit_learn_mix_them_up(monkeypatch):
    class Mixed(ExtraTreesRegressor):
        def fit(self, X, y):
            warnings.simplefilter("default", ResourceWarning)
            return super().fit(X, y)

    monkeypatch.setattr("franet.rankers.genie3.ExtraTreesRegressor", Mixed)
    before = list(warnings.filters)
    Genie3(n_estimators=3, random_state=0).fit(random(20, 5))
    assert list(warnings.filters) == before
