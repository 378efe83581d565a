"""What a table of the best features says of each, and errors in words of the shell."""

from __future__ import annotations

import numpy as np
import pytest

from cli.commands import NAMES, X, fails, rank, read, save

GAPS = "a,b,c\n1,2,5\n3,,1\n5,6,2\n6,1,2\n"
PAPER = ("--ranker", "frane")


PAIRWISE = ("--ranker", "frane", "--missing", "pairwise")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], f"or use {' '.join(PAIRWISE)}."),
        (PAPER, "or use --missing pairwise."),
        ([*PAPER, "--similarity", "abs-correlation"], "or use --missing pairwise."),
    ],
)
def test_the_option_for_gaps_is_named_where_it_works(options, said, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(GAPS)
    line = fails("rank", path, *options, code=1)
    assert line.endswith(f"Fill or drop it, {said}")
    assert read(path, *options, *PAIRWISE)["ranker"] == "frane"


@pytest.mark.parametrize(
    "options",
    [
        ["--similarity", "spearman"],
        ["--similarity", "euclidean", *PAPER],
        ["--similarity", "spearman", *PAPER],
        ["--search", "approximate", *PAPER],
    ],
    ids=" ".join,
)
def test_the_option_for_gaps_is_not_named_where_it_is_refused(options, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(GAPS)
    line = fails("rank", path, *options, code=1)
    assert line.endswith("in row 1. Fill or drop it.")
    fails("rank", path, *options, *PAIRWISE, code=2)


# At this threshold nearly all features have an edge to a better one.
ALL = ("--set", "min_mean_degree=8", "--top", 10, *PAPER)


@pytest.mark.parametrize(
    ("similarity", "unrelated"),
    [("correlation", 1), ("spearman", 1), ("abs-correlation", 0), ("mixed", 0)],
)
def test_an_edge_alone_is_no_redundancy(similarity, unrelated, tmp_path):
    path = save(tmp_path / "d.csv")
    rows = read(path, "--similarity", similarity, *ALL)["features"]
    found = {row["name"]: row for row in rows if row["redundant_with"]}
    assert 0 < len(found) < 7
    assert all(row["similarity"] - unrelated >= 0.8 for row in found.values())
    others = [row for row in rows if row["name"] not in found]
    assert all(row["similarity"] is None for row in others)
    assert NAMES[9] in {row["name"] for row in others}


@pytest.mark.parametrize(
    "option", [["--similarity", "euclidean"], ["--set", "weighted=false"]]
)
def test_where_there_is_no_bar_an_edge_counts(option, tmp_path):
    path = save(tmp_path / "d.csv", np.sort(X, axis=0))
    rows = read(path, *option, *ALL)["features"]
    assert [row["redundant_with"] for row in rows].count(None) < 4
    assert rank(path, *option).exit_code == 0
