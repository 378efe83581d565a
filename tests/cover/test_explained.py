"""How much picks explain: a slow way to the same, and what the curve says."""

from __future__ import annotations

import numpy as np
import pytest

from franet import Cover
from franet.cover import _explained, _rows
from franet.cover._explained import PENALTIES, Curve, explain
from franet.datasets import make_groups
from franet.pairs.tiles import TileRunner
from naive_cover import columns_of, explained, robust_weights, standardized
from tables import TABLES

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)
RUNNER = TileRunner(1)


def rows(X):
    """Return the columns of a table as rows of unit length."""
    Z = X - X.mean(axis=0)
    return np.ascontiguousarray((Z / np.linalg.norm(Z, axis=0)).T)


def small(m=11, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 9))
    # A copy, and a sum of others.
    X[:, 5], X[:, 6] = -X[:, 2], X[:, 0] + X[:, 1]
    return X, rng.random(9), rng.permutation(9)


@pytest.mark.parametrize("m", [3, 6, 11, 40])
def test_the_slow_way(m):
    X, w, order = small(m)
    found = explain(rows(X), w, order, RUNNER)
    slow = explained(standardized(X), w, order, PENALTIES)
    np.testing.assert_allclose(found.explained, slow, rtol=1e-7, atol=1e-9)
    own = np.cumsum(w[order]) / w.sum()
    np.testing.assert_allclose(found.others, slow - own, rtol=1e-7, atol=1e-9)
    assert found.n_samples == m


@pytest.mark.parametrize("name", TABLES)
def test_of_a_ranker(name):
    X = TABLES[name].astype(float)
    X = X[:, columns_of(X)][:40, :12]
    X = X[:, columns_of(X)]
    ranker = Cover(None, n_ranked=6).fit(X)
    Z = standardized(X)
    order = ranker.order_[: ranker.n_ranked_]
    slow = explained(Z, robust_weights(Z), order, PENALTIES)
    np.testing.assert_allclose(ranker.explained_, slow, rtol=1e-6, atol=1e-8)


def test_given_weights():
    X = make_groups(30, 3, 4, random_state=0).X
    w = np.arange(1.0, 13.0)
    ranker = Cover(None, n_ranked=5, weights=w).fit(X)
    slow = explained(standardized(X), w, ranker.order_[:5], PENALTIES)
    np.testing.assert_allclose(ranker.explained_, slow, rtol=1e-6)


def test_many_picks_are_decomposed_in_parts(monkeypatch):
    X, w, order = small()
    whole = explain(rows(X), w, order, RUNNER)
    monkeypatch.setattr(_explained, "_PICKS", 2)
    monkeypatch.setattr(_explained, "_WIDE", 3)
    parts = explain(rows(X), w, order, TileRunner(3))
    np.testing.assert_allclose(parts.explained, whole.explained, rtol=1e-9)
    # All strengths leave nothing after the last pick.
    np.testing.assert_array_equal(parts.penalties[:-1], whole.penalties[:-1])


def test_more_picks_than_samples():
    X = make_groups(12, 10, 4, redundancy=0.8, random_state=0).X
    ranker = Cover(40).fit(X)
    assert np.isfinite(ranker.explained_).all()
    assert ranker.explained_[-1] == pytest.approx(1.0)
    slow = explained(
        standardized(X),
        robust_weights(standardized(X)),
        ranker.order_[:20],
        PENALTIES,
    )
    np.testing.assert_allclose(ranker.explained_[:20], slow, rtol=1e-6)


def test_many_samples_are_drawn(monkeypatch):
    monkeypatch.setattr(_rows, "MOST", 200)
    monkeypatch.setattr(_rows, "LEAST", 100)
    X = make_groups(900, 4, 5, redundancy=0.8, exact=False, random_state=0).X
    wanted = Cover(6).fit(X)
    assert wanted.n_samples_explained_ == 200
    shuffled = Cover(6).fit(X[np.random.default_rng(0).permutation(900)])
    np.testing.assert_allclose(shuffled.explained_, wanted.explained_, rtol=1e-9)
    assert wanted.sentences()[-1] == (
        "Measured on 200 of 900 samples, drawn at random."
    )
    monkeypatch.undo()
    of_all = Cover(6).fit(X)
    assert of_all.n_samples_explained_ == 900
    np.testing.assert_allclose(of_all.explained_, wanted.explained_, atol=0.05)


