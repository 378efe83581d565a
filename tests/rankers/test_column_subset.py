"""Greedy column subset selection against explicit projections."""

from __future__ import annotations

import numpy as np
import pytest

from data import load, needs_shared
from franet.exceptions import DegenerateRankingWarning, UsageError
from franet.rankers import ColumnSubset
from protocol import rmae
from tables import TABLES, random

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def prepared(X, standardize=True):
    Z = X - X.mean(axis=0)
    if standardize:
        norm = np.sqrt((Z**2).sum(axis=0))
        Z = Z / np.where(X.max(axis=0) > X.min(axis=0), norm, np.inf)
    return np.where(X.max(axis=0) > X.min(axis=0), Z, 0.0)


def unexplained(Z, chosen):
    """Return what the best linear reconstruction from some columns leaves."""
    if not len(chosen):
        return (Z**2).sum()
    A = Z[:, chosen]
    return ((Z - A @ np.linalg.lstsq(A, Z, rcond=1e-10)[0]) ** 2).sum()


def unexplained_with_noise(Z, chosen, noise):
    """Return what is left, in the mean, where each chosen column has an error.

    Its sum of squares is added to that of the column: least squares with a row more
    for each chosen column, in which it alone is not zero.
    """
    A = Z[:, chosen]
    D = noise * np.diag(np.sqrt((A**2).sum(axis=0)))
    there, wanted = np.vstack([A, D]), np.vstack([Z, np.zeros((len(D), Z.shape[1]))])
    B = np.linalg.lstsq(there, wanted, rcond=1e-10)[0]
    return ((Z - A @ B) ** 2).sum() + ((D @ B) ** 2).sum()


def brute_force(Z, k, noise=0.0, among=None):
    """Try every column at every step."""
    order, gains = [], []
    left = unexplained(Z, [])
    columns = range(Z.shape[1]) if among is None else among
    while len(order) < k:
        gain = np.full(Z.shape[1], -1.0)
        for j in set(columns) - {*order}:
            gain[j] = left - unexplained_with_noise(Z, [*order, j], noise)
        j = int(np.argmax(gain >= gain.max() - 1e-9 * abs(gain.max())))
        if gain[j] < 1e-9:
            break
        order.append(j)
        gains.append(gain[j])
        left -= gain[j]
    return order, gains


def exchanged(Z, picks, noise, most, fixed=(), beside=lambda picks: True):
    """Try every pair of a pick and another column, and take the best, time after time.

    `beside` says whether columns may be picked together.
    """
    picks = list(picks)
    for done in range(most):
        left = unexplained_with_noise(Z, picks, noise)
        others = [
            [*(p for p in picks if p != i), j]
            for i in picks
            if i not in fixed
            for j in range(Z.shape[1])
            if j not in picks and beside([*(p for p in picks if p != i), j])
        ]
        values = [unexplained_with_noise(Z, each, noise) for each in others]
        if not values or min(values) >= left * (1.0 - 1e-9):
            return picks, done
        picks = others[int(np.argmin(values))]
    return picks, most


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_brute_force(name, standardize):
    X = TABLES[name]
    Z = prepared(X, standardize)
    order, gains = brute_force(Z, X.shape[1])
    ranker = ColumnSubset(standardize=standardize).fit(X)
    k = len(order)
    assert ranker.n_ranked_ == k
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        ranker.explained_, np.cumsum(gains) / (Z**2).sum(), rtol=1e-9
    )
    # The last columns of a table of full rank differ by rounding only.
    sure = max(1, k - 2)
    assert ranker.order_[:sure].tolist() == order[:sure]
    np.testing.assert_array_equal(
        ranker.ranking_[ranker.order_], np.arange(1, X.shape[1] + 1)
    )


@pytest.mark.parametrize(("m", "n"), [(20, 60), (60, 20), (40, 40)])
def test_more_rows_or_more_columns(m, n):
    X = random(m, n, seed=7)
    order, gains = brute_force(prepared(X), 12)
    ranker = ColumnSubset(n_ranked=12).fit(X)
    assert ranker.order_[: ranker.n_ranked_].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-9)


