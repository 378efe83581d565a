"""The report of `Cover`: what picks explain, and what they represent."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from franet import FRANe
from franet.exceptions import DataError
from franet.report import render, summarize
from franet.report._text import percent
from network.covers import (
    CONSTANT,
    COPY,
    NAMES,
    TABLE,
    X,
    correlations,
    cover,
    represented,
)
from report.conftest import HOSTILE
from tables import random

RANKER = cover(n_ranked=20)
MADE = summarize(RANKER, TABLE, title="Genes")
PAGE = render(MADE)
R = correlations()


def rows_of(made):
    return {row["index"]: row for row in made["features"]}


def places(page):
    return re.findall(r'<section id="(\w+)"', page), re.findall(
        r'<div id="(figure-\w+)"', page
    )


def test_keys_are_those_of_every_report():
    other = summarize(FRANe().fit(X), X)
    assert set(MADE) == set(other)
    assert other["cover"] is None
    assert other["map"]["negative"] is None
    assert json.loads(json.dumps(MADE, allow_nan=False)) == MADE
    for ours, theirs in zip(MADE["features"], other["features"], strict=True):
        assert ours.keys() == theirs.keys()
        assert ours["members"].keys() == theirs["members"].keys()
        assert theirs["explained"] is theirs["members"]["mean"] is None
    assert MADE["map"].keys() == other["map"].keys()
    assert MADE["measure"].keys() == other["measure"].keys()
    for key in ("threshold", "quality", "thresholds"):
        assert MADE[key] is None
    assert render(json.loads(json.dumps(MADE))) == PAGE


def test_numbers_are_those_of_the_ranker():
    found = MADE["cover"]
    assert (MADE["n_features"], MADE["n_examples"], MADE["n_selected"]) == (21, 60, 4)
    assert (MADE["n_constant"], MADE["n_edges"]) == (1, RANKER.network_.n_edges)
    assert found["n_suggested"] == RANKER.n_features_suggested_
    assert found["text"] == RANKER.summary()
    assert found["n_picked"] == RANKER.n_ranked_
    assert found["n_representatives"] == 4
    left = (RANKER.representative_ < 0) & ~RANKER.constant_
    assert found["not_represented"]["count"] == left.sum()
    assert found["not_represented"]["text"] == RANKER.sentences()[1]
    assert found["by_selected"]["count"] == 4
    np.testing.assert_allclose(
        found["by_selected"]["share"], RANKER.explained_[3], 1e-4
    )
    np.testing.assert_allclose(found["explained"], RANKER.explained_, rtol=1e-4)
    # As they are shown, increases add up to what is explained.
    shown = np.round(RANKER.explained_, 3)
    np.testing.assert_allclose(np.cumsum(found["increase"]), shown, atol=1e-9)
    components = RANKER.explained_by_components(TABLE)
    np.testing.assert_allclose(found["components"], components, rtol=1e-4)
    assert found["pick"] == [NAMES[j] for j in RANKER.order_[: RANKER.n_ranked_]]


def test_rows():
    by, rows = represented(RANKER, R), rows_of(MADE)
    assert sum(row["selected"] for row in rows.values()) == 4
    for j, row in rows.items():
        assert (row["name"], row["rank"]) == (NAMES[j], RANKER.ranking_[j])
        at = np.flatnonzero(RANKER.order_[: RANKER.n_ranked_] == j)
        if len(at):
            assert row["explained"] == pytest.approx(RANKER.explained_[at[0]], rel=1e-4)
        else:
            assert row["explained"] is row["increase"] is None
        assert row["is_pick"] == (by[j] == j)
        assert row["is_left"] == (by[j] == -1 and j != CONSTANT)
        below = np.flatnonzero((by == j) & (np.arange(21) != j))
        assert row["members"]["count"] == len(below)
        assert set(row["members"]["features"]) == {NAMES[k] for k in below}
        if len(below):
            mean = np.abs(R[j, below]).mean()
            assert row["members"]["mean"] == pytest.approx(mean, rel=1e-5)
        like = row["representative"]
        if by[j] in (-1, j):
            assert like is None
            near = {n["index"]: n["weight"] for n in row["neighbors"]}
            assert set(near) <= set(below.tolist())
            assert all(r == pytest.approx(R[j, k], rel=1e-5) for k, r in near.items())
        else:
            assert (like["index"], like["name"]) == (by[j], NAMES[by[j]])
            assert like["weight"] == pytest.approx(R[j, by[j]], rel=1e-5)
    weights = [row["representative"]["weight"] for row in rows.values() if
               row["representative"]]  # fmt: skip
    assert min(weights) < 0 < max(weights)


def test_map_has_signs():
    drawn = MADE["map"]
    assert len(drawn["negative"]) == len(drawn["weight"]) == RANKER.network_.n_edges
    for a, b, weight, negative in zip(
        drawn["a"], drawn["b"], drawn["weight"], drawn["negative"], strict=True
    ):
        j, k = (MADE["features"][drawn["row"][end]]["index"] for end in (a, b))
        assert weight == pytest.approx(abs(R[j, k]), rel=1e-5)
        assert negative == (R[j, k] < 0)
    assert True in drawn["negative"]
    assert "a dashed line a negative correlation" in PAGE
    alike = summarize(cover(np.abs(BASE_OF_ONE)), np.abs(BASE_OF_ONE))
    assert True not in alike["map"]["negative"]
    assert "dashed line a negative" not in render(alike)


BASE_OF_ONE = random(40, 1, seed=1) + 0.1 * np.abs(random(40, 6, seed=2))


@pytest.mark.parametrize("ranks", [False, True])
def test_heat_map(ranks):
    ranker = cover(similarity="spearman" if ranks else "correlation")
    made = summarize(ranker, TABLE)
    r = correlations(rankdata(X, axis=0)) if ranks else R
    index = [made["features"][row]["index"] for row in made["heat"]["row"]]
    assert sorted(index) == [j for j in range(21) if j != CONSTANT]
    wanted = r[np.ix_(index, index)]
    np.fill_diagonal(wanted, np.nan)
    found = np.array(made["heat"]["weight"], float)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert made["measure"]["symbol"] == ("ρ" if ranks else "r")
    # A feature and what moves against it stand side by side.
    assert abs(index.index(0) - index.index(COPY)) == 1
    assert f"Edges with |{made['measure']['symbol']}| ≥" in render(made)


def test_without_the_table():
    made = summarize(RANKER)
    assert made["n_examples"] is None
    assert made["data"]["duplicates"]["count"] is None
    assert made["heat"]["source"] == "network"
    cells = np.array(made["heat"]["weight"], float)
    index = [made["features"][row]["index"] for row in made["heat"]["row"]]
    known = np.isfinite(cells)
    assert known.sum() == 2 * RANKER.network_.n_edges
    np.testing.assert_allclose(cells[known], R[np.ix_(index, index)][known], atol=1e-4)
    assert (cells[known] < 0).any()
    assert made["cover"]["components"] is None
    for ours, row in zip(made["features"], MADE["features"], strict=True):
        assert ours == {**row, "distribution": None}
    assert places(render(made))[1] == ["figure-map", "figure-explained", "figure-heat"]
    # None of the best features stands for another of them.
    few = summarize(RANKER, top=4)
    assert few["heat"] is None
    assert places(render(few))[1] == ["figure-map", "figure-explained"]


def test_nothing_listed_is_connected():
    """Its neighbours are not listed: points without lines."""
    for ranker in (RANKER, FRANe().fit(TABLE)):
        made = summarize(ranker, TABLE, top=1)
        assert (len(made["map"]["row"]), made["map"]["steps"]) == (1, [])
        n = int((np.diff(ranker.network_.adjacency.indptr) > 0).sum())
        assert f"The best 1 of {n} features with an edge are drawn" in render(made)


def test_page():
    sections, figures = places(PAGE)
    assert sections == ["ranking", "network", "explained", "similarities", "data"]
    assert figures == ["figure-map", "figure-explained", "figure-heat"]
    assert f'<p class="verdict">{RANKER.summary()}</p>' in PAGE
    assert PAGE.index('class="verdict"') < PAGE.index('class="tiles"')
    assert 'href="#explained"' in PAGE
    assert 'href="#thresholds"' not in PAGE
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", PAGE.split("<script")[0]))
    share = RANKER.explained_[3]
    assert f"of the table explained {100 * share:.1f} % by the 4 selected" in text
    assert f"not represented {MADE['cover']['not_represented']['count']} " in text
    assert "represents" in text
    assert "represented by" in text
    assert "most like" not in text.split("Data and method")[0]
    body = PAGE.split("<tbody>")[1].split("</tbody>")[0]
    for row, line in zip(MADE["features"], body.split("<tr ")[1:], strict=True):
        line = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", line))
        if row["representative"]:
            r = f"{row['representative']['weight']:.2f}".replace("-", "−")
            assert f"{row['representative']['name']} r {r}" in line
        elif row["members"]["count"]:
            n = row["members"]["count"]
            some = "feature" if n == 1 else "features"
            assert f"{n} {some}, mean |r| {row['members']['mean']:.2f}" in line
        elif row["is_pick"]:
            assert " itself " in line
        elif row["is_left"]:
            assert " not represented " in line


def test_explained_as_numbers():
    part = PAGE.split('id="explained"')[1].split("</section>")[0]
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", part)[1:]
    assert len(lines) == RANKER.n_ranked_
    for at, (line, j) in enumerate(zip(lines, RANKER.order_, strict=False), start=1):
        assert f">{at}<" in line
        assert NAMES[j] in line
        for what in ("explained", "increase", "components"):
            assert percent(MADE["cover"][what][at - 1]) in line
        assert ("suggested" in line) == (at == RANKER.n_features_suggested_)


def test_notes_about_the_data():
    assert MADE["warnings"] == [
        "1 feature is constant and ranks last: gene 20.",
        "2 features in 1 group are copies of each other, as far as the similarity can "
        "tell: gene 0, gene 19.",
    ]


def test_why_the_ranking_says_little_comes_first():
    ranker = cover(n_features_to_select=2, n_ranked=3)
    ranker._diagnosis = "One column decides."
    said = summarize(ranker, TABLE, warnings=["Left out 1 column."])["warnings"]
    assert said[:2] == ["One column decides.", "Left out 1 column."]
    assert said[2] == ranker.summary()
    assert "further picks may explain more" in said[2]


def test_no_subset_members_noise():
    noise = np.random.default_rng(4).normal(size=(40, 150))
    ranker = cover(noise, None, n_ranked=64)
    made = summarize(ranker, noise)
    assert made["cover"]["n_suggested"] is None
    assert made["warnings"][0] == ranker.summary()
    assert made["warnings"][1] == (
        "75 features are selected, of which the first 64 were picked one after "
        "another. The others follow by what each alone would add. To pick more, set "
        "n_ranked."
    )
    assert made["cover"]["by_selected"]["count"] == 64
    page = render(made)
    assert 'class="verdict"' not in page
    assert f'<li dir="auto">{ranker.summary()}</li>' in page
    assert "by the first 64 selected" in page


def test_too_few_picks():
    ranker = cover(n_features_to_select=2, n_ranked=3)
    made = summarize(ranker, TABLE)
    assert made["warnings"][0] == ranker.summary()
    assert "none, see the note" in render(made)
    # What picks explain is known of picks only.
    explained = [row["explained"] for row in made["features"]]
    assert [share is not None for share in explained] == [True] * 3 + [False] * 18


def test_include_and_exclude_are_told():
    chosen = {"include": ["gene 9"], "exclude": ["gene 0", 1], "cost": {"gene 3": 2.0}}
    made = summarize(cover(**chosen), TABLE)
    told = made["parameters"]
    assert (told["include"], told["exclude"]) == (["gene 9"], ["gene 0", 1])
    assert told["cost"] == "dict of 1"
    assert made["features"][0]["name"] == "gene 9"
    last = {row["name"] for row in made["features"][-3:]}
    assert last == {"gene 0", "gene 1", "gene 20"}
    long = summarize(cover(groups=list(range(21))), TABLE)["parameters"]["groups"]
    assert long == "list of 21"


def test_as_many_as_are_suggested():
    ranker = cover(n_features_to_select="auto")
    made = summarize(ranker, TABLE)
    assert made["parameters"]["n_features_to_select"] == "auto"
    assert made["n_selected"] == made["cover"]["n_suggested"] == ranker.n_features_
    assert made["cover"]["by_selected"]["count"] == ranker.n_features_


def test_bars_show_what_is_explained():
    ranker = cover(include=["gene 18"])
    made = summarize(ranker, TABLE)
    shares = [float(v) for v in re.findall(r"--share:([-\d.]+)", render(made))]
    k = ranker.n_ranked_
    np.testing.assert_allclose(shares[:k], ranker.explained_, atol=1e-3)
    assert not any(shares[k:])


def test_hostile_names():
    table = np.column_stack([X[:, : len(HOSTILE) - 1], np.ones(60)])
    ranker = cover(table, 3, include=[1])
    made = summarize(ranker, table, names=HOSTILE, title=HOSTILE[1])
    page = render(made)
    assert page.count("<script") == 4
    assert "<img" not in page
    assert "alert(1)" in page
    made = summarize(ranker)
    assert made["features"][0]["name"] == "x1"


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_tables_give_the_same(form):
    table = np.where(X > 0.3, X, 0.0)
    ranker = cover(table)
    wanted = summarize(ranker, table)
    made = summarize(ranker, form(table))
    assert made["features"] == wanted["features"]
    np.testing.assert_allclose(
        np.array(made["heat"]["weight"], float),
        np.array(wanted["heat"]["weight"], float),
        atol=1e-4,
    )


def test_another_table_is_refused():
    with pytest.raises(DataError, match=r"Pass that table\."):
        summarize(RANKER, TABLE.iloc[:, 1:])
    with pytest.raises(DataError, match=r"Column .* holds NaN in row 2\."):
        summarize(RANKER, TABLE.mask(TABLE == TABLE.iloc[2, 3]))


def test_method(tmp_path):
    RANKER.report(tmp_path / "page.html", TABLE, top=5)
    assert 'id="explained"' in (tmp_path / "page.html").read_text("utf-8")
    RANKER.report(tmp_path / "page.json")
    made = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert made["cover"]["n_picked"] == RANKER.n_ranked_
