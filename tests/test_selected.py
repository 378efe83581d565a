"""Selected means ranked first: orders, ranks and selections of every ranker agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from franet import Cover
from franet.datasets import make_groups
from franet.search.ranking import tie_groups
from rankers.test_common import NAMES, make

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def cover(**parameters):
    return Cover(n_jobs=1, **parameters)


def check(ranker):
    """Assert that order, ranks, scores and selection of a fitted ranker agree."""
    n = ranker.n_features_in_
    assert sorted(ranker.order_) == list(range(n))
    assert ranker.ranking_[ranker.order_].tolist() == list(range(1, n + 1))
    selected = ranker.order_[: ranker.n_features_]
    assert np.flatnonzero(ranker.support_).tolist() == sorted(selected)
    # What may never be picked has no gain, and ranks behind all others.
    counted = ranker.order_[: getattr(ranker, "n_ranked_", n)]
    assert (np.diff(tie_groups(ranker.scores_)[counted]) >= 0).all()


def table(seed, m, n, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    if kind == "copies":
        X = X[:, rng.integers(0, max(1, n // 2), n)]
    elif kind == "levels":
        X = np.round(X)
    elif kind == "constants":
        X[:, rng.random(n) < 0.3] = 2.0
    X[:2, 0] = 0.0, 1.0  # one column varies at least
    return X


TABLES = st.builds(
    table,
    seed=st.integers(0, 2**16),
    m=st.integers(4, 12),
    n=st.integers(2, 14),
    kind=st.sampled_from(["normal", "copies", "levels", "constants"]),
)


@st.composite
def constrained(draw):
    """Return a table, and constraints that it can meet."""
    X = draw(TABLES)
    open_ = np.flatnonzero(np.ptp(X, axis=0) > 0.0).tolist()
    rest = draw(st.permutations(open_))
    n_include = draw(st.integers(0, len(rest)))
    include, left = list(rest[:n_include]), list(rest[n_include:])
    n_exclude = draw(st.integers(0, max(0, len(left) - (not include))))
    given = {"include": include, "exclude": left[:n_exclude]}
    can_be_picked = len(rest) - n_exclude
    wanted = st.integers(max(1, n_include), can_be_picked)
    given["n_features_to_select"] = draw(st.none() | st.just("auto") | wanted)
    asked = given["n_features_to_select"]
    least = max(1, n_include, asked if isinstance(asked, int) else 0)
    given["n_ranked"] = draw(st.none() | st.integers(least, X.shape[1]))
    if draw(st.booleans()):
        given["cost"] = draw(
            st.lists(
                st.sampled_from([0.5, 1.0, 7.0]),
                min_size=X.shape[1],
                max_size=X.shape[1],
            )
        )
    return X, given


@given(constrained())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("name", ["cover", "column-subset", "facility-location"])
def test_greedy_rankers_select_their_picks(name, case):
    X, parameters = case
    if name != "cover" and parameters["n_features_to_select"] == "auto":
        parameters = {**parameters, "n_features_to_select": None}
    ranker = make(name, **parameters).fit(X)
    check(ranker)
    assert ranker.support_[parameters["include"]].all()
    assert not ranker.support_[parameters["exclude"]].any()
    assert not ranker.support_[np.ptp(X, axis=0) == 0.0].any()
    n_include = len(parameters["include"])
    assert ranker.order_[:n_include].tolist() == parameters["include"]
    picks = ranker.order_[: ranker.n_ranked_]
    assert ranker.support_[picks[: ranker.n_features_]].all()
    if isinstance(parameters["n_features_to_select"], int):
        assert ranker.n_features_ == parameters["n_features_to_select"]


@given(TABLES, st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("name", ["frane", *NAMES])
def test_every_ranker_selects_the_first(name, X, data):
    k = data.draw(st.integers(1, X.shape[1]))
    parameters = {"n_estimators": 2, "max_epochs": 2, "n_neighbors": 2}
    if name == "cover":
        k = min(k, int((np.ptp(X, axis=0) > 0.0).sum()))
    ranker = make(name, n_features_to_select=k, **parameters)
    try:
        ranker.fit(X)
    except ValueError:  # too few rows or columns that vary for this ranker
        return
    check(ranker)
    assert ranker.n_features_ == k


def test_a_pick_by_force_is_selected():
    X = np.random.default_rng(0).normal(size=(30, 12))
    ranker = cover(n_features_to_select=1, n_ranked=1, include=[9]).fit(X)
    assert ranker.order_[0] == 9
    assert np.flatnonzero(ranker.support_).tolist() == [9]


@pytest.mark.parametrize(
    ("n_features_to_select", "n_ranked"), [(None, 7), ("auto", 7), (0.9, 10)]
)
def test_more_is_included_than_would_be_selected(n_features_to_select, n_ranked):
    made = make_groups(40, 2, 6, random_state=0)
    include = [11, 3, 5, 0, 7, 8, 1]
    ranker = cover(
        n_features_to_select=n_features_to_select, n_ranked=n_ranked, include=include
    ).fit(made.X)
    assert ranker.order_[:7].tolist() == include
    assert ranker.support_[include].all()


def test_equal_gains_after_the_last_pick():
    """Columns without a pick may gain exactly what the last pick did."""
    X = np.eye(16)[:, ::-1]
    for k in range(1, 16):
        ranker = cover(n_features_to_select=k, n_ranked=k, include=[15]).fit(X)
        check(ranker)
        assert ranker.support_[15]
