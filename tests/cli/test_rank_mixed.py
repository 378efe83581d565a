"""``franet rank --similarity mixed``: files with text."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cli.commands import X as NUMBERS
from cli.commands import fails, run, save
from franet import FRANe
from franet.exceptions import DataError, UsageError
from franet.io import read_table
from test_mixed import frame

FRAME = frame().assign(on=np.arange(60) % 3 > 0)
MIXED = ("--ranker", "frane", "--similarity", "mixed")
KINDS = ["csv", "tsv", "txt", "csv.gz", "parquet", "feather"]


def store(folder, kind, table=FRAME):
    path = folder / f"table.{kind}"
    if kind in ("parquet", "feather"):
        write = "write_parquet" if kind == "parquet" else "write_ipc"
        getattr(pl.from_pandas(table), write)(path)
    else:
        delimiter = {"tsv": "\t", "txt": "|"}.get(kind, ",")
        table.to_csv(path, sep=delimiter, index=False)
    return path


@pytest.fixture
def path(tmp_path):
    return store(tmp_path, "csv")


def rank(path, *options):
    result = run("rank", path, *MIXED, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_as_in_python(tmp_path, kind):
    found = rank(store(tmp_path, kind), "--top", 9)
    expected = FRANe(9, similarity="mixed").fit(FRAME)
    assert found["ranker"] == "frane"
    assert found["warnings"] == []
    scores = {row["name"]: row["score"] for row in found["features"]}
    assert list(scores) == list(FRAME.columns[np.argsort(expected.ranking_)])
    np.testing.assert_allclose([scores[n] for n in FRAME], expected.scores_, rtol=1e-12)


def test_text_alone_without_a_header(tmp_path):
    path = tmp_path / "table.csv"
    FRAME[["c0", "c1", "c3"]].to_csv(path, index=False, header=False)
    found = rank(path, "--no-header")
    assert {row["name"] for row in found["features"]} == {"x0", "x1", "x2"}
    assert found["n_examples"] == 60


def test_numbers_alone(tmp_path):
    path = save(tmp_path / "numbers.csv")
    expected = FRANe(similarity="abs-correlation").fit(NUMBERS).scores_
    found = rank(path, "--top", 10)
    assert found["n_features"] == 10
    scores = [
        row["score"] for row in sorted(found["features"], key=lambda r: r["index"])
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_cells_of_text_files(tmp_path):
    path = tmp_path / "table.csv"
    lines = ["a;b;c;d", "x ;1,5; TRUE;1", " y;2,5;FALSE;b", "x;3,5;TRUE;1"]
    path.write_text("\n".join(lines) + "\n")
    coded = read_table(path, text=True).X
    assert coded.levels == (["x", "y"], None, None, ["1", "b"])
    np.testing.assert_array_equal(coded.values[:, 1], [1.5, 2.5, 3.5])
    np.testing.assert_array_equal(coded.values[:, 2], [1, 0, 1])


def test_row_labels(tmp_path):
    labelled = frame(levels=()).assign(c0=["a", "b", "c"] * 20)
    labelled.insert(0, "", [f"row {i}" for i in range(60)])
    found = rank(store(tmp_path, "csv", labelled), "--top", 5)
    assert {row["name"] for row in found["features"]} == {*labelled} - {""}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_words_before_numbers_are_row_labels(tmp_path, kind):
    labelled = frame(levels=())
    labelled.insert(0, "who", [f"row {i}" for i in range(60)])
    path = store(tmp_path, kind, labelled)
    result = run("rank", path, *MIXED)
    assert "Row labels: 'who' (--no-index if it is a feature)" in result.stdout
    assert rank(path)["n_features"] == 4
    found = rank(path, "--no-index")
    assert found["n_features"] == 5
    assert found["warnings"][0].startswith("Column 'who' (0): every row has a text")


@pytest.mark.parametrize("kind", ["csv", "feather"])
def test_identifiers(tmp_path, kind):
    table = FRAME.assign(
        id=[f"customer {i}" for i in range(60)], mail=[f"{i}@x" for i in range(60)]
    )
    result = run("rank", store(tmp_path, kind, table), *MIXED)
    assert result.exit_code == 0
    assert "warning: Column 'id' (9), Column 'mail' (10): every row" in result.stderr
    said = " ".join(result.stdout.split())
    assert "2 features constant or like identifiers, ranked last" in said


def test_output_report_and_stability(tmp_path, path):
    output, report = tmp_path / "out.csv", tmp_path / "out.html"
    options = ("--output", output, "--report", report, "--stability", 6)
    found = rank(path, *options, "--top", 4)
    assert found["stability"]["n_halves"] == 6
    written = pd.read_csv(output)
    assert sorted(written["feature"]) == sorted(FRAME)
    assert written["selected"].sum() == 4
    page = report.read_text()
    assert "9 levels, most often" in page
    assert "like an identifier" in page


def test_dry_run(path):
    result = run("rank", path, *MIXED, "--dry-run", "--json")
    assert json.loads(result.stdout)["n_features"] == 9


@pytest.mark.parametrize(
    "option", ["--transpose", "--scale standard", "--drop-non-numeric"]
)
def test_options_for_numbers(path, option):
    said = fails("rank", path, *MIXED, *option.split(), code=2)
    assert option in said
    assert "--similarity mixed" in said


def test_cover(path):
    said = fails("rank", path, "--similarity", "mixed", code=2)
    assert "--similarity mixed is not an option of --ranker cover" in said
    assert "use --ranker frane" in said


def test_other_formats(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, NUMBERS)
    said = fails("rank", path, *MIXED, code=2)
    assert "reads csv, tsv, txt, parquet, feather files, not npy" in said
    assert "use --similarity abs-correlation" in said


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_cells(tmp_path, kind):
    table = FRAME.copy()
    table.loc[7, "c1"] = None
    path = store(tmp_path, kind, table)
    said = fails("rank", path, *MIXED, code=1)
    assert f"{path}: Column 'c1' (5) holds no value in row 7. Drop the row" in said
    table = FRAME.copy()
    table.loc[7, "n1"] = np.nan
    path = store(tmp_path, kind, table)
    said = fails("rank", path, *MIXED, code=1)
    assert "Column 'n1' (1) holds NaN in row 7. Fill or drop it." in said


def test_dates(tmp_path):
    path = store(tmp_path, "parquet", FRAME.assign(when=pd.Timestamp("2020-01-01")))
    said = fails("rank", path, *MIXED, code=1)
    assert "Column 'when' (9) holds neither numbers nor text" in said


def test_a_column_without_values(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": [1, 2, 3], "b": [None] * 3}).write_parquet(path)
    assert "Column 'b' (1) holds NaN" in fails("rank", path, *MIXED, code=1)


def test_text_is_an_error_that_names_it(path):
    said = fails("rank", path, code=1)
    assert "4 columns are not numeric: 'c0', 'c1', 'c2', 'c3'" in said
    hint = "--ranker frane --similarity mixed"
    assert f"to rank text use franet rank {hint}" in said
    assert run("rank", path, *hint.split()).exit_code == 0


def test_read_table(path):
    table = read_table(path, text=True)
    assert table.names == list(FRAME)
    assert table.dropped == []
    for given in ({"transpose": True}, {"drop_non_numeric": True}, {"dtype": "f4"}):
        with pytest.raises(UsageError, match=rf"{next(iter(given))}.*text=True"):
            read_table(path, text=True, **given)
    with pytest.raises(DataError, match="names for 9 features"):
        read_table(path, text=True, feature_names=["a"])
