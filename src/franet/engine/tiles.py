"""The contract between similarities and reductions: tiles of pairs.

Features are cut into blocks of a constant size; a tile holds the dissimilarities
between two blocks. The last block is padded, so that every tile has the same shape
and the same rounding. Tiles are visited in the rounds of a tournament: within a
round every block occurs at most once. A reduction may therefore write to the rows
of both blocks of its tile without a lock, and the order in which a row receives its
contributions does not depend on the number of threads.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from franet._progress import report
from franet._threads import map_batches

__all__ = ["PairSource", "Tile", "TileGrid", "TileRunner"]


@dataclass(frozen=True)
class Tile:
    """One tile: the pairs between block `i` and block `j`, with `i <= j`."""

    i: int
    j: int
    rows: slice
    cols: slice

    @property
    def is_diagonal(self) -> bool:
        """Whether only the pairs above the diagonal belong to the tile."""
        return self.i == self.j

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features (without padding) down and across."""
        return self.rows.stop - self.rows.start, self.cols.stop - self.cols.start


class PairSource(ABC):
    """What a similarity has to offer to the engine.

    A source speaks of dissimilarities ``d``; a similarity is ``w = top - d``. Tiles
    are float64 and final unless a source says otherwise by its `error`.

    Attributes
    ----------
    n : int
        Number of features.
    block : int
        Features in a block.
    nbytes : int
        Memory that the source holds besides the table.
    error : float
        Bound on ``|tile - exact_tile|``; 0 where tiles are float64.
    scale : float or None
        The scale of the measure, None where it is the largest ``|d|``.
    top : float or None
        ``w + d``; None where it is the largest dissimilarity.
    has_zero : bool
        Whether ``d = 0`` means "the same feature".
    """

    n: int
    block: int = 256
    nbytes: int = 0
    error: float = 0.0
    scale: float | None = None
    top: float | None = None
    has_zero: bool = True

    @abstractmethod
    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        return self.tile(i, j)

    def refine(
        self,
        i: int,
        j: int,
        rows: NDArray[np.int32],
        cols: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the float64 dissimilarities at some positions of a tile."""
        return values


class TileGrid:
    """The tiles of the upper triangle, in tournament rounds.

    Parameters
    ----------
    n : int
        Number of features.
    block : int
        Features in a block.
    """

    def __init__(self, n: int, block: int) -> None:
        self.n = n
        self.block = block
        self.n_blocks = -(-n // block)
        self.n_tiles = self.n_blocks * (self.n_blocks + 1) // 2

    def tile(self, i: int, j: int) -> Tile:
        """Return the tile of two blocks."""
        i, j = min(i, j), max(i, j)
        return Tile(i, j, self._slice(i), self._slice(j))

    def _slice(self, i: int) -> slice:
        return slice(i * self.block, min((i + 1) * self.block, self.n))

    def rounds(self) -> Iterator[list[Tile]]:
        """Yield lists of tiles that share no block; first the diagonal."""
        yield [self.tile(i, i) for i in range(self.n_blocks)]
        # The circle method: one seat is fixed, the others move on by one a round.
        seats = self.n_blocks + self.n_blocks % 2
        for turn in range(seats - 1):
            ring = [seats - 1] + [(turn + s) % (seats - 1) for s in range(seats - 1)]
            games = [(ring[s], ring[-s]) for s in range(1, seats // 2)]
            games.append((ring[0], ring[seats // 2]))
            tiles = [self.tile(a, b) for a, b in games if max(a, b) < self.n_blocks]
            if tiles:
                yield tiles


class _SingleThreadedBlas:
    """Hold BLAS at one thread while any run of tiles is going on.

    Tiles are parallel already. The count is kept for the whole process, because the
    setting is global: the last run to end restores what the first one found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None
        self._controller: ThreadpoolController | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                if self._controller is None:
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.restore_original_limits()
                    self._limit = None


_single_threaded_blas = _SingleThreadedBlas()


class TileRunner:
    """Run a function over tiles on several threads.

    Parameters
    ----------
    n_threads : int
        Number of threads; results do not depend on it.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def run(
        self, rounds: Iterable[list[Tile]], visit: Callable[[Tile], None], stage: str
    ) -> None:
        """Call `visit` once for each tile, one round after the other."""
        rounds = list(rounds)
        total = sum(map(len, rounds))
        done = 0
        with _single_threaded_blas.held():
            if self.n_threads == 1 or total == 1:
                for tiles in rounds:
                    for tile in tiles:
                        visit(tile)
                    done += len(tiles)
                    report(stage, done, total)
                return
            with map_batches(visit, rounds, self.n_threads) as results:
                for tiles, _ in zip(rounds, results, strict=True):
                    done += len(tiles)
                    report(stage, done, total)

    @staticmethod
    def one_blas_thread() -> AbstractContextManager[None]:
        """Return a context in which products run on one thread, as in `run`."""
        return _single_threaded_blas.held()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return ``[function(item) for item in items]``, computed on the threads."""
        items = list(items)
        if self.n_threads == 1 or len(items) <= 1:
            return [function(item) for item in items]
        with map_batches(function, [items], self.n_threads) as results:
            return next(results)
