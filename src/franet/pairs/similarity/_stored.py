"""Correlation between features that lie in a temporary file."""

from __future__ import annotations

import threading
from _thread import start_new_thread
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile, own_pages
from franet.pairs.similarity._correlation import CorrelationSource, block_bytes

Block = tuple[NDArray[np.float64], NDArray[Any]]


class BlockCache:
    """Blocks of features: the last ones are at hand, the next ones are read ahead.

    Parameters
    ----------
    file : RowFile
        The features.
    block : int
        Features in a block.
    rough : bool
        Whether a block comes with its float32 copy.
    capacity : int
        Blocks at hand at the most.
    """

    def __init__(self, file: RowFile, block: int, rough: bool, capacity: int) -> None:
        self._file = file
        self._block = block
        self._rough = rough
        self._capacity = capacity
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._loading: set[int] = set()
        # Taken as such, not as the condition: that would be Python, which Ctrl-C can
        # leave with the lock held.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        # Blocks of each session, which session a tile is of, and the present one.
        self._sessions: list[list[int]] = []
        self._session_of: dict[tuple[int, int], int] = {}
        self._now = -1
        self.n_read = 0

    def follow(self, sessions: Any) -> None:
        """Read ahead by these sessions of tiles from now on."""
        self._sessions = []
        self._session_of = {}
        for number, rounds in enumerate(sessions):
            tiles = [(tile.i, tile.j) for tiles in rounds for tile in tiles]
            self._sessions.append(sorted({block for tile in tiles for block in tile}))
            self._session_of |= dict.fromkeys(tiles, number)

    def pair(self, i: int, j: int) -> tuple[Block, Block]:
        """Return two blocks, and see to it that those of the next session come."""
        number = self._session_of.get((i, j), -1)
        if number not in (-1, self._now):
            with self._lock:
                begins = number != self._now
                self._now = number
            if begins:
                start_new_thread(self._read_ahead, (number,))
        return self._get(i), self._get(j)

    def clear(self) -> None:
        """Forget the blocks, and read none ahead until one is asked for."""
        with self._lock:
            self._now = -1
            self._blocks.clear()

    def _get(self, i: int) -> Block:
        mine = False
        try:
            with self._lock:
                while i in self._loading:
                    self._changed.wait()
                if i in self._blocks:
                    self._blocks.move_to_end(i)
                    return self._blocks[i]
                mine = True
                self._loading.add(i)
                self._make_room()
            found = self._read(i)
            with self._lock:
                self._blocks[i] = found
                self.n_read += 1
            return found
        finally:
            if mine:  # also after an error: others may wait for the block
                with self._lock:
                    self._loading.discard(i)
                    self._changed.notify_all()

    def _read(self, i: int) -> Block:
        exact = self._file.read(i * self._block, (i + 1) * self._block)
        if not self._rough:
            return exact, exact
        work = own_pages(exact.shape, np.float32)
        work[:] = exact
        return exact, work

    def _make_room(self) -> None:
        """Drop blocks for one that is to be read: none that is needed, if possible."""
        needed = self._needed(self._now) | self._needed(self._next(self._now))
        while self._blocks and len(self._blocks) + len(self._loading) > self._capacity:
            spare = (i for i in self._blocks if i not in needed)
            del self._blocks[next(spare, next(iter(self._blocks)))]

    def _needed(self, number: int) -> set[int]:
        known = 0 <= number < len(self._sessions)
        return set(self._sessions[number]) if known else set()

    def _next(self, number: int) -> int:
        # After the last session a further pass begins with the first.
        return (number + 1) % max(1, len(self._sessions))

    def _read_ahead(self, number: int) -> None:
        """Read the blocks of the next session, as far as there is room for them."""
        try:
            coming = self._next(number)
            here = self._needed(number)
            # Those of the present session first: they are waited for.
            for i in (*sorted(here), *sorted(self._needed(coming) - here)):
                with self._lock:
                    keep = here | (self._needed(coming) & set(self._blocks)) | {i}
                    if self._now != number or len(keep) > self._capacity:
                        return
                self._get(i)
        except Exception:
            return  # who needs the block meets the same error


class StoredCorrelationSource(CorrelationSource):
    """Tiles of ``1 - pearson`` between standardized columns in a file.

    Parameters
    ----------
    file : RowFile
        The standardized features, padded with zeros to whole blocks.
    n, block, m : int
        Numbers of features, of those in a block, and of their values.
    dtype : dtype
        The type of the numbers in the table.
    absolute : bool
        Whether the sign of the correlation is dropped.
    capacity : int
        Blocks that may be at hand.
    """

    name = CorrelationSource.__name__

    def __init__(
        self,
        file: RowFile,
        n: int,
        block: int,
        m: int,
        dtype: Any,
        absolute: bool,
        capacity: int,
    ) -> None:
        self._describe(n, block, m, dtype, absolute)
        self._file = file
        capacity = min(capacity, -(-n // self.block))
        self.nbytes = capacity * block_bytes(block, m, dtype)
        # Half of it for the next session, if two groups fit into the other half.
        self.room = max(self.grid().least_room, capacity // 2)
        self._cache = BlockCache(file, block, self.error > 0.0, capacity)
        self._cache.follow(self.grid().sessions())

    def _pair(self, i: int, j: int) -> tuple[Block, Block]:
        return self._cache.pair(i, j)

    def rest(self) -> None:
        """Leave the memory of blocks to what is done between passes."""
        self._cache.clear()

    def close(self) -> None:
        """Give the temporary file back."""
        self._file.close()
