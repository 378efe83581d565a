"""What one pass over the tiles computes, apart from how tiles are visited.

A pass begins with a state of arrays, adds one tile after the other to it, and ends
with a state that holds arrays only. States of passes over parts of the tiles can be
put together to that of a pass over all of them. So tiles may be visited on threads, on
other machines, or not at all, if the state was saved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import ArrayStore
from franet.engine import kernels
from franet.engine._windows import Window
from franet.engine.measure import Measure, Tally
from franet.pairs.tiles import PairSource, Tile, TileGrid

State = dict[str, Any]


# What the arrays of a state begin with, by how those of two parts are joined.
_NOTHING: dict[Any, float] = {np.minimum: np.inf, np.maximum: -np.inf, np.add: 0.0}


class Pass(ABC):
    """One pass over tiles.

    `layout` says of each array of a state what it has entries for, and how the entries
    of two parts of the tiles are joined: ``"tile"``, a row and a column for each block;
    ``"first"`` or ``"last"``, features along that axis; ``"all"``, none of these.
    """

    stage: ClassVar[str]
    layout: ClassVar[dict[str, tuple[str, np.ufunc]]] = {}

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return the state before the first tile."""
        return {
            name: np.full((grid.n_blocks, grid.n_blocks), _NOTHING[join])
            for name, (axis, join) in self.layout.items()
            if axis == "tile"
        }

    @abstractmethod
    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add a tile to the state; others of its round may be added meanwhile."""

    def close(self, state: State) -> State:
        """Return the state after the last tile: arrays only."""
        return state

    def blank(self, grid: TileGrid) -> State:
        """Return the state of a pass over no tile."""
        return self.close(self.start(grid, ArrayStore(on_disk=False)))

    def narrow(self, window: Window) -> Pass:
        """Return the pass as it is made over the tiles of a window."""
        return self

    def assemble(self, grid: TileGrid, parts: Iterable[tuple[Window, State]]) -> State:
        """Return the state of a pass over all tiles from those over parts of them.

        Parameters
        ----------
        grid : TileGrid
            All tiles.
        parts : iterable of (Window, State)
            Windows and what was found there.
        """
        whole = self.blank(grid)
        for window, part in parts:
            self.put(whole, part, window)
        return whole

    def put(self, whole: State, part: State, window: Window) -> None:
        """Join what was found in a part to the whole, in place."""
        for name, (axis, join) in self.layout.items():
            at = window.at(axis)
            whole[name][at] = join(whole[name][at], part[name])


def _pairs(source: PairSource, tile: Tile, exact: bool) -> tuple[Any, int, int, bool]:
    """Return a tile as kernels take it."""
    D = source.exact_tile(tile.i, tile.j) if exact else source.tile(tile.i, tile.j)
    return D, *tile.shape, tile.is_diagonal


@dataclass(frozen=True)
class TileExtremes(Pass):
    """The extremes of each tile, and how many pairs lie where.

    `noise` is what rounding may make of 0; None where nothing is looked for above it.
    """

    noise: float | None
    stage = "extremes"
    layout: ClassVar = {
        "low": ("tile", np.minimum),
        "high": ("tile", np.maximum),
        "above": ("tile", np.minimum),
        "counts": ("all", np.add),
    }

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return infinities, and counts for each block."""
        counts = np.zeros((grid.n_blocks, Tally.SIZE), np.int64)
        return {**super().start(grid, store), "counts": counts}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Find the extremes of a tile and count its pairs."""
        at = tile.i, tile.j
        pairs = _pairs(source, tile, exact=False)
        D = pairs[0]
        if tile.is_diagonal or tile.shape != D.shape:
            low, high = kernels.extrema(*pairs)
        else:
            low, high = float(D.min()), float(D.max())
        kernels.tally(*pairs, counts=state["counts"][tile.i])
        state["low"][at] = state["above"][at] = low
        state["high"][at] = high
        if self.noise is not None and low <= self.noise:
            state["above"][at] = kernels.smallest_above(*pairs, self.noise)

    def close(self, state: State) -> State:
        """Add up the counts."""
        return {**state, "counts": state["counts"].sum(axis=0)}


@dataclass(frozen=True)
class Sharpen(Pass):
    """The smallest ``sign · d`` of each tile in float64, of pairs up to a limit.

    And the smallest above a floor.
    """

    sign: float
    limit: float
    floor: float = np.inf
    stage = "extremes, exactly"
    layout: ClassVar = {"least": ("tile", np.minimum), "above": ("tile", np.minimum)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Compute again what may be the smallest."""
        at = tile.i, tile.j
        D, *rest = _pairs(source, tile, exact=False)
        j, k, d = kernels.collect(self.sign * D, *rest, self.limit)
        d = self.sign * source.refine(*at, j, k, self.sign * d)
        state["least"][at] = d.min(initial=np.inf)
        state["above"][at] = d.min(where=d > self.floor, initial=np.inf)


