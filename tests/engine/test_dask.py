"""Fits on a Dask cluster: the same results, whatever becomes of the workers."""

from __future__ import annotations

import _thread
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from franet import FRANe, _progress
from franet.engine import _dask, _dask_crew, _dask_tasks, _windows, levels
from franet.engine._dask_crew import Crew
from franet.engine._dask_tasks import Recipe
from franet.engine._numpy import TileEngine
from franet.exceptions import BackendError, DataError, UsageError
from tables import blocks

dask = pytest.importorskip("dask", reason="needs franet[dask]")
distributed = pytest.importorskip("distributed", reason="needs franet[dask]")

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning"),
]
posix = pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")

# Five blocks in float64, three in float32.
TABLE = blocks(m=25, n=1100)


@contextmanager
def started(n_workers):
    options = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
        # After this time a cluster looks whether a lost worker is there again. If it
        # was, and has just been lost a second time, it would be given up for good.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, **options
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def cluster():
    with started(2) as client:
        yield client


@pytest.fixture
def client(cluster):
    # Those that an earlier test has killed are back.
    cluster.wait_for_workers(2, timeout=60)
    return cluster


@pytest.fixture(autouse=True)
def many_parts(monkeypatch):
    monkeypatch.setattr(_windows, "GROUP_BLOCKS", 1)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Return the folder for temporary files; nothing is to be left in it."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def fit(client, X, listener=None, **choice):
    choice = {"n_thresholds": 12, **choice}
    with _progress.listening(listener):
        return FRANe(backend="dask", scheduler=client, **choice).fit(X)


def local(X, **choice):
    return FRANe(backend="numpy", **{"n_thresholds": 12, **choice}).fit(X)


def assert_agrees(ranker, expected):
    assert ranker.winner_ == expected.winner_
    np.testing.assert_allclose(ranker.scores_, expected.scores_, rtol=1e-12)
    np.testing.assert_array_equal(ranker.n_edges_, expected.n_edges_)
    np.testing.assert_array_equal(ranker.constant_, expected.constant_)
    assert ranker.network_.n_edges == expected.network_.n_edges


def assert_same_bits(ranker, expected):
    for name in ("scores_", "thresholds_", "quality_bound_", "n_edges_"):
        found, wanted = getattr(ranker, name), getattr(expected, name)
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def assert_nothing_left(client):
    assert not client.futures
    wait_until(lambda: not client.cluster.scheduler.tasks)


class Killer:
    """Kills workers when a stage is first heard of."""

    def __init__(self, client, *stages, each=1):
        self.client, self.stages, self.each = client, list(stages), each
        self.killed = []

    def ready(self):
        # A process that dies while it is started is not started again.
        nannies = self.client.cluster.workers.values()
        known = self.client.run(os.getpid, on_error="ignore").values()
        return [
            nanny.pid
            for nanny in nannies
            if nanny.status == nanny.process.status == distributed.Status.running
            and nanny.pid in known
        ]

    def __call__(self, stage, done, total):
        if stage in self.stages and done < total:
            self.stages.remove(stage)
            wait_until(lambda: len(self.ready()) >= self.each)
            for pid in self.ready()[: self.each]:
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"variant": "reference"},
        {"thresholds": "quantile", "n_thresholds": 5},
        {"thresholds": "linear-mean", "similarity": "spearman"},
        {"similarity": "manhattan"},
        {"streamed": True, "n_thresholds": 4},
        {"streamed": True, "n_thresholds": 4, "max_edges": 3000},
    ],
)
def test_agrees_with_one_process(client, monkeypatch, choice, dtype):
    choice, X = dict(choice), TABLE.astype(dtype)
    if choice.pop("streamed", False):
        X = X[:, :600]
        monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 1000)
        monkeypatch.setattr(TileEngine, "DEEP_PAIRS", 1000)
        monkeypatch.setattr(levels, "SAMPLED", 4)
    X[:, 3] = 1.0
    X[:, 7] = 2 * X[:, 590]
    assert_agrees(fit(client, X, **choice), local(X, **choice))
    assert_nothing_left(client)


def _overlap(A, B):
    return np.exp(-np.abs(A.mean(axis=0)[:, None] - B.mean(axis=0)))


