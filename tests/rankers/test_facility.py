"""Gains and their bounds against sums over the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from franet.cover.kernels import add_gains, subtract_falls
from franet.rankers.facility_location import Bounds, FacilityGains
from tables import blocks, random


def noise(n=1500, seed=6):
    """Return columns that are all alike: the most that a lazy search can have to do."""
    return np.random.default_rng(seed).normal(size=(25, n))


def cover_of(X, power=2.0, n_threads=1):
    return FacilityGains(X, np.arange(X.shape[1]), power, n_threads)


def share_of(cover):
    """Return the gains that are kept up to date, of all features by all."""
    return Bounds(cover._source._work[: cover.n], cover.power, cover._runner)


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
def test_subtract_falls():
    rng = np.random.default_rng(0)
    L = rng.uniform(-1, 1, (5, 40))
    old = rng.uniform(0, 1, 40)
    new = old + rng.uniform(0, 1, 40) * (1 - old)
    gains = np.ones(5)
    subtract_falls(L, old, new, gains=gains)
    falls = np.maximum(L - old, 0.0) - np.maximum(L - new, 0.0)
    np.testing.assert_allclose(1.0 - gains, falls.sum(axis=1), rtol=1e-12)


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
    share = share_of(cover)
    noise_ = cover._rounding(share.gains())
    picked = np.zeros(len(W), bool)
    for _ in range(25):
        bound = share.gains() + noise_
        gains = np.maximum(W - cover.cover, 0.0).sum(axis=1)
        assert (bound[~picked] >= gains[~picked] - 1e-9).all()
        room = 10 * power * len(X) * len(W) * np.finfo(dtype).eps + 1e-6
        assert (bound[~picked] <= gains[~picked] + room).all()
        j = int(np.argmax(np.where(picked, -1.0, gains)))
        cover._add(j)
        share.raise_to(cover.cover)
        picked[j] = True


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_noise(dtype, n_threads):
    X = noise().astype(dtype)
    order, _ = cover_of(X, n_threads=n_threads).pick(70)
    assert order.tolist() == greedy(weights(X, 2), 70)


def test_targets_in_parts(monkeypatch):
    X = blocks().astype(np.float32)
    order, gains = cover_of(X, power=1.5).pick(40)
    monkeypatch.setattr("franet.rankers.facility_location._PART", 7)
    again, same = cover_of(X, power=1.5, n_threads=2).pick(40)
    np.testing.assert_array_equal(order, again)
    np.testing.assert_array_equal(gains, same)


@pytest.mark.parametrize("shape", [(30, 400), (90, 60)])
def test_first_gains(shape):
    X = random(*shape, seed=7)
    cover = cover_of(X)
    wanted = weights(X, 2).sum(axis=1)
    np.testing.assert_allclose(share_of(cover).gains(), wanted, rtol=1e-12)
    np.testing.assert_allclose(cover.all_gains("gains"), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_have_equal_gains(dtype):
    X = random(40, 1300, seed=8).astype(dtype)
    X = np.column_stack([X, X])
    cover = cover_of(X)
    cover._add(5)
    # The gain of the pick is no more than rounding.
    one, other = np.delete(cover.all_gains("gains").reshape(2, -1), 5, axis=1)
    np.testing.assert_allclose(one, other, rtol=1e-12)
