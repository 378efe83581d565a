"""Fits that are stopped and resumed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from franet import FRANe
from franet.engine import levels
from franet.engine._numpy import TileEngine
from franet.engine._torch import TorchEngine
from franet.exceptions import DataError
from franet.io import _write
from franet.pairs.similarity import _correlation
from franet.pairs.similarity._correlation import StoredCorrelationSource
from tables import blocks
from test_agreement import fit

X = blocks(m=20, n=300)
CHOICE = {"n_thresholds": 20, "backend": "numpy"}


@pytest.fixture
def passes(monkeypatch):
    """Stages of the passes that are made, and how many may be made."""
    made = []
    visit = TileEngine.visit_tiles

    def counted(self, what, rounds):
        if len(made) == made_at_most[0]:
            raise KeyboardInterrupt
        made.append(what.stage)
        return visit(self, what, rounds)

    made_at_most = [10**6]
    monkeypatch.setattr(TileEngine, "visit_tiles", counted)
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 500)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", 2000)
    # So few graphs are enough for a pass over the degrees of those between.
    monkeypatch.setattr(levels, "SAMPLED", 3)
    return made, made_at_most


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "choice",
    [{}, {"thresholds": "quantile", "n_thresholds": 6}, {"max_edges": 400}],
)
def test_what_is_done_is_not_repeated(tmp_path, passes, choice, dtype):
    made, at_most = passes
    table, choice = X.astype(dtype), {**CHOICE, **choice}
    whole = fit(table, **choice)
    expected = made.copy()
    assert len(expected) > 4
    made.clear()
    for stop in range(1, len(expected)):
        at_most[0] = 1
        with pytest.raises(KeyboardInterrupt):
            fit(table, **choice, checkpoint=tmp_path / "passes")
        assert made == [expected[stop - 1]]
        made.clear()
    at_most[0] = 1
    resumed = fit(table, **choice, checkpoint=tmp_path / "passes")
    assert made == expected[-1:]
    for name in ("scores_", "quality_", "quality_bound_", "n_edges_", "thresholds_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    a, b = resumed.network_.adjacency, whole.network_.adjacency
    np.testing.assert_array_equal(a.data, b.data)
    made.clear()
    # A fit that is done needs no pass at all, on any number of threads.
    for n_jobs in (1, 3):
        again = fit(table, **choice, checkpoint=tmp_path / "passes", n_jobs=n_jobs)
        np.testing.assert_array_equal(again.scores_, whole.scores_)
        assert made == []


def spread_from(share):
    """Return a progression; all of them have one name."""
    return lambda low, high, n: np.linspace(low + share * (high - low), high, n)


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        (
            {"min_mean_degree": 40, "max_edges": 400},
            {"min_mean_degree": 40, "max_edges": 4000},
            ["strongest edges"],
        ),
        # Few enough to be kept all: another kind of pass.
        (
            {"min_mean_degree": 40, "max_edges": 400},
            {"min_mean_degree": 40, "max_edges": 50_000},
            ["edges"],
        ),
        (
            {"quality": "random", "random_state": 1},
            {"quality": "random", "random_state": 2},
            None,
        ),
        ({"thresholds": spread_from(0.0)}, {"thresholds": spread_from(0.6)}, None),
    ],
)
def test_a_pass_that_differs_is_made_anew(tmp_path, passes, first, second, repeated):
    made, _ = passes
    expected = fit(X, **CHOICE, **second)
    fit(X, **CHOICE, **first, checkpoint=tmp_path / "passes")
    made.clear()
    for again in (repeated, []):
        found = fit(X, **CHOICE, **second, checkpoint=tmp_path / "passes")
        if again is None:
            assert made and "extremes" not in made
        else:
            assert made == again
        made.clear()
        for name in ("scores_", "n_edges_", "thresholds_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        a, b = found.network_.adjacency, expected.network_.adjacency
        np.testing.assert_array_equal(a.toarray(), b.toarray())


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "passes"
    fit(X, **CHOICE, checkpoint=path)
    return path


def test_is_a_folder_of_arrays(folder):
    about = json.loads((folder / "about.json").read_text())
    assert about["kind"] == "franet checkpoint"
    assert about["n"] == 300
    stages = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            stages.append(str(file["/stage"]))
    assert stages[0] == "extremes"


def test_another_table_is_refused(folder):
    other = X.copy()
    other[3, 299] += 1e-3
    for table in (other, X[:, ::-1], X[:, :299]):
        with pytest.raises(DataError, match="another"):
            fit(table, **CHOICE, checkpoint=folder)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_tables_are_compared_at_their_scale(tmp_path, scale):
    choice = {**CHOICE, "similarity": "euclidean", "checkpoint": tmp_path / "passes"}
    fit(scale * X, **choice)
    # As another machine may have rounded it.
    probe = np.load(tmp_path / "passes" / "table.npy")
    np.save(tmp_path / "passes" / "table.npy", probe * (1 + 1e-13))
    fit(scale * X, **choice)
    other = X.copy()
    other[3, 299] += 1e-3
    for table in (other, 2 * X, 0.5 * X):
        with pytest.raises(DataError, match="another table"):
            fit(scale * table, **choice)


@pytest.mark.parametrize(
    "choice",
    [
        {"n_thresholds": 21},
        {"similarity": "abs-correlation"},
        {"similarity": "euclidean"},
        {"damping": 0.8},
        {"variant": "reference"},
    ],
)
def test_other_parameters_are_refused(folder, choice):
    with pytest.raises(DataError, match="belongs to another"):
        fit(X, **{**CHOICE, **choice}, checkpoint=folder)


def test_a_damaged_file_is_refused(folder):
    first = sorted(folder.glob("*.npz"))[0]
    whole = first.read_bytes()
    for torn in (whole[: len(whole) // 2], b"", whole[:-30] + bytes(30)):
        first.write_bytes(torn)
        with pytest.raises(DataError, match=rf"is damaged: {first.name}"):
            fit(X, **CHOICE, checkpoint=folder)
    swapped = sorted(folder.glob("*.npz"))[1]
    first.write_bytes(swapped.read_bytes())
    with pytest.raises(DataError, match="is of another pass"):
        fit(X, **CHOICE, checkpoint=folder)


def test_a_flipped_bit_is_noticed(folder):
    first = sorted(folder.glob("*.npz"))[0]
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(bytes(content))
    with pytest.raises(DataError, match="is damaged"):
        fit(X, **CHOICE, checkpoint=folder)


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="holds no checkpoint"):
        fit(X, **CHOICE, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(DataError, match="cannot be used as a folder"):
        fit(X, **CHOICE, checkpoint=tmp_path / "notes.txt")
    with pytest.raises(DataError, match="cannot be used as a folder"):
        fit(X, **CHOICE, checkpoint=tmp_path / "no" / "where")


@pytest.mark.parametrize(
    "content",
    [
        {"table.npy": "mine"},
        {"about.json": "{}"},
        {"lock": "mine"},
        {"lock": "", "mine.npy": "mine"},
        {".franet-00.tmp.csv": "mine"},
    ],
)
def test_files_of_a_user_are_not_touched(tmp_path, content):
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="holds no checkpoint") as caught:
        fit(X, **CHOICE, checkpoint=tmp_path)
    assert "delete" not in str(caught.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == content


def test_resumed_after_a_kill_at_any_moment(tmp_path, monkeypatch):
    """Files appear by being renamed: the folder before and after each time."""
    folder, copies = tmp_path / "passes", []
    replace = os.replace

    def copied():
        copies.append(tmp_path / f"copy{len(copies)}")
        shutil.copytree(folder, copies[-1])

    def copying(source, target):
        copied()
        replace(source, target)
        copied()

    monkeypatch.setattr(_write.os, "replace", copying)
    whole = fit(X, **CHOICE, checkpoint=folder)
    monkeypatch.undo()
    # What comes before the first file: no lock yet, and no draft.
    for names in ([], ["lock"]):
        copies.append(tmp_path / f"copy{len(copies)}")
        copies[-1].mkdir()
        for name in names:
            (copies[-1] / name).touch()
    assert len(copies) > 10
    states = [sorted(path.name for path in copy.iterdir()) for copy in copies]
    assert states[1] == ["about.json", "lock"]
    for copy in copies:
        resumed = fit(X, **CHOICE, checkpoint=copy)
        np.testing.assert_array_equal(resumed.scores_, whole.scores_)


# Says that it has the folder, and waits; or says why it has not.
HOLDS = """
import sys
from franet.engine._numpy import TileEngine
from franet.exceptions import DataError
from test_checkpoint import CHOICE, X, fit

