"""franet prune: what is printed and written, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from cli.commands import NAMES, X, fails, run, save
from franet import drop_correlated
from naive_prune import check


def test_files_that_are_written(data, tmp_path):
    kept, dropped = tmp_path / "kept.parquet", tmp_path / "dropped.csv"
    page = tmp_path / "groups.html"
    result = run(
        "prune", data, "--cutoff", 0.8, "--output", kept, "--dropped", dropped,
        "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    frame = pd.DataFrame(X, columns=NAMES)
    found = drop_correlated(frame, 0.8)
    check(X, found, 0.8)
    written = pl.read_parquet(kept)
    assert written.columns == found.kept_names
    np.testing.assert_array_equal(written.to_numpy(), X[:, found.kept])
    pd.testing.assert_frame_equal(pd.read_csv(dropped), found.to_frame())
    assert f"{len(found.kept)} of 10 columns kept at |r| 0.8" in result.stdout
    assert f"Kept columns: {kept}" in result.stdout
    assert f"Report: {page}" in result.stdout
    for name in found.kept_names[:2]:
        assert name in page.read_text()
    fails("prune", data, "--output", kept, code=1)
    assert run("prune", data, "--output", kept, "--force").exit_code == 0


def test_json(data):
    result = run("prune", data, "--json", "--exact", "--keep", "g1,3", "--cutoff", 0.7)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    keep = ["g1", "g3"]
    found = drop_correlated(pd.DataFrame(X, columns=NAMES), 0.7, keep=keep, exact=True)
    assert {k: document[k] for k in found.summary()} == found.summary()
    assert set(keep) <= set(document["kept"])
    assert document["parameters"]["keep"] == keep
    assert document["least"] == document["n_kept"]
    assert document["warnings"] == []


def test_cost_by_a_file(data, tmp_path):
    costs = tmp_path / "cost.csv"
    costs.write_text("feature,cost\ng2,0.1\ng5,0.1\n")
    result = run("prune", data, "--json", "--cutoff", 0.7, "--cost", costs)
    assert {"g2", "g5"} <= set(json.loads(result.stdout)["kept"])


def test_text_is_written_as_text(tmp_path):
    words = np.array(list("abca") * 15)
    rows = [
        f"{w},{w.upper()},{x!r}" for w, x in zip(words, X[:, 0].tolist(), strict=True)
    ]
    data = tmp_path / "words.csv"
    data.write_text("\n".join(["small,large,x", *rows]) + "\n")
    out = tmp_path / "kept.csv"
    result = run("prune", data, "--similarity", "mixed", "--output", out)
    assert result.exit_code == 0, result.output
    kept = pd.read_csv(out)
    assert list(kept.columns) == ["small", "x"]
    assert list(kept["small"]) == list(words)


@pytest.mark.parametrize("how", ["sparse", "opened"])
def test_tables_that_are_not_dense_in_memory(how, tmp_path, monkeypatch):
    out = tmp_path / "kept.csv"
    if how == "sparse":
        import scipy.io

        data = tmp_path / "data.mtx"
        scipy.io.mmwrite(data, sparse.coo_array(X))
    else:
        from franet._common import memory

        data = tmp_path / "data.npy"
        np.save(data, X)
        monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    result = run("prune", data, "--cutoff", 0.8, "--output", out)
    assert result.exit_code == 0, result.output
    found = drop_correlated(X, 0.8)
    kept = pd.read_csv(out)
    assert list(kept.columns) == found.kept_names
    np.testing.assert_allclose(kept.to_numpy(), X[:, found.kept], rtol=1e-12)


def test_warning_of_a_block_names_its_columns(tmp_path):
    places = np.linspace(0, 1, 30)
    widths = np.linspace(0.4, 0.6, 20)[:, None]
    T = np.exp(-(((places - 0.5) / widths) ** 2)) * np.linspace(1, 2, 20)[:, None]
    data = save(tmp_path / "s.csv", T, [f"nm{j}" for j in range(30)])
    result = run("prune", data, "--cutoff", 0.6)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: A block of 30 connected columns")
    assert "'nm" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--cutoff", 0), 2, "Invalid value for '--cutoff'"),
        (("--cutoff", 1.01), 2, "Invalid value for '--cutoff'"),
        (("--keep", "g10"), 2, "--keep: There is no feature 'g10'. Did you mean 'g1'"),
        (
            ("--keep", "g0,g1", "--cutoff", 0.5),
            2,
            "--keep: Column 'g0' (0) and Column 'g1' (1) have |r| = 0.",
        ),
        (("--output", "kept.xlsx"), 2, "kept.xlsx: cannot write that format"),
        (("--report", "page.pdf"), 2, "page.pdf: a report is a page or its data"),
        (("--dropped", "data.csv"), 2, "data.csv"),
    ],
)
def test_bad_options(options, code, message, data, monkeypatch):
    monkeypatch.chdir(data.parent)
    assert message in fails("prune", data, *options, code=code)