def test_features_that_were_not_picked_are_ordered_by_what_they_would_add():
    X = random(30, 24, seed=8)
    Z = prepared(X)
    ranker = ColumnSubset(n_ranked=5).fit(X)
    picked = ranker.order_[: ranker.n_ranked_].tolist()
    others = [j for j in range(24) if j not in picked]
    left = unexplained(Z, picked)
    gain = [left - unexplained(Z, [*picked, j]) for j in others]
    np.testing.assert_allclose(ranker.scores_[others], gain, rtol=1e-7)
    assert ranker.scores_[others].max() < ranker.scores_[picked].min()
    by_rank = np.argsort(ranker.ranking_)
    assert by_rank[:5].tolist() == picked
    assert by_rank[5] == others[int(np.argmax(gain))]


def test_one_pick_for_each_planted_group():
    rng = np.random.default_rng(0)
    sizes = [12, 8, 5, 3]
    base, _ = np.linalg.qr(rng.normal(size=(40, 4)))
    group = np.repeat(np.arange(4), sizes)
    X = base[:, group] * rng.uniform(0.1, 9.0, 28) + 1e-3 * rng.normal(size=(40, 28))
    at = rng.permutation(28)
    ranker = ColumnSubset(n_features_to_select=4).fit(X[:, at])
    assert group[at][ranker.order_[:4]].tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(ranker.gains_[:4], sizes, rtol=0.05)
    assert ranker.explained_[3] > 0.99


def test_explained_features_have_negative_scores():
    X = random(12, 40, seed=3)
    ranker = ColumnSubset().fit(X)
    rank = 11  # of twelve centred rows
    assert ranker.n_ranked_ == rank
    assert ranker.explained_[-1] == pytest.approx(1.0)
    rest = ranker.order_[rank:]
    assert (ranker.scores_[rest] < 0.0).all()
    first = ((np.corrcoef(X.T)) ** 2).sum(axis=1)
    np.testing.assert_allclose(ranker.scores_[rest], first[rest] / 40 - 1.0)


def test_scores_fall_where_gains_rise():
    # Columns 0 and 1 are nearly the same; what many others share is their difference.
    rng = np.random.default_rng(4)
    base, _ = np.linalg.qr(rng.normal(size=(60, 30)))
    base -= base.mean(axis=0)
    u, d, noise = base[:, [0]], base[:, 1], base[:, 2:22]
    X = np.column_stack([np.tile(u, 5), 0.55 * d[:, None] + 0.84 * noise])
    X[:, 1] += 0.1 * d
    ranker = ColumnSubset(n_ranked=4).fit(X)
    assert ranker.gains_[1] > ranker.gains_[0] + 0.5
    assert (np.diff(ranker.scores_[ranker.order_[:5]]) < 0.0).all()
    np.testing.assert_allclose(
        ranker.scores_[ranker.order_[:2]], ranker.gains_[1], rtol=1e-7
    )


def test_units_matter_only_without_standardizing():
    X = random(30, 10, seed=5)
    scaled = X * np.logspace(-3, 3, 10) + 5.0
    a, b = ColumnSubset().fit(X), ColumnSubset().fit(scaled)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-6)
    raw = ColumnSubset(standardize=False).fit(scaled)
    assert raw.order_[0] == 9
    Z = prepared(scaled, False)
    gain = unexplained(Z, []) - unexplained(Z, [9])
    assert raw.gains_[0] == pytest.approx(gain)


def test_huge_and_tiny_values():
    X = random(20, 8, seed=6)
    for scale in (1e-300, 1e300):
        a = ColumnSubset().fit(X * scale)
        np.testing.assert_array_equal(a.ranking_, ColumnSubset().fit(X).ranking_)
        raw = ColumnSubset(standardize=False).fit(X * scale)
        np.testing.assert_array_equal(
            raw.order_, ColumnSubset(standardize=False).fit(X).order_
        )


def test_number_of_picks():
    X = random(150, 120, seed=9)
    assert ColumnSubset().fit(X).n_ranked_ == 64
    assert ColumnSubset(3).fit(X).n_ranked_ == 3
    assert ColumnSubset(100).fit(X).n_ranked_ == 100
    assert ColumnSubset(3, n_ranked=10).fit(X).n_ranked_ == 10
    assert ColumnSubset(n_ranked=500).fit(X).n_ranked_ == 120


