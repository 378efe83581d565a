"""Where the command line lets the work be done."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from franet import FRANe
from franet.cli import main
from franet.pairs.columns import open_columns
from tables import blocks

APPROXIMATE = ("--ranker", "frane", "--search", "approximate")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    X = blocks(m=20, n=40)
    np.savetxt(
        path, X, delimiter=",", header=",".join(f"g{j}" for j in range(40)), comments=""
    )
    return path


def run(table, *options):
    command = ["rank", str(table), "--top", "5", *options]
    return CliRunner().invoke(main, command, catch_exceptions=False)


def names(table, *options):
    result = run(table, "--json", *options)
    assert result.exit_code == 0, result.output
    return [row["name"] for row in json.loads(result.stdout)["features"]]


def test_approximate_search_says_how_far_it_is_off(table):
    exact = names(table, "--ranker", "frane")
    assert names(table, *APPROXIMATE, "--seed", "1") == exact
    shown = run(table, *APPROXIMATE).output
    assert "Approximate: 100.00 % of the edges found" in shown


def test_checkpoint(table, tmp_path):
    folder = tmp_path / "passes"
    keep = ("--ranker", "frane", "--checkpoint", str(folder))
    first = names(table, *keep)
    assert (folder / "about.json").exists()
    assert names(table, *keep) == first
    result = run(table, *keep, "--damping", "0.5")
    assert result.exit_code == 1
    assert "belongs to another fit" in result.output


def test_torch(table):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    place = ("--backend", "torch:cpu")
    assert names(table, *place) == names(table)
    paper = ("--ranker", "frane", "--n-thresholds", "10")
    assert names(table, *paper, *place) == names(table, *paper)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--backend", "cpu"], "--backend cpu cannot be used here; choose 'auto'"),
        (["--backend", "tcp://h:1"], "--backend tcp://h:1 cannot be used here"),
        ([*APPROXIMATE, "--backend", "torch"], "runs on the cores"),
        ([*APPROXIMATE, "--missing", "pairwise"], "without gaps"),
        ([*APPROXIMATE, "--checkpoint", "x"], "--search approximate does not support"),
        ([*APPROXIMATE, "--max-memory", "1 GB"], "approximate does not support"),
        ([*APPROXIMATE, "--dry-run"], "A prediction of time and memory does not"),
        (
            ["--ranker", "frane", "--backend", "torch", "--dry-run"],
            "does not support --backend torch",
        ),
        (["--backend", "torch", "--dry-run"], "not for --backend torch. Set --backend"),
        (["--stability", "3", "--dry-run"], "not the draws of --stability"),
        (["--checkpoint", "x"], "--checkpoint is not an option of --ranker cover"),
        (["--ranker", "variance", "--backend", "torch"], "not an option of --ranker"),
    ],
)
def test_what_does_not_go_together(table, options, said):
    result = run(table, *options)
    assert result.exit_code == 2
    assert said in result.output


def test_no_scheduler_at_the_address(table, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setattr("franet.engine._dask._ANSWER", 1)
    result = run(table, "--ranker", "frane", "--backend", "tcp://127.0.0.1:9")
    assert result.exit_code == 1
    said = "error: No Dask scheduler answers at --backend tcp://127.0.0.1:9 ("
    assert result.stderr.startswith(said)


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_large_files_are_read_piece_by_piece(tmp_path, monkeypatch, ending):
    fit = FRANe.fit
    X = np.random.default_rng(0).normal(size=(300, 3000))
    path = tmp_path / f"table.{ending}"
    if ending == "npy":
        np.save(path, X)
    else:
        zarr = pytest.importorskip("zarr", reason="zarr is not installed")
        zarr.save(path, X)
    paper = ("--ranker", "frane", "--n-thresholds", "5")
    # The table takes 7 MB: more than a quarter of the memory.
    whole = names(path, *paper)
    opened = []
    monkeypatch.setattr(FRANe, "fit", lambda self, X: opened.append(X) or fit(self, X))
    assert names(path, *paper, "--max-memory", "20 MB") == whole
    assert open_columns(opened[0]) is not None
