"""Features that do not fit into memory: same bits, bounded memory, nothing left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from franet import FRANe
from franet._common.memory import RowFile
from franet._common.progress import listening
from franet.exceptions import DataError, UsageError
from franet.pairs.columns._kinds import ArrayColumns
from franet.pairs.similarity import _correlation, _dense, open_source
from franet.pairs.similarity._correlation import (
    BlockCache,
    CorrelationSource,
    StoredCorrelationSource,
    block_bytes,
)
from franet.pairs.similarity._dense import Budget
from stored_tables import assert_same
from tables import blocks

TABLE = blocks(m=40, n=1500)
TABLE[:, 3] = TABLE[:, 900] = 1.0
THRESHOLDS = 12

LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


def memory_for(n_blocks, dtype=np.float64, n_threads=1):
    """Return the memory in which a search has room for so many blocks."""
    m, n = TABLE.shape
    dtype = np.dtype(dtype)
    budget = Budget(10**9, THRESHOLDS, n_threads)
    block = _correlation.BLOCK[dtype]
    reserved = budget.reserved(n, block)
    return reserved + n_blocks * block_bytes(block, m, dtype)


@pytest.fixture
def small_groups(monkeypatch):
    # A block each: the smallest tables are then played like the largest.
    monkeypatch.setattr(_correlation, "GROUP", 1)
    # What is left free would hold all of so small a table.
    monkeypatch.setattr(Budget, "edges", lambda self, n: 0)
    monkeypatch.setattr(Budget, "slack", 0)


@pytest.fixture
def opened(monkeypatch):
    """Which sources were opened in files."""
    found = []
    plain = StoredCorrelationSource.__init__

    def init(self, *args):
        plain(self, *args)
        found.append(self)

    monkeypatch.setattr(StoredCorrelationSource, "__init__", init)
    return found


def mapped(X, folder, order):
    np.save(folder / "table.npy", np.asarray(X, order=order))
    return np.load(folder / "table.npy", mmap_mode="r")


@pytest.mark.filterwarnings("ignore:.*have no edge at the winning threshold")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("dtype", "similarity"),
    [
        (np.float64, "correlation"),
        (np.float32, "correlation"),
        (np.float64, "abs-correlation"),
        (np.float32, "spearman"),
    ],
)
def test_files_and_memory_agree(
    small_groups, opened, tmp_path, dtype, similarity, order
):
    X = TABLE.astype(dtype)
    choice = {"similarity": similarity, "n_thresholds": THRESHOLDS}
    expected = FRANe(n_jobs=1, **choice).fit(X)
    assert not opened
    table = mapped(X, tmp_path, order)
    kind = np.float64 if similarity == "spearman" else dtype
    for n_blocks, n_jobs in ((2, 1), (2, 3)):
        memory = memory_for(n_blocks, kind, n_jobs)
        ranker = FRANe(max_memory=memory, n_jobs=n_jobs, **choice)
        assert_same(ranker.fit(table), expected)
        assert_same(ranker.fit(X), expected)
    assert len(opened) == 4
    np.testing.assert_array_equal(table, X)


def test_a_stored_source_has_the_tiles_of_one_in_memory(small_groups):
    kept, _ = open_source(TABLE[:, 4:800].astype(np.float32), "correlation")
    assert type(kept) is CorrelationSource
    for n_blocks in (2, 3):
        source, constant = open_source(
            TABLE[:, 4:800].astype(np.float32),
            "correlation",
            max_memory=memory_for(n_blocks, np.float32) - 28 * 704 * THRESHOLDS,
            n_thresholds=THRESHOLDS,
        )
        if n_blocks == 3:
            assert type(source) is CorrelationSource
        assert not constant.any()
        for i in range(2):
            for j in range(i, 2):
                for name in ("tile", "exact_tile"):
                    np.testing.assert_array_equal(
                        getattr(source, name)(i, j), getattr(kept, name)(i, j)
                    )
        rows, cols = np.array([3, 9], np.int32), np.array([5, 0], np.int32)
        np.testing.assert_array_equal(
            source.refine(0, 1, rows, cols, np.zeros(2)),
            kept.refine(0, 1, rows, cols, np.zeros(2)),
        )
        source.close()


def test_what_is_said_of_memory_is_true(small_groups):
    source, _ = open_source(
        TABLE, "correlation", max_memory=memory_for(4), n_thresholds=THRESHOLDS
    )
    assert isinstance(source, StoredCorrelationSource)
    assert source.nbytes == 4 * block_bytes(source.block, 40, np.float64)
    assert source.room == 2
    most = 0
    for session in source.grid().sessions():
        for tile in (tile for tiles in session for tile in tiles):
            source.tile(tile.i, tile.j)
            most = max(most, len(source._cache._blocks))
    assert 2 <= most <= 4


def test_too_little_memory_is_told_before_the_work(small_groups):
    least = memory_for(2)
    with pytest.raises(UsageError, match=r"at least 0\.\d+ GB are needed"):
        FRANe(n_thresholds=THRESHOLDS, n_jobs=1, max_memory=least - 10**5).fit(TABLE)


def test_bad_values_are_found_on_the_way(small_groups, tmp_path):
    X = TABLE.copy()
    X[7, 1200] = X[5, 1300] = np.nan
    ranker = FRANe(n_thresholds=THRESHOLDS, n_jobs=1, max_memory=memory_for(2))
    for order in "CF":
        with pytest.raises(DataError, match=r"^Column 1200 holds NaN in row 7\."):
            ranker.fit(mapped(X, tmp_path, order))


def test_constant_tables_are_refused(small_groups, tmp_path):
    ranker = FRANe(n_thresholds=THRESHOLDS, n_jobs=1, max_memory=memory_for(2))
    with pytest.raises(DataError, match="All columns are constant"):
        ranker.fit(np.ones(TABLE.shape))


@LINUX
@pytest.mark.filterwarnings("ignore:.*have no edge at the winning threshold")
@pytest.mark.parametrize("stop", [None, KeyboardInterrupt, ZeroDivisionError])
def test_no_file_is_left(small_groups, opened, tmp_path, monkeypatch, stop):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    table = mapped(TABLE, tmp_path, "C")
    seen = []

    def listener(stage, done, total):
        seen.append(len(os.listdir("/proc/self/fd")))
        if stop is not None and stage == "edges":
            raise stop

    before = len(os.listdir("/proc/self/fd"))
    ranker = FRANe(
        n_thresholds=THRESHOLDS, n_jobs=2, max_memory=memory_for(2, n_threads=2)
    )
    with listening(listener):
        if stop is None:
            ranker.fit(table)
        else:
            with pytest.raises(stop):
                ranker.fit(table)
    assert opened
    opened.clear()
    assert max(seen) > before
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(tmp_path / "temporary") == []


def test_a_full_disk_is_told(monkeypatch):
    file = RowFile(4)

    class Full:
        def seek(self, at):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "_file", Full())
    with pytest.raises(UsageError, match="TMPDIR"):
        file.write(0, np.ones((1, 4)))


def test_rows_of_a_file():
    rows = np.random.default_rng(0).normal(size=(9, 7))
    file = RowFile(7)
    file.write(0, rows[:4])
    file.write_columns(0, rows[:, :3])
    file.write_columns(3, rows[:, 3:])
    np.testing.assert_array_equal(file.read(0, 9), rows)
    np.testing.assert_array_equal(file.read_columns(9, 2, 5), rows[:, 2:5])
    np.testing.assert_array_equal(
        file.read(8, 11), np.vstack([rows[8:], np.zeros((2, 7))])
    )
    file.close()


def test_blocks_are_read_once_if_they_fit_and_ahead_of_time(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    file, starts = RowFile(3), []
    file.write(0, rows)
    read = file.read
    monkeypatch.setattr(file, "read", lambda *at: (starts.append(at[0]), read(*at))[1])
    cache = BlockCache(file, block=4, rough=True, capacity=10)
    for i in range(10):
        (exact, work), _ = cache.pair(i, (i + 3) % 10)
        np.testing.assert_array_equal(exact, rows[4 * i : 4 * i + 4])
        np.testing.assert_array_equal(work, exact.astype(np.float32))
    assert sorted(starts) == list(range(0, 40, 4))


def test_an_error_of_the_file_comes_through():
    file = RowFile(3)
    cache = BlockCache(file, block=4, rough=False, capacity=2)
    file.close()
    for _ in range(2):
        with pytest.raises(ValueError, match="closed file"):
            cache.pair(0, 1)


@pytest.mark.parametrize("piece", [1, 8 * 40 * 100, 10**9])
@pytest.mark.parametrize("ranks", [False, True])
def test_pieces_do_not_change_the_bits(piece, ranks):
    expected, constant = _dense.rows_in_memory(ArrayColumns(TABLE), 256, ranks, 10**9)
    X = ArrayColumns(TABLE)
    X.has_columns = piece > 1
    if piece > 1:
        rows, same = _dense.rows_in_memory(X, 256, ranks, piece)
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(same, constant)
    file, same = _dense.rows_on_disk(X, 256, ranks, piece)
    np.testing.assert_array_equal(file.read(0, len(expected)), expected)
    np.testing.assert_array_equal(same, constant)
    file.close()


MEASURED = """
import sys
import numpy as np
from pathlib import Path
from franet import FRANe

