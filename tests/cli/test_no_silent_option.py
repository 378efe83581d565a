"""No option of any command is ignored: it changes what comes out, or it is an error."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import re
import shutil
import sys
import webbrowser
from pathlib import Path

import click
import numpy as np
import pytest

from cli.commands import NAMES, X, run, save
from cli.test_bench import fill
from cli.test_datasets import folders, put, server  # noqa: F401 (fixtures)
from cli.test_panel import put as put_cells
from evaluation.bad_rankers import load
from evaluation.stored import contents
from franet.cli import main
from franet.evaluation import runner

FRANE = ("--ranker", "frane")
# Options that say how, not what: results stay the same.
COMPUTE = {
    ("rank", "--backend"),
    ("rank", "--checkpoint"),
    ("rank", "--max-memory"),
    ("rank", "--n-jobs"),
    ("prune", "--n-jobs"),
    ("panel", "--n-jobs"),
    ("bench run", "--jobs"),
}


def commands(command=main, path=()):
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from commands(child, (*path, name))
    else:
        yield " ".join(path), command


def options(command):
    return {p.opts[0] for p in command.params if isinstance(p, click.Option)}


COMMANDS = dict(commands())

# For each option: what is typed in both runs, and the option with its value.
RANK = {
    "--top": ((), ("--top", 3)),
    "--stability": ((), ("--stability", 3)),
    "--scale": ((), ("--scale", "none")),
    "--weights": ((), ("--weights", "variance")),
    "--objective": ((), ("--objective", "linear")),
    "--output": ((), ("--output", "out.csv")),
    "--report": ((), ("--report", "out.json")),
    "--open": (("--report", "out.json"), ("--open",)),
    "--force": (("--output", "there.csv"), ("--force",)),
    "--json": ((), ("--json",)),
    "--dry-run": ((), ("--dry-run",)),
    "--quiet": ((), ("--quiet",)),
    "--format": ((), ("--format", "npy")),
    "--transpose": (("--feature-names", "rows.txt"), ("--transpose",)),
    "--header": ((), ("--no-header",)),
    "--index": ((), ("--index",)),
    "--variable": ((), ("--variable", "a")),
    "--feature-names": ((), ("--feature-names", "names.txt")),
    "--drop-non-numeric": (("words.csv",), ("--drop-non-numeric",)),
    "--decimal": (("thousands.tsv",), ("--decimal", ",")),
    "--ranker": ((), FRANE),
    "--similarity": ((), ("--similarity", "spearman")),
    "--variant": (FRANE, ("--variant", "reference")),
    "--thresholds": (FRANE, ("--thresholds", "linear")),
    "--n-thresholds": (FRANE, ("--n-thresholds", 3)),
    "--centrality": (FRANE, ("--centrality", "degree")),
    "--damping": (FRANE, ("--damping", 0.3)),
    "--quality": (FRANE, ("--quality", "gini")),
    "--tie-break": ((*FRANE, "--similarity", "spearman"), ("--tie-break", "denser")),
    "--missing": ((*FRANE, "gaps.csv"), ("--missing", "pairwise")),
    "--search": (FRANE, ("--search", "approximate")),
    "--set": (FRANE, ("--set", "weighted=false")),
    "--seed": (("--ranker", "random", "--seed", 1), ("--seed", 2)),
    "--include": ((), ("--include", "g5")),
    "--exclude": ((), ("--exclude", "g1")),
    "--cost": ((), ("--cost", "cost.csv")),
    "--groups": ((), ("--groups", "groups.csv")),
    "--backend": ((), ("--backend", "numpy")),
    "--checkpoint": (FRANE, ("--checkpoint", "passes")),
    "--max-memory": (FRANE, ("--max-memory", "1 GB")),
    "--n-jobs": ((), ("--n-jobs", 1)),
}
FEW = ("--rankers", "variance", "--folds", 3)
EVALUATE = {
    "--rankers": (("--folds", 3, "--rankers", "cover"), ("--rankers", "variance")),
    "--at": (FEW, ("--at", 2)),
    "--n-features": (FEW, ("--n-features", "1,3")),
    "--folds": (("--rankers", "variance"), ("--folds", 3)),
    "--repeats": (FEW, ("--repeats", 2)),
    "--measure": (FEW, ("--measure", "rmae")),
    "--columns": (FEW, ("--columns", "mine=g1,g2")),
    "--tolerance": (FEW, ("--tolerance", 0.9)),
    "--no-references": (FEW, ("--no-references",)),
    "--seed": (FEW, ("--seed", 5)),
    "--plot": (FEW, ("--plot", "out.svg")),
    "--output": (FEW, ("--output", "out.csv")),
    "--force": ((*FEW, "--output", "there.csv"), ("--force",)),
    "--json": (FEW, ("--json",)),
    "--quiet": ((*FEW, "words.csv", "--drop-non-numeric"), ("--quiet",)),
    **{
        name: ((*FEW, *before), given)
        for name, (before, given) in RANK.items()
        if name
        in (
            "--format", "--transpose", "--header", "--index", "--variable",
            "--drop-non-numeric", "--decimal",
        )
    },
    # An error names the column.
    "--feature-names": ((*FEW, "gaps.csv"), ("--feature-names", "names.txt")),
}  # fmt: skip
# One worker: to start it takes longer than all that it does.
RUN = (
    "--datasets", "colon", "--rankers", "random", "--out", "o", "--folds", 2,
    "--jobs", 1,
)  # fmt: skip
BENCH_RUN = {
    "--datasets": (RUN, ("--datasets", "ORL")),
    "--rankers": (RUN, ("--rankers", "variance")),
    "--out": (RUN, ("--out", "other")),
    "--folds": (RUN, ("--folds", 3)),
    "--repeats": (RUN, ("--repeats", 2)),
    "--n-features": (RUN, ("--n-features", "1,3")),
    "--measures": (RUN, ("--measures", "rmae")),
    "--jobs": (RUN, ("--jobs", 2)),
    "--timeout": (RUN, ("--timeout", "1e-9")),
    "--max-memory": (RUN, ("--max-memory", "1 MB")),
    "--seed": (RUN, ("--seed", 4)),
    "--retry-failed": ((*RUN, "--out", "failed"), ("--retry-failed",)),
    "--skip-missing": ((*RUN, "--datasets", "colon,Yale"), ("--skip-missing",)),
    "--quiet": (RUN, ("--quiet",)),
}
BENCH_TABLE = {
    "--at": (("two",), ("--at", 8)),
    "--measure": (("two",), ("--measure", "r2")),
    "--folds": (("three",), ("--folds", "paper")),
    "--csv": (("two",), ("--csv", "out.csv")),
    "--force": (("two", "--csv", "there.csv"), ("--force",)),
    "--json": (("two",), ("--json",)),
}
PLOT = ("two", "--out", "pictures")
BENCH_PLOT = {
    "--out": (PLOT, ("--out", "others")),
    "--format": (PLOT, ("--format", "png")),
    "--at": (PLOT, ("--at", 8)),
    "--measure": (PLOT, ("--measure", "r2")),
    "--folds": (("three", "--out", "pictures"), ("--folds", "paper")),
    "--force": (("two", "--out", "drawn"), ("--force",)),
}
PRUNE = {
    "--cutoff": ((), ("--cutoff", 0.3)),
    "--similarity": (("--cutoff", 0.85), ("--similarity", "spearman")),
    "--keep": (("--cutoff", 0.5), ("--keep", "g1")),
    "--cost": ((), ("--cost", "cost.csv")),
    "--missing": (("gaps.csv",), ("--missing", "error")),
    "--keep-constant": (("constant.csv",), ("--keep-constant",)),
    "--exact": ((), ("--exact",)),
    "--n-jobs": ((), ("--n-jobs", 1)),
    "--dropped": ((), ("--dropped", "out.csv")),
    **{
        name: RANK[name]
        for name in (
            "--output", "--report", "--force", "--json", "--format", "--transpose",
            "--header", "--index", "--variable", "--feature-names",
            "--drop-non-numeric", "--decimal",
        )
    },
    "--quiet": ((), ("--quiet",)),
}  # fmt: skip
FOUR = ("--genes", 4)
PANEL = {
    "--genes": (FOUR, ("--genes", 3)),
    "--judge": ((), ("--judge", "panel.txt")),
    "--start": (FOUR, ("--start", "panel.txt")),
    "--include": (FOUR, ("--include", "KLR2")),
    "--exclude": (FOUR, ("--exclude", "CD*")),
    "--batch": (FOUR, ("--batch", "sample")),
    "--weights": (FOUR, ("--weights", "robust")),
    "--label": (FOUR, ("--label", "cell_type")),
    "--layer": (FOUR, ("--layer", "counts")),
    "--use-raw": (FOUR, ("--use-raw",)),
    "--normalize": ((*FOUR, "--layer", "counts"), ("--normalize", "log1p")),
    "--mask": (FOUR, ("--mask", "probe")),
    "--min-cells": (FOUR, ("--min-cells", 0.75)),
    "--max-cells": (FOUR, ("--max-cells", 0.75)),
    "--level": ((*FOUR, "--max-level", 8), ("--level", "price")),
    "--min-level": (FOUR, ("--min-level", 3)),
    "--max-level": (FOUR, ("--max-level", 2)),
    "--max-total": (FOUR, ("--max-total", 8)),
    "--stability": (FOUR, ("--stability", 3)),
    "--seed": ((*FOUR, "--stability", 3), ("--seed", 2)),
    "--n-jobs": (FOUR, ("--n-jobs", 1)),
    "--output": (FOUR, ("--output", "out.csv")),
    "--report": (FOUR, ("--report", "out.json")),
    "--force": ((*FOUR, "--output", "there.csv"), ("--force",)),
    "--json": (FOUR, ("--json",)),
    "--quiet": (FOUR, ("--quiet",)),
}
CASES = {
    "rank": RANK,
    "prune": PRUNE,
    "panel": PANEL,
    "evaluate": EVALUATE,
    "bench run": BENCH_RUN,
    "bench table": BENCH_TABLE,
    "bench plot": BENCH_PLOT,
    "demo": {"--open": ((), ("--open",))},
    "datasets list": {"--json": ((), ("--json",))},
    "datasets fetch": {"--quiet": (("tiny-set",), ("--quiet",))},
    "doctor": {"--json": ((), ("--json",))},
    "completion": {},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_case(command):
    assert set(CASES[command]) == options(COMMANDS[command])


def load_some(name, *args, **kwargs):
    """Return a small table, but for one data set that is not here."""
    if name == "Yale":
        raise FileNotFoundError("not here")
    return load(name, *args, **kwargs)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files that cases name, which is the current one."""
    # A slow machine writes no more lines than a fast one.
    monkeypatch.setattr(sys.modules["franet.cli.bench"], "_EVERY", math.inf)
    place = tmp_path / "place"
    place.mkdir()
    table = np.column_stack([np.exp(X[:, :5]), X[:, 5:] * [1, 2, 9, 1, 5]])
    save(place / "data.csv", table)
    gaps = [[repr(v) for v in row] for row in table.tolist()]
    gaps[3][2] = ""
    words = [[f"w{i % 3}", *row] for i, row in enumerate(gaps)]
    words[3][3] = "1.5"
    for name, head, rows in (
        ("gaps.csv", NAMES, gaps),
        ("words.csv", ["word", *NAMES], words),
    ):
        (place / name).write_text("\n".join(",".join(row) for row in [head, *rows]))
    tabs = ["a\tb\tc", "1,234\t5\t1", "2,345\t7\t9", "9,999\t1\t4", "3,100\t2\t8"] * 4
    (place / "thousands.tsv").write_text("\n".join([tabs[0], *tabs[1:5], *tabs[1:5]]))
    (place / "names.txt").write_text("\n".join(f"n{j}" for j in range(10)))
    (place / "rows.txt").write_text("\n".join(f"r{j}" for j in range(60)))
    save(place / "constant.csv", np.where(np.arange(10) == 4, 1.0, table))
    (place / "cost.csv").write_text("g1,100\n")
    (place / "groups.csv").write_text("g0,a\ng1,a\ng3,a\n")
    (place / "there.csv").write_text("old")
    put_cells(place)
    fill(place / "two", rankers=("frane", "random"))
    fill(place / "three")
    fill(place / "three", folds="2 folds x 1, seed 0")
    fill(place / "failed", sets=["colon"], folds="2 folds x 1, seed 0",
         rankers=["random"], status="failed", reason="by hand")  # fmt: skip
    (place / "drawn").mkdir()
    (place / "drawn" / "curves-ORL.svg").write_text("old")
    monkeypatch.chdir(place)
    opened = Path("opened.txt")  # in the folder that is the current one then
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.write_text("x")))

    monkeypatch.setattr(runner, "run", functools.partial(runner.run, load=load_some))
    return place


