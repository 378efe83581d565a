"""Binary files are read in another process, which may die of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from franet.exceptions import DataError
from franet.io import _arrays, _sandbox, read_table

h5py = pytest.importorskip("h5py", reason="needs h5py")

SAYS = """
import sys
for line in sys.stdin:
    print("{{}}", flush=True)
    {}
"""

FORKS = """
import os, sys
from franet.io import read_table
from franet.io._sandbox import _reader

def total():
    return int(read_table(sys.argv[1], variable="X").X.sum())

print(total(), flush=True)
with _reader._lock:  # as if another thread had it
    pid = os.fork()
    if pid == 0:
        print(total())
        sys.exit()
print(os.waitpid(pid, 0)[1], total())
"""

PEAK = """
import sys, resource
from franet.exceptions import DataError
from franet.io import _sandbox, read_table

try:
    read_table(sys.argv[1])
except DataError as err:
    print("bomb" in str(err))
_sandbox._reader.stop()
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(3)
        file["names"] = ["a", "bc"]
    return path


def is_read(path):
    np.testing.assert_array_equal(read_table(path, variable="X").X, np.eye(3))


def use_script(monkeypatch, line):
    """Start a script instead, with a line for each file."""
    monkeypatch.setattr(_sandbox, "_START", SAYS.format(line))


def test_one_process_for_many_files(path, worker, tmp_path):
    is_read(path)
    process = worker._process
    scipy_io.savemat(tmp_path / "x.mat", {"X": np.eye(3)})
    is_read(tmp_path / "x.mat")
    assert worker._process is process


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.mtx"])
def test_no_process_for_text_and_numpy(tmp_path, worker, name):
    path = tmp_path / name
    if name == "x.npy":
        np.save(path, np.eye(3))
    elif name == "x.csv":
        np.savetxt(path, np.eye(3), delimiter=",")
    else:
        scipy_io.mmwrite(path, np.eye(3))
    np.testing.assert_array_equal(read_table(path).X, np.eye(3))
    assert worker._process is None


def test_another_folder(path, worker, monkeypatch, tmp_path):
    is_read(path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "y.h5").write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path / "inner")
    is_read(Path("y.h5"))
    Path("z.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(DataError, match=r"^z\.h5: cannot be read as hdf5"):
        read_table("z.h5")


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i2", "u1", "?", "f2", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_as_they_are(tmp_path, monkeypatch, dtype, order):
    array = np.arange(60.0).reshape(20, 3).astype(dtype, order=order)
    path = tmp_path / "x.mat"
    if dtype in ("f8", "f4", "i2", "u1"):
        scipy_io.savemat(path, {"X": array})
        found = read_table(path).X
        assert found.flags.f_contiguous
    else:
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=array, chunks=(7, 2))
        found = read_table(path).X
        assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, array)


def test_large_arrays_come_in_pieces(tmp_path, worker):
    X = np.random.default_rng(0).normal(size=(1 << 12, 700))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(1000, 100))
    np.testing.assert_array_equal(read_table(tmp_path / "x.h5").X, X)
    matrix = sparse.random_array((5000, 2000), density=0.3, format="csc", rng=0)
    scipy_io.savemat(tmp_path / "x.mat", {"S": matrix})
    assert (read_table(tmp_path / "x.mat").X != matrix).nnz == 0


def test_death(path, worker, monkeypatch):
    good = _sandbox._START
    use_script(monkeypatch, "os = __import__('os'); os.abort()")
    with pytest.raises(DataError, match=r"x\.h5: reading it crashed, or took more"):
        read_table(path, variable="X")
    monkeypatch.setattr(_sandbox, "_START", good)
    is_read(path)


def test_death_by_something_else(path, worker):
    # Such as the end of its patience, at the moment it is asked.
    is_read(path)
    worker._process.kill()
    while worker._process.poll() is None:
        time.sleep(0.01)
    is_read(path)


@pytest.mark.parametrize("hangs", ["while True: pass", "PyDLL(None).pause()"])
def test_no_end(path, worker, monkeypatch, tmp_path, hangs):
    if "pause" in hangs and sys.platform == "win32":
        pytest.skip("needs a function of C that waits")
    # The second one lets no other thread of Python run.
    code = f"from ctypes import PyDLL\ndef File(*_):\n    {hangs}\n"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "h5py.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path / "other")
    monkeypatch.setattr(_sandbox, "_SECONDS", 0.2)
    with pytest.raises(DataError, match="reading it timed out after 0 s"):
        read_table(path)
    assert worker._process is None


