"""The order in which tiles are visited."""

from __future__ import annotations

import threading

import pytest

from franet._progress import listening
from franet.engine.tiles import TileGrid, TileRunner


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
