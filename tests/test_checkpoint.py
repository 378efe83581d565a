"""Fits that are stopped and resumed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from franet import FRANe
from franet.engine import levels
from franet.engine._numpy import TileEngine
from franet.exceptions import DataError
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
    again = fit(table, **choice, checkpoint=tmp_path / "passes", n_jobs=2)
    np.testing.assert_array_equal(again.scores_, whole.scores_)
    assert made == []


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


def test_memory_and_random_state_may_change(folder):
    assert fit(X, **CHOICE, checkpoint=folder, max_memory="1 GB", random_state=3)


def test_with_torch(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    choice = {"n_thresholds": 8, "backend": "torch", "device": "cpu"}
    whole = fit(X, **choice)
    for _ in range(2):
        resumed = fit(X, **choice, checkpoint=tmp_path / "passes")
        np.testing.assert_array_equal(resumed.scores_, whole.scores_)
    with pytest.raises(DataError, match="belongs to another"):
        fit(X, n_thresholds=8, backend="numpy", checkpoint=tmp_path / "passes")


@pytest.mark.parametrize("choice", [{"redundancy": "cover"}, {"search": "approximate"}])
def test_only_the_full_search_has_passes(tmp_path, choice):
    with pytest.raises(ValueError, match="checkpoint needs"):
        FRANe(**choice, checkpoint=tmp_path / "passes").fit(X)
