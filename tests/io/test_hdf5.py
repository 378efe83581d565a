"""HDF5 files are looked through in another process, which may die of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from franet.exceptions import DataError
from franet.io import _hdf5, read_table

h5py = pytest.importorskip("h5py", reason="needs h5py")
from franet.io import _hdf5_child  # noqa: E402

SAYS = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    {}
"""

FORKS = """
import os, sys
from pathlib import Path
from franet.io._hdf5 import _looker, look_through

path = Path(sys.argv[1])
look_through(path, "")
with _looker._lock:  # as if another thread had it
    pid = os.fork()
    if pid == 0:
        print(look_through(path, ""))
        sys.exit()
print(os.waitpid(pid, 0)[1], look_through(path, ""))
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(3)
        file["names"] = ["a", "bc"]
    return path


@pytest.fixture
def looker(monkeypatch):
    """Give a process that no other test uses."""
    found = _hdf5._Looker()
    monkeypatch.setattr(_hdf5, "_looker", found)
    yield found
    found.stop()


def use_script(monkeypatch, tmp_path, line):
    """Start a script instead, with a line for each file."""
    script = tmp_path / "script.py"
    script.write_text(SAYS.format(line))
    monkeypatch.setattr(_hdf5, "_SCRIPT", script)


def test_bytes_that_are_claimed(path):
    assert _hdf5.look_through(path, "") == 9 * 8 + 2 * 8
    assert _hdf5.look_through(path, "", without="X") == 2 * 8
    assert _hdf5.look_through(path, "X") == 9 * 8
    assert _hdf5.look_through(path, None) == 0


def test_one_process_for_many_files(path, looker):
    _hdf5.look_through(path, "")
    process = looker._process
    _hdf5.look_through(path, "")
    assert looker._process is process


def test_another_folder(path, looker, monkeypatch, tmp_path):
    _hdf5.look_through(path, "")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "y.h5").write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path / "inner")
    assert _hdf5.look_through(Path("y.h5"), "") == 88


def test_death(path, looker, monkeypatch, tmp_path):
    good = _hdf5._SCRIPT
    use_script(monkeypatch, tmp_path, "os = __import__('os'); os.abort()")
    with pytest.raises(DataError, match=r"x\.h5: is damaged: the HDF5 library breaks"):
        read_table(path, variable="X")
    monkeypatch.setattr(_hdf5, "_SCRIPT", good)
    np.testing.assert_array_equal(read_table(path, variable="X").X, np.eye(3))


def test_death_by_something_else(path, looker):
    # Such as the end of its patience, at the moment it is asked.
    looker.start()
    looker._await_ready(looker._process)
    looker._process.kill()
    while looker._process.poll() is None:
        time.sleep(0.01)
    looker._process.poll = lambda: None
    assert _hdf5.look_through(path, "") == 88


def test_no_end(path, looker, monkeypatch, tmp_path):
    use_script(monkeypatch, tmp_path, "__import__('threading').Event().wait()")
    monkeypatch.setattr(_hdf5, "_SECONDS", 0.2)
    with pytest.raises(DataError, match="comes to no end with it in 0 s"):
        read_table(path)
    assert looker._process is None or looker._process.poll() is not None


def test_interrupt(path, looker, monkeypatch, tmp_path):
    _hdf5.look_through(path, "")
    old = looker._process

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_hdf5.json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _hdf5.look_through(path, "")
    assert old.returncode is not None
    assert _hdf5.look_through(path, "") == 88


@pytest.mark.parametrize("what", ["executable", "script"])
def test_without_another_process(path, looker, monkeypatch, tmp_path, what):
    if what == "executable":
        monkeypatch.setattr(sys, "executable", "")
    else:
        monkeypatch.setattr(_hdf5, "_SCRIPT", tmp_path / "nowhere.py")
    _hdf5.start_looking()
    assert _hdf5.look_through(path, "") == 88


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKS, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "88\n0 88\n"
    assert done.stderr == ""


def test_threads(path, looker):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(_hdf5.look_through(path, "")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [88] * 8


def test_file_is_closed_afterwards(path):
    table = read_table(path, variable="X")
    with h5py.File(path, "r+") as file:
        file["X"][0, 0] = 5
    np.testing.assert_array_equal(table.X, np.eye(3))


def test_large_datasets(tmp_path, monkeypatch):
    # What is small is read whole, texts in pieces, of the rest the ends and the index.
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(4000.0).reshape(-1, 4)
        file.create_dataset("Z", data=np.arange(4000.0), chunks=(100,))
        file["names"] = [f"x{j}" for j in range(1000)]
    monkeypatch.setattr(_hdf5_child, "_WHOLE", 1000)
    room = []
    look = _hdf5_child.look
    assert look(str(path), "", "", 10**9, room.append) == 2 * 32_000 + 8 * 1000
    assert room == [1 << 26, (1 << 26) + 2 * 800]
    with h5py.File(path) as file:
        with pytest.raises(OSError, match="beyond the end"):
            file["Z"].id.chunk_iter(lambda chunk: _hdf5_child._check_chunk(chunk, 9000))


def test_hostile_chunk(tmp_path):
    # A dataset of 80 bytes, but HDF5 would read 800 MB.
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "X", (5, 2), maxshape=(None, 2), chunks=(50_000_000, 2), dtype="f8"
        )
    assert _hdf5.look_through(path, "") == 8 * 100_000_000
    with pytest.raises(DataError, match=r"would take 1\.6 GB of memory"):
        read_table(path)
