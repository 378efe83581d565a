"""Parts of a pass, put together, against the pass as a whole."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from engine.test_passes import in_parts
from franet import FRANe
from franet.engine import _windows, levels
from franet.engine._numpy import TileEngine
from franet.engine._windows import windows
from franet.engine.pairs import Gather
from franet.engine.passes import Pass, Strongest
from franet.estimators._backend import settings_of
from franet.pairs.similarity import open_source
from franet.pairs.similarity._correlation import BLOCK
from franet.pairs.tiles import PairSource, TileGrid
from franet.pruning._links import CollectLinks
from franet.search.exact import search
from tables import blocks

TABLE = blocks(m=25, n=150)  # five blocks of the small ones


class WindowEngine(TileEngine):
    """Visits one window after the other, each as a table of its own."""

    def reduce(self, what, chosen=None):
        return in_parts(self, what, chosen)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_windows, "GROUP_BLOCKS", 1)
    monkeypatch.setattr(PairSource, "block", 32)
    for dtype in BLOCK:
        monkeypatch.setitem(BLOCK, dtype, 32)


def outcomes(X, **choice):
    ranker = FRANe(**{"n_thresholds": 15, **choice})
    options = {"p": ranker.p, "variant": ranker.variant}
    source, _ = open_source(X, ranker.similarity, **options)
    settings = settings_of(ranker)
    return search(TileEngine(source), settings), search(WindowEngine(source), settings)


def assert_same(whole, parts):
    assert whole.winner == parts.winner
    np.testing.assert_allclose(parts.scores, whole.scores, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(parts.n_edges, whole.n_edges)
    np.testing.assert_allclose(parts.thresholds, whole.thresholds, rtol=1e-14)
    np.testing.assert_array_equal(parts.network.indices, whole.network.indices)
    np.testing.assert_allclose(parts.network.data, whole.network.data, rtol=1e-14)
    np.testing.assert_allclose(parts.quality_bound, whole.quality_bound, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kept", [None, (60, 60), (200, 3000)])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"variant": "reference"},
        {"thresholds": "quantile"},
        {"thresholds": "linear-mean"},
        {"similarity": "manhattan"},
        {"similarity": "spearman", "weighted": False},
        {"max_edges": 500, "min_mean_degree": 9.0},
        {"centrality": "degree", "quality": "gini"},
    ],
)
def test_parts_agree_with_the_whole(small_blocks, monkeypatch, choice, kept, dtype):
    if kept is not None:
        monkeypatch.setattr(TileEngine, "KEPT_PAIRS", kept[0])
        monkeypatch.setattr(TileEngine, "DEEP_PAIRS", kept[1])
        monkeypatch.setattr(levels, "SAMPLED", 4)
    X = TABLE.astype(dtype)
    X[:, 7] = 2 * X[:, 130]  # copies, in blocks of different groups
    whole, parts = outcomes(X, **choice)
    assert_same(whole, parts)
    assert parts.truncated == ("max_edges" in choice)


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 7, 16, 17, 44, 300])
def test_every_tile_is_in_one_window(monkeypatch, n_blocks):
    monkeypatch.setattr(_windows, "GROUP_BLOCKS", 4)
    grid = TileGrid(10 * n_blocks - 3, 10)
    seen = np.zeros((n_blocks, n_blocks), int)
    for window in windows(grid):
        rounds = window.rounds()
        assert sum(map(len, rounds)) == window.count(None)
        for tiles in rounds:
            used = [block for t in tiles for block in {t.i, t.j}]
            assert len(used) == len(set(used))
            for tile in tiles:
                i, j = window.blocks[[tile.i, tile.j]]
                seen[i, j] += 1
                assert tile.shape == grid.tile(i, j).shape
                first = window.features[[tile.rows.start, tile.cols.start]]
                assert tuple(first) == (10 * i, 10 * j)
    np.testing.assert_array_equal(seen, np.triu(np.ones_like(seen)))


def test_chosen_tiles_are_counted_as_they_are_visited(small_blocks):
    grid = TileGrid(70, 10)
    chosen = np.random.default_rng(0).random((7, 7)) < 0.4
    for window in windows(grid):
        rounds = window.rounds(window.crop(chosen))
        assert sum(map(len, rounds)) == window.count(chosen)
    total = sum(window.count(chosen) for window in windows(grid))
    assert total == np.triu(chosen).sum()


def test_a_million_features_make_parts_of_few():
    parts = windows(TileGrid(1_000_000, 512))
    assert len(parts) == 32 * 33 // 2
    assert max(len(pickle.dumps(part)) for part in parts) < 1000
    assert max(len(part.features) for part in parts) < 66_000


def test_every_pass_can_be_put_together():
    own = {kind for kind in Pass.__subclasses__() if "franet." in kind.__module__}
    # Two merge in their own way, and one runs on the cores of one machine only.
    special = {Gather, Strongest, CollectLinks}
    assert special < own
    for kind in own - special:
        assert kind.layout, kind