def test_late_gains_are_not_rounding_errors():
    # Twelve orders of magnitude between the first factor and the last.
    rng = np.random.default_rng(1)
    base, _ = np.linalg.qr(rng.normal(size=(60, 9)))
    X = base * np.logspace(0, -4, 9) @ rng.normal(size=(9, 80))
    ranker = ColumnSubset().fit(X)
    assert ranker.n_ranked_ == 9
    order, gains = brute_force(prepared(X), 7)
    assert ranker.order_[:7].tolist() == order
    np.testing.assert_allclose(ranker.gains_[:7], gains, rtol=1e-6)


def test_all_columns_constant():
    with pytest.warns(DegenerateRankingWarning, match="same score"):
        ranker = ColumnSubset().fit(np.ones((5, 4)))
    assert ranker.n_ranked_ == 0
    assert (ranker.scores_ == -1.0).all()


@needs_shared
@pytest.mark.parametrize(("name", "bar"), [("Yale", 0.575), ("colon", 0.620)])
def test_error_at_16_features(name, bar):
    X, _ = load(name)
    assert rmae(X, lambda T: ColumnSubset(16).fit(T).ranking_) <= bar


def test_protocol_prefers_it_to_column_order():
    rng = np.random.default_rng(2)
    base = rng.normal(size=(60, 4))
    X = base[:, np.repeat(np.arange(4), 5)] + 0.1 * rng.normal(size=(60, 20))
    greedy = rmae(X, lambda T: ColumnSubset().fit(T).ranking_, 4)
    assert greedy < 0.6 < rmae(X, lambda T: np.arange(T.shape[1]), 4)


@pytest.mark.parametrize("noise", [0.02, 0.3, 2.0])
@pytest.mark.parametrize(("m", "n"), [(20, 40), (60, 20), (12, 12)])
@pytest.mark.parametrize("standardize", [True, False])
def test_noise(m, n, noise, standardize):
    X = random(m, n, seed=11)
    Z = prepared(X, standardize)
    order, gains = brute_force(Z, 8, noise)
    ranker = ColumnSubset(8, standardize=standardize, noise=noise).fit(X)
    assert ranker.order_[:8].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-7)
    explained = 1.0 - unexplained_with_noise(Z, order, noise) / (Z**2).sum()
    assert ranker.explained_[-1] == pytest.approx(explained)
    left = unexplained_with_noise(Z, order, noise)
    others = ranker.order_[8:]
    gain = [left - unexplained_with_noise(Z, [*order, j], noise) for j in others]
    np.testing.assert_allclose(ranker.scores_[others], gain, rtol=1e-6)


def test_noise_is_that_of_measurements():
    """The share that is explained is the mean over draws of the noise."""
    X = random(200, 10, seed=12)
    Z, rng = prepared(X), np.random.default_rng(0)
    ranker = ColumnSubset(3, noise=0.5).fit(X)
    A = Z[:, ranker.order_[:3]]
    B = np.linalg.solve(A.T @ A + 0.25 * np.eye(3), A.T @ Z)
    left = [
        ((Z - (A + 0.5 * rng.normal(size=A.shape) * A.std(axis=0)) @ B) ** 2).sum()
        for _ in range(400)
    ]
    explained = 1.0 - np.mean(left) / (Z**2).sum()
    assert ranker.explained_[-1] == pytest.approx(explained, abs=0.002)


def test_noise_of_a_copy_is_averaged():
    X = np.column_stack([random(40, 3, seed=1)] * 2)
    assert ColumnSubset().fit(X).n_ranked_ == 3
    found = ColumnSubset(noise=0.1).fit(X)
    assert found.n_ranked_ == 6
    assert (np.diff(found.explained_) > 0.0).all()
    assert found.explained_[-1] < 1.0


def test_late_gains_with_noise_are_not_rounding_errors():
    rng = np.random.default_rng(1)
    base, _ = np.linalg.qr(rng.normal(size=(60, 9)))
    X = base * np.logspace(0, -4, 9) @ rng.normal(size=(9, 80))
    order, gains = brute_force(prepared(X), 7, 1e-4)
    ranker = ColumnSubset(7, noise=1e-4).fit(X)
    assert ranker.order_[:7].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-6)


EXCHANGED = [
    (seed, m, n, noise)
    for seed, (m, n) in enumerate([(20, 40), (60, 20), (15, 30), (40, 12), (12, 12)])
    for noise in (0.0, 0.4)
]


