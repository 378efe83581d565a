"""What one pass over the tiles computes, apart from how tiles are visited.

A pass begins with a state of arrays, adds one tile after the other to it, and ends
with a state that holds arrays only. States of passes over different tiles can be
merged into that of a pass over all of them. So tiles may be visited on threads, on
other machines, or not at all, if the state was saved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import Store
from franet.engine import kernels
from franet.engine.measure import Measure, Tally
from franet.pairs.tiles import PairSource, Tile, TileGrid

__all__ = [
    "CountCells",
    "Degrees",
    "LeastAbove",
    "NextToCopies",
    "Pass",
    "Product",
    "Sharpen",
    "State",
    "Strongest",
    "Survey",
    "Total",
]

State = dict[str, Any]


class Pass(ABC):
    """One pass over tiles."""

    stage: ClassVar[str]

    @abstractmethod
    def start(self, grid: TileGrid, store: Store) -> State:
        """Return the state before the first tile."""

    @abstractmethod
    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add a tile to the state; others of its round may be added meanwhile."""

    def close(self, state: State) -> State:
        """Return the state after the last tile: arrays only."""
        return state

    @abstractmethod
    def merge(self, states: list[State]) -> State:
        """Return the state of a pass over the tiles of all these, in this order."""


def _pairs(source: PairSource, tile: Tile, exact: bool) -> tuple[Any, int, int, bool]:
    """Return a tile as kernels take it."""
    D = source.exact_tile(tile.i, tile.j) if exact else source.tile(tile.i, tile.j)
    return D, *tile.shape, tile.is_diagonal


def _each_tile(grid: TileGrid, value: float) -> NDArray[np.float64]:
    return np.full((grid.n_blocks, grid.n_blocks), value)


class _Least(Pass):
    """A pass whose state is a smallest value for each tile."""

    def merge(self, states: list[State]) -> State:
        return {name: np.min([s[name] for s in states], axis=0) for name in states[0]}


