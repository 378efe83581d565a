"""``franet bench``: run, table, plot."""

from __future__ import annotations

import csv
import functools
import json
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from evaluation.bad_rankers import load
from franet import FRANe
from franet.cli import main
from franet.cli._judging import (
    parse_counts,
    parse_folds,
    parse_measures,
    parse_rankers,
)
from franet.cli.bench import BenchBar
from franet.evaluation import MEASURES, Record, ResultsStore, runner
from franet.evaluation.runner import Status
from franet.exceptions import UsageError
from franet.rankers import NAMES, RANKERS

SETS = ("colon", "ORL", "Yale")


def bench(*args):
    return CliRunner().invoke(main, ["bench", *map(str, args)])


def fails(*args, code=2):
    result = bench(*args)
    assert result.exit_code == code, result.output
    (line,) = [x for x in result.stderr.splitlines() if not x.startswith("warning")]
    return line


@pytest.fixture
def small(monkeypatch):
    """Replace the data sets by small tables."""
    monkeypatch.setattr(runner, "run", functools.partial(runner.run, load=load))


def fill(folder, sets=SETS, folds="paper", rankers=("frane", "random"), **fields):
    """Write results without measuring: values rise with the set and the ranker."""
    with ResultsStore(folder) as store:
        for i, dataset in enumerate(sets):
            for j, ranker in enumerate(rankers):
                for fold in range(3):
                    value = 0.1 + 0.1 * i + 0.01 * j + 0.001 * fold
                    values = {"rmae": {8: value + 0.1, 16: value}}
                    store.append(
                        Record(dataset, folds, fold, ranker, values=values, **fields)
                    )
    return folder


def test_run_table_and_again(tmp_path, small):
    out = tmp_path / "out"
    command = (
        "run", "--datasets", "colon,orl", "--rankers", "random,variance",
        "--out", out, "--folds", 2, "--n-features", "2,4", "--measures", "rmae,nmi",
        "--jobs", 1,
    )  # fmt: skip
    result = bench(*command)
    assert result.exit_code == 0, result.output
    assert "8 measured, 0 failed, 0 were there already" in result.stdout
    records = ResultsStore.read(out)
    assert {r.dataset for r in records} == {"colon", "ORL"}
    assert {(m, k) for r in records for m in r.values for k in r.values[m]} == {
        (m, k) for m in ("rmae", "nmi") for k in (2, 4)
    }
    assert records[0].folds == "2 folds x 1, seed 0"
    again = bench(*command)
    assert "0 measured, 0 failed, 8 were there already" in again.stdout
    quiet = bench(*command, "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")

    shown = bench("table", out, "--at", 4, "--measure", "nmi").stdout
    assert all(word in shown for word in ("colon", "ORL", "random", "variance"))


def test_failures_are_told(tmp_path, small):
    spec = "frane:similarity=precomputed"  # which these tables are not
    result = bench(
        "run", "--datasets", "colon", "--rankers", f"random,{spec}", "--out", tmp_path,
        "--folds", 7, "--jobs", 1,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 6, "five failures, then how many more"
    assert lines[0].startswith(f"warning: {spec} on colon, fold 0: failed. DataError: ")
    assert lines[5] == "warning: 2 more failed"
    assert "7 measured, 7 failed" in result.stdout
    assert {r.ranker for r in ResultsStore.read(tmp_path)} == {"random", spec}


def test_missing_data(tmp_path, monkeypatch):
    monkeypatch.setenv("FRANET_DATA", str(tmp_path))
    monkeypatch.setenv("FRANET_CACHE", str(tmp_path))
    out = tmp_path / "out"
    line = fails("run", "--rankers", "random", "--out", out, code=1)
    assert "26 data sets cannot be loaded" in line
    assert "--skip-missing" in line
    assert "franet datasets fetch" in line
    line = fails(
        "run", "--datasets", "colon", "--rankers", "random", "--out", out, code=1
    )
    assert "colon: is not on this machine" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--datasets", "colon,nonsense"], "There is no data set 'nonsense'"),
        (["--datasets", ","], "Name the data sets, or say all"),
        (["--rankers", "nonsense"], "There is no ranker 'nonsense'"),
        (["--rankers", ""], "--rankers names none"),
        (["--rankers", "random,random"], "--rankers names 'random' twice"),
        (["--rankers", "frane:damping"], "'damping' is not of the form parameter=val"),
        (["--rankers", "frane:damp=1"], "frane has no parameter 'damp'; it has: "),
        (["--rankers", "frane:damping=two"], "frane:damping=two: The 'damping' param"),
        (["--folds", "half"], "--folds half: give 'paper' or a whole number"),
        (["--folds", "2,3"], "--folds 2,3: give 'paper' or a whole number"),
        (["--n-features", "a"], "--n-features a: give 'powers' or whole numbers"),
        (["--measures", "mae"], "measures: there is no 'mae'"),
        (["--max-memory", "much"], "--max-memory much is not a size"),
        (["--jobs", "0"], "Invalid value for '--jobs'"),
        (["--timeout", "0"], "Invalid value for '--timeout'"),
    ],
)
def test_bad_options(tmp_path, small, options, message):
    defaults = ["--datasets", "colon", "--rankers", "random", "--out", tmp_path / "out"]
    assert message in fails("run", *defaults, *options)


