"""The report of rankers that have no network: what is there, and what is left out."""

from __future__ import annotations

import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import FRANe
from franet.exceptions import DataError, DegenerateRankingWarning
from franet.rankers import RANKERS, ColumnSubset, LaplacianScore, Variance, get
from franet.report import render, summarize
from tables import random

BASE = random(40, 4, seed=5)
X = np.repeat(BASE, 4, axis=1) + 0.4 * random(40, 16, seed=6)
X[:, 5] *= -2.0
X[:, 7] = 3.0
X[:, 9] = 2 * X[:, 8] + 1
TABLE = pd.DataFrame(X).add_prefix("gene ")
NAMES = sorted(set(RANKERS) - {"cover", "frane"})
NEED_A_NETWORK = (
    "n_edges", "n_isolated", "truncated", "threshold", "quality", "communities", "map",
    "thresholds",
)  # fmt: skip


def fitted(name, table=TABLE):
    kind = get(name)
    seed = {"random_state": 0} if "random_state" in kind._get_param_names() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(min(6, table.shape[1]), **seed).fit(table)


def places(page):
    """Return the ids of the sections and of the elements that figures go into."""
    return re.findall(r'<section id="(\w+)"', page), re.findall(
        r'<div id="(figure-\w+)"', page
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_ranker(name):
    ranker = fitted(name)
    made = summarize(ranker, TABLE, title="Genes")
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert set(made) == set(summarize(FRANe().fit(X), X))
    assert (made["format"], made["version"]) == ("franet-report", 1)
    assert made["ranker"] == type(ranker).__name__
    assert all(made[key] is None for key in NEED_A_NETWORK)
    assert (made["n_features"], made["n_examples"], made["n_selected"]) == (16, 40, 6)
    assert made["data"]["constant"] == {"count": 1, "features": ["gene 7"]}
    assert made["features"][-1]["name"] == "gene 7"
    for rank, row in enumerate(made["features"], start=1):
        assert ranker.ranking_[row["index"]] == row["rank"] == rank
        assert row["score"] == ranker.scores_[row["index"]]
        assert row["selected"] == ranker.support_[row["index"]]
        assert sum(row["distribution"]["counts"]) == 40
    page = render(made)
    assert page.count("<tr data-row=") == 16
    assert places(page) == (["ranking", "similarities", "data"], ["figure-heat"])
    assert f"feature ranking by {made['ranker']}" in page
    assert f"Parameters of {made['ranker']}" in page
    assert f'<p class="lead">{made["ranker"]}: rank features ' in page
    assert 'href="#network"' not in page
    assert "communities</dt>" not in page


def test_rows_are_of_one_shape():
    rows = [
        summarize(ranker, X)["features"][0]
        for ranker in (FRANe().fit(X), fitted("variance", X))
    ]
    assert rows[0].keys() == rows[1].keys()


def test_what_is_like_what():
    ranker = fitted("column-subset")
    rows = summarize(ranker, TABLE)["features"]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.corrcoef(X.T)
    stands = {row["index"]: [] for row in rows}
    for at, row in enumerate(rows):
        before = [other["index"] for other in rows[:at]]
        near = [j for j in before if abs(r[row["index"], j]) >= 0.8]
        like = row["representative"]
        if not near:
            assert like is None
            continue
        best = max(near, key=lambda j: abs(r[row["index"], j]))
        assert (like["index"], like["name"]) == (best, f"gene {best}")
        assert like["weight"] == pytest.approx(r[row["index"], best], rel=1e-5)
        stands[best].append(row["name"])
    assert any(stands.values())
    for row in rows:
        assert row["members"]["features"] == stands[row["index"]]
        assert row["members"]["count"] == len(stands[row["index"]])
    assert rows[-1]["neighbors"] == []
    for row in rows[:-1]:
        assert len(row["neighbors"]) == 10
        strength = [abs(other["weight"]) for other in row["neighbors"]]
        assert strength == sorted(strength, reverse=True)
        others = np.delete(np.abs(r[row["index"]]), [7, row["index"]])
        assert strength[0] == pytest.approx(others.max(), rel=1e-5)


def test_heat_map():
    made = summarize(fitted("variance"), TABLE)
    heat = made["heat"]
    index = [made["features"][row]["index"] for row in heat["row"]]
    assert sorted(index) == [j for j in range(16) if j != 7]
    wanted = np.corrcoef(X[:, index].T)
    np.fill_diagonal(wanted, np.nan)
    np.testing.assert_allclose(np.array(heat["weight"], float), wanted, atol=1e-4)
    assert heat["source"] == "data"


def test_notes_about_the_data():
    made = summarize(fitted("variance"), TABLE)
    assert made["data"]["duplicates"] == {
        "count": 2, "features": ["gene 8", "gene 9"], "groups": 1,
    }  # fmt: skip
    assert made["data"]["missing"] == {"count": 0, "features": [], "cells": 0}
    assert made["data"]["isolated"] == {"count": None, "features": []}
    assert made["warnings"] == [
        "1 feature is constant and ranks last: gene 7.",
        "2 features in 1 group are copies of each other, as far as the similarity can "
        "tell: gene 8, gene 9.",
    ]
    page = render(made)
    assert all(note in page for note in made["warnings"])
    assert "without an edge" not in page


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_sparse_tables_give_the_same(form):
    table = np.where(X > 1, X, 0.0)
    ranker = fitted("variance", table)
    wanted = summarize(ranker, table)["features"]
    assert summarize(ranker, form(table))["features"] == wanted


def test_without_the_table():
    made = summarize(fitted("variance"))
    assert made["heat"] is made["n_examples"] is made["n_constant"] is None
    assert made["data"]["constant"]["count"] is None
    for row in made["features"]:
        assert row["representative"] is row["members"] is row["neighbors"] is None
    page = render(made)
    assert places(page) == (["ranking", "data"], [])
    assert "most like" not in page.split("<tbody>")[0]
    # What the ranker itself knows is told.
    made = summarize(fitted("laplacian"))
    assert made["data"]["constant"] == {"count": 1, "features": ["gene 7"]}
    assert made["features"][0]["name"].startswith("gene ")


def test_only_the_best_are_listed():
    made = summarize(fitted("variance", X), X, top=5)
    assert len(made["features"]) == 5
    assert max(made["heat"]["row"]) < 5
    assert "the other 11 are not listed" in render(made)
    one = summarize(fitted("variance", X), X, top=1)
    assert one["heat"] is None
    assert places(render(one))[1] == []


def collapsed():
    """Return the settings of the literature on a table of large values, as fitted."""
    table = 100 * random(30, 24, seed=3)
    ranker = LaplacianScore(width=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(table), table


def test_a_collapsed_ranking_says_so_first():
    ranker, table = collapsed()
    made = summarize(ranker, table, warnings=["Left out 1 column."])
    assert made["warnings"][0].startswith(
        "The affinity collapsed: the heat kernel of width 1 is zero for 100% of the "
        "examples"
    )
    assert made["warnings"][1] == "Left out 1 column."
    assert '<li dir="auto">The affinity collapsed: ' in render(made)
    again = summarize(pickle.loads(pickle.dumps(ranker)), table)
    assert again["warnings"] == made["warnings"][:1]


def test_a_warning_is_told_once():
    ranker, table = collapsed()
    (message,) = summarize(ranker, table)["warnings"]
    assert summarize(ranker, table, warnings=[message])["warnings"] == [message]


def test_a_warning_that_is_an_error_is_kept():
    ranker = Variance()
    with pytest.raises(DegenerateRankingWarning):  # as all warnings in these tests
        ranker.fit(X[:, np.argsort(-X.var(axis=0))])
    made = summarize(ranker)
    assert made["warnings"] == ["The ranking is the order of the columns."]


def test_the_warning_goes_with_the_next_fit():
    ranker, table = collapsed()
    ranker.set_params(width="auto").fit(table)
    assert summarize(ranker, table)["warnings"] == []


def test_method_of_the_rankers(tmp_path):
    ranker, table = collapsed()
    ranker.report(tmp_path / "page.html", table, top=5)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "The affinity collapsed" in page
    assert "the other 19 are not listed" in page
    ranker.report(tmp_path / "page.json")
    made = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert made["ranker"] == "LaplacianScore"
    ranker.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") != page


def test_bars_of_negative_scores():
    """The best has the longest bar, the worst listed none."""
    ranker = fitted("variance", X)
    for scores in (np.linspace(-3, -1, 16), np.linspace(-1, 1, 16)):
        ranker.scores_ = scores
        ranker.order_, ranker.ranking_ = np.arange(16)[::-1], np.arange(16, 0, -1)
        page = render(summarize(ranker, X))
        shares = [float(v) for v in re.findall(r"--share:([-\d.]+)", page)]
        assert shares == sorted(shares, reverse=True)
        assert min(shares) == 0.0
        assert max(shares) <= 1.0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X[:, 1:], "X has 15 features, the table of the fit had 16. Pass that table."),
        (np.where(X == X[2, 3], np.nan, X), "Column 3 holds NaN in row 2."),
        (X[0], "Expected a table with rows and columns, got 1 dimension"),
    ],
)
def test_another_table_is_refused(table, message):
    ranker = ColumnSubset().fit(X)
    with pytest.raises(DataError, match=re.escape(message)):
        summarize(ranker, table)


def test_two_features_and_constants_only():
    for table in (X[:, :2], np.ones((5, 3))):
        made = summarize(fitted("variance", table), table)
        assert (made["heat"] is None) == (table.shape[1] == 3)
        assert "<table" in render(made)


def test_an_approximate_ranking_says_so():
    ranker = FRANe(search="approximate", random_state=0)
    made = summarize(ranker.fit(TABLE), TABLE)
    assert made["warnings"][0] == str(ranker.approximation_)
    assert str(ranker.approximation_) in render(made)
