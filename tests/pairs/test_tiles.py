"""The order in which tiles are visited."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from franet._common.progress import listening
from franet.pairs.similarity import open_source
from franet.pairs.tiles import TileGrid, TileRunner, block_size


@pytest.mark.parametrize("n_blocks", [*range(1, 12), 40, 41])
def test_rounds_are_a_partition(n_blocks):
    grid = TileGrid(n_blocks * 8, 8)
    rounds = list(grid.rounds())
    tiles = [(tile.i, tile.j) for tiles in rounds for tile in tiles]
    everything = [(i, j) for i in range(n_blocks) for j in range(i, n_blocks)]
    assert sorted(tiles) == everything
    assert grid.n_tiles == len(everything)
    for tiles in rounds:
        blocks = [b for tile in tiles for b in {tile.i, tile.j}]
        assert len(blocks) == len(set(blocks))
    # As few rounds as there can be: the diagonal, and all against all.
    assert len(rounds) == 1 + (
        n_blocks - 1 if n_blocks % 2 == 0 else n_blocks * (n_blocks > 1)
    )


@pytest.mark.parametrize("n", [1, 7, 8, 9, 30])
def test_tiles_cover_every_pair_once(n):
    grid = TileGrid(n, 8)
    pairs = []
    for tile in (tile for tiles in grid.rounds() for tile in tiles):
        rows, cols = range(n)[tile.rows], range(n)[tile.cols]
        assert tile.shape == (len(rows), len(cols))
        assert tile.is_diagonal == (rows == cols)
        pairs += [(j, k) for j in rows for k in cols if not tile.is_diagonal or j < k]
    assert sorted(pairs) == [(j, k) for j in range(n) for k in range(j + 1, n)]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_runner_visits_each_tile_once_and_reports(n_threads):
    grid = TileGrid(50, 8)
    lock, visited, reports = threading.Lock(), [], []

    def visit(tile):
        with lock:
            visited.append((tile.i, tile.j))

    with listening(lambda *report: reports.append(report)):
        TileRunner(n_threads).run(grid.rounds(), visit, "test")
    assert len(visited) == len(set(visited)) == grid.n_tiles
    assert reports[-1] == ("test", grid.n_tiles, grid.n_tiles)
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_runner_passes_errors_on(n_threads):
    own = KeyError("own")

    def visit(tile):
        if tile.i != tile.j:
            raise own

    with pytest.raises(KeyError) as caught:
        TileRunner(n_threads).run(TileGrid(50, 8).rounds(), visit, "test")
    assert caught.value is own


@pytest.mark.parametrize("n_threads", [1, 3])
def test_map_keeps_the_order(n_threads):
    assert TileRunner(n_threads).map(lambda x: x * x, range(9)) == [
        x * x for x in range(9)
    ]
    assert TileRunner(n_threads).map(abs, []) == []


def meetings(grid):
    """Return for each block whom it meets, in order; no block is twice in a round."""
    found = {}
    for tiles in grid.rounds():
        blocks = [b for tile in tiles for b in {tile.i, tile.j}]
        assert len(blocks) == len(set(blocks))
        for tile in tiles:
            found.setdefault(tile.i, []).append(tile.j)
            if not tile.is_diagonal:
                found.setdefault(tile.j, []).append(tile.i)
    return found


@pytest.mark.parametrize("group", [1, 2, 3, 7])
@pytest.mark.parametrize("n_blocks", [1, 2, 5, 8, 13, 40])
def test_the_order_does_not_depend_on_the_room(n_blocks, group):
    expected = meetings(TileGrid(n_blocks * 8, 8, group))
    assert len(expected) == n_blocks
    assert all(sorted(met) == list(range(n_blocks)) for met in expected.values())
    least = TileGrid(n_blocks * 8, 8, group).least_room
    assert least <= 2 * group
    for room in (least, 2 * group, 3 * group, 5 * group):
        grid = TileGrid(n_blocks * 8 - 3, 8, group, room)
        assert meetings(grid) == expected
        for session in grid.sessions():
            blocks = {b for tiles in session for t in tiles for b in (t.i, t.j)}
            assert len(blocks) <= room


def test_one_group_is_a_tournament():
    plain, grouped = TileGrid(100, 8), TileGrid(100, 8, group=13)
    assert list(grouped.rounds()) == list(plain.rounds())
    assert len(list(plain.sessions())) == 1


def test_more_groups_take_few_rounds_more():
    for n_blocks in (16, 40, 64):
        n_rounds = len(list(TileGrid(n_blocks * 8, 8, group=8).rounds()))
        assert n_rounds <= n_blocks + 2


def test_sessions_read_blocks_seldom():
    # Block by block a pass would read 64 · 63 blocks; all at once, 64.
    sessions = TileGrid(64 * 8, 8, group=4, room=16).sessions()
    n_read, at_hand = 0, set()
    for session in sessions:
        blocks = {b for tiles in session for t in tiles for b in (t.i, t.j)}
        n_read += len(blocks - at_hand)
        at_hand = blocks
    assert n_read <= 64 * 8


@pytest.mark.parametrize("n", [2, 8, 9, 255, 256, 1000])
def test_size_of_a_block(n):
    size = block_size(n)
    assert size == 256 if n >= 249 else n <= size < n + 8
    assert size % 8 == 0


@pytest.mark.parametrize(
    ("similarity", "m"),
    # The last by way of the matrix of products.
    [
        ("correlation", 300),
        ("spearman", 300),
        ("canberra", 300),
        ("correlation", 6_000_000),
    ],
)
def test_few_features_are_not_padded_to_many(similarity, m):
    X = np.random.default_rng(0).normal(size=(m, 3))
    source, _ = open_source(X, similarity)
    assert source.block == 8
    assert source.nbytes <= 8 * 8 * 300
    assert source.tile(0, 0).shape == (8, 8)
    source.close()
