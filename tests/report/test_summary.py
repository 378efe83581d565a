"""The dict of a report: what it holds, for every kind of ranker and table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from franet import FRANe
from franet.exceptions import DataError, DegenerateRankingWarning, UsageError
from franet.network._origin import weights_in
from franet.report import FORMAT, VERSION, render, summarize
from franet.report._data import distribution, missing

RNG = np.random.default_rng(3)
BASE = RNG.normal(size=(50, 3))
X = np.abs(np.repeat(BASE, 4, axis=1) + 0.3 * RNG.normal(size=(50, 12)))


def test_it_is_json_and_says_what_it_is(summary):
    assert summary["format"] == FORMAT == "franet-report"
    assert summary["version"] == VERSION == 1
    again = json.loads(json.dumps(summary, allow_nan=False))
    assert again == summary


def test_numbers_are_those_of_the_ranker(cancer, summary):
    ranker, table = cancer
    assert (summary["n_features"], summary["n_examples"]) == (30, len(table))
    assert summary["threshold"] == ranker.threshold_
    assert summary["quality"] == ranker.quality_[ranker.winner_]
    assert summary["n_edges"] == ranker.network_.n_edges
    assert summary["thresholds"]["n_edges"] == ranker.n_edges_.tolist()
    assert summary["thresholds"]["winner"] == ranker.winner_
    solved = [value is not None for value in summary["thresholds"]["quality"]]
    assert solved == np.isfinite(ranker.quality_).tolist()
    assert summary["parameters"]["n_features_to_select"] == 8
    assert {"franet", "python", "numpy"} <= set(summary["versions"])


def test_rows_say_what_the_network_says(cancer, summary):
    ranker, _ = cancer
    rows = summary["features"]
    assert [row["rank"] for row in rows] == list(range(1, 31))
    assert sum(row["selected"] for row in rows) == 8
    for row in rows:
        why = ranker.network_.explain(row["index"])
        assert (row["name"], row["community"]) == (why.name, why.community)
        assert row["members"]["count"] == len(why.members)
        like = row["representative"]
        assert (like and like["name"]) == (
            why.redundant_with[0].name if why.redundant_with else None
        )
        assert row["n_neighbors"] >= len(row["neighbors"])


def test_only_the_best_are_listed_and_the_rest_is_counted(cancer):
    ranker, table = cancer
    short = summarize(ranker, table, top=5)
    assert len(short["features"]) == 5
    assert short["n_features"] == 30
    assert max(short["map"]["row"]) < 5
    assert max(short["heat"]["row"]) < 5
    assert "the other 25 are not listed" in render(short)


def test_the_map_is_no_ball_of_wool():
    # Everything is connected with everything.
    wide = RNG.normal(size=(30, 1)) + 0.4 * RNG.normal(size=(30, 400))
    ranker = FRANe(thresholds=lambda low, high, n: np.linspace(high, low, n))
    drawn = summarize(ranker.fit(wide))["map"]
    assert len(drawn["row"]) == 300
    assert len(drawn["a"]) <= 510 < drawn["n_between"]
    weights = drawn["weight"]
    assert weights == sorted(weights, reverse=True)
    counts = [step["n_edges"] for step in drawn["steps"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == ranker.network_.n_edges


def test_the_same_fit_makes_the_same_report(cancer):
    ranker, table = cancer
    first, second = (summarize(ranker, table) for _ in range(2))
    first["created"] = second["created"] = "2030-01-01T00:00:00+00:00"
    assert first == second
    assert render(first) == render(json.loads(json.dumps(second)))


def test_slider_counts_are_those_of_the_network(cancer, summary):
    ranker, _ = cancer
    for step in summary["map"]["steps"]:
        sparser = ranker.network_.at(max(step["weight"] - 1e-6, ranker.threshold_))
        assert step["n_edges"] == sparser.n_edges
        assert step["n_connected"] == (np.diff(sparser.adjacency.indptr) > 0).sum()


@pytest.mark.parametrize(
    "parameters",
    [
        {"similarity": "abs-correlation"},
        {"similarity": "spearman"},
        {"similarity": "euclidean"},
        {"similarity": "seuclidean"},
        {"similarity": "manhattan", "variant": "reference"},
        {"variant": "reference"},
        {"similarity": lambda A, B: np.abs(A.T @ B)},
        {"centrality": "degree", "quality": "gini"},
        {"weighted": False},
        {"similarity": "euclidean", "weighted": False},
        {"thresholds": "quantile", "n_thresholds": 7},
    ],
)
def test_every_similarity(parameters):
    ranker = FRANe(**parameters).fit(X)
    for table in (X, None):
        made = summarize(ranker, table)
        json.dumps(made, allow_nan=False)
        assert "<table" in render(made)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"similarity": "spearman"},
        {"similarity": "canberra"},
        {"similarity": "seuclidean"},
        {"variant": "reference"},
        {"similarity": lambda A, B: np.abs(A.T @ B)},
    ],
)
def test_weights_from_the_table_are_those_of_the_edges(parameters):
    ranker = FRANe(**parameters).fit(X)
    weights = weights_in(ranker.network_, X, np.arange(12))
    edges = ranker.network_.adjacency.toarray()
    there = edges > 0
    np.testing.assert_allclose(weights[there], edges[there], atol=1e-9)


def test_precomputed():
    W = np.corrcoef(X.T) + 1
    ranker = FRANe(similarity="precomputed").fit(W)
    made = summarize(ranker, W)
    assert made["n_examples"] is None
    assert made["features"][0]["distribution"] is None
    assert made["heat"]["source"] == "data"
    assert 'scope="col">values</th>' not in render(made)


def test_sparse_and_frames_give_the_same():
    table = np.where(X > 1, X, 0.0)
    ranker = FRANe().fit(table)
    made = [
        summarize(ranker, form)
        for form in (table, sparse.csr_array(table), sparse.csc_matrix(table))
    ]
    assert made[0]["features"] == made[1]["features"] == made[2]["features"]


def test_without_the_table_edges_make_the_heat_map(cancer):
    ranker, _ = cancer
    heat = summarize(ranker)["heat"]
    assert heat["source"] == "network"
    known = [v for line in heat["weight"] for v in line if v is not None]
    assert len(known) == 2 * ranker.network_.n_edges


def test_notes_about_the_data():
    table = X.copy()
    table[:, 3] = 7.0
    table[:, 5] = 2 * table[:, 4] + 1
    frame = pd.DataFrame(table).add_prefix("gene ")
    frame.iloc[4, 0] = np.nan
    made = summarize(FRANe(missing="pairwise").fit(frame), frame)
    assert made["data"]["constant"] == {"count": 1, "features": ["gene 3"]}
    assert made["data"]["duplicates"]["features"] == ["gene 4", "gene 5"]
    assert made["data"]["duplicates"]["groups"] == 1
    assert made["data"]["missing"] == {"count": 1, "features": ["gene 0"], "cells": 1}
    said = " ".join(made["warnings"])
    assert "1 feature is constant and ranks last: gene 3." in said
    assert "copies of each other" in said
    assert "1 value is missing, in 1 feature: gene 0." in said
    assert all(note in render(made) for note in made["warnings"])


def test_truncated_network():
    made = summarize(FRANe(max_edges=5).fit(X), X)
    assert made["truncated"]
    assert "only the strongest of each feature" in " ".join(made["warnings"])


def test_a_ranking_without_a_winner():
    ranker = FRANe(min_mean_degree=1e6)
    with pytest.warns(DegenerateRankingWarning):
        ranker.fit(X)
    made = summarize(ranker, X)
    assert made["threshold"] is None
    assert made["map"]["row"] == []
    page = render(made)
    assert "No threshold won" in page
    assert "there is no network to draw" in page


def test_two_features():
    with pytest.warns(DegenerateRankingWarning):
        ranker = FRANe(min_mean_degree=0).fit(X[:, :2])
    assert "<table" in render(summarize(ranker, X[:, :2]))


def test_another_table_is_refused(cancer):
    ranker, table = cancer
    with pytest.raises(DataError, match=r"X has 29 features.*Pass that table\."):
        summarize(ranker, table.iloc[:, 1:])


def test_wrong_arguments(cancer):
    ranker, _ = cancer
    with pytest.raises(UsageError, match="at least one feature"):
        summarize(ranker, top=0)
    with pytest.raises(UsageError, match="2 names for 30 features"):
        summarize(ranker, names=["a", "b"])
    with pytest.raises(NotFittedError):
        summarize(FRANe())
    with pytest.raises(UsageError, match="version 1"):
        render({"format": "franet-ranking", "version": 1})


def test_distributions():
    table = np.array([[0.0, np.nan, 5, 1e308], [1, np.nan, 5, -1e308], [4, 2, 5, 0]])
    first = distribution(table, 0)
    assert (first["low"], first["high"], first["median"]) == (0.0, 4.0, 1.0)
    assert sum(first["counts"]) == 3
    assert distribution(table, 1)["missing"] == 2
    assert distribution(table, 2)["counts"] == [3]
    assert sum(distribution(table, 3)["counts"]) == 3
    assert distribution(np.full((2, 1), np.nan), 0)["counts"] == []


def test_missing_cells_of_sparse_tables():
    table = sparse.csc_array(np.array([[0.0, np.nan], [1.0, 2.0]]))
    assert missing(table).tolist() == [0, 1]
    assert missing(sparse.csc_array(np.eye(2))).tolist() == [0, 0]