@dataclass(frozen=True)
class Survey(Pass):
    """The extremes of each tile, and how many pairs lie where.

    `noise` is what rounding may make of 0; None where nothing is looked for above it.
    """

    noise: float | None
    stage = "extremes"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return infinities, and counts for each block."""
        return {
            "low": _each_tile(grid, np.inf),
            "high": _each_tile(grid, -np.inf),
            "above": _each_tile(grid, np.inf),
            "counts": np.zeros((grid.n_blocks, Tally.SIZE), np.int64),
        }

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

    def merge(self, states: list[State]) -> State:
        """Return the extremes of all."""
        return {
            "low": np.min([s["low"] for s in states], axis=0),
            "high": np.max([s["high"] for s in states], axis=0),
            "above": np.min([s["above"] for s in states], axis=0),
            "counts": np.sum([s["counts"] for s in states], axis=0),
        }


@dataclass(frozen=True)
class Sharpen(_Least):
    """The smallest ``sign · d`` of each tile in float64, of pairs up to a limit."""

    sign: float
    limit: float
    stage = "extremes, exactly"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return infinities."""
        return {"least": _each_tile(grid, np.inf)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Compute again what may be the smallest."""
        at = tile.i, tile.j
        D, *rest = _pairs(source, tile, exact=False)
        j, k, d = kernels.collect(self.sign * D, *rest, self.limit)
        d = source.refine(*at, j, k, self.sign * d)
        state["least"][at] = (self.sign * d).min(initial=np.inf)


@dataclass(frozen=True)
class NextToCopies(_Least):
    """The smallest value of each tile, and the smallest that is not zero."""

    zero: float
    limit: float
    stage = "smallest gap"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return infinities."""
        return {"least": _each_tile(grid, np.inf), "above": _each_tile(grid, np.inf)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Compute again the pairs up to the limit."""
        at = tile.i, tile.j
        found = kernels.collect(*_pairs(source, tile, exact=False), self.limit)
        d = source.refine(*at, *found)
        state["least"][at] = d.min(initial=np.inf)
        state["above"][at] = d.min(where=d > self.zero, initial=np.inf)


@dataclass(frozen=True)
class LeastAbove(_Least):
    """The smallest value of each tile above a floor, in float64."""

    floor: float
    stage = "smallest gap"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return infinities."""
        return {"least": _each_tile(grid, np.inf)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Find the smallest value of a tile."""
        pairs = _pairs(source, tile, exact=True)
        found = kernels.smallest_above(*pairs, self.floor)
        state["least"][tile.i, tile.j] = found


class _Sums(Pass):
    """A pass whose states are added up."""

    def merge(self, states: list[State]) -> State:
        return {name: np.sum([s[name] for s in states], axis=0) for name in states[0]}


@dataclass(frozen=True)
class Total(_Sums):
    """The sum of each tile, in float64."""

    stage = "mean"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return zeros."""
        return {"sums": _each_tile(grid, 0.0)}

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

    def start(self, grid: TileGrid, store: Store) -> State:
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
        return self.merge([self._nothing(), *state["blocks"].values()])

    def merge(self, states: list[State]) -> State:
        """Add up the counts."""
        return {
            "counts": np.sum([s["counts"] for s in states], axis=0),
            "low": np.min([s["low"] for s in states], axis=0),
            "high": np.max([s["high"] for s in states], axis=0),
        }


@dataclass(frozen=True)
class Degrees(_Sums):
    """Number and weight of each feature's edges in some graphs, as the tiles say."""

    edges: NDArray[np.float64]
    measure: Measure
    stage = "degrees"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return zeros."""
        shape = (len(self.edges), grid.n)
        return {"count": np.zeros(shape, np.int32), "weight": np.zeros(shape)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add the pairs of a tile."""
        self.add(tile, source.tile(tile.i, tile.j), state)

    def add(self, tile: Tile, D: NDArray[Any], state: State) -> None:
        """Add the pairs of a tile that is at hand."""
        kernels.degrees(
            D,
            *tile.shape,
            tile.is_diagonal,
            tile.rows.start,
            tile.cols.start,
            self.edges,
            *self.measure.arguments,
            count=state["count"],
            weight=state["weight"],
        )

    def close(self, state: State) -> State:
        """Count the edges where they all weigh the same."""
        if self.measure.weighted:
            return state
        return {**state, "weight": state["count"].astype(np.float64)}


@dataclass(frozen=True)
class Product(_Sums):
    """The product of graph ``i`` with row ``i`` of X, for all rows."""

    edges: NDArray[np.float64]
    measure: Measure
    X: NDArray[np.float64]
    exact: bool
    stage = "products"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return zeros."""
        return {"Y": np.zeros_like(self.X)}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add the pairs of a tile."""
        kernels.masked_product(
            *_pairs(source, tile, self.exact),
            tile.rows.start,
            tile.cols.start,
            self.edges,
            *self.measure.arguments,
            self.measure.weighted,
            self.X,
            Y=state["Y"],
        )


@dataclass(frozen=True)
class Strongest(Pass):
    """The strongest pairs of each feature, up to a limit."""

    limit: float
    per_feature: int
    stage = "strongest edges"

    def start(self, grid: TileGrid, store: Store) -> State:
        """Return empty heaps."""
        return empty_heaps(grid.n, self.per_feature)

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Offer the pairs of a tile to the heaps of their features."""
        first = tile.rows.start, tile.cols.start
        pairs = _pairs(source, tile, exact=True)
        kernels.strongest(*pairs, *first, self.limit, **state)

    def merge(self, states: list[State]) -> State:
        """Offer the pairs of all heaps to those of the first."""
        merged = {name: array.copy() for name, array in states[0].items()}
        for other in states[1:]:
            kernels.offer_all(
                **other,
                heap_size=merged["size"],
                heap_values=merged["values"],
                heap_features=merged["features"],
            )
        return merged


def empty_heaps(n: int, per_feature: int) -> State:
    """Return a heap for each feature, for its strongest edges."""
    return {
        "size": np.zeros(n, np.int64),
        "values": np.empty((n, per_feature)),
        "features": np.empty((n, per_feature), np.int32),
    }