@dataclass(frozen=True)
class LeastAbove(Pass):
    """The smallest value of each tile above a floor, in float64."""

    floor: float
    stage = "smallest gap"
    layout: ClassVar = {"least": ("tile", np.minimum)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Find the smallest value of a tile."""
        pairs = _pairs(source, tile, exact=True)
        found = kernels.smallest_above(*pairs, self.floor)
        state["least"][tile.i, tile.j] = found


@dataclass(frozen=True)
class Total(Pass):
    """The sum of each tile, in float64."""

    stage = "mean"
    layout: ClassVar = {"sums": ("tile", np.add)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add up a tile."""
        pairs = _pairs(source, tile, exact=True)
        state["sums"][tile.i, tile.j] = kernels.total(*pairs)


@dataclass(frozen=True)
class CountCells(Pass):
    """How many values lie in equal cells of some intervals, and their extremes."""

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    n_cells: int
    stage = "order statistics"
    layout: ClassVar = {
        "counts": ("all", np.add),
        "low": ("all", np.minimum),
        "high": ("all", np.maximum),
    }

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return nothing: a block's counts come with its first tile."""
        return {"blocks": {}}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Count the values of a tile."""
        # Blocks of one round are different: a block's counts have one writer.
        counts = state["blocks"].setdefault(tile.i, self._nothing())
        pairs = _pairs(source, tile, exact=True)
        kernels.count_cells(*pairs, self.lo, self.hi, self.n_cells, **counts)

    def _nothing(self) -> State:
        shape = (len(self.lo), self.n_cells)
        return {
            "counts": np.zeros(shape, np.int64),
            "low": np.full(shape, np.inf),
            "high": np.full(shape, -np.inf),
        }

    def close(self, state: State) -> State:
        """Add up the blocks."""
        whole = self._nothing()
        for counts in state["blocks"].values():
            for name, (_, join) in self.layout.items():
                join(whole[name], counts[name], out=whole[name])
        return whole


@dataclass(frozen=True)
class Degrees(Pass):
    """Number and weight of each feature's edges in some graphs, as the tiles say."""

    edges: NDArray[np.float64]
    measure: Measure
    stage = "degrees"
    layout: ClassVar = {"count": ("last", np.add), "weight": ("last", np.add)}

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return zeros."""
        shape = (len(self.edges), grid.n)
        return {"count": np.zeros(shape, np.int32), "weight": np.zeros(shape)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add the pairs of a tile."""
        self.add(tile, source.tile(tile.i, tile.j), state)

    def add(self, tile: Tile, D: NDArray[Any], state: State) -> None:
        """Add the pairs of a tile that is at hand."""
        pairs = D, *tile.shape, tile.is_diagonal, tile.rows.start, tile.cols.start
        sums = {name: state[name] for name in self.layout}
        kernels.degrees(*pairs, self.edges, *self.measure.arguments, **sums)

    def close(self, state: State) -> State:
        """Count the edges where they all weigh the same."""
        if self.measure.weighted:
            return state
        return {**state, "weight": state["count"].astype(np.float64)}


@dataclass(frozen=True)
class Product(Pass):
    """The product of graph ``i`` with row ``i`` of X, for all rows."""

    edges: NDArray[np.float64]
    measure: Measure
    X: NDArray[np.float64]
    exact: bool
    stage = "products"
    layout: ClassVar = {"Y": ("last", np.add)}

    def narrow(self, window: Window) -> Product:
        """Return the pass with the parts of the vectors that a window needs."""
        return replace(self, X=np.ascontiguousarray(self.X[:, window.features]))

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return zeros."""
        return {"Y": np.zeros_like(self.X)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add the pairs of a tile."""
        first = tile.rows.start, tile.cols.start
        pairs = _pairs(source, tile, self.exact)
        rule = self.edges, *self.measure.arguments, self.measure.weighted
        kernels.masked_product(*pairs, *first, *rule, self.X, **state)


@dataclass(frozen=True)
class Strongest(Pass):
    """The strongest pairs of each feature, up to a limit."""

    limit: float
    per_feature: int
    stage = "strongest edges"

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return empty heaps."""
        return empty_heaps(grid.n, self.per_feature)

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Offer the pairs of a tile to the heaps of their features."""
        first = tile.rows.start, tile.cols.start
        pairs = _pairs(source, tile, exact=True)
        kernels.strongest(*pairs, *first, self.limit, **state)

    def put(self, whole: State, part: State, window: Window) -> None:
        """Offer the pairs of a part to the heaps of the whole."""
        at = window.features
        # Beyond its size a heap holds anything.
        filled = np.arange(self.per_feature) < part["size"][:, None]
        features = at[np.where(filled, part["features"], 0)].astype(np.int32)
        heaps = {name: heap[at] for name, heap in whole.items()}
        kernels.offer_all(part["size"], part["values"], features, **heaps)
        for name, heap in heaps.items():
            whole[name][at] = heap


def empty_heaps(n: int, per_feature: int) -> State:
    """Return a heap for each feature, for its strongest edges."""
    return {
        "size": np.zeros(n, np.int64),
        "values": np.empty((n, per_feature)),
        "features": np.empty((n, per_feature), np.int32),
    }
