"""``franet evaluate``: the table, the advice, the files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from franet.cli import main

FAST = ("--folds", "3")


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    Z = random.normal(size=(40, 3))
    X = np.hstack([Z + 0.1 * random.normal(size=(40, 3)) for _ in range(8)])
    path = tmp_path / "table.csv"
    header = ",".join(f"x{j}" for j in range(X.shape[1]))
    np.savetxt(path, X, delimiter=",", header=header, comments="")
    return path


def run(*args):
    return CliRunner().invoke(main, ["evaluate", *map(str, args)])


def test_table_and_advice(table):
    result = run(table, *FAST, "--at", 4)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert {line.split()[0] for line in lines[2:6]} == {
        "cover", "frane", "random", "column-subset",
    }  # fmt: skip
    assert "R² of ridge regression at 4 features" in result.stdout
    assert lines[-1].startswith("By R² of ridge regression, keep ")
    assert "random" in lines[-1]
    best = [line for line in lines if " is best at " in line]
    assert [line.partition(":")[0] for line in best] == [
        "RMAE of 5-NN on scaled features", "R² of ridge regression",
    ]  # fmt: skip


def test_references_can_be_left_out(table):
    result = run(table, *FAST, "--rankers", "variance,spec", "--no-references")
    names = {line.split()[0] for line in result.stdout.splitlines()[2:4]}
    assert names == {"variance", "spec"}


def test_json_holds_every_value(table):
    result = run(table, *FAST, "--json", "--n-features", "2,6", "--at", "4")
    document = json.loads(result.stdout)
    assert document["format"] == "franet-evaluation"
    counts = {row["n_features"] for row in document["values"]}
    assert counts >= {2, 4, 6}
    assert document["recommendation"]["n_features"] in counts
    measures = {row["measure"] for row in document["values"]}
    assert measures == {"r2", "rmae_scaled"}
    # By rankers, folds, counts and measures.
    assert len(document["values"]) == 4 * 3 * len(counts) * 2
    assert {row["measure"] for row in document["lead"]} == measures
    assert {row["features"] for row in document["lead"]} == counts


def test_files(table, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    plot, output = tmp_path / "curves.svg", tmp_path / "values.csv"
    given = (table, *FAST, "--plot", plot, "--output", output)
    assert run(*given).exit_code == 0
    assert plot.read_bytes().startswith(b"<?xml")
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert {row["ranker"] for row in rows} == {
        "cover", "frane", "random", "column-subset",
    }  # fmt: skip
    (cover,) = {row["parameters"] for row in rows if row["ranker"] == "cover"}
    assert json.loads(cover) == {}
    before = output.read_bytes()
    again = run(*given)
    assert again.exit_code == 1
    assert "exists already" in again.stderr
    assert output.read_bytes() == before


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--rankers", "best"), 2, "There is no ranker 'best'"),
        (("--measure", "mse"), 2, "there is no 'mse'"),
        (("--columns", "x1,x2"), 2, "give NAME=COLUMNS"),
        (("--columns", "a="), 2, "give NAME=COLUMNS"),
        (("--columns", "a=x1,x99"), 2, "There is no feature 'x99'. Did you mean"),
        (("--columns", "a=x1", "--columns", "a=x2"), 2, "'a' is taken"),
        (("--columns", "cover=x1"), 2, "'cover' is taken"),
        (("--columns", "a=x1,x1"), 2, "names 'x1' twice"),
        (("--measure", "nmi"), 2, "needs the classes"),
        (("--folds", "many"), 2, "--folds many"),
        (("--folds", "30"), 2, "too few for 30 folds"),
        (("--n-features", "some"), 2, "--n-features some"),
        (("--output", "values.xls"), 2, "cannot write that format"),
        (("--plot", "curves.doc"), 2, "end the name in .svg, .png, .pdf"),
    ],
)
def test_errors_are_one_line(table, args, code, words):
    result = run(table, *args)
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_missing_values_are_named(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n" + "1,2,3\n,2,4\n" * 12)
    result = run(path)
    assert result.exit_code == 1
    assert "NaN" in result.stderr


def test_a_gap_is_named(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n1,2,5\n3,,1\n5,6,2\n6,1,2\n")
    result = run(path, *FAST)
    assert result.exit_code == 1
    assert result.stderr == (
        "error: Column 'b' (1) holds NaN in row 1. Fill or drop it.\n"
    )


def test_columns_of_ones_own(table, tmp_path):
    panel = tmp_path / "panel.txt"
    panel.write_text("x3\nx1\n\nx17\n")
    given = ("--columns", f"file={panel}", "--columns", "two=x0, 5")
    result = run(table, *FAST, *given, "--json", "--n-features", "1,4")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["values"]
    for name, most in (("file", 3), ("two", 2)):
        mine = [row for row in rows if row["ranker"] == name]
        assert {row["n_features"] for row in mine} == set(range(1, most + 1)) - {0}
    parameters = {row["parameters"] for row in rows if row["ranker"] == "file"}
    assert [json.loads(text) for text in parameters] == [{"columns": [3, 1, 17]}]
    parameters = {row["parameters"] for row in rows if row["ranker"] == "two"}
    assert [json.loads(text) for text in parameters] == [{"columns": [0, 5]}]
    panel.write_text("\n")
    result = run(table, *FAST, *given)
    assert result.exit_code == 1
    assert "the file names no column" in result.stderr