def outcome(command, args, folder):
    """Return what a command prints and writes, without what differs by the clock."""
    words = [*command.split(), *args]
    if command in ("rank", "prune", "evaluate"):
        files = [arg for arg in map(str, args) if arg in TABLES]
        words = [*command.split(), *(a for a in args if str(a) not in TABLES)]
        words.insert(1, *(files or ["data.csv"]))
    if command == "panel":
        words.insert(1, "cells.h5ad")
    result = run(*words)
    # On a busy machine a benchmark writes a line of progress every half a minute.
    told = re.sub(r"^\d+ of \d+.* left: .*\n", "", result.stderr, flags=re.MULTILINE)
    found = {"code": result.exit_code, "stderr": told}
    found["stdout"] = _timeless(result.stdout)
    for path in sorted(folder.rglob("*")):
        # Passes of a fit are not results.
        if path.is_file() and "passes" not in path.parts:
            found[str(path.relative_to(folder))] = _content(path)
    return found


# What comes out without the option; several options share it.
PLAIN = {}
TABLES = ("constant.csv", "gaps.csv", "words.csv", "thousands.tsv")
_CLOCK = ("seconds", "created", "memory", "rank_seconds", "run", "time")


def _timeless(text):
    try:
        return _without_clock(json.loads(text))
    except ValueError:
        return re.sub(r"\d+\.\d+ s\b", "", _without_column(text, "seconds"))


