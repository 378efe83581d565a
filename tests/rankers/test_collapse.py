"""When the affinity collapses: the published entry, the warning, and our default."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from data import load, needs_shared
from franet.exceptions import DegenerateRankingWarning
from franet.rankers import MCFS, NDFS, SPEC, UDFS, LaplacianScore
from protocol import rmae
from tables import random

RANKERS = [LaplacianScore, SPEC, MCFS, NDFS]
FAR = 100 * random(30, 24, seed=3)


def reversed_ties(ranker):
    """Return a function of a table: its ranks, equal scores from the last column on.

    The authors sort in ascending order and read the result backwards.
    """

    def ranks(table):
        order = np.argsort(ranker.fit(table).scores_, kind="stable")[::-1]
        return np.argsort(order)

    return ranks


@needs_shared
def test_published_entry_on_orl():
    """Width 1 on raw pixels: all features tie, and the last 16 columns are chosen."""
    X = load("ORL")[0]
    literature = LaplacianScore(width=1.0)
    with pytest.warns(DegenerateRankingWarning, match="The affinity collapsed"):
        published = rmae(X, reversed_ties(literature), 16)
    np.testing.assert_array_equal(literature.scores_, 0.0)
    assert abs(published - 0.703) <= 0.0015
    last = rmae(X, lambda table: -np.arange(table.shape[1]), 16)
    assert published == last


@needs_shared
def test_our_default_on_orl():
    X = load("ORL")[0]
    ranker = LaplacianScore()
    # A warning would be an error.
    assert rmae(X, lambda table: ranker.fit(table).ranking_, 16) < 0.65
    assert len(np.unique(ranker.scores_)) > 1000


@pytest.mark.parametrize("ranker", RANKERS)
def test_every_graph_warns(ranker):
    seed = {"random_state": 0} if ranker is NDFS else {}
    with pytest.warns(DegenerateRankingWarning) as caught:
        ranker(width=1.0, standardize=False, **seed).fit(FAR)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith(
        "The affinity collapsed: the heat kernel of width 1 is zero for 100% of the "
        "examples (median squared distance of neighbours: "
    )
    assert message.endswith("). Set width='auto'.")


@pytest.mark.parametrize("ranker", [*RANKERS, UDFS])
@pytest.mark.parametrize("scale", [1e-250, 1e-6, 1e6, 1e250])
def test_the_default_width_follows_the_data(ranker, scale):
    seed = {"random_state": 0} if ranker is NDFS else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateRankingWarning)
        fitted = ranker(**seed).fit(scale * FAR)
    assert not any("collapsed" in str(w.message) for w in caught)
    reference = ranker(**seed).fit(FAR)
    np.testing.assert_allclose(fitted.scores_, reference.scores_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("ranker", [LaplacianScore, SPEC, MCFS])
def test_a_collapsed_ranking_is_a_tie(ranker):
    table = FAR.copy()
    table[:, 3] = 7.0
    with pytest.warns(DegenerateRankingWarning):
        fitted = ranker(width=1.0, standardize=False).fit(table)
    varied = np.arange(24) != 3
    np.testing.assert_array_equal(fitted.scores_[varied], 0.0)
    assert fitted.ranking_[3] == 24


def test_a_partly_collapsed_graph():
    """Two near examples do not make a graph; half of them do."""
    table = FAR.copy()
    table[1] = table[0] + 1e-3
    with pytest.warns(DegenerateRankingWarning, match="zero for 93% of the examples"):
        LaplacianScore(width=1.0).fit(table)
    table[1:16] = table[0] + 1e-3 * random(15, 24, seed=8)
    LaplacianScore(width=1.0).fit(table)


def test_a_given_width_is_in_the_units_of_the_table():
    table = FAR * 2.0**400
    width = LaplacianScore().fit(FAR).width_
    found = LaplacianScore(width=width * 2.0**800).fit(table)
    assert found.width_ == width * 2.0**800
    np.testing.assert_allclose(found.scores_, LaplacianScore().fit(FAR).scores_)