def test_specs():
    rankers = parse_rankers(
        'frane:variant=reference:n_thresholds=50, random ,frane:similarity="spearman"'
    )
    assert list(rankers) == [
        "frane:variant=reference:n_thresholds=50",
        "random",
        'frane:similarity="spearman"',
    ]
    first, _, last = rankers.values()
    assert isinstance(first, FRANe)
    assert (first.variant, first.n_thresholds) == ("reference", 50)
    assert last.similarity == "spearman"
    assert list(parse_rankers("all")) == NAMES
    assert set(NAMES) == {*RANKERS, "cover"}
    (nested,) = parse_rankers("frane:weighted=false:damping=0.5").values()
    assert (nested.weighted, nested.damping) == (False, 0.5)


def test_marks_inside_brackets():
    from franet.cli._judging import _split

    assert _split('a:b=[1,2]:c={"x,y": 3},d:e="f,g:h"', ",") == [
        'a:b=[1,2]:c={"x,y": 3}',
        'd:e="f,g:h"',
    ]
    assert _split('a:b={"x": 3}:c=4', ":") == ["a", 'b={"x": 3}', "c=4"]


def test_numbers():
    assert parse_counts("powers") == "powers"
    assert parse_counts("16, 64") == [16, 64]
    assert (parse_folds("paper"), parse_folds("5")) == ("paper", 5)
    assert parse_measures(None) is None
    assert parse_measures("all") == list(MEASURES)
    assert parse_measures("rmae,r2") == ["rmae", "r2"]


def test_table(tmp_path):
    folder = fill(tmp_path / "results")
    shown = bench("table", folder)
    assert shown.exit_code == 0, shown.output
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines[0] == ["data", "set", "frane", "random"]
    assert ["colon", "0.101", "0.111"] in lines
    assert ["wins", "3", "0"] in lines
    assert sum(line[:1] == ["average"] for line in lines) == 1
    document = json.loads(bench("table", folder, "--json", "--at", 8).stdout)
    assert (document["at"], document["measure"]) == (8, "rmae")
    assert document["columns"] == ["data set", "frane", "random"]
    assert document["rows"][0][1] == pytest.approx(0.201)


def test_table_as_csv(tmp_path):
    folder = fill(tmp_path / "results")
    target = tmp_path / "table.csv"
    assert bench("table", folder, "--csv", target).exit_code == 0
    rows = list(csv.reader(target.read_text().splitlines()))
    assert float(rows[1][1]) == pytest.approx(0.101)
    assert "table.csv" in fails("table", folder, "--csv", target, code=1)
    assert bench("table", folder, "--csv", target, "--force").exit_code == 0


def test_collapsed_and_failed_rankers_are_marked(tmp_path):
    folder = fill(tmp_path / "results", rankers=["frane"])
    fill(folder, rankers=["spec"], warnings=["All features tie."])
    with ResultsStore(folder) as store:
        store.append(
            Record("colon", "paper", 0, "ndfs", status="memory", reason="Too much.")
        )
    shown = bench("table", folder).stdout
    assert "† spec warned on colon, ORL, Yale." in shown
    assert "ndfs did not finish 1 folds, the first of colon: Too much" in shown


