"""Facility location against a greedy search over the whole matrix."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from data import load, needs_shared
from franet.exceptions import DegenerateRankingWarning
from franet.rankers import FacilityLocation
from protocol import rmae
from tables import TABLES, blocks, random

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def weights(X, power):
    """Return |r|^p of the columns that are not constant, and their positions."""
    columns = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    R = np.atleast_2d(np.corrcoef(X[:, columns].T))
    return np.minimum(np.abs(R), 1.0) ** power, columns


def brute_force(W, k):
    cover, order, gains = np.zeros(len(W)), [], []
    for _ in range(k):
        gain = np.maximum(W - cover, 0.0).sum(axis=1)
        gain[order] = -1.0
        j = int(np.argmax(gain >= gain.max() - 1e-9 * abs(gain.max())))
        if gain[j] < 1e-9:
            break
        order.append(j)
        gains.append(gain[j])
        cover = np.maximum(cover, W[j])
    return order, gains, np.maximum(W - cover, 0.0).sum(axis=1)


@pytest.mark.kernels
@pytest.mark.parametrize("power", [1, 2, 3.5])
@pytest.mark.parametrize("name", TABLES)
def test_brute_force(name, power):
    X = TABLES[name]
    W, columns = weights(X, power)
    order, gains, _ = brute_force(W, len(W))
    ranker = FacilityLocation(power=power).fit(X)
    assert ranker.order_[: ranker.n_ranked_].tolist() == columns[order].tolist()
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-9)
    np.testing.assert_allclose(ranker.coverage_, np.cumsum(gains) / len(W), rtol=1e-9)
    np.testing.assert_array_equal(
        ranker.ranking_[ranker.order_], np.arange(1, X.shape[1] + 1)
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_tiles(dtype, n_jobs):
    X = blocks().astype(dtype)
    W, _ = weights(X.astype(np.float64), 2)
    order, gains, remaining = brute_force(W, 20)
    ranker = FacilityLocation(n_ranked=20, n_jobs=n_jobs).fit(X)
    assert ranker.order_[: ranker.n_ranked_].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-9)
    rest = np.setdiff1d(np.arange(X.shape[1]), order)
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(ranker.scores_[rest], remaining[rest], rtol=tolerance)
    np.testing.assert_array_equal(ranker.ranking_[order], np.arange(1, 21))


def test_threads_change_nothing():
    fits = [FacilityLocation(n_ranked=9, n_jobs=j).fit(blocks()) for j in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].scores_, other.scores_)


def test_one_pick_for_each_planted_group():
    rng = np.random.default_rng(0)
    sizes = [12, 8, 5, 3]
    base, _ = np.linalg.qr(rng.normal(size=(40, 4)))
    base -= base.mean(axis=0)
    group = np.repeat(np.arange(4), sizes)
    X = base[:, group] * rng.choice([-3.0, 1.0], 28) + 1e-3 * rng.normal(size=(40, 28))
    at = rng.permutation(28)
    ranker = FacilityLocation(n_features_to_select=4).fit(X[:, at])
    assert sorted(group[at][ranker.order_[:4]]) == [0, 1, 2, 3]
    assert group[at][ranker.order_[0]] == 0
    assert ranker.coverage_[3] > 0.99


def test_guarantee():
    X = random(15, 9, seed=2)
    W, _ = weights(X, 2)
    ranker = FacilityLocation().fit(X)
    for k in (1, 2, 3, 4):
        best = max(W[list(S)].max(axis=0).sum() for S in combinations(range(9), k))
        reached = W[ranker.order_[:k]].max(axis=0).sum()
        assert reached == pytest.approx(ranker.gains_[:k].sum())
        assert (1 - 1 / np.e) * best <= reached <= best + 1e-9


def test_gains_fall():
    ranker = FacilityLocation(n_ranked=60).fit(blocks())
    assert (np.diff(ranker.gains_) <= 1e-9).all()
    assert ranker.coverage_[-1] < 1.0


def test_copies_come_last_with_nothing_to_add():
    X = random(30, 6, seed=3)
    X = np.column_stack([X, -2.0 * X[:, 0] + 1.0, X[:, 3]])
    ranker = FacilityLocation().fit(X)
    assert ranker.n_ranked_ == 6
    assert sorted(np.argsort(ranker.ranking_)[6:]) == [6, 7]
    assert (ranker.scores_[6:] == 0.0).all()


def test_lonely_features_of_a_wide_float32_table_do_not_tie():
    X = random(12, 2000, seed=5).astype(np.float32)
    ranker = FacilityLocation(n_ranked=5).fit(X)
    W, _ = weights(X.astype(np.float64), 2)
    picks = ranker.order_[: ranker.n_ranked_]
    rest = np.setdiff1d(np.arange(2000), picks)
    wanted = np.maximum(W - W[picks].max(axis=0), 0.0).sum(axis=1)
    assert len(np.unique(ranker.scores_[rest])) > 1950
    np.testing.assert_allclose(ranker.scores_[rest], wanted[rest], rtol=1e-3)


def test_the_sign_of_a_feature_does_not_matter():
    X = random(30, 12, seed=4)
    signs = np.tile([1.0, -1.0, 5.0, -7.0], 3)
    a, b = FacilityLocation().fit(X), FacilityLocation().fit(X * signs)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-9)


@needs_shared
@pytest.mark.parametrize(("name", "bar"), [("Yale", 0.575), ("colon", 0.620)])
def test_error_at_16_features(name, bar):
    X, _ = load(name)
    assert rmae(X, lambda T: FacilityLocation(16).fit(T).ranking_) <= bar


def test_all_columns_constant():
    with pytest.warns(DegenerateRankingWarning, match="same score"):
        ranker = FacilityLocation().fit(np.ones((5, 4)))
    assert ranker.n_ranked_ == 0
    assert (ranker.scores_ == -1.0).all()