def _without_column(text, name):
    """Return a printed table without one of its columns."""
    head, *lines = text.splitlines() or [""]
    at = head.find(name)
    if at < 0:
        return text
    return "\n".join(line[:at] + line[at + len(name) :] for line in [head, *lines])


def _without_clock(value):
    if isinstance(value, dict):
        return {k: _without_clock(v) for k, v in value.items() if k not in _CLOCK}
    return [_without_clock(v) for v in value] if isinstance(value, list) else value


def _content(path):
    if path.suffix == ".sqlite":  # the records: how a benchmark was run is no result
        lines = contents(path.parent)
        return sorted(json.dumps(_without_clock(json.loads(line))) for line in lines)
    return _timeless(path.read_text()) if path.suffix == ".json" else path.read_bytes()


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command in CASES for option in CASES[command]],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_option_is_not_ignored(command, option, folder, request, tmp_path):
    if command.startswith("datasets"):
        request.getfixturevalue("server")
    before, given = CASES[command][option]
    if (command, before) not in PLAIN:
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        with contextlib.chdir(copy):
            PLAIN[command, before] = outcome(command, before, copy)
    plain = PLAIN[command, before]
    changed = outcome(command, [*before, *given], folder)
    assert (changed == plain) == ((command, option) in COMPUTE)


