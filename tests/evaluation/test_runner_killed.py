"""The benchmark as a process that is killed, stopped, or started twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from evaluation.bad_rankers import Noisy, load, stand_in_for_sklearn
from evaluation.stored import contents, rows_in
from franet.evaluation import evaluate
from franet.evaluation.store import ResultsStore

TESTS = Path(__file__).parent.parent
SETS = ["a", "b", "c", "d", "e", "f"]
LABELS = [f"r{i}" for i in range(12)]
FOLDS = 4
KILLS = 20
UNITS = len(SETS) * FOLDS * len(LABELS)

CODE = """
import json, sys
from evaluation.bad_rankers import Noisy, Sleeping, Stubborn, load
from franet.evaluation.runner import run

def tell(status):
    record = status.record
    print(json.dumps(record.key if record else None), flush=True)

def work(sets, rankers, folds=4):
    run(sets, rankers, sys.argv[1], folds=folds, n_features=[2], measures=["rmae"],
        n_jobs=2, load=load, listener=tell)

"""
MANY = CODE + f"work({SETS}, {{name: Noisy(0.02) for name in {LABELS}}})"

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def start(tmp_path):
    """Return a function that starts code in a process group of its own."""
    stub = stand_in_for_sklearn(tmp_path / "stub")
    path = os.pathsep.join([stub, str(TESTS)])
    started = []

    def start(code, folder):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def members(group):
    """Return the processes of a group that live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                about = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(about[2]) == group and about[0] != "Z":
                found.append(int(entry.name))
    return found


def wait_for(condition, process=None):
    while not condition():
        # What has ended will not change any more.
        assert process is None or process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def kill_at_a_moment(process, generator, early):
    """Kill a runner at a random moment; return the units that it called finished."""
    said = []
    if early:
        time.sleep(generator.uniform(0, 1))
    else:
        # The first line comes before the work; then some units are done.
        said += [process.stdout.readline() for _ in range(generator.randint(2, 7))]
    process.kill()
    said += process.communicate()[0].splitlines()
    # The last line may be cut short.
    keys = [json.loads(line) for line in said if line.strip().endswith(("]", "null"))]
    return {tuple(key) for key in keys if key is not None}


def test_killed_twenty_times(tmp_path, start):
    """No finished row is lost, none comes twice, and the end is as if undisturbed."""
    folder = tmp_path / "results"
    generator = random.Random(0)
    before, progress = [], 0
    for kill in range(KILLS):
        said = kill_at_a_moment(start(MANY, folder), generator, early=kill % 4 == 0)
        after = contents(folder)
        assert after[: len(before)] == before, "finished records stay as they are"
        found = [row[:-3] for row in rows_in(folder)]
        assert said <= set(found)
        assert len(found) == len(set(found)), "a unit is there twice"
        progress += len(after) > len(before)
        before = after
        if len(found) == UNITS:
            break
    assert progress > kill // 2, "the kills met the work"

    last = start(MANY, folder)
    errors = last.communicate()[1]
    assert last.returncode == 0, errors
    assert contents(folder)[: len(before)] == before
    found = rows_in(folder)
    assert len(found) == len(set(found)) == UNITS
    quick = {label: Noisy() for label in LABELS}
    expected = {
        (name, row.fold, row.ranker, row.value)
        for name in SETS
        for row in evaluate(
            load(name)[0], rankers=quick, folds=FOLDS, n_features=[2], measures="rmae",
            references=False, name=name,
        ).rows()
    }  # fmt: skip
    assert {(row.dataset, row.fold, row.ranker, row.value) for row in found} == expected
    ids = [run["id"] for run in ResultsStore.read_runs(folder)]
    assert len(ids) == len(set(ids)) > progress


@linux
@pytest.mark.parametrize("ranker", ["Sleeping", "Stubborn"])
def test_workers_end_with_their_parent(tmp_path, start, ranker):
    """Also those that hold the interpreter lock."""
    begun = tmp_path / "begun"
    begun.mkdir()
    code = f"work(['a'], {{'r': {ranker}({str(begun)!r})}}, 2)"
    process = start(CODE + code, tmp_path / "results")
    wait_for(lambda: len(list(begun.iterdir())) == 2, process)
    assert {int(each.name) for each in begun.iterdir()} < set(members(process.pid))
    process.kill()
    process.wait()
    wait_for(lambda: not members(process.pid))


@linux
def test_interrupt(tmp_path, start):
    """Ctrl-C of a terminal goes to all processes; only the runner has a say."""
    folder = tmp_path / "results"
    process = start(MANY, folder)
    process.stdout.readline()
    said = json.loads(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1, "workers say nothing"
    wait_for(lambda: not members(process.pid))
    keys = {row[:-3] for row in rows_in(folder)}
    assert {
        tuple(said),
        *(tuple(json.loads(line)) for line in out.splitlines()),
    } <= keys


@linux
def test_interrupt_at_the_start(tmp_path, start):
    """Workers that are still starting say nothing either."""
    process = start(MANY, tmp_path / "results")
    process.stdout.readline()
    wait_for(lambda: len(members(process.pid)) >= 3)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate()[1]
    assert errors.count("Traceback") == 1
    wait_for(lambda: not members(process.pid))


def test_two_runners(tmp_path, start):
    folder = tmp_path / "results"
    first = start(MANY, folder)
    first.stdout.readline()
    second = start(MANY, folder)
    assert "another run is writing to this folder" in second.communicate()[1]
    assert second.returncode == 1
    assert first.poll() is None
    first.kill()
    first.communicate()
    third = start(MANY, folder)  # the lock went with its owner
    assert third.stdout.readline() == "null\n"


def test_script_without_a_guard(tmp_path, start):
    """Workers import the script, which must not start the benchmark again."""
    script = tmp_path / "script.py"
    script.write_text(MANY)
    process = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "results")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert process.returncode == 1
    assert process.stderr.rstrip().endswith(
        "before it was ready; in a script, call this under if __name__ == '__main__':"
    )
