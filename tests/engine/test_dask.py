"""Fits on a Dask cluster: the same results as on one machine."""

from __future__ import annotations

import ctypes
import os
import pickle
import stat
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from engine.clusters import (
    MARKS,
    TABLE,
    assert_agrees,
    assert_nothing_left,
    assert_same_bits,
    distributed,
    fit,
    local,
    posix,
)
from franet import FRANe
from franet.engine import _dask, _dask_tasks, levels
from franet.engine._dask import DaskWorkers
from franet.engine._dask_tables import deposit
from franet.engine._dask_tasks import SourceRecipe
from franet.engine._numpy import TileEngine
from franet.exceptions import BackendError, DataError, UsageError

pytestmark = MARKS


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
        monkeypatch.delattr(DaskWorkers, "hand_over")
    assert_agrees(fit(client, table), local(X))


def test_dask_array_is_stored_by_workers(client, scratch):
    array = pytest.importorskip("dask.array", reason="needs franet[dask]")
    lazy = array.from_array(TABLE, chunks=(10, 300)) + 1.0
    assert_agrees(fit(client, lazy), local(TABLE + 1.0))
    assert_nothing_left(client)


@posix
def test_the_folder_is_for_its_owner_alone(client, monkeypatch):
    seen = []

    def look(table, folder, *rest):
        seen.append(folder.stat())
        return deposit(table, folder, *rest)

    monkeypatch.setattr(_dask, "deposit", look)
    fit(client, TABLE)
    assert stat.S_IMODE(seen[0].st_mode) == 0o700
    assert seen[0].st_uid == os.getuid()


def test_bad_value_in_a_file_is_named(client, tmp_path):
    X = TABLE.copy()
    X[4, 700] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match=r"700.* holds NaN in row 4.* missing="):
        fit(client, np.load(tmp_path / "x.npy", mmap_mode="r"))
    with pytest.raises(DataError, match=r"700.* row 4\. Fill or drop it\.$"):
        fit(client, np.load(tmp_path / "x.npy", mmap_mode="r"), similarity="spearman")
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


def test_threads_and_workers_do_not_matter(undisturbed):
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, **options
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        assert_same_bits(fit(other, TABLE), undisturbed)


def test_checkpoint_is_resumed(client, undisturbed, tmp_path):
    def stop(stage, done, total):
        if stage == "edges":
            raise KeyboardInterrupt

    choice = {"checkpoint": tmp_path / "done"}
    with pytest.raises(KeyboardInterrupt):
        fit(client, TABLE, stop, **choice)
    heard = set()
    ranker = fit(client, TABLE, lambda stage, *_: heard.add(stage), **choice)
    assert "edges" in heard and "extremes" not in heard
    assert_same_bits(ranker, undisturbed)


def test_worker_with_too_little_memory(monkeypatch):
    worker = SimpleNamespace(
        address="tcp://there",
        memory_manager=SimpleNamespace(memory_limit=1000),
        state=SimpleNamespace(nthreads=1),
    )
    monkeypatch.setattr(_dask_tasks, "_worker", lambda: worker)
    recipe = SourceRecipe("token", None, {"similarity": "correlation"})
    with pytest.raises(BackendError, match=r"there has too little .*memory_limit"):
        _dask_tasks._similarities(TABLE, recipe)


FAULTS = """
import resource, sys
import numpy as np
from franet.engine._dask_tasks import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
keep_freed_memory(True)
faults()
inside = faults()
keep_freed_memory(False)
print(outside, inside, faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_memory_of_tiles_is_kept_during_a_fit():
    if not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"):
        pytest.skip("the allocator of glibc")
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", FAULTS]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    before, inside, after = map(int, done.stdout.split())
    assert inside < before / 10
    assert inside < after / 10


def test_no_cluster():
    with pytest.raises(
        UsageError, match=r"needs a cluster: pass backend='tcp://host:8786' or a"
    ):
        FRANe(backend="dask").fit(TABLE)


def test_no_scheduler_at_the_address(monkeypatch):
    monkeypatch.setattr(_dask, "_ANSWER", 1)
    with pytest.raises(BackendError, match="No Dask scheduler answers at"):
        FRANe(backend="tcp://127.0.0.1:9").fit(TABLE)


def test_not_a_client():
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(UsageError, match=r"backend=<.*> is not a client of Dask; pass"),
    ):
        FRANe(backend=pool).fit(TABLE)


def test_no_workers(monkeypatch):
    monkeypatch.setattr(DaskWorkers, "PATIENCE", 1.0)
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=0, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(BackendError, match="no worker for 1 seconds"),
    ):
        fit(client, TABLE)


def test_clones_share_a_client_and_pickles_hold_its_address(client):
    ranker = fit(client, TABLE)
    twin = clone(ranker)
    assert twin.backend is client
    assert not hasattr(twin, "scores_")
    assert_agrees(twin.fit(TABLE), ranker)
    loaded = pickle.loads(pickle.dumps(ranker))
    assert loaded.backend == client.scheduler.address
    np.testing.assert_array_equal(loaded.scores_, ranker.scores_)
    np.testing.assert_array_equal(loaded.order_, ranker.order_)
