"""Parts of a pass: the tiles between two groups of blocks, as a table of their own.

Blocks form groups, and the tiles between two groups are a part. A part needs the
features of its groups only, and finds something about these only: what goes to and
fro is small. How many parts there are depends on the number of blocks, never on who
computes them, and parts are put together in one order: so every sum is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import Store
from franet.engine import passes
from franet.engine.pairs import Gather
from franet.engine.passes import Pass, Product, State
from franet.pairs.tiles import PairSource, Tile, TileGrid

__all__ = ["Assembly", "Window", "WindowSource", "assemble", "narrow", "windows"]

# Blocks of a group at the least, so that a part is worth sending; and groups at the
# most, so that what goes to and fro stays small. Sums depend on both: constants.
GROUP_BLOCKS = 8
MOST_GROUPS = 32

# What the arrays of a state have an entry for, or a row and a column: each tile, each
# feature along the last axis, each feature along the first. "all": none of these.
_AXES: dict[type[Pass], dict[str, str]] = {
    passes.Survey: {"low": "tile", "high": "tile", "above": "tile", "counts": "all"},
    passes.Sharpen: {"least": "tile"},
    passes.NextToCopies: {"least": "tile", "above": "tile"},
    passes.LeastAbove: {"least": "tile"},
    passes.Total: {"sums": "tile"},
    passes.CountCells: {"counts": "all", "low": "all", "high": "all"},
    passes.Degrees: {"count": "last", "weight": "last"},
    passes.Product: {"Y": "last"},
    passes.Strongest: {"size": "first", "values": "first", "features": "first"},
}


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

    def __reduce__(self) -> Any:
        # What was looked up once is not sent along.
        return Window, (self.n, self.block, self.rows, self.cols)

    @cached_property
    def blocks(self) -> NDArray[np.intp]:
        """The blocks, from left to right."""
        return np.array([*self.rows, *(() if self.is_square else self.cols)], np.intp)

    @property
    def is_square(self) -> bool:
        """Whether there is one group only."""
        return self.rows == self.cols

    @cached_property
    def features(self) -> NDArray[np.intp]:
        """The features, from left to right."""
        starts = self.blocks * self.block
        found = (starts[:, None] + np.arange(self.block)).ravel()
        return found[found < self.n]

    @cached_property
    def grid(self) -> TileGrid:
        """The tiles of these features, as if there were no others."""
        return TileGrid(len(self.features), self.block)

    def rounds(self, chosen: NDArray[np.bool_] | None = None) -> list[list[Tile]]:
        """Return the tiles between the groups in rounds; `chosen` ones, if given."""
        rounds = [
            [tile for tile in tiles if chosen is None or chosen[tile.i, tile.j]]
            for tiles in (self.grid.rounds() if self.is_square else self._across())
        ]
        return [tiles for tiles in rounds if tiles]

    def _across(self) -> Iterator[list[Tile]]:
        a = range(len(self.rows))
        b = range(len(a), len(a) + len(self.cols))
        few, many = sorted((a, b), key=len)
        for turn in range(len(many)):
            yield [
                self.grid.tile(i, many[(s + turn) % len(many)])
                for s, i in enumerate(few)
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
        return None if chosen is None else chosen[np.ix_(self.blocks, self.blocks)]


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


def narrow(what: Pass, window: Window) -> Pass:
    """Return a pass that knows of the window's features only."""
    if isinstance(what, Product):
        return replace(what, X=np.ascontiguousarray(what.X[:, window.features]))
    return what


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
        self._blocks = [int(i) for i in window.blocks]
        self.n = len(window.features)
        self.block = source.block
        self.error = source.error
        self.scale = source.scale
        self.top = source.top
        self.has_zero = source.has_zero

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        return self._source.tile(self._blocks[i], self._blocks[j])

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        return self._source.exact_tile(self._blocks[i], self._blocks[j])

    def refine(self, i: int, j: int, *found: Any) -> NDArray[np.float64]:
        """Return the float64 dissimilarities at some positions of a tile."""
        return self._source.refine(self._blocks[i], self._blocks[j], *found)


class Assembly(ABC):
    """The state of a pass over all tiles, from those of windows."""

    @abstractmethod
    def add(self, window: Window, state: State) -> None:
        """Add what was found in a window."""

    @abstractmethod
    def state(self) -> State:
        """Return the state of the whole."""


def assemble(what: Pass, grid: TileGrid) -> Assembly:
    """Return the state of a pass over all tiles, to which windows are added."""
    return _Gathered(what, grid) if isinstance(what, Gather) else _Arrays(what, grid)


class _Arrays(Assembly):
    """Arrays of which a window is a part."""

    def __init__(self, what: Pass, grid: TileGrid) -> None:
        self._what = what
        self._axes = _AXES[type(what)]
        # A state of one feature tells how arrays begin.
        one = narrow(what, Window(1, 1, range(1), range(1)))
        blank = one.close(one.start(TileGrid(1, 1), Store(on_disk=False)))
        self._state = {}
        for name, array in blank.items():
            shape = {
                "tile": (grid.n_blocks, grid.n_blocks),
                "last": (*array.shape[:-1], grid.n),
                "first": (grid.n, *array.shape[1:]),
                "all": array.shape,
            }[self._axes[name]]
            full = array if self._axes[name] == "all" else np.zeros(shape, array.dtype)
            if self._axes[name] == "tile":
                full[:] = array[0, 0]
            self._state[name] = full

    def _place(self, name: str, window: Window) -> Any:
        """Return where a window lies in an array."""
        match self._axes[name]:
            case "tile":
                return np.ix_(window.blocks, window.blocks)
            case "last":
                return np.s_[:, window.features]
            case "first":
                return window.features
            case _:
                return ...

    def add(self, window: Window, state: State) -> None:
        if isinstance(self._what, passes.Strongest):
            state = {**state, "features": _renamed(state, window)}
        places = {name: self._place(name, window) for name in state}
        before = {name: self._state[name][at] for name, at in places.items()}
        for name, array in self._what.merge([before, state]).items():
            self._state[name][places[name]] = array

    def state(self) -> State:
        return self._state


def _renamed(heaps: State, window: Window) -> NDArray[np.int32]:
    """Return the features in heaps of a window by their positions in the table."""
    width = heaps["features"].shape[1]
    # Beyond its size a heap holds anything.
    filled = np.arange(width) < heaps["size"][:, None]
    return window.features[np.where(filled, heaps["features"], 0)].astype(np.int32)


class _Gathered(Assembly):
    """Edges one after the other, and degrees of features."""

    def __init__(self, what: Gather, grid: TileGrid) -> None:
        self._what = what
        self._degrees = _Arrays(what.degrees, grid)
        self._parts: list[State] = []

    def add(self, window: Window, state: State) -> None:
        self._degrees.add(window, state["degrees"])
        features = window.features
        near, edges = state["near"], state["edges"]
        if edges is not None:
            ends = {name: features[edges[name]] for name in ("row", "col")}
            edges = {**edges, **ends}
        named = {name: features[near[name]].astype(np.int32) for name in ("j", "k")}
        self._parts.append({**state, "edges": edges, "near": {**near, **named}})

    def state(self) -> State:
        return {**self._what.join(self._parts), "degrees": self._degrees.state()}
