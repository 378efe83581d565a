"""The contract between similarities and reductions: tiles of pairs.

Features are cut into blocks of a constant size; a tile holds the dissimilarities
between two blocks. The last block is padded, so that every tile has the same shape
and the same rounding. Tiles are visited in the rounds of a tournament: within a
round every block occurs at most once. A reduction may therefore write to the rows
of both blocks of its tile without a lock, and the order in which a row receives its
contributions does not depend on the number of threads.

Where features do not fit into memory, a tournament of all blocks would read all of
them in every round. So blocks form groups, and groups halves of halves: each half
plays within itself, then the halves play against each other. What is played side by
side where memory allows, one part after the other where it does not, shares no block.
So the order of a row's contributions does not depend on the memory, either.
"""

from __future__ import annotations

import functools
import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from franet._common.progress import report
from franet._common.threads import interrupts_of_kernels, map_batches


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


def block_size(n: int, most: int = 256) -> int:
    """Return how many of n features make a block: few are not padded to many."""
    return min(most, -(-n // 8) * 8)


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
    group : int or None
        Blocks in a group at the most, which decides on the order of tiles; None: all.
    room : int or None
        Blocks that are to be at hand at a time; None: all. No result depends on it.
    """

    n: int
    block: int = 256
    group: int | None = None
    room: int | None = None
    nbytes: int = 0
    error: float = 0.0
    scale: float | None = None
    top: float | None = None
    has_zero: bool = True

    @property
    def name(self) -> str:
        """What the tiles are; sources whose tiles have the same bits share it."""
        return type(self).__name__

    @abstractmethod
    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""

    def _rows(self, i: int) -> slice:
        """Return the features of a block, those it is padded with included."""
        return slice(i * self.block, (i + 1) * self.block)

    @property
    def _n_padded(self) -> int:
        """Number of features, those that the last block is padded with included."""
        return -(-self.n // self.block) * self.block

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

    def grid(self) -> TileGrid:
        """Return the tiles, in the order that suits the source."""
        return TileGrid(self.n, self.block, self.group, self.room)

    def rest(self) -> None:  # noqa: B027 (most sources keep nothing between passes)
        """Give back memory that is of use within a pass only."""

    def close(self) -> None:  # noqa: B027 (most sources hold nothing to give back)
        """Give back temporary files; the source is of no use afterwards."""


class TileGrid:
    """The tiles of the upper triangle, in rounds of tiles that share no block.

    Parameters
    ----------
    n : int
        Number of features.
    block : int
        Features in a block.
    group : int, optional
        Blocks in a group at the most; by default there is one group of all. The order
        in which a feature meets the others depends on it.
    room : int, optional
        Blocks of a session, at least two groups; by default all. The order in which
        a feature meets the others does not depend on it.
    """

    def __init__(
        self, n: int, block: int, group: int | None = None, room: int | None = None
    ) -> None:
        self.n = n
        self.block = block
        self.n_blocks = -(-n // block)
        self.n_tiles = self.n_blocks * (self.n_blocks + 1) // 2
        self._group = self.n_blocks if group is None else group
        self._room = self.n_blocks if room is None else room

    def tile(self, i: int, j: int) -> Tile:
        """Return the tile of two blocks."""
        i, j = min(i, j), max(i, j)
        return Tile(i, j, self._slice(i), self._slice(j))

    def _slice(self, i: int) -> slice:
        return slice(i * self.block, min((i + 1) * self.block, self.n))

    def rounds(self) -> Iterator[list[Tile]]:
        """Yield lists of tiles that share no block."""
        for session in self.sessions():
            yield from session

    def sessions(self) -> Iterator[list[list[Tile]]]:
        """Yield the rounds in parts, none of which needs more blocks than fit."""
        for games in self._sessions(self._all()):
            yield [[self.tile(i, j) for i, j in pairs] for pairs in games]

    @property
    def least_room(self) -> int:
        """Blocks that are at hand at a time, at the least: two groups."""
        if self._n_groups == 1:
            return self.n_blocks
        return min(self.n_blocks, 2 * -(-self.n_blocks // self._n_groups))

    @property
    def _n_groups(self) -> int:
        n_groups = 1
        while n_groups * self._group < self.n_blocks:
            n_groups *= 2
        return n_groups

    def _all(self) -> _Play:
        """Return the play of all blocks, in groups of about equal size.

        Their number is a power of two: halves of halves then are as many, and few
        blocks wait while others play.
        """
        n_groups = self._n_groups
        ends = [g * self.n_blocks // n_groups for g in range(n_groups + 1)]
        groups = [range(*ends[g : g + 2]) for g in range(n_groups)]
        return _Play([group for group in groups if group])

    def _sessions(self, play: _Play) -> Iterator[list[_Pairs]]:
        stages = play.stages()
        if not stages or play.n_blocks <= self._room:
            yield play.rounds()
            return
        for part in itertools.chain(*stages):
            yield from self._sessions(part)


_Pairs = list[tuple[int, int]]


class _Play:
    """Blocks of some groups against those of others.

    Parameters
    ----------
    a, b : list of range
        The groups. Without the second, all blocks of the first play against each
        other, and each against itself.
    """

    def __init__(self, a: list[range], b: list[range] | None = None) -> None:
        self._a, self._b = a, b
        self._groups = a + (b or [])
        self.n_blocks = sum(map(len, self._groups))

    def stages(self) -> list[list[_Play]]:
        """Return what is played one after the other, in parts that share no block.

        There is nothing where groups are no longer divided.
        """
        if len(self._groups) == 1 or (self._b and len(self._groups) == 2):
            return []
        if self._b is None:
            half = len(self._a) // 2
            low, high = self._a[:half], self._a[half:]
            return [[_Play(low), _Play(high)], [_Play(low, high)]]
        (a, c), (b, d) = _halves(self._a), _halves(self._b)
        # The second stage begins with what the first one has left at hand.
        stages = [[(a, b), (c, d)], [(c, b), (a, d)]]
        return [[_Play(*part) for part in stage if all(part)] for stage in stages]

    def rounds(self) -> list[_Pairs]:
        """Return lists of pairs that share no block, those of parts side by side."""
        stages = self.stages()
        if not stages:
            return self._circle() if self._b is None else self._shifts()
        found = []
        for stage in stages:
            parts = (part.rounds() for part in stage)
            side_by_side = itertools.zip_longest(*parts, fillvalue=[])
            found += [list(itertools.chain(*pairs)) for pairs in side_by_side]
        return found

    def _circle(self) -> list[_Pairs]:
        """Return the rounds of a tournament by the circle method.

        One seat is fixed, the others move on by one a round.
        """
        first, n = self._groups[0].start, self.n_blocks
        found = [[(first + i, first + i) for i in range(n)]]
        seats = n + n % 2
        for turn in range(seats - 1):
            ring = [seats - 1] + [(turn + s) % (seats - 1) for s in range(seats - 1)]
            games = [(ring[s], ring[-s]) for s in range(1, seats // 2)]
            games.append((ring[0], ring[seats // 2]))
            found.append([(first + a, first + b) for a, b in games if max(a, b) < n])
        return [pairs for pairs in found if pairs]

    def _shifts(self) -> list[_Pairs]:
        """Return the rounds of one group against another, which moves on by one."""
        few, many = sorted(self._groups, key=len)
        return [
            [(i, many[(s + turn) % len(many)]) for s, i in enumerate(few)]
            for turn in range(len(many))
        ]


def _halves(groups: list[range]) -> tuple[list[range], list[range]]:
    half = (len(groups) + 1) // 2
    return groups[:half], groups[half:]


class _SingleThreadedBlas:
    """Hold BLAS at one thread while any run of tiles is going on.

    Tiles are parallel already. The count is kept for the whole process, because the
    setting is global: the last run to end restores what the first one found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.restore_original_limits()


# Libraries are looked for at the first use.
_controller = functools.cache(ThreadpoolController)
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
        with (
            _single_threaded_blas.held(),
            self._results(visit, rounds, alone=total == 1) as results,
        ):
            for batch in results:
                done += len(batch)
                report(stage, done, total)

    @staticmethod
    def one_blas_thread() -> AbstractContextManager[None]:
        """Return a context in which products run on one thread, as in `run`."""
        return _single_threaded_blas.held()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return ``[function(item) for item in items]``, computed on the threads."""
        items = list(items)
        with self._results(function, [items], alone=len(items) <= 1) as results:
            return next(results)

    @contextmanager
    def _results(
        self, function: Callable[[Any], Any], batches: Iterable[list[Any]], alone: bool
    ) -> Iterator[Iterator[list[Any]]]:
        """Give the results of each batch, computed here if nothing runs beside it."""
        if self.n_threads == 1 or alone:
            with interrupts_of_kernels():
                yield ([function(item) for item in items] for items in batches)
        else:
            with map_batches(function, batches, self.n_threads) as results:
                yield results
