"""``franet panel``: from a .h5ad file to a panel, a table of it and a page."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy import sparse

anndata = pytest.importorskip("anndata", reason="needs the extra 'anndata'")

from cli.commands import fails, run  # noqa: E402
from franet.anndata import rank_features  # noqa: E402

TYPES = np.repeat(["B cell", "T cell", "NK"], 30)
SAMPLES = np.tile(["s1", "s2"], 45)


def cells():
    """Return log values of three types with four markers each, and other genes."""
    rng = np.random.default_rng(0)
    X = 0.5 * np.abs(rng.normal(size=(90, 24)))
    for t in range(3):
        level = 2.0 + rng.normal(size=(30, 1))
        X[30 * t : 30 * (t + 1), 4 * t : 4 * t + 4] += np.abs(level)
    X[SAMPLES == "s2", 12:16] += 4.0
    X[X < 0.2] = 0.0
    adata = anndata.AnnData(sparse.csr_matrix(X))
    adata.var_names = [
        *(f"{name}{j}" for name in ("CD", "TR", "KLR") for j in range(4)),
        *(f"MT-{j}" for j in range(4)),
        *(f"other{j}" for j in range(8)),
    ]
    adata.obs["cell_type"], adata.obs["sample"] = TYPES, SAMPLES
    adata.obs["one"] = "same"
    adata.var["probe"] = np.arange(24) % 2 == 0
    adata.var["price"] = np.arange(24.0)
    adata.obsm["X_umap"] = rng.normal(size=(90, 2))
    adata.layers["counts"] = sparse.csr_matrix(np.round(X * 5))
    adata.raw = adata
    return adata


def put(folder):
    """Write cells, and a panel, into a folder; raw values are of more genes."""
    adata = cells()
    adata.X = adata.X * 2.0
    adata[:, :20].copy().write_h5ad(folder / "cells.h5ad")
    (folder / "panel.txt").write_text("TR1\nKLR2\n")
    return folder / "cells.h5ad"


@pytest.fixture
def file(tmp_path):
    return put(tmp_path)


def read(file, *options):
    result = run("panel", file, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def genes(page):
    return [row["name"] for row in page["genes"]]


def test_one_command(file, tmp_path):
    """The command of the guide: batches, a start, labels, a page and a table."""
    out, page = tmp_path / "panel.csv", tmp_path / "panel.html"
    options = "--genes", 5, "--batch", "sample", "--start", tmp_path / "panel.txt"
    options += "--exclude", "MT-*,other*", "--label", "cell_type"
    result = run("panel", file, *options, "--report", page, "--output", out)
    assert result.exit_code == 0, result.output
    for line in (
        "--exclude MT-*: matches 4 features",
        "--exclude other*: matches 4 features",
        f"Panel: {out}",
        f"Report: {page}",
    ):
        assert line in result.stdout.splitlines()
    with out.open() as lines:
        rows = list(csv.DictReader(lines))
    names = [row["feature"] for row in rows]
    assert len(names) == 5
    assert names[:2] == ["TR1", "KLR2"]
    assert names[2].startswith("CD")
    assert {label for row in rows for label in row["carries"].split("; ")} >= {*TYPES}
    assert page.read_text().startswith("<!DOCTYPE html>")
    again = run("panel", file, "--judge", out)
    assert again.exit_code == 0, again.output
    judged = [line.split()[1] for line in again.stdout.splitlines()[4:9]]
    assert judged == names


def test_it_chooses_as_python_does(file):
    page = read(file, "--genes", 4, "--batch", "sample", "--exclude", "other*")
    adata = anndata.read_h5ad(file)
    from franet import Cover

    ranker = Cover(weights="variance", exclude=["other*"])
    frame = rank_features(
        adata, n_top=4, batch_key="sample", ranker=ranker, inplace=False
    )
    best = frame.sort_values("franet_rank").index[:4]
    assert genes(page) == list(best)


def test_labels_judge_and_never_choose(file):
    plain = read(file, "--genes", 4)
    judged = read(file, "--genes", 4, "--label", "cell_type")
    assert genes(plain) == genes(judged)
    assert plain["types"] is plain["heat"] is plain["confusion"] is None
    assert [row["name"] for row in judged["types"]] == sorted({*TYPES})
    assert np.shape(judged["heat"]) == (4, 3)
    assert np.shape(judged["confusion"]) == (3, 3)


def test_a_panel_is_judged(file, tmp_path):
    page = read(file, "--judge", tmp_path / "panel.txt", "--label", "cell_type")
    assert genes(page) == ["TR1", "KLR2"]
    assert "The panel was given" in page["stability"]["text"]
    scores = {row["name"]: row["f1_logistic"] for row in page["types"]}
    assert min(scores["T cell"], scores["NK"]) > 0.8


def test_which_values(file):
    assert read(file, "--use-raw", "--genes", 3)["n_genes"] == 24
    by_layer = read(file, "--layer", "counts", "--normalize", "log1p", "--genes", 3)
    assert by_layer["n_genes"] == 20
    umap = read(file, "--genes", 3)
    assert "cells" not in umap  # it is for the page


def test_limits(file):
    assert all(int(n[-1]) % 2 == 0 for n in genes(read(file, "--mask", "probe")))
    cheap = ("--level", "price", "--max-level", 6, "--genes", 4)
    assert not [name for name in genes(read(file, *cheap)) if name[:2] in ("KL", "MT")]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (
            ["--label", "celltype"],
            "--label celltype: adata.obs has no such column",
        ),
        (["--label", "one"], "--label one: all cells have one label, 'same', and two"),
        (["--batch", "donor"], "--batch donor: adata.obs has no such column"),
        (["--batch", "rare"], "--batch rare: the batch 's9' has 1 cell, and at least"),
        (["--exclude", "RPL*"], "--exclude: No feature matches 'RPL*'"),
        (["--include", "CD11"], "--include: There is no feature 'CD11'. Did you mean"),
        (["--start", "wrong.txt"], "--start: There is no feature 'TR9'. Did you mean"),
        (["--judge", "wrong.txt"], "--judge: There is no feature 'TR9'. Did you mean"),
        (
            ["--judge", "panel.txt", "--genes", "4"],
            "--genes chooses genes, and",
        ),
        (["--judge", "flat.txt"], "--judge: 'CD0' is constant, and says nothing of"),
        (["--judge", "panel.txt", "--exclude", "CD1"], "--exclude chooses genes, and"),
        (["--layer", "counts"], "The values are raw counts"),
        (["--layer", "counts", "--use-raw"], "--use-raw and --layer counts name two"),
        (["--normalize", "log1p"], "--normalize log1p is for raw counts"),
        (["--mask", "price"], "--mask price: expected True or False"),
        (["--level", "price"], "--level price is for --min-level, --max-level and"),
        (["--max-level", "-1"], "leave no gene that could be picked"),
        (["--genes", "200"], "--genes 200, but the table has 20 features. Ask for"),
        (["--stability", "none"], "is for --report, which is not given"),
    ],
)
def test_one_line_and_nothing_written(file, tmp_path, monkeypatch, options, part):
    monkeypatch.chdir(tmp_path)
    adata = anndata.read_h5ad(file)
    adata.obs["rare"] = ["s9", *SAMPLES[1:]]
    adata.X = adata.X.toarray()
    adata.X[:, 0] = 0.0
    adata.write_h5ad(file)
    (tmp_path / "wrong.txt").write_text("TR9\n")
    (tmp_path / "flat.txt").write_text("TR1\nCD0\n")
    before = sorted(tmp_path.iterdir())
    more = [] if "none" in options else ["--report", "page.html"]
    result = run("panel", file, *options, *more, "--output", "out.csv")
    lines = result.stderr.splitlines()
    assert result.exit_code in (1, 2), result.output
    assert len(lines) == 1, lines
    assert part in lines[0]
    assert sorted(tmp_path.iterdir()) == before


def test_names_that_occur_twice(tmp_path):
    adata = cells()
    adata.var_names = ["CD0", "CD0", *adata.var_names[2:]]
    adata.write_h5ad(tmp_path / "twice.h5ad")
    line = fails("panel", tmp_path / "twice.h5ad", code=1)
    assert "feature names occur more than once: 'CD0'" in line


def test_another_kind_of_file(data):
    line = fails("panel", data, code=2)
    assert "is csv, and a panel is chosen from a .h5ad file" in line
