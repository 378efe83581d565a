"""Constraints of the rankers that pick one feature after another."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from franet import Cover
from franet.datasets import make_groups
from franet.exceptions import UsageError
from franet.rankers import ColumnSubset, FacilityLocation
from rankers.test_column_subset import prepared, unexplained
from rankers.test_facility_location import weights

MADE = make_groups(60, 5, 4, n_noise=5, shuffle=False, random_state=0)
X = pd.DataFrame(MADE.X, columns=MADE.names)
N = X.shape[1]
LABELS = [None if name.startswith("noise") else name[:2] for name in X.columns]
KINDS = [FacilityLocation, ColumnSubset]
pytestmark = pytest.mark.filterwarnings(
    "ignore::franet.exceptions.DegenerateRankingWarning"
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def value_of(kind, table):
    """Return a function from picks to what they are worth together."""
    table = np.asarray(table, float)
    if kind is FacilityLocation:
        W, _ = weights(table, 2)
        return lambda picks: W[picks].max(axis=0).sum() if picks else 0.0
    Z = prepared(table)
    return lambda picks: unexplained(Z, []) - unexplained(Z, picks)


def by_hand(value, k, include=(), exclude=(), cost=None, groups=None):
    """Return picks and gains, every candidate tried at every step."""
    cost = np.ones(N) if cost is None else cost
    groups = [None] * N if groups is None else groups
    order, gains = [], []
    while len(order) < k:
        taken = {groups[j] for j in order} - {None}
        free = [
            j
            for j in range(N)
            if j not in order and j not in exclude and groups[j] not in taken
        ]
        free = [include[len(order)]] if len(order) < len(include) else free
        gain = {j: value([*order, j]) - value(order) for j in free}
        worth = {j: gain[j] / cost[j] for j in free}
        best = max(worth.values())
        order.append(next(j for j in free if worth[j] >= best - 1e-9 * abs(best)))
        gains.append(gain[order[-1]])
    return order, gains


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"include": [24, 2, 3]},
        {"exclude": [0, 1, 4, 20]},
        {"cost": np.linspace(0.3, 6.0, N)},
        {"groups": LABELS},
        {
            "include": [9, 22],
            "exclude": [0, 23],
            "cost": np.linspace(4.0, 0.5, N),
            "groups": LABELS,
        },
    ],
    ids=lambda given: "+".join(given) or "none",
)
@pytest.mark.parametrize("drawn", [False, True])
def test_picks(kind, given, drawn, monkeypatch):
    if drawn:
        # All features are candidates then, and estimates decide nothing.
        monkeypatch.setattr("franet.rankers.facility_location.EXACT", 0)
        monkeypatch.setattr("franet.rankers.facility_location.TARGETS", 20)
        monkeypatch.setattr("franet.rankers.facility_location._BATCH", N)
    order, gains = by_hand(value_of(kind, X), 8, **given)
    ranker = kind(8, **given).fit(X)
    assert ranker.n_ranked_ == 8
    assert ranker.order_[:8].tolist() == order
    np.testing.assert_allclose(ranker.gains_, gains, rtol=1e-7, atol=1e-9)
    assert np.flatnonzero(ranker.support_).tolist() == sorted(order)
    assert (np.diff(ranker.scores_[ranker.order_[:9]]) < 0.0).all()
    # A score is the gain, or the largest later one.
    largest = np.maximum.accumulate(gains[::-1])[::-1]
    assert (ranker.scores_[order] >= largest * (1.0 - 1e-7)).all()


def test_the_other_features_are_ordered_by_what_they_would_add(kind):
    """Also behind a pick that adds next to nothing."""
    value = value_of(kind, X)
    ranker = kind(3, include=[24, 23, 22]).fit(X)
    others = [j for j in range(N) if j < 22]
    gain = np.array([value([24, 23, 22, j]) - value([24, 23, 22]) for j in others])
    np.testing.assert_allclose(ranker.scores_[others], gain, rtol=1e-7)
    assert ranker.scores_[others].max() < ranker.scores_[[22, 23, 24]].min()


def test_what_may_not_be_picked_comes_last(kind):
    table = X.assign(flat=1.0)
    ranker = kind(4, exclude=["g0", 5], groups={"g1": 1, "g2": 1}).fit(table)
    flat, out = table.columns.get_loc("flat"), [table.columns.get_loc("g0"), 5]
    grouped = [table.columns.get_loc(name) for name in ("g1", "g2")]
    last = ranker.order_[-4:]
    assert {flat, *out} <= {*last}
    assert len({*last} & {*grouped}) == 1
    assert (ranker.scores_[last] == -1.0).all()
    np.testing.assert_array_equal(last, np.sort(last))
    assert not ranker.support_[last].any()


def test_excluded_features_are_represented(kind):
    alone = kind(1, exclude=list(X.columns[1:])).fit(X)
    assert alone.gains_[0] == pytest.approx(value_of(kind, X)([0]))
    assert alone.gains_[0] > 1.5


def test_a_copy_may_be_included(kind):
    table = np.column_stack([MADE.X, MADE.X[:, 0]])
    ranker = kind(4, include=[0, N]).fit(table)
    assert ranker.order_[:2].tolist() == [0, N]
    assert ranker.gains_[1] == pytest.approx(0.0, abs=1e-9)
    assert ranker.gains_[2] > 1.0
    assert ranker.support_[[0, N]].all()
    assert ranker.ranking_[ranker.order_].tolist() == list(range(1, N + 2))
    # More of them than are picked: the others still rank by what they would add.
    ranker = kind(2, include=[0, N]).fit(table)
    rest = ranker.order_[2:]
    assert len(np.unique(ranker.scores_[rest])) > N / 2


def test_groups_hold_in_the_whole_selection(kind):
    columns = np.repeat(MADE.X[:, :2], 3, axis=1)
    labels = np.array(["a", "a", "b", "b", "c", "c"])
    ranker = kind(3, groups=labels).fit(columns)
    assert sorted(labels[ranker.support_]) == ["a", "b", "c"]


def test_how_many_are_selected(kind):
    assert kind(exclude=list(X.columns[3:])).fit(X).n_features_ == 3
    assert kind(include=list(X.columns[:20])).fit(X).n_features_ == 20
    assert kind(groups=[0] * N).fit(X).support_.sum() == 1
    assert kind(0.2).fit(X).n_ranked_ == 5
    assert kind(5, n_ranked=9).fit(X).n_ranked_ == 9
    assert kind(N).fit(X).support_.all()


def test_cheap_noise_of_rounding_is_not_picked():
    table = np.column_stack([MADE.X, MADE.X[:, :3] * 7.0])
    cost = {N: 1e-12, N + 1: 1e-12, N + 2: 1e-12}
    ranker = FacilityLocation(10, cost=cost).fit(table)
    assert sorted(ranker.order_[:3]) == [N, N + 1, N + 2]
    assert not {0, 1, 2} & {*ranker.order_[:10]}


@pytest.mark.parametrize(
    "given",
    [
        {"include": ["nobody"]},
        {"include": "g0"},
        {"exclude": [99]},
        {"include": ["g0"], "exclude": [0]},
        {"cost": {"g0": 0.0}},
        {"cost": {"g0": "much"}},
        {"cost": [1.0, 2.0]},
        {"groups": ["a"]},
        {"groups": {"g0": [[1]]}},
        {"groups": {"g0": 1, "g1": 1}, "include": ["g0", "g1"]},
        {"exclude": list(X.columns)},
        {"n_features_to_select": N, "exclude": ["g0"]},
        {"n_features_to_select": 3, "groups": [0] * N},
        {"n_features_to_select": 1, "include": ["g0", "g1"]},
        {"n_features_to_select": 5, "n_ranked": 4},
        {"n_ranked": 1, "include": ["g0", "g1"]},
        {"n_features_to_select": N + 1},
        {"include": 3},
        {"cost": "g0"},
    ],
    ids=str,
)
def test_errors_are_those_of_cover(kind, given):
    with pytest.raises(UsageError) as found:
        kind(**given).fit(X)
    with pytest.raises(UsageError) as known:
        Cover(**given).fit(X)
    assert str(found.value) == str(known.value).replace("Cover", kind.__name__)


def test_as_many_as_none_cannot_be_ranked(kind):
    # Of Cover "auto" is allowed, too, so that its message is another one.
    with pytest.raises(UsageError, match=r"'n_ranked' .* in the range \[1, inf\)"):
        kind(n_ranked=0).fit(X)


def test_a_constant_column_cannot_be_included(kind):
    with pytest.raises(UsageError, match="'flat' is constant"):
        kind(include=["flat"]).fit(X.assign(flat=1.0))


def test_all_columns_constant(kind):
    ranker = kind(exclude=None).fit(np.ones((4, 6)))
    assert ranker.n_ranked_ == 0
    assert ranker.n_features_ == 3
    with pytest.raises(UsageError, match="leaves no feature"):
        kind(exclude=[0]).fit(np.ones((4, 6)))


@pytest.mark.parametrize("shape", [(2, 3), (2, 2), (3, 2), (3, 9)])
def test_tiny_tables(kind, shape):
    table = np.random.default_rng(0).normal(size=shape)
    ranker = kind(2, include=[1], groups={0: "a"}, cost={0: 2.0}).fit(table)
    assert ranker.order_[0] == 1
    assert ranker.support_.sum() == 2


def test_kinds_of_tables(kind):
    given = {
        "include": ["noise3"],
        "exclude": ["g1"],
        "cost": {"g0": 3.0},
        "groups": {"g2": 1, "g3": 1},
    }
    order = kind(6, **given).fit(X).order_
    np.testing.assert_array_equal(kind(6, **given).fit(pl.from_pandas(X)).order_, order)
    places = {
        "include": [X.columns.get_loc("noise3")],
        "exclude": [X.columns.get_loc("g1")],
        "cost": {X.columns.get_loc("g0"): 3.0},
        "groups": {X.columns.get_loc(name): 1 for name in ("g2", "g3")},
    }
    for table in (MADE.X, sparse.csr_array(MADE.X), MADE.X.astype(np.float32)):
        found = kind(6, **places).fit(table).order_
        np.testing.assert_array_equal(found[:6], order[:6])


def test_stability_keeps_to_constraints(kind):
    ranker = kind(3, include=["noise3"], exclude=["g0"]).fit(X)
    found = ranker.stability(X, 6, random_state=0)
    names = list(X.columns)
    assert found.selected[names.index("noise3")] == 1.0
    assert found.selected[names.index("g0")] == 0.0


def test_the_documentation_names_constraints(kind):
    text = re.sub(r"\s+", " ", kind.__doc__)
    for name in ("include", "exclude", "cost", "groups"):
        assert f"{name} : " in text
    assert "{" not in text.replace("{s ∈ S}", "")
