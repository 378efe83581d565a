"""Gains and their bounds against sums over the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from franet.cover._constraints import Choice, read_constraints
from franet.cover.kernels import add_gains, subtract_falls
from franet.rankers import FacilityLocation
from franet.rankers.facility_location import FacilityGains
from tables import blocks, random


def noise(n=1500, seed=6):
    """Return columns that are all alike: the most that a lazy search can have to do."""
    return np.random.default_rng(seed).normal(size=(25, n))


def cover_of(X, power=2.0, n_threads=1):
    return FacilityGains(X, np.arange(X.shape[1]), power, n_threads)


def pick(cover, k):
    """Return what is picked, and what each adds."""
    names = np.array([f"x{j}" for j in range(cover.n)])
    choice = Choice(read_constraints(names, np.zeros(cover.n, bool)))
    gains = cover.pick(choice, k)
    return choice.order, gains


def weights(X, power):
    return np.minimum(np.abs(np.corrcoef(X.astype(np.float64).T)), 1.0) ** power


def greedy(W, k):
    cover, order = np.zeros(len(W)), []
    for _ in range(k):
        gain = np.maximum(W - cover, 0.0).sum(axis=1)
        gain[order] = -1.0
        order.append(int(np.argmax(gain)))
        cover = np.maximum(cover, W[order[-1]])
    return order


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("power", [1.0, 2.0, 2.5])
def test_subtract_falls(power, dtype):
    rng = np.random.default_rng(0)
    R = rng.uniform(-1, 1, (9, 40)).astype(dtype)
    rows = np.array([1, 2, 5, 8])
    old = rng.uniform(0, 1, 4)
    new = old + rng.uniform(0, 1, 4) * (1 - old)
    gains = np.ones(25)
    kinds = old.astype(dtype), new.astype(dtype)
    subtract_falls(R, rows, 10, *kinds, power, gains=gains)
    L = np.abs(R[rows, 10:35].astype(float)) ** power
    old, new = old[:, None], new[:, None]
    falls = np.maximum(L - old, 0.0) - np.maximum(L - new, 0.0)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(1.0 - gains, falls.sum(axis=0), rtol=rtol)


@pytest.mark.kernels
@pytest.mark.parametrize("power", [1.0, 2.0, 2.5])
@pytest.mark.parametrize("up", [False, True])
def test_add_gains(power, up):
    rng = np.random.default_rng(1)
    R = rng.uniform(-1, 1, (6, 8))
    a, b, j0, k0 = 5, 7, 2, 2 if up else 9
    cover = rng.uniform(0, 0.5, 20)
    gains, wanted = np.ones(20), np.ones(20)
    add_gains(R, a, b, up, j0, k0, power, cover, gains=gains)
    for j in range(a):
        for k in range(j + 1 if up else 0, b):
            w = abs(R[j, k]) ** power
            wanted[j0 + j] += max(w - cover[k0 + k], 0.0)
            wanted[k0 + k] += max(w - cover[j0 + j], 0.0)
    np.testing.assert_allclose(gains, wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("table", [blocks, noise])
def test_bounds_hold_and_are_close(table, power, dtype):
    X = table().astype(dtype)
    W = weights(X, power)
    cover = cover_of(X, power)
    picked = np.zeros(len(W), bool)
    for _ in range(25):
        bound = cover._bound()
        gains = np.maximum(W - cover.cover, 0.0).sum(axis=1)
        assert (bound[~picked] >= gains[~picked] - 1e-9).all()
        assert (bound[~picked] <= gains[~picked] + 1e-6).all()
        j = int(np.argmax(np.where(picked, -1.0, gains)))
        picked[j] = True
        names = np.array([f"x{i}" for i in range(cover.n)])
        none = np.zeros(cover.n, bool)
        cover.pick(Choice(read_constraints(names, none, include=[j])), 1)
        assert cover.cover.sum() == pytest.approx(W[picked].max(axis=0).sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_noise(dtype, n_threads):
    X = noise().astype(dtype)
    order, _ = pick(cover_of(X, n_threads=n_threads), 70)
    assert order == greedy(weights(X, 2), 70)


@pytest.mark.parametrize("most", [0, 10**6], ids=["exact", "drawn"])
def test_features_in_parts(monkeypatch, most):
    monkeypatch.setattr("franet.rankers.facility_location.EXACT", most)
    monkeypatch.setattr("franet.rankers.facility_location.TARGETS", 50)
    X = blocks().astype(np.float32)
    order, gains = pick(cover_of(X, power=1.5), 40)
    monkeypatch.setattr("franet.rankers.facility_location._PART", 7)
    again, same = pick(cover_of(X, power=1.5, n_threads=2), 40)
    assert order == again
    np.testing.assert_array_equal(gains, same)


@pytest.mark.parametrize("shape", [(30, 400), (90, 60)])
def test_first_gains(shape):
    X = random(*shape, seed=7)
    cover = cover_of(X)
    wanted = weights(X, 2).sum(axis=1)
    np.testing.assert_allclose(cover._share.gains(), wanted, rtol=1e-12)
    np.testing.assert_allclose(cover.all_gains(), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_have_equal_gains(dtype):
    X = random(40, 900, seed=8).astype(dtype)
    X = np.column_stack([X, X])
    cover = cover_of(X)
    pick(cover, 1)
    # The gain of the pick is no more than rounding.
    one, other = cover.all_gains().reshape(2, -1)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-9)


def drawn_by_hand(X, k, n_targets, power):
    """Return picks by estimates from some targets, one by one and in float64."""
    m, n = X.shape
    Z = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(m)
    skew = (Z**3).sum(axis=0)
    keys = np.abs(Z.T @ (Z @ skew) ** 2)
    places = [(2 * i + 1) * n // (2 * n_targets) for i in range(n_targets)]
    targets = np.argsort(keys)[places]
    W = np.abs(Z.T @ Z) ** power
    cover, order, gains = np.zeros(n), [], []
    # Gains never rise: what was computed is not exceeded later.
    known = np.full(n, np.inf)
    for _ in range(k + 1):
        guess = np.empty(n)
        for j in range(n):
            others = [t for t in targets if t != j]
            falls = [max(W[j, t] - cover[t], 0.0) for t in others]
            own = max(1.0 - cover[j], 0.0)
            guess[j] = (n - 1) * np.mean(falls) + own
            if power == 2 and m <= n_targets:  # first gains are known
                left = (sum(falls) + 1e-3 * own) / (W[j, others].sum() + 1e-3)
                guess[j] = (W[j].sum() - 1.0) * left + own
            guess[j] = min(guess[j], known[j])
        if len(order) == k:
            return order, gains, guess
        free = [j for j in np.argsort(-guess) if j not in order][:16]
        exact = {j: np.maximum(W[j] - cover, 0.0).sum() for j in free}
        known[list(exact)] = list(exact.values())
        order.append(max(exact, key=exact.get))
        gains.append(exact[order[-1]])
        cover = np.maximum(cover, W[order[-1]])


@pytest.mark.parametrize("kept", [0, 10**6], ids=["computed", "kept"])
@pytest.mark.parametrize(("m", "power"), [(25, 1.0), (25, 2.0), (25, 2.5), (70, 2.0)])
def test_many_features(monkeypatch, m, power, kept):
    monkeypatch.setattr("franet.rankers.facility_location.EXACT", 100)
    monkeypatch.setattr("franet.rankers.facility_location.TARGETS", 60)
    monkeypatch.setattr("franet.rankers.facility_location._KEPT", kept)
    X = random(m, 300, seed=9)
    order, gains, guess = drawn_by_hand(X, 12, 60, power)
    ranker = FacilityLocation(12, power=power).fit(X)
    assert ranker.order_[:12].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-9)
    W = weights(X, power)
    covered = [W[order[: k + 1]].max(axis=0).mean() for k in range(12)]
    np.testing.assert_allclose(ranker.coverage_, covered, rtol=1e-9)
    rest = np.setdiff1d(np.arange(300), order)
    np.testing.assert_allclose(ranker.scores_[rest], guess[rest], rtol=1e-4, atol=1e-4)


WIDE = random(20, 2400, seed=10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_features_in_any_order(dtype):
    X = WIDE.astype(dtype)
    order = FacilityLocation(20).fit(X).order_[:20]
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(20), rng.permutation(2400)
    moved = FacilityLocation(20).fit(X[rows][:, columns])
    np.testing.assert_array_equal(columns[moved.order_[:20]], order)
    units = 2.0 ** rng.integers(-5, 5, 2400) * rng.choice([-1.0, 1.0], 2400)
    other = FacilityLocation(20).fit(X * units.astype(dtype) + dtype(1.0))
    if dtype == np.float64:
        np.testing.assert_array_equal(other.order_[:20], order)


def test_threads_do_not_matter_for_many_features():
    one, two = (FacilityLocation(9, n_jobs=j).fit(WIDE) for j in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.gains_, two.gains_)


def test_the_first_of_many_copies_is_picked():
    copies = 30
    best = FacilityLocation(1).fit(WIDE).order_[0]
    X = np.column_stack([WIDE, np.repeat(-3.0 * WIDE[:, [best]], copies, axis=1)])
    at = np.random.default_rng(1).permutation(X.shape[1])
    same = np.flatnonzero((at == best) | (at >= WIDE.shape[1]))
    ranker = FacilityLocation(2).fit(X[:, at])
    assert ranker.order_[0] == same[0]
    assert ranker.order_[1] not in same
    cheap = FacilityLocation(1, cost={int(same[7]): 0.5}).fit(X[:, at])
    assert cheap.order_[0] == same[7]


def test_a_feature_is_not_picked_because_it_was_drawn():
    """Of columns that have nothing in common each adds about as much as another."""
    X = np.random.default_rng(3).normal(size=(200, 2100))
    cover = cover_of(X)
    guess, drawn = cover._bound(), np.isin(np.arange(2100), cover._targets)
    assert guess[drawn].mean() == pytest.approx(guess[~drawn].mean(), rel=0.02)


def test_planted_groups_among_many_features():
    rng = np.random.default_rng(4)
    sizes = [1200, 700, 400, 200]
    base, _ = np.linalg.qr(rng.normal(size=(40, 4)))
    base -= base.mean(axis=0)
    group = np.repeat(np.arange(4), sizes)
    X = base[:, group] + 0.02 * rng.normal(size=(40, 2500))
    at = rng.permutation(2500)
    ranker = FacilityLocation(4).fit(X[:, at])
    assert group[at][ranker.order_[:4]].tolist() == [0, 1, 2, 3]


def test_a_feature_that_resembles_no_drawn_one(monkeypatch):
    """What it would add is known at first, and then goes by itself."""
    rng = np.random.default_rng(6)
    base, _ = np.linalg.qr(np.column_stack([np.ones(60), rng.normal(size=(60, 2))]))
    X = rng.normal(size=(60, 2100))
    X -= base @ (base.T @ X)
    X[:, :40] = base[:, [1]] + 1e-3 * base[:, [2]] * rng.normal(size=40)
    monkeypatch.setattr(FacilityGains, "_draw", lambda self: np.arange(1076, 2100))
    cover = cover_of(X)
    np.testing.assert_allclose(cover._bound()[:40], 40.0, rtol=1e-3)
    order, gains = pick(cover, 20)
    group = [j for j in order if j < 40]
    assert len(group) == 1
    assert gains[order.index(group[0])] == pytest.approx(40.0, rel=1e-3)
    assert (cover._estimates()[:40] < 1e-3).all()