@pytest.mark.parametrize(("seed", "m", "n", "noise"), EXCHANGED)
@pytest.mark.parametrize("most", [1, 100])
def test_exchanges(seed, m, n, noise, most):
    X = random(m, n, seed=20 + seed)
    Z, k = prepared(X), 6
    greedy, _ = brute_force(Z, k, noise)
    picks, done = exchanged(Z, greedy, noise, most)
    order, gains = brute_force(Z, k, noise, among=picks)
    ranker = ColumnSubset(k, noise=noise, exchanges=most).fit(X)
    assert ranker.order_[:k].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-6)
    before = ColumnSubset(k, noise=noise).fit(X)
    assert (ranker.explained_[-1] > before.explained_[-1]) == (done > 0)
    assert (np.diff(ranker.scores_[ranker.order_[: k + 1]]) < 0.0).all()


def test_some_of_these_tables_have_exchanges():
    counts = []
    for seed, m, n, noise in EXCHANGED:
        Z = prepared(random(m, n, seed=20 + seed))
        counts.append(exchanged(Z, brute_force(Z, 6, noise)[0], noise, 100)[1])
    assert sum(count > 0 for count in counts) >= 4
    assert max(counts) > 1


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_exchanges_keep_to_constraints(seed, noise):
    n, k = 24, 6
    X = random(30, n, seed=40 + seed)
    Z = prepared(X)
    given = {
        "include": [7, 3],
        "exclude": [0, 5, 11],
        "groups": {j: [j // 3, 100 + j // 4] for j in range(6, 24)},
    }

    def beside(picks):
        labels = [label for j in picks for label in given["groups"].get(j, [])]
        allowed = not {*picks} & {*given["exclude"]}
        return allowed and len(labels) == len(set(labels))

    before = ColumnSubset(k, noise=noise, **given).fit(X)
    start = before.order_[:k].tolist()
    picks, done = exchanged(Z, start, noise, 100, given["include"], beside)
    ranker = ColumnSubset(k, noise=noise, exchanges=100, **given).fit(X)
    assert {*ranker.order_[:k].tolist()} == {*picks}
    assert ranker.order_[:2].tolist() == [7, 3]
    assert beside(np.flatnonzero(ranker.support_).tolist())
    assert (ranker.explained_[-1] > before.explained_[-1]) == (done > 0)
    # Scores separate what could be picked next from what could not.
    beyond = [j for j in range(n) if beside([*picks, j])]
    assert {*np.flatnonzero(ranker.scores_ > -1.0).tolist()} >= {*picks, *beyond[:1]}
    closed = [j for j in range(n) if j not in picks and not beside([*picks, j])]
    assert (ranker.scores_[closed] == -1.0).all()


def test_exchanges_with_costs_are_worth_theirs():
    for seed in range(6):
        X = random(30, 24, seed=60 + seed)
        Z, cost = prepared(X), np.random.default_rng(seed).uniform(0.5, 2.0, 24)
        ranker = ColumnSubset(5, cost=cost, exchanges=100).fit(X)
        picks = ranker.order_[:5].tolist()
        left = unexplained(Z, picks)
        for i in picks:
            others = [p for p in picks if p != i]
            loss = unexplained(Z, others) - left
            for j in {*range(24)} - {*picks}:
                gain = unexplained(Z, others) - unexplained(Z, [*others, j])
                better = gain > loss * (1 + 1e-6)
                assert not (better and gain / cost[j] > loss / cost[i] * (1 + 1e-6))
        before = ColumnSubset(5, cost=cost).fit(X)
        assert ranker.explained_[-1] >= before.explained_[-1] - 1e-12


def test_exchanges_beside_explained_features_of_include():
    X = random(30, 10, seed=3)
    X = np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]])
    ranker = ColumnSubset(5, include=[0, 10], exchanges=20).fit(X)
    assert ranker.order_[:2].tolist() == [0, 10]
    assert ranker.n_ranked_ == 5


def test_exchanges_make_no_copies_of_picks():
    X = np.repeat(random(40, 4, seed=5), 3, axis=1)
    ranker = ColumnSubset(4, exchanges=20).fit(X)
    assert {j // 3 for j in ranker.order_[:4]} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "given", [{"noise": -0.1}, {"noise": None}, {"exchanges": -1}, {"exchanges": 1.5}]
)
def test_parameters_that_are_wrong(given):
    (name,) = given
    with pytest.raises(UsageError, match=name):
        ColumnSubset(2, **given).fit(random())
