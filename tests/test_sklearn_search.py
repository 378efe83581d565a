"""Searches over parameters, in which the score is how well a table is rebuilt."""

from __future__ import annotations

from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from franet import FRANe
from franet.evaluation import reconstruction
from franet.rankers import NAMES, ColumnSubset, RandomRanking, Variance
from quick_rankers import quick

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(90, 3))
X = FACTORS @ RNG.normal(size=(3, 12)) + 0.3 * RNG.normal(size=(90, 12))
Y = (FACTORS[:, 0] > 0).astype(int)
FOLDS = KFold(3)


def by_hand(ranker, folds=FOLDS):
    return [ranker.fit(X[train]).score(X[test]) for train, test in folds.split(X)]


def test_grid_search_over_parameters():
    grid = {
        "similarity": ["correlation", "spearman", "abs-correlation"],
        "centrality": ["pagerank", "degree"],
    }
    search = GridSearchCV(FRANe(3), grid, cv=FOLDS).fit(X)
    found = search.cv_results_["mean_test_score"]
    expected = [np.mean(by_hand(FRANe(3, **p))) for p in search.cv_results_["params"]]
    np.testing.assert_array_equal(found, expected)
    assert search.best_score_ == found.max() > found.min()
    best = search.best_estimator_
    np.testing.assert_array_equal(search.transform(X), X[:, best.support_])
    assert search.score(X) == best.score(X)
    assert search.n_features_in_ == 12


def test_grid_search_over_rankers():
    steps = Pipeline([("scale", StandardScaler()), ("rank", FRANe(3))])
    rankers = [FRANe(3), ColumnSubset(3), RandomRanking(3, random_state=0)]
    grid = {"rank": rankers, "scale": [StandardScaler(), "passthrough"]}
    search = GridSearchCV(steps, grid, cv=FOLDS, error_score="raise")
    search.fit(pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)]))
    assert len(search.cv_results_["params"]) == 6
    assert not isinstance(search.best_params_["rank"], RandomRanking)
    assert len(search.best_estimator_.get_feature_names_out()) == 3


def test_other_measures_as_scorers():
    scoring = {
        "rmae": reconstruction,
        "r2": partial(reconstruction, measure="r2"),
        "classes": partial(reconstruction, measure="knn_accuracy"),
    }
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ColumnSubset()),
        {"columnsubset__n_features_to_select": [1, 6]},
        scoring=scoring,
        refit="r2",
        cv=FOLDS,
    ).fit(X, Y)
    results = search.cv_results_
    assert search.best_params_ == {"columnsubset__n_features_to_select": 6}
    assert results["mean_test_r2"][0] < results["mean_test_r2"][1] < 1
    assert results["mean_test_rmae"][0] < results["mean_test_rmae"][1] < 0
    assert results["mean_test_classes"].max() <= 1


def test_nested_cross_validation():
    inner = GridSearchCV(FRANe(3), {"damping": [0.5, 0.85]}, cv=2)
    scores = cross_val_score(inner, X, cv=FOLDS)
    np.testing.assert_array_equal(scores, by_hand(inner))
    found = cross_validate(FRANe(3), X, cv=FOLDS, return_estimator=True)
    np.testing.assert_array_equal(found["test_score"], by_hand(FRANe(3)))
    assert [ranker.n_features_ for ranker in found["estimator"]] == [3, 3, 3]


def test_in_processes():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), FRANe(3)),
        {"frane__similarity": ["correlation", "spearman"]},
        cv=FOLDS,
    )
    alone = search.fit(X).cv_results_["mean_test_score"]
    with joblib.parallel_config("loky"):
        together = search.set_params(n_jobs=2).fit(X).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(alone, together)


def test_before_a_classifier():
    """Inside a pipeline that ends in a classifier, its score is what counts."""
    steps = make_pipeline(StandardScaler(), FRANe(), LogisticRegression())
    grid = {"frane__n_features_to_select": [2, 6]}
    search = GridSearchCV(steps, grid, cv=FOLDS).fit(X, Y)
    assert search.best_score_ > 0.8
    forest = make_pipeline(FRANe(4), RandomForestClassifier(10, random_state=0))
    assert cross_val_score(forest, X, Y, cv=FOLDS).mean() > 0.7


def test_random_search():
    search = RandomizedSearchCV(
        FRANe(3),
        {"damping": np.linspace(0.1, 0.9, 9), "weighted": [True, False]},
        n_iter=3,
        cv=FOLDS,
        random_state=0,
    ).fit(X)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


@pytest.mark.parametrize("name", NAMES)
def test_every_ranker_has_a_score(name):
    scores = cross_val_score(quick(name), X, cv=FOLDS, error_score="raise")
    assert np.all(np.isfinite(scores) & (scores < 0))


def test_a_score_needs_no_rows_of_the_fit():
    """What is learnt from held-out rows themselves is how to rebuild them."""
    components = PCA(3).fit_transform(X)
    fitted = Variance(2).fit(components)
    assert not any(np.shares_memory(components, v) for v in vars(fitted).values())
