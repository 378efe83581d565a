"""Which columns are linked: correlated at or above the cutoff, as one pass says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import ArrayStore
from franet.engine._numpy import TileEngine
from franet.engine.passes import Pass, State
from franet.pairs.tiles import PairSource, Tile, TileGrid
from franet.pruning import kernels
from franet.pruning._graph import Graph

# Links that are stored. A constant, because what is kept must not depend on the memory
# at hand.
MOST_LINKS = 8_000_000
# What rounding may take from a correlation that is equal to the cutoff.
SLACK = 1e-12
# What turning r into 1 − r, and back, rounds in float32.
_HALF_ULPS = 2.0**-22
# Relative differences of masses that are rounding, in float64 and in float32.
_EXACT, _ROUGH = 1e-9, 1e-5


class Links(NamedTuple):
    """Pairs of columns, each once, with ``j < k``.

    Attributes
    ----------
    j, k : ndarray of int
        Their positions in the source.
    r : ndarray of float
        Their correlation, with its sign.
    """

    j: NDArray[np.int32]
    k: NDArray[np.int32]
    r: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: dict[tuple[int, int], Links]) -> Self:
        """Return the pairs of several tiles as one; the parts are given up."""
        size = sum(len(part.j) for part in parts.values())
        whole = cls(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size))
        start = 0
        for at in sorted(parts):
            # One after the other, so that the links are not in memory twice.
            part = parts.pop(at)
            here = slice(start, start + len(part.j))
            whole.j[here], whole.k[here], whole.r[here] = part
            start = here.stop
        return whole

    def graph(self, place: NDArray[np.intp]) -> Graph:
        """Return the links between nodes.

        Parameters
        ----------
        place : ndarray of int
            The node of each column.
        """
        at = np.empty(len(place) + 1, np.int64)
        to = np.empty(2 * len(self.j), np.int32)
        kernels.neighbors(self.j, self.k, place.astype(np.int32), at=at, to=to)
        return Graph(at, to)


@dataclass(frozen=True)
class Survey:
    """What one pass over all pairs finds.

    Attributes
    ----------
    links : Links or None
        The pairs at or above the cutoff; None if there are too many to store.
    degree : ndarray of int
        How many others each column is linked with.
    mass : ndarray of float
        The sum of the squared correlations of each column with all others. It depends
        on content alone: not on units, signs, names and orders, rounding aside.
    """

    links: Links | None
    degree: NDArray[np.int64]
    mass: NDArray[np.float64]


@dataclass(frozen=True)
class CollectLinks(Pass):
    """The pairs with ``|r| ≥ cutoff``, if they are few enough, and their numbers."""

    cutoff: float
    most: int
    stage = "correlations"

    def start(self, grid: TileGrid, store: ArrayStore) -> State:
        """Return zeros, and links of no tile."""
        zeros = np.zeros(grid.n, np.int64), np.zeros(grid.n)
        counts = np.zeros(grid.n_blocks, np.int64)
        return {"degree": zeros[0], "mass": zeros[1], "counts": counts, "links": {}}

    def visit(self, source: PairSource, tile: Tile, state: State) -> None:
        """Add the pairs of a tile."""
        stores = state["counts"].sum() <= self.most
        found = find_links(source, tile, self.cutoff, sure=not stores)
        for name in ("degree", "mass"):
            down, across = getattr(found, name)
            state[name][tile.rows] += down
            state[name][tile.cols] += across
        # Blocks of one round are different: a block's count has one writer.
        state["counts"][tile.i] += found.degree[0].sum()
        if stores:
            state["links"][tile.i, tile.j] = found.links
        else:
            state["links"].clear()

    def close(self, state: State) -> State:
        """Return the links, or None where they are too many."""
        few = state.pop("counts").sum() <= self.most
        return {**state, "links": Links.joined(state["links"]) if few else None}


class Found(NamedTuple):
    """What is found in a tile.

    Attributes
    ----------
    links : Links
        The pairs with ``|r| ≥ cutoff``.
    degree, mass : pair of ndarray
        Of the features down and across, how many of these pairs they belong to, and
        the sum of the squared correlations in the tile.
    """

    links: Links
    degree: tuple[NDArray[np.int64], NDArray[np.int64]]
    mass: tuple[NDArray[np.float64], NDArray[np.float64]]


def find_links(
    source: PairSource,
    tile: Tile,
    cutoff: float,
    *,
    rows: NDArray[np.bool_] | None = None,
    sure: bool = False,
) -> Found:
    """Return the pairs of a tile with ``|r| ≥ cutoff``.

    Parameters
    ----------
    source : PairSource
        The correlations, as ``1 − r``.
    tile : Tile
        The tile.
    cutoff : float
        The cutoff.
    rows : ndarray of bool, optional
        The features down that are looked at; all by default.
    sure : bool, default=False
        Whether pairs that are clearly above the cutoff are only counted.
    """
    a, b = tile.shape
    wanted = np.ones(a, bool) if rows is None else rows
    margin = source.error + _HALF_ULPS if source.error else 0.0
    low = cutoff - SLACK
    high = low + 2 * margin + SLACK if sure else np.inf
    mass, degree = np.zeros((2, max(a, b))), np.zeros((2, max(a, b)), np.int64)
    D = source.tile(tile.i, tile.j)
    sums = {"mass": mass, "degree": degree}
    pairs = D, a, b, tile.is_diagonal
    j, k, r = kernels.strong_pairs(*pairs, low - margin, high, wanted, **sums)
    if margin:
        r = 1.0 - source.refine(tile.i, tile.j, j, k, 1.0 - r)
        inside = np.abs(r) >= low
        j, k, r = j[inside], k[inside], r[inside]
    down = degree[0, :a] + np.bincount(j, minlength=a)
    across = degree[1, :b] + np.bincount(k, minlength=b)
    j, k = j + np.int32(tile.rows.start), k + np.int32(tile.cols.start)
    return Found(Links(j, k, r), (down, across), (mass[0, :a], mass[1, :b]))


def survey(source: PairSource, cutoff: float, n_threads: int, most: int) -> Survey:
    """Return what a pass over all pairs of a source finds.

    Parameters
    ----------
    source : PairSource
        The correlations.
    cutoff : float
        Columns with ``|r| ≥ cutoff`` are linked.
    n_threads : int
        Number of threads; no result depends on it.
    most : int
        How many links are stored, at the most.
    """
    engine = TileEngine(source, n_threads)
    found: dict[str, Any] = engine.reduce(CollectLinks(cutoff, most))
    return Survey(found["links"], found["degree"], _rounded(found["mass"], source))


def _rounded(mass: NDArray[np.float64], source: PairSource) -> NDArray[np.float64]:
    """Return masses of which those that differ by rounding alone are equal."""
    step = (_ROUGH if source.error else _EXACT) * max(1.0, mass.max(initial=0.0))
    return np.round(mass / step)