def peak():
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition("VmHWM:")[2].split()[0])

path, memory = sys.argv[1:]
# The network that a fit returns comes on top of max_memory: here it is small.
ranker = FRANe(n_thresholds=5, max_memory=memory, n_jobs=2, max_edges=10_000)
rng = np.random.default_rng(0)
small = rng.normal(size=(200, 1)) + rng.normal(size=(200, 600))
ranker.fit(small)
before = peak()
ranker.fit(np.load(path, mmap_mode="r"))
print(peak() - before)
"""


def measured(path, memory):
    """Return by how much the memory of a fit grows, at its peak."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURED, str(path), memory],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def large(path, m, n, dtype):
    """Write a table piece by piece."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(m, n))
    for at in range(0, m, 1000):
        common = rng.normal(size=(len(X[at : at + 1000]), 1))
        X[at : at + 1000] = common + rng.standard_normal((len(common), n), np.float32)
    return X.nbytes


@LINUX
@pytest.mark.parametrize(
    ("m", "n", "memory"), [(10_300, 2_600, 100), (75_000, 400, 95)]
)
def test_memory_is_bounded(tmp_path, m, n, memory):
    # Tables of 214 and 240 MB.
    size = large(tmp_path / "table.npy", m, n, np.float64)
    grown = measured(tmp_path / "table.npy", f"{memory} MB")
    assert size > 2.1e6 * memory
    # With blocks and edges at the same time it would be all of it.
    assert grown < 0.9e6 * memory


INTERRUPTED = """
import gc, os, signal, sys, tempfile, threading, time
import numpy as np
from franet import FRANe
from franet.pairs.similarity import _correlation, _dense

