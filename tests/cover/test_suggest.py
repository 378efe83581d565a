"""How many picks are needed: planted groups, noise, and a slow way to the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from franet.cover._suggest import Suggestion, _kept, suggest
from franet.datasets import make_groups
from franet.rankers import FacilityLocation

pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


def rows(X):
    """Return the columns of a table as rows of unit length."""
    Z = X - X.mean(axis=0)
    return np.ascontiguousarray((Z / np.linalg.norm(Z, axis=0)).T)


def picks(X, k):
    return FacilityLocation(n_ranked=min(k, X.shape[1]), n_jobs=1).fit(X).order_[:k]


def judged(X, k):
    return suggest(rows(X), picks(X, k))


def slow_kept(Z, order):
    """Return what is kept by cut, fold and pick, one feature after another."""
    n, m = Z.shape
    size = min(10, m // 3)
    rng = np.random.default_rng(0)
    result = np.zeros((3, size, len(order)))
    for cut in range(3):
        for f, here in enumerate(np.array_split(rng.permutation(m), size)):
            there = np.setdiff1d(np.arange(m), here)
            least = beta.isf(min(0.01, 3 / n), 0.5, (len(there) - 2) / 2)
            for j in range(n):
                best, share = least, 0.0
                for k, s in enumerate(order):
                    if abs(Z[j] @ Z[s]) >= 1 - 1e-9:
                        result[cut, f, k:] += share
                        break
                    A = Z[[j, s]][:, there]
                    if (np.ptp(A, axis=1) > 0).all():
                        r = np.corrcoef(A)[0, 1]
                        if r**2 > best:
                            x, y = (Z[i, here] - Z[i, here].mean() for i in (j, s))
                            best, share = r**2, (x**2).sum() - ((x - r * y) ** 2).sum()
                    result[cut, f, k] += share
    return result * (m - 1) / (m - size)


def small_table(m):
    made = make_groups(m, 3, [5, 4, 3], n_noise=4, duplicates=3, random_state=m)
    X = made.X * np.where(np.arange(made.X.shape[1]) % 3, 1.0, -2.0)
    # Not constant, but constant outside one fold.
    return np.column_stack([X, np.arange(m) == 2])


@pytest.mark.parametrize("m", [7, 20, 64])
def test_the_slow_way(m):
    Z = rows(small_table(m))
    order = np.random.default_rng(1).permutation(len(Z))[:9]
    kept, is_open = _kept(Z, order)
    np.testing.assert_allclose(kept, slow_kept(Z, order), rtol=1e-9, atol=1e-11)
    assert is_open


GROUPS = {
    "few examples": (30, 20, 10, 0.9, 100),
    "no noise": (50, 10, 10, 0.8, 0),
    "loose": (100, 30, 10, 0.7, 300),
    "loose, large": (60, 5, 50, 0.7, 250),
    "tight, small": (85, 40, 5, 0.95, 200),
    "much noise": (100, 10, 10, 0.8, 400),
    "unequal": (150, 20, range(5, 45, 2), 0.8, 300),
    "many examples": (300, 12, 6, 0.7, 100),
}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", GROUPS)
def test_planted_groups(name, seed):
    m, g, size, redundancy, n_noise = GROUPS[name]
    size = size if isinstance(size, int) else list(size)
    rng = np.random.default_rng(seed)
    made = make_groups(
        m,
        g,
        size,
        redundancy=redundancy,
        n_noise=n_noise,
        duplicates=20 * seed,
        exact=seed == 0,
        random_state=seed,
    )
    found = judged(made.X * rng.choice([-1.0, 1.0], made.X.shape[1]), 2 * g + 20)
    assert not found.more
    assert 0.8 * g <= found.count <= 1.2 * g
    assert found.low <= found.count <= found.high
    assert found.reached >= 0.95
    assert found.reached == found.kept[found.count - 1]


def test_groups_without_a_centre():
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(100, 8)), 30, axis=1)
    X = 0.8 * centres + 0.6 * rng.normal(size=centres.shape)
    assert judged(X, 40).count == 8


def test_moderately_heavy_tails():
    made = make_groups(150, 10, 10, n_noise=100, random_state=0)
    assert 8 <= judged(np.exp(made.X), 40).count <= 12


NOISE = {
    "normal": lambda x: x,
    "lognormal": np.exp,
    "binary": lambda x: (x > 1.0).astype(float),
}


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize(("m", "n"), [(20, 10), (30, 800), (100, 300)])
def test_pure_noise(m, n, kind):
    for seed in range(2):
        X = NOISE[kind](np.random.default_rng(seed).normal(size=(m, n)))
        found = judged(X[:, np.ptp(X, axis=0) > 0], 40)
        assert (found.count, found.low, found.high) == (None, None, None)
        assert not found.more
        assert "No small subset stands for the table" in str(found)
        assert (found.kept == 0.0).all()


@pytest.mark.parametrize("seed", [2, 66, 166, 169])
def test_one_lucky_pair_is_no_subset(seed):
    # In these tables one pick keeps more than half a feature, by one or two examples.
    X = np.random.default_rng(seed).normal(size=(12, 30))
    assert judged(X, 30).count is None


def test_small_groups_in_wide_noise():
    made = make_groups(100, 10, 5, n_noise=3000, random_state=0)
    assert 8 <= judged(made.X, 40).count <= 12


def test_copies_of_noise_stand_for_nothing():
    X = np.random.default_rng(0).normal(size=(50, 60))
    X = np.column_stack([X, -X, 3.0 * X + 1.0])
    found = judged(X, 60)
    assert found.count is None
    assert not found.more


def test_noise_picked_first_is_counted():
    made = make_groups(100, 10, 8, n_noise=100, shuffle=False, random_state=0)
    noise = np.flatnonzero(made.groups < 0)
    order = np.r_[noise[:15], made.representatives, noise[15:45]]
    assert suggest(rows(made.X), order).count == 25


def test_too_few_picks():
    made = make_groups(100, 40, 8, n_noise=100, random_state=0)
    Z, order = rows(made.X), picks(made.X, 80)
    found = suggest(Z, order[:20])
    assert found.more
    assert found.count is None
    assert found.high is None
    assert found.low in (19, 20)
    assert f"At least {found.low} features are needed to keep 95 %" in str(found)
    assert "20 picks are too few" in str(found)
    last = suggest(Z, order)
    assert not last.more
    assert 32 <= last.count <= 40


def test_more_picks_change_nothing_once_there_are_enough():
    made = make_groups(100, 10, 8, n_noise=100, random_state=0)
    Z, order = rows(made.X), picks(made.X, 60)
    short, long = suggest(Z, order[:30]), suggest(Z, order)
    assert not short.more
    assert (short.count, short.low, short.high) == (long.count, long.low, long.high)
    np.testing.assert_allclose(short.kept, long.kept[:30], rtol=1e-9)


def test_few_picks_of_noise_are_no_verdict():
    X = np.random.default_rng(0).normal(size=(50, 60))
    found = judged(X, 5)
    assert found.count is None
    assert found.more
    assert "later ones may" in str(found)


def test_nothing_is_left_to_pick():
    made = make_groups(100, 3, 2, random_state=0)
    found = judged(made.X, 6)
    assert not found.more
    assert found.count == 3
    assert str(found) == "3 features keep 95 % of what can be kept"


def test_little_of_the_table_can_be_kept():
    made = make_groups(200, 2, 4, n_noise=300, random_state=0)
    found = judged(made.X, 30)
    assert found.count == 2
    # Three members of each group, by 0.81.
    assert found.keepable == pytest.approx(6 * 0.81 / 308, rel=0.1)
    assert str(found).endswith("% of the table, where most features resemble no other")


def test_the_share_asked_for():
    made = make_groups(100, 20, 10, random_state=0)
    Z, order = rows(made.X), picks(made.X, 60)
    for share, least in ((0.24, 5), (0.49, 10), (0.74, 15), (0.99, 20)):
        found = suggest(Z, order, share=share)
        # What chance costs is felt most while few picks are there to pay for it.
        assert least <= found.count <= min(least + 1, 20)
        assert str(found).startswith(f"{found.count} features keep {100 * share:g} %")


def test_the_band_holds_the_count_of_other_examples():
    sizes = [round(60 / (i + 3)) + 2 for i in range(30)]
    redundancy = np.linspace(0.95, 0.37, 30)
    made = make_groups(
        480, 30, sizes, redundancy=redundancy, exact=False, random_state=0
    )
    found = [judged(part, 64) for part in np.split(made.X, 8)]
    inside = [a.low <= b.count <= a.high for a in found for b in found]
    assert np.mean(inside) > 0.7
    # Without a band few would agree.
    assert np.mean([a.count == b.count for a in found for b in found]) < 0.5


def test_signs_units_and_the_order_of_features_do_not_matter():
    made = make_groups(60, 12, 6, redundancy=0.8, n_noise=80, random_state=3)
    Z, order = rows(made.X), picks(made.X, 45)
    rng = np.random.default_rng(0)
    at = rng.permutation(len(Z))
    signs = rng.choice([-1.0, 1.0], len(Z))[:, None]
    found, other = suggest(Z, order), suggest((signs * Z)[at], np.argsort(at)[order])
    assert (found.low, found.count, found.high) == (other.low, other.count, other.high)
    np.testing.assert_allclose(found.kept, other.kept, rtol=1e-9)


def test_the_same_again():
    X = make_groups(60, 12, 6, redundancy=0.7, n_noise=80, random_state=3).X
    Z, order = rows(X), picks(X, 45)
    first, second = suggest(Z, order), suggest(Z, order)
    assert first.text == second.text
    np.testing.assert_array_equal(first.kept, second.kept)


def test_many_blocks(monkeypatch):
    X = make_groups(40, 12, 30, n_noise=600, random_state=3).X
    Z, order = rows(X), picks(X, 45)
    whole = suggest(Z, order)
    monkeypatch.setattr("franet.cover._suggest._ENTRIES", 1)
    parts = suggest(Z, order)
    assert parts.text == whole.text
    np.testing.assert_allclose(parts.kept, whole.kept, rtol=1e-9)


def test_two_features():
    x, noise = np.random.default_rng(0).normal(size=(2, 100))
    Z = rows(np.column_stack([x, x + 0.3 * noise]))
    found = suggest(Z, np.array([1]))
    # One pick of two is not the end, but there is nothing to pick it for.
    assert found.more
    found = suggest(Z, np.array([1, 0]))
    assert (found.count, found.more) == (1, False)
    assert str(found).startswith("1 feature keeps 95 % of what can be kept")
    assert suggest(rows(np.column_stack([x, noise])), np.array([0, 1])).count is None


def test_one_feature():
    found = suggest(rows(np.arange(9.0)[:, None]), np.array([0]))
    assert found.count is None
    assert not found.more


@pytest.mark.parametrize("m", [2, 3, 5])
def test_too_few_examples(m):
    found = suggest(rows(np.random.default_rng(0).normal(size=(m, 6))), np.arange(4))
    assert isinstance(found, Suggestion)
    assert found.count is None
    assert not found.more
    assert f"{m} examples are too few" in str(found)


def test_no_picks():
    found = suggest(np.empty((0, 10)), np.empty(0, np.intp))
    assert found.count is None
    assert len(found.kept) == 0
    assert "No feature was picked" in str(found)