visit = TileEngine.visit_tiles
def wait(self, what, rounds):
    TileEngine.visit_tiles = visit
    print("in use", flush=True)
    sys.stdin.readline()
    return visit(self, what, rounds)
TileEngine.visit_tiles = wait
try:
    fit(X, **CHOICE, checkpoint=sys.argv[1])
except DataError as err:
    print(err, flush=True)
else:
    print("done", flush=True)
"""


@pytest.fixture
def start():
    """Return a function that starts a fit in another process."""
    started = []
    here = Path(__file__)
    path = [str(here.parent), str(here.parents[1]), os.environ.get("PYTHONPATH", "")]

    def start(folder):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDS, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


IN_USE = "is in use by another fit"


def test_two_processes_on_one_new_folder(tmp_path, start):
    folder = tmp_path / "passes"
    processes = [start(folder), start(folder)]
    lines = [process.stdout.readline() for process in processes]
    first = lines.index("in use\n")
    assert IN_USE in lines[1 - first]
    assert str(folder) in lines[1 - first]
    assert "delete" not in lines[1 - first]
    with pytest.raises(DataError, match=IN_USE):
        fit(X, **CHOICE, checkpoint=folder)
    out, _ = processes[first].communicate("\n")
    assert out == "done\n"
    assert processes[1 - first].communicate()[0] == ""
    fit(X, **CHOICE, checkpoint=folder)


def test_a_killed_process_leaves_the_folder(tmp_path, start):
    folder = tmp_path / "passes"
    process = start(folder)
    assert process.stdout.readline() == "in use\n"
    process.kill()
    process.wait()
    expected = fit(X, **CHOICE)
    found = fit(X, **CHOICE, checkpoint=folder)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def test_two_threads_on_one_folder(tmp_path, monkeypatch):
    in_use, go_on, found = threading.Event(), threading.Event(), []
    visit = TileEngine.visit_tiles

    def waiting(self, what, rounds):
        if not in_use.is_set():
            in_use.set()
            go_on.wait()
        return visit(self, what, rounds)

    def first_fit():
        try:
            found.append(fit(X, **choice))
        finally:
            in_use.set()

    choice = {**CHOICE, "checkpoint": tmp_path / "passes"}
    monkeypatch.setattr(TileEngine, "visit_tiles", waiting)
    thread = threading.Thread(target=first_fit)
    thread.start()
    try:
        in_use.wait()
        with pytest.raises(DataError, match=IN_USE):
            fit(X, **choice)
    finally:
        go_on.set()
        thread.join()
    again = fit(X, **choice)
    np.testing.assert_array_equal(found[0].scores_, again.scores_)


def test_without_locks_of_the_file_system(tmp_path, monkeypatch):
    def refused(path):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("franet.engine.checkpoint.lock_file", refused)
    for _ in range(2):
        fit(X, **CHOICE, checkpoint=tmp_path / "passes")


def test_draws_use_no_checkpoint(folder):
    choice = {**CHOICE, "n_jobs": 2}
    expected = fit(X, **choice).stability(X, n_halves=4)
    found = fit(X, **choice, checkpoint=folder).stability(X, n_halves=4)
    np.testing.assert_array_equal(found.rank_low, expected.rank_low)


def test_memory_and_random_state_may_change(folder):
    assert fit(X, **CHOICE, checkpoint=folder, max_memory="1 GB", random_state=3)


def test_features_may_lie_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(_correlation, "GROUP", 1)
    table, choice = blocks(m=400, n=800), {**CHOICE, "checkpoint": tmp_path / "passes"}
    expected, opened = fit(table, **choice), []
    init = StoredCorrelationSource.__init__

    def counted(self, *args):
        opened.append(self)
        init(self, *args)

    monkeypatch.setattr(StoredCorrelationSource, "__init__", counted)
    again = fit(table, **choice, n_jobs=1, max_memory="6 MB")
    assert len(opened) == 1
    np.testing.assert_array_equal(again.scores_, expected.scores_)


def summed(matrix, power):
    return np.asarray((matrix.power(power)).sum(axis=0)).ravel()


@pytest.mark.parametrize(
    ("given", "later"),
    [
        ({"n_thresholds": np.int64(20)}, {"n_thresholds": 20}),
        ({"damping": np.float32(0.5)},) * 2,
        ({"weighted": np.bool_(False)}, {"weighted": False}),
        ({"min_mean_degree": np.int32(2)}, {"min_mean_degree": 2}),
        # Each has an address of its own.
        ({"centrality": partial(summed, power=2)},) * 2,
        (
            {"centrality": partial(summed, power=2)},
            {"centrality": partial(summed, power=2)},
        ),
    ],
)
def test_parameters_of_other_kinds(tmp_path, given, later):
    folder = tmp_path / "passes"
    first = fit(X, **{**CHOICE, **given}, checkpoint=folder)
    again = fit(X, **{**CHOICE, **later}, checkpoint=folder)
    np.testing.assert_array_equal(again.scores_, first.scores_)
    settings = json.loads((folder / "about.json").read_text())["settings"]
    assert settings["n_thresholds"] == 20


def test_with_torch(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    choice = {"n_thresholds": 8, "backend": "torch:cpu"}
    whole = fit(X, **choice)
    for _ in range(2):
        resumed = fit(X, **choice, checkpoint=tmp_path / "passes")
        np.testing.assert_array_equal(resumed.scores_, whole.scores_)
    with pytest.raises(DataError, match="belongs to another"):
        fit(X, n_thresholds=8, backend="numpy", checkpoint=tmp_path / "passes")


@pytest.mark.parametrize("order", [("1 GB", "200 MB"), ("200 MB", "1 GB")])
def test_torch_with_other_memory(tmp_path, monkeypatch, order):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    # A tenth of the pairs, and a fiftieth of them.
    monkeypatch.setattr("franet.engine._torch._BYTES_PER_EDGE", 200_000)
    choice = {"n_thresholds": 8, "backend": "torch:cpu"}
    small = fit(X, **choice, max_memory="200 MB")
    choice["checkpoint"] = tmp_path / "passes"
    fit(X, **choice, max_memory=order[0])
    made, visit = [], TorchEngine.visit_tiles

    def counted(self, what, rounds):
        made.append(what.stage)
        return visit(self, what, rounds)

    monkeypatch.setattr(TorchEngine, "visit_tiles", counted)
    resumed = fit(X, **choice, max_memory=order[1])
    np.testing.assert_array_equal(resumed.scores_, small.scores_)
    # With more memory all that is done is taken.
    assert (not made) == (order[0] == "200 MB")
    assert "extremes" not in made


def test_torch_with_other_tiles(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr("franet.engine._torch._BLOCKS", (1, 1, 1, 1, 128, 64))
    choice = {"n_thresholds": 3, "backend": "torch:cpu"}
    choice["checkpoint"] = tmp_path / "passes"
    fit(X, **choice, max_memory="2 MB")
    with pytest.raises(DataError, match=r"other memory: .* was 128, this one's is 64"):
        fit(X, **choice, max_memory="1 MB")


def test_only_the_full_search_has_passes(tmp_path):
    with pytest.raises(ValueError, match="approximate' does not support checkpoint="):
        FRANe(search="approximate", checkpoint=tmp_path / "passes").fit(X)