signal.signal(signal.SIGINT, signal.default_int_handler)
_correlation.GROUP = 1
_dense.Budget.slack = 0
tempfile.tempdir = sys.argv[1]
stored = []
plain = _dense.StoredCorrelationSource

def opened(*args):
    stored.append(1)
    if killer is not None and killer.ident is None:
        killer.start()
    return plain(*args)

_dense.StoredCorrelationSource = opened
X = np.random.default_rng(0).normal(size=(100, 1500))
stopped, killer = 0, None
for k in range(16):
    # Room for three of six blocks.
    n_jobs = 2 + k % 2
    memory = 28 * 1500 * 12 + 40 * 256**2 * n_jobs + 3 * 256 * 100 * 8
    ranker = FRANe(n_thresholds=12, n_jobs=n_jobs, max_memory=memory)
    if k < 2:
        ranker.fit(X)
    killer = threading.Timer(0.02 * k, os.kill, (os.getpid(), signal.SIGINT))
    try:
        if k % 2:
            killer.start()  # else once blocks are stored
        while True:
            ranker.fit(X)
    except KeyboardInterrupt:
        stopped += 1
    killer.join()
    killer = None
def left():
    gc.collect()
    links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sum("deleted" in os.readlink(at) for at in links if os.path.islink(at))

# A tile that was under way may still be.
for _ in range(200):
    if not left():
        break
    time.sleep(0.05)
print(stopped, len(os.listdir(sys.argv[1])), threading.active_count())
print(len(stored) >= 8, left())
"""


@LINUX
def test_an_interrupted_fit_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["16", "0", "1", "True", "0"]
