"""Which columns are linked: correlated at or above the cutoff, as one pass says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from franet._common.memory import ArrayStore
from franet.engine._numpy import TileEngine
from franet.engine.passes import Pass, State
from franet.pairs.tiles import PairSource, Tile, TileGrid
from franet.pruning import kernels

# Links that are stored. A constant, because what is kept must not depend on the memory
# at hand.
MOST_LINKS = 10_000_000
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
    def joined(cls, parts: list[Links]) -> Self:
        """Return the pairs of several tiles as one."""
        none = np.empty(0, np.int32)
        ordered = [(none, none, np.empty(0)), *parts]
        return cls(*map(np.concatenate, zip(*ordered, strict=True)))

    def graph(self, place: NDArray[np.intp]) -> csr_array:
        """Return the links between nodes, neighbors in order.

        Parameters
        ----------
        place : ndarray of int
            The node of each column.
        """
        n = len(place)
        a, b = place[self.j], place[self.k]
        at = np.concatenate([a, b]), np.concatenate([b, a])
        return csr_array((np.ones(len(at[0]), bool), at), shape=(n, n))


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
        links = links_of(source, tile, self.cutoff, stores, mass=state["mass"])
        for ends, at in (links.j, tile.rows), (links.k, tile.cols):
            found = np.bincount(ends - at.start, minlength=at.stop - at.start)
            state["degree"][at] += found
        # Blocks of one round are different: a block's count has one writer.
        state["counts"][tile.i] += len(links.j)
        if stores:
            state["links"][tile.i, tile.j] = links
        else:
            state["links"].clear()

    def close(self, state: State) -> State:
        """Return the links, or None where they are too many."""
        few = state.pop("counts").sum() <= self.most
        parts = [state["links"][at] for at in sorted(state["links"])]
        return {**state, "links": Links.joined(parts) if few else None}


def links_of(
    source: PairSource,
    tile: Tile,
    cutoff: float,
    exact: bool = True,
    *,
    mass: NDArray[np.float64] | None = None,
) -> Links:
    """Return the pairs of a tile with ``|r| ≥ cutoff``.

    Parameters
    ----------
    source : PairSource
        The correlations, as ``1 − r``.
    tile : Tile
        The tile.
    cutoff : float
        The cutoff.
    exact : bool, default=True
        Whether each r is that of float64; otherwise it only decides in float64 what is
        near the cutoff.
    mass : ndarray of float, optional
        The squared correlations of all pairs are added here, to both columns.
    """
    a, b = tile.shape
    margin = source.error + _HALF_ULPS if source.error else 0.0
    sums = np.zeros((2, max(a, b)))
    D = source.tile(tile.i, tile.j)
    low = cutoff - SLACK - margin
    j, k, r = kernels.strong_pairs(D, a, b, tile.is_diagonal, low, mass=sums)
    if margin:
        again = slice(None) if exact else np.abs(r) <= cutoff + margin
        some = j[again], k[again], 1.0 - r[again]
        r[again] = 1.0 - source.refine(tile.i, tile.j, *some)
        inside = np.abs(r) >= cutoff - SLACK
        j, k, r = j[inside], k[inside], r[inside]
    if mass is not None:
        mass[tile.rows] += sums[0, :a]
        mass[tile.cols] += sums[1, :b]
    return Links(j + np.int32(tile.rows.start), k + np.int32(tile.cols.start), r)


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
