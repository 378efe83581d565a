"""``kill -9`` at random moments: no half file is ever seen under its name."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from evaluation.stored import contents
from reliability.plan import Row, Sizes

TESTS = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "franet")
DRAFTS = ".franet-*.tmp"

WRITERS = """
import sys, numpy as np
from pathlib import Path
from franet import FRANe
from franet.io import write_table
from franet.report import summarize, write

folder = Path(sys.argv[1])
X = np.random.default_rng(0).normal(size=(40, 120))
ranker = FRANe(n_thresholds=20).fit(X)
summary = summarize(ranker, X, seconds=1.0)
columns = {"feature": [f"x{j}" for j in range(120)] * 50,
           "score": np.tile(ranker.scores_, 50)}
print("ready", flush=True)
while True:
    for kind in ("csv", "tsv", "json", "parquet"):
        write_table(columns, folder / f"table.{kind}", force=True)
    for kind in ("html", "json"):
        write(summary, folder / f"report.{kind}", force=True)
    for kind in ("csv", "json", "graphml", "gexf"):
        ranker.network_.write(folder / f"network.{kind}", force=True)
    print("round", flush=True)
"""

BENCH = """
import functools, sys
from evaluation.bad_rankers import load
from franet.cli import main
from franet.evaluation import runner

if __name__ == "__main__":
    runner.run = functools.partial(runner.run, load=load)
    main(["bench", "run", "--datasets", "colon,ORL,Yale", "--rankers",
          "random,variance", "--out", sys.argv[1], "--folds", "5", "--repeats", "4",
          "--n-features", "2,4", "--measures", "rmae", "--jobs", "1", "--quiet"])
"""
UNITS = 3 * 2 * 20


def start(arguments: list[str], **options: object) -> subprocess.Popen[str]:
    """Start a process in a group of its own."""
    return subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        start_new_session=True,
        **options,  # type: ignore[call-overload]
    )


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for_draft(
    folder: Path, seconds: float, process: subprocess.Popen[str]
) -> None:
    """Wait until a file is being written, or the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if next(folder.glob(DRAFTS), None) is not None:
            return
        time.sleep(0.0002)


def clear_drafts(folder: Path) -> int:
    """Remove what killed processes left behind under other names."""
    drafts = list(folder.glob(DRAFTS))
    for draft in drafts:
        draft.unlink()
    return len(drafts)


def kill_rank(kills: int) -> Row:
    """Kill ``franet rank --output --report --force`` over files that are there."""
    rng, findings, hits = random.Random(0), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(50, 300)))
        paths = [folder / "out.csv", folder / "out.html"]
        command = [
            *COMMAND, "rank", str(folder / "x.npy"), "--quiet", "--force",
            "--output", str(paths[0]), "--report", str(paths[1]),
        ]  # fmt: skip
        begun = time.monotonic()
        assert start(command).communicate()[1] == ""
        seconds = time.monotonic() - begun
        whole = paths[0].read_bytes()
        for number in range(kills):
            if number % 3 == 0:
                for path in paths:
                    path.unlink(missing_ok=True)
            process = start(command)
            if number % 2:
                wait_for_draft(folder, 3 * seconds, process)
                time.sleep(rng.uniform(0, 0.01))
            else:
                time.sleep(rng.uniform(0, seconds))
            kill(process)
            hits += clear_drafts(folder) > 0
            if paths[0].exists() and paths[0].read_bytes() != whole:
                findings.append(f"kill {number}: half a ranking")
            if paths[1].exists() and not paths[1].read_bytes().endswith(b"</html>\n"):
                findings.append(f"kill {number}: half a report")
    note = f"{hits} kills met a file that was being written"
    return Row("kills", "rank", kills, len(findings), note, tuple(findings))


def kill_writers(kills: int) -> Row:
    """Kill a process that writes every kind of file again and again."""
    rng, findings, hits = random.Random(1), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = start([sys.executable, "-c", WRITERS, name])
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdout.readline() == "round\n"
        kill(process)
        clear_drafts(folder)
        whole = {path: path.read_bytes() for path in folder.iterdir()}
        assert len(whole) == 10
        for number in range(kills):
            process = start([sys.executable, "-c", WRITERS, name])
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0, 0.5))
            kill(process)
            hits += clear_drafts(folder) > 0
            findings += [
                f"kill {number}: half of {path.name}"
                for path, data in whole.items()
                if path.read_bytes() != data
            ]
    note = f"11 kinds of files; {hits} kills met one that was being written"
    return Row("kills", "writing", kills, len(findings), note, tuple(findings))


def kill_bench(kills: int) -> Row:
    """Kill ``franet bench run``; what is finished stays, and the rest is done once."""
    rng, findings, progress = random.Random(2), [], 0
    with tempfile.TemporaryDirectory() as name:
        script, folder = Path(name, "bench.py"), Path(name, "results")
        script.write_text(BENCH)
        command = [sys.executable, str(script), str(folder)]
        before: list[str] = []
        for number in range(kills):
            process = start(command)
            if number % 4:
                _wait_for_more(folder, len(before), process)
                time.sleep(rng.uniform(0, 0.3))
            else:
                time.sleep(rng.uniform(0, 3.0))
            kill(process)
            after = contents(folder)
            progress += len(after) > len(before)
            if after[: len(before)] != before:
                findings.append(f"kill {number}: finished records changed")
            before = after
            if len(before) == UNITS:  # all is done: begin anew
                findings += _units(before)
                for path in folder.iterdir():
                    path.unlink()
                before = []
        errors = start(command).communicate()[1]
        if errors:
            findings.append(f"the last run: {errors[-500:]}")
        if len(contents(folder)) != UNITS:
            findings.append("units are missing or come twice")
        findings += _units(contents(folder))
    note = f"{progress} kills after some progress; then all {UNITS} units, each once"
    return Row("kills", "bench run", kills, len(findings), note, tuple(findings))


def _wait_for_more(folder: Path, size: int, process: subprocess.Popen[str]) -> None:
    """Wait until a unit is finished, or the process has ended."""
    while process.poll() is None and len(contents(folder)) <= size:
        time.sleep(0.01)


def _units(records: list[str]) -> list[str]:
    units = [
        tuple(json.loads(record)[key] for key in ("dataset", "folds", "fold", "ranker"))
        for record in records
    ]
    return [] if len(units) == len(set(units)) else ["a unit is there twice"]


PARTS: dict[str, Callable[[int], Row]] = {
    "rank": kill_rank,
    "writing": kill_writers,
    "bench": kill_bench,
}


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield a row for each command."""
    for name in chosen or PARTS:
        yield PARTS[name](sizes.kills)
