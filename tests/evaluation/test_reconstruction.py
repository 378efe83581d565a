"""The score of a fitted selector is what `evaluate` measures, on parts of a table."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from franet import DataError, FRANe
from franet.evaluation import MEASURES, evaluate, reconstruction, shuffled_folds
from franet.exceptions import UsageError
from franet.rankers import ColumnSubset, RandomRanking, Variance

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(60, 3))
TABLE = FACTORS @ RNG.normal(size=(3, 15)) + 0.1 * RNG.normal(size=(60, 15))
CLASSES = (FACTORS[:, 0] > 0).astype(int)
FITTED = Variance(n_features_to_select=4).fit(TABLE)
SIMILAR = FRANe(similarity="precomputed").fit(np.abs(np.corrcoef(TABLE.T)))


class Fixed(Variance):
    """A ranker that keeps the ranking of another table."""

    def _score(self, X):
        return FITTED.scores_


@pytest.mark.parametrize("measure", MEASURES)
def test_it_is_what_evaluate_measures(measure):
    folds = [(fold.train, fold.test) for fold in shuffled_folds(60, 5)]
    results = evaluate(
        TABLE,
        CLASSES if MEASURES[measure].needs_labels else None,
        rankers={"it": Fixed()},
        n_features=4,
        folds=folds,
        measures=[measure],
        references=False,
    )
    expected = results.curve("it", measure=measure).values.mean()
    sign = -1 if MEASURES[measure].lower_is_better else 1
    found = reconstruction(FITTED, TABLE, CLASSES, measure=measure)
    assert found == pytest.approx(sign * expected, rel=1e-12)


def test_score_is_the_default():
    assert FITTED.score(TABLE) == reconstruction(FITTED, TABLE)
    assert FITTED.score(TABLE, CLASSES) == FITTED.score(TABLE) < 0


def test_all_features_beat_a_few_and_good_ones_chance():
    good, chance, whole = (
        ranker.fit(TABLE[:30]).score(TABLE[30:])
        for ranker in (ColumnSubset(3), RandomRanking(1, random_state=0), Variance(15))
    )
    assert chance < good < whole < 0


def test_selectors_and_pipelines():
    kept = VarianceThreshold(np.sort(TABLE.var(axis=0))[-5]).fit(TABLE)
    assert kept.get_support().sum() == 4
    assert reconstruction(kept, TABLE) == reconstruction(FITTED, TABLE)
    wide = TABLE * np.geomspace(1, 1e6, 15)
    pipeline = make_pipeline(StandardScaler(), ColumnSubset(3)).fit(wide)
    scaled = (wide - wide.mean(axis=0)) / wide.std(axis=0)
    assert pipeline.score(wide) == pytest.approx(pipeline[-1].score(scaled), rel=1e-9)
    assert reconstruction(pipeline, wide) == pipeline.score(wide)
    alone = make_pipeline(Variance(4)).fit(TABLE)
    assert reconstruction(alone, TABLE) == FITTED.score(TABLE)


def test_forms_of_a_table():
    names = [f"gene {j}" for j in range(15)]
    frame = pd.DataFrame(TABLE, columns=names)
    fitted = Variance(n_features_to_select=4).fit(frame)
    assert fitted.score(frame) == FITTED.score(TABLE)
    assert FITTED.score(sparse.csc_array(TABLE)) == FITTED.score(TABLE)
    with pytest.raises(DataError, match="feature names should match"):
        fitted.score(frame[names[::-1]])


def test_many_rows_are_drawn():
    rows = np.tile(TABLE, (50, 1)) + 0.1 * RNG.normal(size=(3000, 15))
    score = FITTED.score(rows)
    assert score == FITTED.score(rows)
    drawn = np.sort(np.random.default_rng(0).choice(3000, 2000, replace=False))
    assert score == FITTED.score(rows[drawn])
    found = reconstruction(
        FITTED, rows, np.tile(CLASSES, 50), measure="knn_accuracy"
    )  # classes are drawn with their rows
    assert found > 0.8


def with_nan():
    table = TABLE.copy()
    table[2, 3] = np.nan
    return table


@pytest.mark.parametrize(
    ("use", "kind", "message"),
    [
        (lambda: FITTED.score(TABLE[:3]), DataError, "has 3 row.*at least 4"),
        (lambda: FITTED.score(TABLE[:, :3]), DataError, "X has 3 features"),
        (lambda: FITTED.score(with_nan()), DataError, "contains NaN.*without missing"),
        (
            lambda: FRANe(missing="pairwise").fit(with_nan()).score(with_nan()),
            DataError,
            "contains NaN.*without missing",
        ),
        (
            lambda: FITTED.score(np.ones((20, 15))),
            DataError,
            "Every feature is constant",
        ),
        (
            lambda: reconstruction(SIMILAR, TABLE),
            UsageError,
            "similarities cannot be rebuilt. Fit a ranker",
        ),
        (lambda: SIMILAR.score, AttributeError, "no attribute 'score'"),
        (
            lambda: reconstruction(StandardScaler().fit(TABLE), TABLE),
            UsageError,
            "StandardScaler selects no features. Pass a fitted ranker",
        ),
        (lambda: reconstruction(FITTED, TABLE, measure="r3"), UsageError, "no 'r3'"),
        (lambda: reconstruction(FITTED, TABLE, measure="nmi"), UsageError, "needs the"),
        (lambda: Variance().score(TABLE), NotFittedError, "not fitted yet"),
    ],
)
def test_refused(use, kind, message):
    with pytest.raises(kind, match=message):
        use()


def test_none_selected_and_too_many_for_clusters(monkeypatch):
    fitted = Variance(n_features_to_select=4).fit(TABLE)
    fitted.support_ = np.zeros(15, bool)
    with pytest.raises(UsageError, match="Variance has selected no features"):
        fitted.score(TABLE)
    wide = np.random.default_rng(0).normal(size=(12, 300))
    fitted = Variance(n_features_to_select=300).fit(wide)
    nmi = partial(reconstruction, measure="nmi")
    with pytest.raises(UsageError, match="at most 256 selected features, not 300"):
        nmi(fitted, wide, np.arange(12) % 2)
