"""Made tables: they are what they say, and rankers find what is in them."""

import numpy as np
import pytest

from franet import FRANe
from franet.datasets import make_groups
from franet.exceptions import UsageError
from franet.rankers import ColumnSubset, FacilityLocation

SEEDS = range(3)


def first(ranker, X, k):
    """Return the k best features."""
    ranking = ranker(n_features_to_select=k).fit(X).ranking_
    return np.argsort(ranking, kind="stable")[:k]


@pytest.mark.parametrize("shuffle", [False, True])
def test_what_is_told_is_true(shuffle):
    sizes, shares = [4, 1, 6], [0.5, 0.9, 0.99]
    made = make_groups(
        30, 3, sizes, redundancy=shares, n_noise=5, duplicates=7, shuffle=shuffle,
        random_state=0,
    )  # fmt: skip
    n = 11 + 5 + 7
    assert made.X.shape == (30, n)
    assert made.X.flags.c_contiguous
    assert len(made.names) == len(set(made.names)) == n
    np.testing.assert_allclose(made.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(made.X.var(axis=0), 1)
    R = np.corrcoef(made.X.T)
    original = made.copy_of < 0
    assert (~original).sum() == 7
    for group, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        centre = made.representatives[group]
        assert made.groups[centre] == group
        assert made.names[centre] == f"g{group}"
        others = np.flatnonzero((made.groups == group) & original)
        others = others[others != centre]
        assert len(others) == size - 1
        np.testing.assert_allclose(R[centre, others], share)
        assert all(made.names[j].startswith(f"g{group}.") for j in others)
    noise = (made.groups < 0) & original
    assert [made.names[j][:5] for j in np.flatnonzero(noise)] == ["noise"] * 5
    for j in np.flatnonzero(~original):
        source = made.copy_of[j]
        assert made.copy_of[source] < 0
        np.testing.assert_array_equal(made.X[:, j], made.X[:, source])
        assert made.groups[j] == made.groups[source]
        assert made.names[j].startswith("copy")


def test_order_without_shuffling():
    made = make_groups(10, 2, [2, 3], n_noise=1, duplicates=1, shuffle=False)
    assert made.names == ["g0", "g0.1", "g1", "g1.1", "g1.2", "noise0", "copy0"]
    np.testing.assert_array_equal(made.representatives, [0, 2])
    np.testing.assert_array_equal(made.groups[:6], [0, 0, 1, 1, 1, -1])


def test_correlations_among_the_others():
    made = make_groups(20_000, 2, 3, redundancy=0.8, n_noise=2, random_state=0)
    R = np.corrcoef(made.X.T)
    label = made.groups
    expected = np.where(label[:, None] == label, 0.8**2, 0.0)
    expected[label < 0] = 0
    for group, centre in enumerate(made.representatives):
        expected[centre, label == group] = expected[label == group, centre] = 0.8
    np.fill_diagonal(expected, 1)
    # A correlation of 20,000 pairs strays by 0.007; four times that.
    np.testing.assert_allclose(R, expected, atol=0.03)


def test_not_exact():
    made = make_groups(
        5_000, 1, 40, redundancy=0.6, exact=False, shuffle=False, random_state=0
    )
    strayed = np.corrcoef(made.X.T)[0, 1:] - 0.6
    assert np.abs(strayed).min() > 1e-9
    # The standard deviation of a correlation is (1 − ρ²)/√m.
    assert np.sqrt((strayed**2).mean()) == pytest.approx(0.64 / 5_000**0.5, rel=0.4)


@pytest.mark.parametrize("share", [0, 1])
def test_extreme_redundancy(share):
    made = make_groups(9, 1, 4, redundancy=share, shuffle=False, random_state=0)
    R = np.corrcoef(made.X.T)
    np.testing.assert_allclose(R[0, 1:], share, atol=1e-12)


def test_seeds():
    one, same, other = (make_groups(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.groups, same.groups)
    assert one.names == same.names
    assert not np.array_equal(one.X, other.X)
    shared = np.random.RandomState(1)
    np.testing.assert_array_equal(make_groups(random_state=shared).X, one.X)
    assert not np.array_equal(make_groups(random_state=shared).X, one.X)


@pytest.mark.parametrize("ranker", [FRANe, ColumnSubset, FacilityLocation])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
def test_rankers_find_the_representatives(ranker, seed):
    made = make_groups(100, 5, 10, n_noise=20, random_state=seed)
    assert set(first(ranker, made.X, 5)) == set(made.representatives)


@pytest.mark.parametrize("ranker", [ColumnSubset, FacilityLocation])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
def test_greedy_rankers_never_pick_a_copy(ranker, seed):
    made = make_groups(100, 4, [3, 5, 8, 13], duplicates=15, random_state=seed)
    best = first(ranker, made.X, 4)
    source = np.where(made.copy_of < 0, np.arange(made.X.shape[1]), made.copy_of)
    assert len(set(source[best])) == 4
    assert set(made.groups[best]) == set(range(4))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore::franet.DegenerateRankingWarning")
def test_the_hub_catches_frane_and_nobody_else(seed):
    sizes, redundancy = [40] + [10] * 9, [0.95] + [0.7] * 9
    made = make_groups(100, 10, sizes, redundancy=redundancy, random_state=seed)
    assert made.X.shape == (100, 40 + 9 * 10)
    np.testing.assert_array_equal(np.bincount(made.groups), sizes)
    assert set(made.groups[first(FRANe, made.X, 10)]) == {0}
    for ranker in (ColumnSubset, FacilityLocation):
        assert set(first(ranker, made.X, 10)) == set(made.representatives)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_examples": 2}, "n_examples must be a whole number from 3 on, not 2"),
        ({"n_groups": 0}, "n_groups must be a whole number from 1 on, not 0"),
        ({"n_groups": True}, "n_groups must be a whole number"),
        ({"group_size": 0}, "group_size must be a whole number from 1 on, not 0"),
        ({"group_size": 2.5}, "group_size must be a whole number from 1 on, not 2.5"),
        ({"group_size": [3, 3]}, "group_size has 2 values for 5 groups"),
        ({"redundancy": 1.1}, "redundancy must be a correlation from 0 to 1, not 1.1"),
        ({"redundancy": float("nan")}, "redundancy must be a correlation"),
        ({"redundancy": "high"}, "redundancy must be a correlation"),
        ({"redundancy": [0.5] * 4}, "redundancy has 4 values for 5 groups"),
        ({"n_noise": -1}, "n_noise must be a whole number from 0 on, not -1"),
        ({"duplicates": -1}, "duplicates must be a whole number from 0 on, not -1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(UsageError, match=message):
        make_groups(**parameters)