def test_several_folds(tmp_path):
    folder = fill(fill(tmp_path), folds="5 folds x 1, seed 0", sets=["colon", "ORL"])
    line = fails("table", folder)
    assert "choose by --folds: 'paper', '5 folds x 1, seed 0'" in line
    assert "Yale" in bench("table", folder, "--folds", "paper").stdout
    assert "Yale" not in bench("table", folder, "--folds", "5 folds x 1, seed 0").stdout
    assert "choose from: 'paper'" in fails("table", folder, "--folds", "10")


def test_no_results(tmp_path):
    assert "holds no results" in fails("table", tmp_path, code=1)
    ResultsStore(tmp_path).close()
    assert "holds no results yet" in fails("table", tmp_path, code=1)


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_plot(tmp_path, kind, start):
    folder = fill(tmp_path / "results", sets=[*SETS, "a/b"])
    out = tmp_path / "deep" / "pictures"
    result = bench("plot", folder, "--out", out, "--format", kind)
    assert result.exit_code == 0, result.output
    names = ["colon", "ORL", "Yale", "a_b"]
    files = {f"curves-{name}.{kind}" for name in names} | {
        f"critical-difference.{kind}"
    }
    assert {path.name for path in out.iterdir()} == files
    assert all(path.read_bytes().startswith(start) for path in out.iterdir())
    assert result.stdout.count("\n") == 5
    assert "exists" in fails("plot", folder, "--out", out, "--format", kind, code=1)


def test_plot_of_what_is_there(tmp_path):
    folder = fill(tmp_path / "results", sets=["colon"])
    with ResultsStore(folder) as store:
        store.append(Record("ORL", "paper", 0, "frane", status="failed", reason="No."))
    result = bench("plot", folder, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "warning: ORL: no ranker finished all folds",
        "warning: no critical-difference diagram: fewer than two data sets were "
        "finished by all rankers",
    ]


def test_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr("franet.cli._screen._PATIENCE", 0)
    with BenchBar(quiet=False) as bar:
        bar("looking at the data", 1, 4)
        assert bar._bar.tasks[0].description == "looking at the data"
        bar("units", 0, 20)
        bar.tell(Status(0, 20, 0, 1.0, None))
        bar("units", 3, 20)
        bar.tell(Status(3, 20, 1, 1.0, 200.0, Record("colon", "paper", 0, "x")))
        (task,) = bar._bar.tasks
        assert (task.completed, task.total) == (3, 20)
        assert task.description == "colon, 1 failed, 3 min left"
    captured = capsys.readouterr()
    assert "3 min left" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("hidden", "wait", "lines"), [(0, 0, 2), (0, 60, 0), (1, 0, 0)]
)
def test_lines_without_a_terminal(monkeypatch, capsys, hidden, wait, lines):
    monkeypatch.setattr(sys.modules[BenchBar.__module__], "_EVERY", wait)
    with BenchBar(quiet=bool(hidden)) as bar:
        bar("looking at the data", 1, 4)
        bar.tell(Status(1, 20, 0, 1.0, 5.0))
        bar.tell(Status(2, 20, 0, 1.0, 4.0))
    assert len(capsys.readouterr().err.splitlines()) == lines


def test_results_of_several_versions(tmp_path):
    folder = fill(fill(tmp_path), rankers=["old"], version="0.0.1")
    (line,) = bench("table", folder).stderr.splitlines()
    assert line.startswith(f"warning: {folder}: measured by several versions, 0.0.1, ")


INTERRUPTED = """
import threading
import franet.evaluation.runner as runner
from franet.cli import main

def run(*args, **kwargs):
    print("ready", flush=True)
    threading.Event().wait()

runner.run = run
main(["bench", "run", "--datasets", "colon", "--rankers", "random", "--out", "out"])
"""


def test_interrupt(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1].split("\n")
    assert process.returncode == 130
    assert [line for line in errors if line] == [
        "Stopped. What is finished is kept; run again to resume.",
        "error: interrupted",
    ]


def test_usage_of_the_group():
    assert "run" in bench().stdout
    with pytest.raises(UsageError):
        parse_rankers("")
