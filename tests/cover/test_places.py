"""Groups of features by where they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform

from franet import Cover, groups_by_distance
from franet.exceptions import DataError, UsageError
from franet.rankers import ColumnSubset, FacilityLocation

RNG = np.random.default_rng(0)
PLACES = RNG.uniform(0.0, 10.0, (40, 2))
X = RNG.normal(size=(60, 8)) @ RNG.normal(size=(8, 40)) + RNG.normal(size=(60, 40))


def pairs_of(groups):
    """Return the pairs that share a label."""
    return {
        (i, j) for i in groups for j in groups if i < j and {*groups[i]} & {*groups[j]}
    }


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("distance", [0.1, 1.0, 4.0, 100.0])
def test_pairs_that_are_too_close_share_a_label(dimension, distance):
    places = np.random.default_rng(1).uniform(0.0, 10.0, (30, dimension))
    D = squareform(pdist(places))
    close = {(i, j) for i in range(30) for j in range(i + 1, 30) if D[i, j] < distance}
    assert pairs_of(groups_by_distance(places, distance)) == close


@pytest.mark.parametrize("kind", [Cover, ColumnSubset, FacilityLocation])
@pytest.mark.parametrize("distance", [1.0, 2.5])
def test_picks_keep_the_distance(kind, distance):
    free = kind(6).fit(X)
    groups = groups_by_distance(PLACES, distance)
    ranker = kind(6, groups=groups).fit(X)
    picks = np.flatnonzero(ranker.support_)
    assert len(picks) == 6
    assert pdist(PLACES[picks]).min() >= distance
    if distance == 2.5:
        assert pdist(PLACES[np.flatnonzero(free.support_)]).min() < distance


def test_exchanges_keep_the_distance():
    groups = groups_by_distance(PLACES, 2.0)
    ranker = ColumnSubset(6, groups=groups, exchanges=50).fit(X)
    assert pdist(PLACES[ranker.order_[:6]]).min() >= 2.0


def test_pairs_exactly_that_far_apart_may_be_picked():
    grid = 0.1 * np.stack(np.meshgrid(range(7), range(7)), axis=-1).reshape(-1, 2)
    D = np.rint(squareform(pdist(grid)) ** 2 * 100)  # whole numbers of steps, squared
    close = {(i, j) for i, j in np.argwhere(D < 9) if i < j}
    assert pairs_of(groups_by_distance(grid, 0.3)) == close


def test_shuffled_places():
    order = np.random.default_rng(3).permutation(40)
    found = pairs_of(groups_by_distance(PLACES[order], 2.0))
    there = {tuple(sorted((order[i], order[j]))) for i, j in found}
    assert there == pairs_of(groups_by_distance(PLACES, 2.0))
    first = Cover(5, groups=groups_by_distance(PLACES, 2.0)).fit(X).order_[:5]
    other = Cover(5, groups=groups_by_distance(PLACES[order], 2.0)).fit(X[:, order])
    assert order[other.order_[:5]].tolist() == first.tolist()


def test_frames():
    groups = groups_by_distance(PLACES, 2.0)
    assert groups_by_distance(PLACES.tolist(), 2.0) == groups
    assert groups_by_distance(pl.DataFrame(PLACES), 2.0) == groups
    assert groups_by_distance(pd.DataFrame(PLACES), 2.0) == groups
    # Numbers of stations are no names: rows are columns of the table, in order.
    numbered = pd.DataFrame(PLACES, index=np.arange(700, 740))
    assert groups_by_distance(numbered, 2.0) == groups
    names = [f"s{j}" for j in range(40)]
    named = groups_by_distance(pd.DataFrame(PLACES, index=names), 2.0)
    assert named == {names[j]: labels for j, labels in groups.items()}
    table = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(
        Cover(5, groups=named).fit(table).order_, Cover(5, groups=groups).fit(X).order_
    )


def test_names_that_repeat():
    with pytest.raises(DataError, match="groups_by_distance identifies features by"):
        groups_by_distance(pd.DataFrame(np.eye(2), index=["a", "a"]), 9.0)


def test_places_that_are_the_same():
    groups = groups_by_distance(np.zeros((3, 2)), 1e-9)
    assert pairs_of(groups) == {(0, 1), (0, 2), (1, 2)}
    assert groups_by_distance(np.zeros((1, 2)), 1.0) == {}
    assert groups_by_distance(np.empty((0, 2)), 1.0) == {}


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (np.zeros(4), r"coordinates: its shape is \(4,\). Give a row of 2 or 3"),
        (np.zeros((4, 1)), r"its shape is \(4, 1\)"),
        (np.zeros((4, 4)), r"its shape is \(4, 4\)"),
        ([[0, 1], [2, np.nan]], "coordinates: row 1 is not finite. Give a row of 2"),
        ([[np.inf, 1]], "row 0 is not finite"),
        ([["here", "there"]], "it is not a table of numbers"),
        ([[0, 1], [2]], "it is not a table of numbers"),
        (None, r"its shape is \(\)"),
    ],
)
def test_coordinates_that_are_wrong(places, message):
    with pytest.raises(DataError, match=message) as found:
        groups_by_distance(places, 1.0)
    assert found.value.parameter == "coordinates"


@pytest.mark.parametrize("distance", [0, -1.0, np.nan, np.inf, "far", None, True])
def test_distances_that_are_wrong(distance):
    with pytest.raises(UsageError, match="min_distance") as found:
        groups_by_distance(PLACES, distance)
    assert "\n" not in str(found.value)


def test_more_than_fit():
    with pytest.raises(UsageError, match="groups: after 1 picks each other feature"):
        Cover(2, groups=groups_by_distance(PLACES, 100.0), n_ranked=2).fit(X)
