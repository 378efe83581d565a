"""The report of `Cover`: what picks cover, and for whom they stand."""

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

RANKER = cover()
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
        assert theirs["gain"] is theirs["members"]["mean"] is None
    assert MADE["map"].keys() == other["map"].keys()
    assert MADE["measure"].keys() == other["measure"].keys()
    for key in ("threshold", "quality", "thresholds"):
        assert MADE[key] is None
    assert render(json.loads(json.dumps(MADE))) == PAGE


def test_numbers_are_those_of_the_ranker():
    found, said = MADE["cover"], RANKER.suggestion_
    assert (MADE["n_features"], MADE["n_examples"], MADE["n_selected"]) == (21, 60, 4)
    assert (MADE["n_constant"], MADE["n_edges"]) == (1, RANKER.network_.n_edges)
    assert (found["n_suggested"], found["low"], found["high"], found["more"]) == (
        said.count,
        said.low,
        said.high,
        said.more,
    )
    assert found["text"] == str(said)
    assert found["n_picked"] == RANKER.n_ranked_
    assert found["n_representatives"] == 4
    assert found["covered"]["count"] == 4
    np.testing.assert_allclose(found["covered"]["share"], RANKER.coverage_[3], 1e-4)
    np.testing.assert_allclose(found["coverage"], RANKER.coverage_, rtol=1e-4)
    np.testing.assert_allclose(found["gain"], RANKER.gains_, rtol=1e-4)
    np.testing.assert_allclose(found["kept"], said.kept, rtol=1e-4)
    assert found["pick"] == [NAMES[j] for j in RANKER.order_[: RANKER.n_ranked_]]


def test_rows():
    by, rows = represented(RANKER, R), rows_of(MADE)
    assert sum(row["selected"] for row in rows.values()) == 4
    for j, row in rows.items():
        assert (row["name"], row["rank"]) == (NAMES[j], RANKER.ranking_[j])
        at = np.flatnonzero(RANKER.order_[: RANKER.n_ranked_] == j)
        assert row["gain"] == (RANKER.gains_[at[0]] if len(at) else None)
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
    for ours, row in zip(made["features"], MADE["features"], strict=True):
        assert ours == {**row, "distribution": None}
    assert places(render(made))[1] == ["figure-map", "figure-coverage", "figure-heat"]
    # None of the best features stands for another of them.
    few = summarize(RANKER, top=4)
    assert few["heat"] is None
    assert places(render(few))[1] == ["figure-map", "figure-coverage"]


def test_nothing_listed_is_connected():
    """Its neighbours are not listed: points without lines."""
    for ranker in (RANKER, FRANe().fit(TABLE)):
        made = summarize(ranker, TABLE, top=1)
        assert (len(made["map"]["row"]), made["map"]["steps"]) == (1, [])
        n = int((np.diff(ranker.network_.adjacency.indptr) > 0).sum())
        assert f"The best 1 of {n} features with an edge are drawn" in render(made)


def test_page():
    sections, figures = places(PAGE)
    assert sections == ["ranking", "network", "coverage", "similarities", "data"]
    assert figures == ["figure-map", "figure-coverage", "figure-heat"]
    assert f'<p class="verdict">{RANKER.suggestion_}.</p>' in PAGE
    assert PAGE.index('class="verdict"') < PAGE.index('class="tiles"')
    assert 'href="#coverage"' in PAGE
    assert 'href="#thresholds"' not in PAGE
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", PAGE.split("<script")[0]))
    share = RANKER.coverage_[3]
    assert f"of the table covered {100 * share:.1f} % by the 4 selected" in text
    low, high = RANKER.suggestion_.low, RANKER.suggestion_.high
    count = RANKER.suggestion_.count
    assert f"suggested {count} band {low}–{high}" in text
    assert "stands for" in text
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
        elif row["index"] != CONSTANT:
            assert " itself " in line


def test_coverage_as_numbers():
    part = PAGE.split('id="coverage"')[1].split("</section>")[0]
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", part)[1:]
    assert len(lines) == RANKER.n_ranked_
    for at, (line, j) in enumerate(zip(lines, RANKER.order_, strict=False), start=1):
        assert f">{at}<" in line
        assert NAMES[j] in line
        share = MADE["cover"]["coverage"][at - 1]
        assert share == pytest.approx(RANKER.coverage_[at - 1], abs=1e-5)
        assert ("100 %" if share > 0.9995 else f"{100 * share:.1f} %") in line
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
    assert said[2].startswith("At least ")


def test_no_subset_members_noise():
    noise = np.random.default_rng(4).normal(size=(40, 150))
    ranker = cover(noise, None)
    made = summarize(ranker, noise)
    assert ranker.suggestion_.count is None
    assert made["cover"]["n_suggested"] is made["cover"]["kept"] is None
    assert made["warnings"][0] == f"{ranker.suggestion_}."
    assert made["warnings"][1] == (
        "75 features are selected, of which the first 64 were picked one after "
        "another. The others follow by what each alone would add. To pick more, set "
        "n_ranked."
    )
    assert made["cover"]["covered"]["count"] == 64
    page = render(made)
    assert 'class="verdict"' not in page
    assert f'<li dir="auto">{ranker.suggestion_}.</li>' in page
    assert "by the first 64 selected" in page


def test_too_few_picks():
    ranker = cover(n_features_to_select=2, n_ranked=3)
    assert ranker.suggestion_.more
    made = summarize(ranker, TABLE)
    assert made["warnings"][0] == (
        f"{ranker.suggestion_}. More can be picked: set n_ranked."
    )
    assert f"≥ {ranker.suggestion_.low}</dd>" in render(made)
    # Only picks have a gain.
    gains = [row["gain"] for row in made["features"]]
    assert [gain is not None for gain in gains] == [True] * 3 + [False] * 18


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
    assert made["cover"]["covered"]["count"] == ranker.n_features_


def test_bars_show_gains():
    """A pick that is forced, or makes neighbours worse, is not the best for it."""
    ranker = cover(include=["gene 18"])
    made = summarize(ranker, TABLE)
    shares = [float(v) for v in re.findall(r"--share:([-\d.]+)", render(made))]
    gains = np.array(made["cover"]["gain"])
    assert gains[0] < gains[1]
    wanted = np.clip(gains, 0, None) / gains.max()
    np.testing.assert_allclose(shares[: len(gains)], wanted, atol=1e-3)


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
    assert 'id="coverage"' in (tmp_path / "page.html").read_text("utf-8")
    RANKER.report(tmp_path / "page.json")
    made = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert made["cover"]["n_picked"] == RANKER.n_ranked_
