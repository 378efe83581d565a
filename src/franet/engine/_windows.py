"""Parts of a pass: the tiles between two groups of blocks, as a table of their own.

Blocks form groups, and the tiles between two groups are a part. A part needs the
features of its groups only, and finds something about these only: what goes to and
fro is small. How many parts there are depends on the number of blocks, never on who
computes them, and parts are put together in one order: so every sum is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.pairs.tiles import PairSource, Tile, TileGrid

# Blocks of a group at the least, so that a part is worth sending; and groups at the
# most, so that what goes to and fro stays small. Sums depend on both: constants.
GROUP_BLOCKS = 8
MOST_GROUPS = 32


@dataclass(frozen=True)
class Window:
    """The features of two groups of blocks, or of one.

    Parameters
    ----------
    n, block : int
        Numbers of features in all, and in a block.
    rows, cols : range
        The blocks of both groups, those of `rows` first; the same for one group.
    """

    n: int
    block: int
    rows: range
    cols: range

    @property
    def blocks(self) -> NDArray[np.intp]:
        """The blocks, from left to right."""
        return np.array([*self.rows, *(() if self.is_square else self.cols)], np.intp)

    @property
    def is_square(self) -> bool:
        """Whether there is one group only."""
        return self.rows == self.cols

    @property
    def features(self) -> NDArray[np.intp]:
        """The features, from left to right."""
        starts = self.blocks * self.block
        found = (starts[:, None] + np.arange(self.block)).ravel()
        return found[found < self.n]

    @property
    def grid(self) -> TileGrid:
        """The tiles of these features, as if there were no others."""
        return TileGrid(len(self.features), self.block)

    def at(self, axis: str) -> Any:
        """Return where the window lies in an array, given its layout in a state."""
        match axis:
            case "tile":
                return np.ix_(self.blocks, self.blocks)
            case "first":
                return self.features
            case "last":
                return np.s_[..., self.features]
        return ...

    def rounds(self, chosen: NDArray[np.bool_] | None = None) -> list[list[Tile]]:
        """Return the tiles between the groups in rounds; `chosen` ones, if given."""
        all_rounds = self.grid.rounds() if self.is_square else self._across()
        return chosen_of(all_rounds, chosen)

    def _across(self) -> Iterator[list[Tile]]:
        a = range(len(self.rows))
        b = range(len(a), len(a) + len(self.cols))
        few, many = sorted((a, b), key=len)
        grid = self.grid
        for turn in range(len(many)):
            yield [
                grid.tile(i, many[(s + turn) % len(many)]) for s, i in enumerate(few)
            ]

    def count(self, chosen: NDArray[np.bool_] | None) -> int:
        """Return the number of tiles between the groups."""
        a, b = len(self.rows), len(self.cols)
        if chosen is not None:
            part = chosen[np.ix_(list(self.rows), list(self.cols))]
            return int((np.triu(part) if self.is_square else part).sum())
        return a * (a + 1) // 2 if self.is_square else a * b

    def crop(self, chosen: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """Return which of the window's tiles are chosen."""
        return None if chosen is None else chosen[self.at("tile")]


def chosen_of(
    rounds: Iterator[list[Tile]], chosen: NDArray[np.bool_] | None
) -> list[list[Tile]]:
    """Return rounds of tiles without those that are not chosen; None chooses all."""
    if chosen is None:
        return list(rounds)
    kept = ([tile for tile in tiles if chosen[tile.i, tile.j]] for tiles in rounds)
    return [tiles for tiles in kept if tiles]


def windows(grid: TileGrid) -> list[Window]:
    """Return the parts of a pass, in the order in which they are put together.

    The large ones first, so that at the end nobody waits for long.
    """
    n_groups = 1
    while n_groups < MOST_GROUPS and grid.n_blocks >= 2 * n_groups * GROUP_BLOCKS:
        n_groups *= 2
    ends = [g * grid.n_blocks // n_groups for g in range(n_groups + 1)]
    groups = [range(ends[g], ends[g + 1]) for g in range(n_groups)]
    across = [(a, b) for k, b in enumerate(groups) for a in groups[:k]]
    within = [(a, a) for a in groups]
    return [Window(grid.n, grid.block, a, b) for a, b in across + within]


class WindowSource(PairSource):
    """The similarities between the features of a window.

    Parameters
    ----------
    source : PairSource
        The similarities between all features.
    window : Window
        Some of them.
    """

    def __init__(self, source: PairSource, window: Window) -> None:
        self._source = source
        self._blocks = window.blocks.tolist()
        self.n = len(window.features)
        for name in ("block", "error", "scale", "top", "has_zero"):
            setattr(self, name, getattr(source, name))

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        return self._source.tile(self._blocks[i], self._blocks[j])

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        return self._source.exact_tile(self._blocks[i], self._blocks[j])

    def refine(self, i: int, j: int, *found: Any) -> NDArray[np.float64]:
        """Return the float64 dissimilarities at some positions of a tile."""
        return self._source.refine(self._blocks[i], self._blocks[j], *found)
