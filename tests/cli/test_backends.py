"""Where the command line lets the work be done."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from franet import FRANe
from franet.cli import main
from franet.columns import open_columns
from tables import blocks


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
    exact = names(table, "--redundancy", "none")
    assert names(table, "--search", "approximate", "--seed", "1") == exact
    shown = run(table, "--search", "approximate").output
    assert "Approximate: 100.00 % of the edges found" in shown


def test_checkpoint(table, tmp_path):
    folder = tmp_path / "passes"
    first = names(table, "--checkpoint", str(folder))
    assert (folder / "about.json").exists()
    assert names(table, "--checkpoint", str(folder)) == first
    result = run(table, "--checkpoint", str(folder), "--damping", "0.5")
    assert result.exit_code == 1
    assert "belongs to another fit" in result.output


def test_torch(table):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    place = ("--backend", "torch", "--device", "cpu")
    assert names(table, *place) == names(table)
    paper = ("--redundancy", "none", "--n-thresholds", "10")
    assert names(table, *paper, *place) == names(table, *paper)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--backend", "numpy", "--device", "cpu"], "--device cpu is for torch"),
        (
            ["--scheduler", "tcp://h:1", "--backend", "numpy"],
            "--scheduler tcp://h:1 needs",
        ),
        (["--search", "approximate", "--backend", "torch"], "runs on the cores"),
        (["--search", "approximate", "--missing", "pairwise"], "without gaps"),
        (["--search", "approximate", "--dry-run"], "exact search on the cores"),
        (
            ["--redundancy", "none", "--backend", "torch", "--dry-run"],
            "Set --search exact and --backend numpy",
        ),
        (["--redundancy", "cover", "--checkpoint", "x"], "paper's ranking"),
        (["--ranker", "variance", "--backend", "torch"], "does not belong"),
    ],
)
def test_what_does_not_go_together(table, options, said):
    result = run(table, *options)
    assert result.exit_code == 2
    assert said in result.output


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
    paper = ("--redundancy", "none", "--n-thresholds", "5")
    # The table takes 7 MB: more than a quarter of the memory.
    whole = names(path, *paper)
    opened = []
    monkeypatch.setattr(FRANe, "fit", lambda self, X: opened.append(X) or fit(self, X))
    assert names(path, *paper, "--max-memory", "20 MB") == whole
    assert open_columns(opened[0]) is not None