@pytest.mark.parametrize("given", ["weights.csv", "robust"])
def test_weights_of_a_file_are_not_ignored(given, folder):
    """The default rule, written out, is not read as a file of weights."""
    (folder / "weights.csv").write_text("g1,0\ng5,9\n")
    (folder / "robust").write_text("g1,0\n")
    plain, changed = (
        outcome("rank", (), folder),
        outcome("rank", ("--weights", given), folder),
    )
    assert (plain == changed) == (given == "robust")


@pytest.mark.parametrize("given", ["standard", "none"])
def test_scale_of_other_rankers_is_not_ignored(given, folder):
    before = ("--ranker", "variance")
    plain = outcome("rank", before, folder)
    assert (outcome("rank", (*before, "--scale", given), folder) == plain) == (
        given == "none"
    )


@pytest.mark.parametrize("command", ["rank", "evaluate"])
def test_force_without_a_file(command, data):
    result = run(command, data, "--force")
    assert result.exit_code == 2
    assert "--force replaces files, and none is written; name one by" in result.stderr


@pytest.mark.parametrize(
    ("command", "args"), [("rank", ()), ("evaluate", FEW), ("bench run", RUN)]
)
def test_the_same_command_has_the_same_outcome(command, args, folder, tmp_path):
    """Otherwise a difference would show nothing."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with contextlib.chdir(copy):
        first = outcome(command, args, copy)
    assert outcome(command, args, folder) == first
