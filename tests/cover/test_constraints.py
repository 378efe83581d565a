"""What may be picked: include, exclude, cost and groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from franet import Cover
from franet.datasets import make_groups
from franet.exceptions import UsageError
from franet.rankers import ColumnSubset, FacilityLocation

MADE = make_groups(60, 5, 4, n_noise=5, shuffle=False, random_state=0)
X = pd.DataFrame(MADE.X, columns=MADE.names)


def cover(n_features_to_select=None, **parameters):
    ranker = Cover(n_features_to_select, **parameters)
    return ranker.fit(X)


def test_include_comes_first_in_its_order():
    ranker = cover(4, include=["noise3", 2, "g1"])
    assert X.columns[ranker.order_[:3]].tolist() == ["noise3", "g0.2", "g1"]
    # The rest is picked for what these do not tell.
    assert MADE.groups[ranker.order_[3]] in (2, 3, 4)
    assert ranker.support_.sum() == 4


def test_exclude_is_never_selected_but_represented():
    free = cover(5)
    best = X.columns[free.order_[0]]
    ranker = cover(5, exclude=[best])
    j = X.columns.get_loc(best)
    assert ranker.order_[-1] == j
    assert not ranker.support_[j]
    assert ranker.ranking_[j] == X.shape[1]
    assert MADE.groups[ranker.representative_[j]] == MADE.groups[j]


def test_everything_but_three_excluded():
    ranker = cover(exclude=list(X.columns[3:]))
    assert set(ranker.order_[: ranker.n_ranked_]) == {0, 1, 2}
    assert set(np.flatnonzero(ranker.support_)) == {0, 1, 2}


def test_what_can_be_picked_settles_how_many():
    ranker = cover("auto", exclude=[name for name in X.columns if "." in name])
    assert ranker.n_ranked_ == 10
    assert ranker.n_features_ == ranker.n_features_suggested_ == 5


def test_a_high_cost_moves_a_pick_back():
    first = cover(5).order_[0]
    ranker = cover(5, cost={X.columns[first]: 100.0})
    assert ranker.order_[0] != first
    assert MADE.groups[ranker.order_[0]] >= 0


@pytest.mark.parametrize("unit", [1e-300, 1e12, 1e300])
def test_the_unit_of_costs_does_not_matter(unit):
    costs = np.random.default_rng(0).uniform(1.0, 2.0, 25)
    expected = cover(8, cost=costs).order_
    np.testing.assert_array_equal(cover(8, cost=unit * costs).order_, expected)
    cheap = cover(8, cost=np.where(np.arange(25) == 7, 1e-310, costs)).order_
    assert cheap[0] == 7


def test_one_for_each_group():
    labels = [None if name.startswith("noise") else name[:2] for name in X.columns]
    ranker = cover(8, groups=labels)
    chosen = [labels[j] for j in np.flatnonzero(ranker.support_)]
    grouped = [label for label in chosen if label is not None]
    assert len(grouped) == len(set(grouped)) == 5
    assert chosen.count(None) == 3


def test_groups_hold_in_the_whole_selection():
    # Copies add nothing, so that picking ends early; the rest keeps to the groups.
    columns = np.repeat(MADE.X[:, :2], 3, axis=1)
    ranker = Cover(3, groups=["a", "a", "b", "b", "c", "c"])
    ranker.fit(columns)
    labels = np.array(["a", "a", "b", "b", "c", "c"])[ranker.support_]
    assert sorted(labels) == ["a", "b", "c"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_groups_as_a_mapping(missing):
    ranker = cover(6, groups={"g0": 1, "g1": 1, "g2": 1, "g3": missing})
    chosen = set(X.columns[ranker.support_])
    assert len(chosen & {"g0", "g1", "g2"}) <= 1


def beside_each_other(groups, picks):
    """Return whether no two picks share a label."""
    labels = [label for j in picks for label in {*groups.get(j, [])}]
    return len(labels) == len(set(labels))


@pytest.mark.parametrize("kind", [Cover, ColumnSubset, FacilityLocation])
@pytest.mark.parametrize("seed", range(3))
def test_features_in_several_groups(kind, seed):
    rng = np.random.default_rng(seed)
    groups = {j: rng.integers(0, 9, 3).tolist() for j in range(0, 25, 2)}
    ranker = kind(None, groups=groups).fit(X)
    assert beside_each_other(groups, np.flatnonzero(ranker.support_))
    # What follows the picks keeps to the groups as well, as long as it can.
    possible = next(
        k for k in range(1, 26) if not beside_each_other(groups, ranker.order_[: k + 1])
    )
    exact = kind(possible, groups=groups).fit(X)
    assert beside_each_other(groups, np.flatnonzero(exact.support_))


def test_how_many_is_found_among_features_in_several_groups():
    groups = {j: [j // 2, 100 + j // 5] for j in range(20)}
    ranker = Cover("auto", groups=groups).fit(X)
    picks = np.flatnonzero(ranker.support_)
    assert 1 < len(picks) == ranker.n_features_suggested_
    assert beside_each_other(groups, picks)


def test_more_than_fit_beside_each_other():
    # Each feature with its neighbors: after a pick in the middle none is left.
    groups = {0: [0], 1: [0, 1], 2: [1]}
    table = MADE.X[:, :3]
    assert set(Cover(2, groups=groups, include=[0]).fit(table).order_[:2]) == {0, 2}
    with pytest.raises(UsageError, match="groups: after 1 picks each other feature"):
        Cover(2, groups=groups, include=[1]).fit(table)
    with pytest.raises(UsageError, match="'x0' and 'x1' are in one group"):
        Cover(2, groups=groups, include=[0, 1]).fit(table)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"include": ["nobody"]}, "include: There is no feature 'nobody'"),
        ({"include": "g0"}, r"include: give a list of features, such as \['g0'\]"),
        ({"exclude": [99]}, "exclude: There is no feature 99"),
        ({"include": ["g0"], "exclude": [0]}, "'g0' is in include and in exclude"),
        ({"cost": {"g0": 0.0}}, "cost: 'g0' has 0"),
        ({"cost": {"g0": -1.0}}, "cost: 'g0' has -1"),
        ({"cost": {"g0": float("nan")}}, "cost: 'g0' has nan"),
        ({"cost": {"g0": "much"}}, "cost: 'g0' has 'much'"),
        ({"cost": [1.0, 2.0]}, r"cost: its shape is \(2,\), but there are 25"),
        ({"groups": ["a"]}, r"groups: its shape is \(1,\)"),
        ({"groups": {"g0": [[1]]}}, r"groups: \[1\] is not a label"),
        ({"groups": {"g0": np.arange(2)}}, r"groups: array\(\[0, 1\]\) is not a label"),
        (
            {"groups": {"g0": 1, "g1": 1}, "include": ["g0", "g1"]},
            "include: 'g0' and 'g1' are in one group",
        ),
        ({"exclude": list(X.columns)}, "no feature that could be picked"),
        (
            {"n_features_to_select": 25, "exclude": ["g0"]},
            "only 24 features can be picked",
        ),
        (
            {"n_features_to_select": 1, "include": ["g0", "g1"]},
            "include names 2 features",
        ),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    with pytest.raises(UsageError, match=message):
        cover(**parameters)


def test_a_constant_column_cannot_be_included():
    table = X.assign(flat=1.0)
    with pytest.raises(UsageError, match="'flat' is constant"):
        Cover(include=["flat"]).fit(table)


def test_a_series_is_read_by_its_index():
    costs = pd.Series(np.linspace(0.2, 5.0, 25), index=X.columns)
    labels = pd.Series(np.arange(25) // 4, index=X.columns)
    for name, values in (("cost", costs), ("groups", labels)):
        plain = cover(5, **{name: values.to_numpy()}).order_
        mixed = values.sample(frac=1.0, random_state=0)
        for given in (values, mixed, mixed.rename(X.columns.get_loc)):
            np.testing.assert_array_equal(cover(5, **{name: given}).order_, plain)
    first = X.columns[0]
    part = cover(5, cost=pd.Series({first: 9.0})).order_
    np.testing.assert_array_equal(part, cover(5, cost={first: 9.0}).order_)


def test_patterns_mean_what_they_match():
    noise = [name for name in X.columns if name.startswith("noise")]
    ranker = cover(8, include=["g?.1", "g0"], exclude=["noise*"])
    wanted = ["g0.1", "g1.1", "g2.1", "g3.1", "g4.1", "g0"]
    assert X.columns[ranker.order_[:6]].tolist() == wanted
    assert not ranker.support_[X.columns.get_indexer(noise)].any()
    by_name = cover(8, include=wanted, exclude=noise)
    assert ranker.order_.tolist() == by_name.order_.tolist()


@pytest.mark.parametrize("name", ["g*", "[ab]", "g?.1"])
def test_a_name_comes_before_a_pattern(name):
    table = X.rename(columns={"noise3": name})
    ranker = Cover(2, include=[name]).fit(table)
    assert table.columns[ranker.order_[0]] == name


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("G0.*", "Did you mean 'g0.1', 'g0.2', 'g0.3'?"),
        ("nois3*", "Did you mean 'noise0'?"),
        ("MT-*", "The 25 features are 'g0', 'g0.1', 'g0.2' …"),
    ],
)
def test_a_pattern_without_a_match(pattern, advice):
    with pytest.raises(UsageError) as caught:
        cover(4, exclude=[pattern])
    assert str(caught.value) == f"exclude: No feature matches {pattern!r}. {advice}"


def test_a_pattern_is_no_key_of_a_mapping():
    with pytest.raises(UsageError, match=r"cost: There is no feature 'g\*'"):
        cover(4, cost={"g*": 2.0})