def test_interrupt(path, worker, monkeypatch):
    is_read(path)
    old = worker._process

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_sandbox, "_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            is_read(path)
    assert old.returncode is not None
    is_read(path)


@pytest.mark.parametrize("what", ["executable", "nothing", "script", "folder"])
def test_without_another_process(path, worker, monkeypatch, tmp_path, what):
    if what == "script":
        monkeypatch.setattr(_sandbox, "_START", "nonsense")
    elif what == "folder":

        def gone():
            raise FileNotFoundError

        monkeypatch.setattr(_sandbox.os, "getcwd", gone)
    else:
        nothing = str(tmp_path / "nowhere") if what == "nothing" else ""
        monkeypatch.setattr(sys, "executable", nothing)
    is_read(path)
    np.testing.assert_array_equal(
        read_table(path, variable="X", lazy=0).X.load(), np.eye(3)
    )
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    matrix = sparse.csr_matrix(np.eye(3))
    anndata.AnnData(matrix).write_h5ad(tmp_path / "x.h5ad")
    assert (read_table(tmp_path / "x.h5ad").X != matrix).nnz == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKS, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "3\n3\n0 3\n"
    assert done.stderr == ""


def test_threads(path, worker):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(read_table(path, variable="X").X))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for X in found:
        np.testing.assert_array_equal(X, np.eye(3))


def test_file_is_closed_afterwards(path, tmp_path):
    table = read_table(path, variable="X")
    with h5py.File(path, "r+") as file:
        file["X"][0, 0] = 5
    np.testing.assert_array_equal(table.X, np.eye(3))
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    anndata.AnnData(np.eye(3)).write_h5ad(tmp_path / "x.h5ad")
    read_table(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "r+") as file:
        file["X"][0, 0] = 5


def test_large_datasets_that_are_opened(tmp_path, in_process, monkeypatch):
    # What is small is read whole, of the rest the ends and the index.
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("Z", data=np.arange(4000.0).reshape(-1, 4), chunks=(100, 4))
    monkeypatch.setattr(_arrays, "_WHOLE", 1000)
    table = read_table(path, lazy=0)
    np.testing.assert_array_equal(table.X.load()[:, 0], np.arange(0.0, 4000, 4))
    with h5py.File(path) as file:
        with pytest.raises(OSError, match="beyond the end"):
            _arrays._look_through(file["Z"], 9000)


def test_hostile_chunk(tmp_path):
    # A dataset of 80 bytes, but HDF5 would read 800 MB.
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "X", (5, 2), maxshape=(None, 2), chunks=(50_000_000, 2), dtype="f8"
        )
    with pytest.raises(DataError, match=r"would take 1\.6 GB of memory"):
        read_table(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
@pytest.mark.parametrize("kind", ["mat", "parquet", "feather"])
def test_the_other_process_takes_no_more_than_it_may(tmp_path, kind):
    zeros = np.zeros((1 << 20, 64))  # half a gigabyte
    path = tmp_path / f"x.{kind}"
    if kind == "mat":
        scipy_io.savemat(path, {"X": zeros}, do_compression=True)
    else:
        pl = pytest.importorskip("polars", reason="needs the extra polars")
        frame = pl.DataFrame(zeros)
        if kind == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path, compression="zstd")
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    refused, peak = done.stdout.split()
    assert refused == "True"
    most = 2 * max(1 << 26, 500 * path.stat().st_size) + (1 << 26)
    assert 1024 * int(peak) < most + (200 << 20)


def test_annotations_are_read_in_the_other_process_first(tmp_path, monkeypatch):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    adata = anndata.AnnData(np.eye(4, 3))
    adata.obs["kind"] = list("abab")
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    obs, var, _ = _arrays.read_annotations(path)
    assert list(obs["kind"]) == list("abab")
    assert list(var.index) == ["0", "1", "2"]

    def crashed(path, options):
        assert options.annotations
        raise DataError(f"{path}: reading it crashed")

    monkeypatch.setattr(_sandbox, "ask", crashed)
    with pytest.raises(DataError, match="reading it crashed"):
        _arrays.read_annotations(path)
