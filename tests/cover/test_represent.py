"""Which pick represents which feature, and which features none represents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from franet import Cover
from franet.cover import _represent
from franet.cover._represent import closest_picks, floor_of
from franet.datasets import make_groups

MADE = make_groups(60, 6, 5, n_noise=10, random_state=1)


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("m", [3, 8, 200])
def test_the_floor_is_a_test_of_significance(k, m):
    x = np.random.default_rng(0).normal(size=(2, m))
    r, p = pearsonr(*x)
    assert floor_of(m, k, k * p) == pytest.approx(abs(r))


@pytest.mark.parametrize(("k", "level"), [(None, 0.05), (5, 0.05), (9, 0.2), (1, 1e-6)])
def test_representatives(k, level):
    X = MADE.X.copy()
    X[:, 3] *= -1.0
    ranker = Cover(6, n_ranked=20).fit(X)
    found = ranker.represent(k, level)
    picks = ranker.order_[: k or 6]
    R = np.corrcoef(X.T)
    for j in range(X.shape[1]):
        strength = np.abs(R[picks, j]).round(12)
        best = picks[strength.argmax()]
        p = pearsonr(X[:, best], X[:, j]).pvalue
        if j in picks:
            assert found.representative[j] == j
        elif p <= level / len(picks):
            assert found.representative[j] == best
            assert found.correlation[j] == pytest.approx(R[best, j])
        else:
            assert found.representative[j] == -1
            assert np.isnan(found.correlation[j])
    assert list(found.members) == picks.tolist()
    held = found.representative >= 0
    listed = np.concatenate([picks, *found.members.values()])
    np.testing.assert_array_equal(np.sort(listed), np.flatnonzero(held))
    for pick, features in found.members.items():
        assert (np.diff(np.abs(R[pick, features])) <= 1e-12).all()


def test_attributes_are_those_of_the_selected():
    ranker = Cover(6, n_ranked=20).fit(MADE.X)
    found = ranker.represent()
    np.testing.assert_array_equal(ranker.representative_, found.representative)
    np.testing.assert_array_equal(ranker.representative_corr_, found.correlation)
    noise = np.setdiff1d(np.flatnonzero(MADE.groups < 0), ranker.order_[:6])
    # At .05 in all, noise is hardly ever represented.
    assert (ranker.representative_[noise] == -1).sum() >= len(noise) - 2
    # And has no edge.
    assert ranker.network_.n_edges == (ranker.representative_ >= 0).sum() - 6
    frame = ranker.to_frame()
    assert frame["representative"].isna().sum() == (ranker.representative_ < 0).sum()


def test_two_samples_show_nothing():
    ranker = Cover(1).fit(np.array([[0.0, 1.0, 2.0], [1.0, 1.5, 0.0]]))
    assert (ranker.representative_ >= 0).sum() == 1
    assert ranker.represent().floor == np.inf


def test_copies_are_represented_in_three_samples():
    x = np.array([0.0, 1.0, 5.0])
    ranker = Cover(1).fit(np.column_stack([x, 2.0 * x, -x, [1.0, 0.0, 2.0]]))
    by = ranker.order_[0]
    if by != 3:
        assert (ranker.representative_[:3] == by).all()


def test_blocks(monkeypatch):
    Z = MADE.X.T / np.sqrt(60)
    picks = np.array([4, 0, 31, 17])
    whole = closest_picks(Z, picks)
    monkeypatch.setattr(_represent, "_WIDE", 7)
    parts = closest_picks(Z, picks)
    for name in ("feature", "place"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_allclose(parts.r, whole.r, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0: give a number from 1 to 6"),
        ({"k": 7}, "k=7: give a number from 1 to 6"),
        ({"level": 0.0}, "level=0.0: give a level above 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Cover(6).fit(MADE.X).represent(**arguments)
