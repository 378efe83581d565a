"""Memory: how much a fit may take, and edges in temporary files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from franet import FRANe
from franet._common import memory
from franet._common.memory import ArrayStore, available_bytes, parse_bytes
from franet.engine._numpy import TileEngine
from franet.engine.graphs import EdgeSink, KeptGraphs
from franet.engine.measure import Measure
from franet.pairs.tiles import TileGrid
from tables import blocks
from test_agreement import fit


def test_sizes_in_words():
    assert parse_bytes("2 GB") == 2_000_000_000
    assert parse_bytes("1.5m") == 1_500_000
    assert parse_bytes("300") == 300
    assert parse_bytes(7e6) == 7_000_000
    for nonsense in ("", "GB", "two", "-1 GB", "nan", "inf"):
        with pytest.raises(ValueError, match="is not a size"):
            parse_bytes(nonsense)


def test_available_memory_is_plausible(monkeypatch):
    assert 2**20 < available_bytes() < 2**50
    # Where there is no /proc, the first figure stands.
    monkeypatch.setattr(memory, "Path", lambda name: Path("nowhere") / name[1:])
    assert 2**20 < available_bytes() < 2**50


def test_a_system_that_does_not_tell_what_is_free(monkeypatch):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}

    def sysconf(name):
        if name not in pages:
            raise ValueError("unrecognized configuration name")
        return pages[name]

    monkeypatch.setattr(memory.os, "sysconf", sysconf)
    assert memory._free_bytes() == 4096 * 500


def test_store_leaves_nothing_behind():
    with ArrayStore(on_disk=True) as store:
        array = store.empty((3, 4), np.float64)
        array[:] = 1.0
        assert type(array) is np.ndarray
        folder = Path(store._folder.name)
        assert list(folder.iterdir())
    assert not folder.exists()
    assert store.empty(3, np.int32).shape == (3,)


@pytest.mark.parametrize("on_disk", [True, False])
def test_sink_gives_out_edges_in_the_order_of_tiles(on_disk):
    measure = Measure(top=2.0, snap=0.0, snap_to=0.0, floor=0.0, weighted=True)
    grid = TileGrid(6, 2)
    with ArrayStore(on_disk) as store:
        sink = EdgeSink(np.array([0.5, 1.5]), measure, 9, store)
        zero, one = np.zeros(2, np.int32), np.ones(2, np.int32)
        sink.add(
            grid.tile(1, 2), zero, np.array([0, 1], np.int32), np.array([1.0, 0.5])
        )
        sink.add(grid.tile(0, 1), zero[:1], one[:1], np.array([0.25]))
        sink.add(grid.tile(0, 2), zero[:0], one[:0], np.array([]))
        graphs = KeptGraphs(6, **sink.close())
        assert graphs.n_edges().tolist() == [4, 6]
        sparse, dense = graphs.matrix(0).toarray(), graphs.matrix(1).toarray()
    expected = np.zeros((6, 6))
    expected[0, 3] = expected[3, 0] = 1.75
    expected[2, 5] = expected[5, 2] = 1.5
    np.testing.assert_array_equal(sparse, expected)
    expected[2, 4] = expected[4, 2] = 1.0
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(graphs.degrees[1], expected.sum(axis=0))


@pytest.mark.parametrize("kept", [3000, 10**6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_do_not_depend_on_memory_or_threads(monkeypatch, tmp_path, kept, dtype):
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", kept)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", kept)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X = blocks(n=1300).astype(dtype)
    first = fit(X, n_jobs=1)
    # One byte less than it takes to keep all edges in memory.
    scarce = {"n_jobs": 3, "max_memory": FRANe(n_jobs=3).plan(X)["memory"] - 1}
    assert FRANe(**scarce).plan(X)["on_disk"]
    for choice in ({"n_jobs": 2}, {"n_jobs": 5}, scarce):
        other = fit(X, **choice)
        np.testing.assert_array_equal(other.scores_, first.scores_)
        np.testing.assert_array_equal(other.quality_, first.quality_)
        np.testing.assert_array_equal(other.quality_bound_, first.quality_bound_)
        np.testing.assert_array_equal(other.n_edges_, first.n_edges_)
        a, b = first.network_.adjacency, other.network_.adjacency
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.data, b.data)
    assert not list(tmp_path.iterdir())


def test_too_little_memory_is_said_before_the_work():
    with pytest.raises(ValueError, match=r"at least .* GB are needed"):
        FRANe(max_memory=1000).fit(blocks())


def test_files_go_when_the_work_fails(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def fails(scores):
        seen.extend(tmp_path.iterdir())
        raise RuntimeError("mine")

    scarce = FRANe(n_thresholds=10).plan(blocks())["memory"] - 1
    with pytest.raises(RuntimeError, match="mine"):
        fit(blocks(), quality=fails, max_memory=scarce, n_thresholds=10)
    assert seen
    assert not list(tmp_path.iterdir())


def test_plan_grows_with_the_table(monkeypatch):
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 1000)
    small, large = (FRANe().plan(blocks(n=n)) for n in (300, 1200))
    assert small["n_pairs"] == 300 * 299 // 2
    assert large["n_tiles"] > small["n_tiles"]
    assert large["memory"] > small["memory"]
    assert 0 < large["seconds"] < large["seconds_dense"]