@pytest.mark.parametrize("kind", ["sparse", "pairwise", "callable", "precomputed"])
def test_other_tables(client, kind):
    X, choice = TABLE[:, :600].copy(), {}
    if kind == "sparse":
        X = sparse.csr_array(np.where(X > 2.0, X, 0.0))
    elif kind == "pairwise":
        X[::5, 4], choice = np.nan, {"missing": "pairwise"}
    elif kind == "callable":
        choice = {"similarity": _overlap}
    else:
        X, choice = np.abs(np.corrcoef(X.T)), {"similarity": "precomputed"}
    assert_agrees(fit(client, X, **choice), local(X, **choice))


def test_mixed_table(client):
    pandas = pytest.importorskip("pandas", reason="needs franet[pandas]")
    X = pandas.DataFrame(TABLE[:, :20]).add_prefix("c")
    X["kind"] = np.array(["a", "b", "c"])[np.arange(25) % 3]
    X["name"] = [f"row {i}" for i in range(25)]
    choice = {"similarity": "mixed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ranker, expected = fit(client, X, **choice), local(X, **choice)
    assert_agrees(ranker, expected)
    assert list(ranker.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("kind", ["memmap", "part", "hdf5", "zarr", "zarr in memory"])
def test_tables_in_files_are_opened_by_workers(client, tmp_path, monkeypatch, kind):
    X = TABLE.astype(np.float32)
    if kind in ("memmap", "part"):
        np.save(tmp_path / "x.npy", X)
        table = np.load(tmp_path / "x.npy", mmap_mode="r")
        if kind == "part":
            table, X = table[3:], X[3:]
    elif kind == "hdf5":
        h5py = pytest.importorskip("h5py", reason="needs franet[hdf5]")
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_dataset("a/x", data=X, chunks=(5, 100))
        table = h5py.File(tmp_path / "x.h5", "r")["a/x"]
    else:
        zarr = pytest.importorskip("zarr", reason="a format that users may have")
        store = str(tmp_path / "x.zarr") if kind == "zarr" else {}
        table = zarr.create_array(store, shape=X.shape, chunks=(25, 90), dtype="f4")
        table[:] = X
    if kind != "zarr in memory":
        # Neither copied nor sent.
        monkeypatch.delattr(_dask, "deposit")
        monkeypatch.delattr(Crew, "hand_over")
    assert_agrees(fit(client, table), local(X))


def test_dask_array_is_stored_by_workers(client, scratch):
    array = pytest.importorskip("dask.array", reason="needs franet[dask]")
    lazy = array.from_array(TABLE, chunks=(10, 300)) + 1.0
    assert_agrees(fit(client, lazy), local(TABLE + 1.0))
    assert_nothing_left(client)


def test_bad_value_in_a_file_is_named(client, tmp_path):
    X = TABLE.copy()
    X[4, 700] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match=r"700.* holds NaN in row 4"):
        fit(client, np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert_nothing_left(client)


def test_reports_parts_and_names_tasks(client):
    heard = []
    fit(client, TABLE, lambda *report: heard.append(report))
    done = [(d, t) for stage, d, t in heard if stage == "edges"]
    assert len(done) == 10  # parts of four groups
    assert [d for d, _ in done] == sorted(d for d, _ in done)
    assert done[-1] == (15, 15)
    prefixes = set(client.cluster.scheduler.task_prefixes)
    assert {"franet_extremes", "franet_edges", "franet_open"} <= prefixes


def test_threads_and_workers_do_not_matter(client):
    expected = fit(client, TABLE)
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, **options
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        assert_same_bits(fit(other, TABLE), expected)


def test_checkpoint_is_resumed(client, tmp_path):
    def stop(stage, done, total):
        if stage == "edges":
            raise KeyboardInterrupt

    choice = {"checkpoint": tmp_path / "done"}
    with pytest.raises(KeyboardInterrupt):
        fit(client, TABLE, stop, **choice)
    heard = set()
    ranker = fit(client, TABLE, lambda stage, *_: heard.add(stage), **choice)
    assert "edges" in heard and "extremes" not in heard
    assert_same_bits(ranker, fit(client, TABLE))


@posix
def test_killed_workers_change_nothing(client, monkeypatch, scratch):
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 1000)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", 1000)
    choice = {"n_thresholds": 4, "max_edges": 3000}
    expected = fit(client, TABLE, **choice)
    stages = ("extremes", "edges", "products", "strongest edges")
    killer = Killer(client, *stages)
    ranker = fit(client, TABLE, killer, **choice)
    assert len(killer.killed) == 4
    assert_same_bits(ranker, expected)
    assert_nothing_left(client)


@posix
def test_table_survives_the_loss_of_all_workers(client, monkeypatch):
    expected = fit(client, TABLE)
    # As if workers were on other machines: the table is sent to them.
    monkeypatch.setattr(Crew, "all_see", lambda self, path: False)
    assert_same_bits(fit(client, TABLE), expected)
    killer = Killer(client, "edges", each=2)
    assert_same_bits(fit(client, TABLE, killer), expected)
    assert len(killer.killed) == 2
    assert_nothing_left(client)


def test_worker_without_the_file_gets_the_table(client, monkeypatch):
    # The file is gone after the workers were asked.
    seen = Crew.see

    def see(self, file):
        seen(self, file)
        os.remove(file.path)

    monkeypatch.setattr(Crew, "see", see)
    assert_agrees(fit(client, TABLE), local(TABLE))


@posix
def test_task_that_the_scheduler_gives_up_is_sent_again(client, monkeypatch):
    expected = fit(client, TABLE)
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    killer = Killer(client, "edges", each=2)
    assert_same_bits(fit(client, TABLE, killer), expected)
    assert len(killer.killed) == 2


def _deadly(A, B):
    os.kill(os.getpid(), signal.SIGKILL)


@posix
def test_task_that_kills_every_worker(monkeypatch):
    monkeypatch.setattr(_dask_crew, "_RESUBMITS", 0)
    # On a cluster of its own: a process that dies while it is started, as here it may,
    # is not started again.
    with started(1) as client:
        monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
        with pytest.raises(BackendError, match="memory_limit"):
            fit(client, TABLE, similarity=_deadly)
        assert_nothing_left(client)


def test_worker_with_too_little_memory(monkeypatch):
    worker = SimpleNamespace(
        address="tcp://there",
        memory_manager=SimpleNamespace(memory_limit=1000),
        state=SimpleNamespace(nthreads=1),
    )
    monkeypatch.setattr(_dask_tasks, "_worker", lambda: worker)
    recipe = Recipe("token", None, {"similarity": "correlation"})
    with pytest.raises(BackendError, match=r"there has too little .*memory_limit"):
        _dask_tasks._similarities(TABLE, recipe)


FAULTS = """
import resource, sys
import numpy as np
from franet.engine._dask_malloc import keeping_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
with keeping_memory(), keeping_memory():
    faults()
    inside = faults()
print(outside, inside, faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_memory_of_tiles_is_kept_while_parts_run():
    if not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"):
        pytest.skip("the allocator of glibc")
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", FAULTS]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    before, inside, after = map(int, done.stdout.split())
    assert inside < before / 10
    assert inside < after / 10


@pytest.mark.parametrize("stage", ["extremes", "edges"])
def test_interrupt_leaves_nothing_behind(client, scratch, stage):
    def interrupt(heard, done, total):
        if heard == stage:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        fit(client, TABLE, interrupt)
    assert_nothing_left(client)


def test_no_cluster():
    with pytest.raises(UsageError, match=r"needs a cluster: pass scheduler="):
        FRANe(backend="dask").fit(TABLE)


def test_no_scheduler_at_the_address(monkeypatch):
    monkeypatch.setattr(_dask, "_ANSWER", 1)
    with pytest.raises(BackendError, match="No Dask scheduler answers at"):
        FRANe(scheduler="tcp://127.0.0.1:9").fit(TABLE)


def test_no_workers(monkeypatch):
    monkeypatch.setattr(Crew, "PATIENCE", 1.0)
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=0, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(BackendError, match="no worker for 1 seconds"),
    ):
        fit(client, TABLE)


@posix
def test_lost_scheduler_is_told_at_once(tmp_path):
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port=0"]
    command += [f"--scheduler-file={file}", "--no-dashboard", "--host=127.0.0.1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    lost = 0.0

    def kill(heard, done, total):
        nonlocal lost
        if heard == "extremes" and not lost:
            scheduler.kill()
            lost = time.monotonic()

    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
    worker += [f"--scheduler-file={file}", "--death-timeout=60", "--no-dashboard"]
    with (
        subprocess.Popen(command, **quiet) as scheduler,
        subprocess.Popen(worker, **quiet) as process,
    ):
        try:
            wait_until(lambda: file.exists() and file.stat().st_size)
            with distributed.Client(scheduler_file=str(file)) as client:
                address = client.scheduler.address
            with pytest.raises(BackendError, match=r"scheduler at tcp.* was lost"):
                fit(address, TABLE, kill)
            assert time.monotonic() - lost < 15.0
        finally:
            scheduler.kill()
            process.kill()
