"""Memory: how much a fit may take, and edges in temporary files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from franet import FRANe
from franet.engine import levels, memory, plan
from franet.engine.memory import Store, available_bytes, parse_bytes
from franet.engine.pairs import Pairs, PairSink
from tables import blocks
from test_agreement import fit


def test_sizes_in_words():
    assert parse_bytes("2 GB") == 2_000_000_000
    assert parse_bytes("1.5m") == 1_500_000
    assert parse_bytes("300") == 300
    assert parse_bytes(7e6) == 7_000_000
    for nonsense in ("", "GB", "two", "-1 GB", "nan", "inf"):
        with pytest.raises(ValueError, match="is no size"):
            parse_bytes(nonsense)


def test_available_memory_is_plausible(monkeypatch):
    assert 2**20 < available_bytes() < 2**50
    # Where there is no /proc, the first figure stands.
    monkeypatch.setattr(memory, "Path", lambda name: Path("nowhere") / name[1:])
    assert 2**20 < available_bytes() < 2**50


def test_store_leaves_nothing_behind():
    with Store(on_disk=True) as store:
        array = store.empty((3, 4), np.float64)
        array[:] = 1.0
        assert type(array) is np.ndarray
        folder = Path(store._folder.name)
        assert list(folder.iterdir())
    assert not folder.exists()
    assert store.empty(3, np.int32).shape == (3,)


@pytest.mark.parametrize("on_disk", [True, False])
def test_sink_gives_out_pairs_in_the_order_of_tiles(on_disk):
    def pairs(*numbers):
        values = np.array(numbers)
        return Pairs(values.astype(np.int32), values.astype(np.int32), values / 2)

    with Store(on_disk) as store:
        sink = PairSink(store)
        sink.add((1, 2), pairs(5, 6))
        sink.add((0, 1), pairs(1, 2, 3))
        sink.add((1, 1), pairs())
        sink.add((0, 2), pairs(4))
        joined = sink.joined()
        assert joined.j.tolist() == joined.k.tolist() == [1, 2, 3, 4, 5, 6]
        assert joined.d.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
        assert len(PairSink(store).joined().j) == 0


@pytest.mark.parametrize("kept", [3000, 10**6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_do_not_depend_on_memory_or_threads(monkeypatch, tmp_path, kept, dtype):
    monkeypatch.setattr(levels, "KEPT_PAIRS", kept)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X = blocks(n=1300).astype(dtype)
    first = fit(X, n_jobs=1)
    for choice in ({"n_jobs": 2}, {"n_jobs": 5}, {"max_memory": "60 MB", "n_jobs": 3}):
        other = fit(X, **choice)
        assert FRANe(**choice).plan(X)["on_disk"] == ("max_memory" in choice)
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

    with pytest.raises(RuntimeError, match="mine"):
        fit(blocks(), quality=fails, max_memory="20 MB", n_thresholds=10)
    assert seen
    assert not list(tmp_path.iterdir())


def test_plan_grows_with_the_table(monkeypatch):
    monkeypatch.setattr(plan, "KEPT_PAIRS", 1000)
    small, large = (FRANe().plan(blocks(n=n)) for n in (300, 1200))
    assert small["n_pairs"] == 300 * 299 // 2
    assert large["n_tiles"] > small["n_tiles"]
    assert large["memory"] > small["memory"]
    assert 0 < large["seconds"] < large["seconds_dense"]