def test_a_column_that_is_constant_where_samples_are_drawn(monkeypatch):
    monkeypatch.setattr(_rows, "MOST", 30)
    monkeypatch.setattr(_rows, "LEAST", 10)
    X = make_groups(60, 2, 4, random_state=0).X
    X = np.column_stack([X, np.eye(60)])
    ranker = Cover(5, include=[8, 20, 30, 40]).fit(X)
    assert np.isfinite(ranker.explained_).all()
    assert np.isfinite(ranker.reconstruct(ranker.transform(X))).all()
    few = Cover(2, weights=dict.fromkeys(range(67), 0.0)).fit(X)
    assert np.isfinite(few.explained_).all()


def test_samples_not_seen_agree():
    made = make_groups(400, 6, 6, redundancy=0.8, exact=False, random_state=0)
    seen, unseen = made.X[:200], made.X[200:]
    ranker = Cover(6).fit(seen)
    wrong = (ranker.reconstruct(ranker.transform(unseen)) - unseen) ** 2
    w = robust_weights(standardized(seen))
    share = 1.0 - w @ wrong.mean(axis=0) / (w @ unseen.var(axis=0))
    assert ranker.explained_[5] == pytest.approx(share, abs=0.05)


def test_noise_is_not_explained():
    X = np.random.default_rng(0).normal(size=(60, 100))
    ranker = Cover(30, weights=np.ones(100)).fit(X)
    # The picks explain themselves, and next to nothing else.
    np.testing.assert_allclose(ranker.explained_, np.arange(1, 31) / 100, atol=0.02)


def test_suggestion_lies_on_the_curve():
    made = make_groups(100, 12, 8, n_noise=40, random_state=0)
    ranker = Cover().fit(made.X)
    k = ranker.n_features_suggested_
    assert 10 <= k <= 14
    assert k == ranker.n_features_ == ranker.support_.sum() == ranker.suggest(0.95)
    w = robust_weights(standardized(made.X))
    own = np.cumsum(w[ranker.order_[: ranker.n_ranked_]]) / w.sum()
    others = ranker.explained_ - own
    # Each pick has to explain a fifth of its own weight besides.
    most = others[(others - 0.2 * own).argmax()]
    for share in (0.2, 0.5, 0.95, 1.0):
        k = ranker.suggest(share)
        assert (others >= share * most - 1e-9).argmax() == k - 1


def test_the_suggestion_does_not_depend_on_what_is_selected():
    """With n_ranked="auto" it is that of all picks which it needs."""
    X = make_groups(40, 60, 5, redundancy=0.9, exact=False, random_state=0).X
    wanted = Cover().fit(X)
    assert wanted.n_ranked_ > 64
    few = Cover(5, n_ranked="auto").fit(X)
    assert few.n_features_ == 5
    assert few.n_features_suggested_ == wanted.n_features_suggested_ is not None
    np.testing.assert_array_equal(few.explained_, wanted.explained_)
    assert Cover(5).fit(X).n_ranked_ == 5
    assert Cover(5, n_ranked=64).fit(X).n_features_suggested_ is None
    many = Cover(80, n_ranked="auto").fit(X)
    assert many.n_ranked_ >= 80


@pytest.mark.parametrize("share", [0.0, 1.5, -1.0])
def test_bad_share(share):
    ranker = Cover().fit(make_groups(40, 3, 4, random_state=0).X)
    with pytest.raises(ValueError, match=r"share=.*above 0 and at most 1"):
        ranker.suggest(share)


def test_units_signs_and_order_do_not_matter():
    made = make_groups(60, 12, 6, redundancy=0.8, n_noise=80, random_state=3)
    X = made.X
    rng = np.random.default_rng(0)
    wanted = Cover().fit(X)
    other = Cover().fit(
        X[rng.permutation(60)] * rng.choice([-1.0, 1.0], 152) * rng.uniform(1, 9, 152)
    )
    np.testing.assert_allclose(other.explained_, wanted.explained_, rtol=1e-9)
    assert other.n_features_suggested_ == wanted.n_features_suggested_


def test_threads_change_nothing():
    X = make_groups(60, 12, 60, redundancy=0.8, n_noise=80, random_state=3).X
    one, four = (Cover(n_jobs=n).fit(X) for n in (1, 4))
    np.testing.assert_array_equal(one.explained_, four.explained_)
    np.testing.assert_array_equal(one.reconstruction_error_, four.reconstruction_error_)


def test_an_empty_curve():
    nothing = np.empty(0)
    curve = Curve(nothing, nothing, nothing, 10)
    assert (curve.best, curve.reaching(0.95)) == (0, 0)
