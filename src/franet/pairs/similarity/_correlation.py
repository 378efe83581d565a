"""Pearson, absolute and Spearman correlation as tiles of ``d = 1 - r``."""

from __future__ import annotations

import threading
from _thread import start_new_thread
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile, own_pages
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
)
from franet.pairs.similarity.kernels import pair_products
from franet.pairs.tiles import PairSource, Tile, block_size

# Square tiles that fit the second-level cache: 1 MB in float32, 0.5 MB in float64.
BLOCK = {np.dtype(np.float32): 512, np.dtype(np.float64): 256}
# Bytes of features in a group of blocks. The order of sums depends on it: a constant,
# and so small that two groups fit wherever a large table is to be ranked.
GROUP = 1 << 25


def block_bytes(block: int, m: int, dtype: Any) -> int:
    """Return what a block of features takes: float64, and float32 beside it."""
    return block * m * (12 if dtype == np.float32 else 8)


def group_size(m: int, dtype: Any) -> int:
    """Return how many blocks of features make a group."""
    return max(1, GROUP // block_bytes(BLOCK[np.dtype(dtype)], m, dtype))


class CorrelationTiles(PairSource):
    """Tiles of ``1 - r`` between features, or of ``1 - |r|``.

    Parameters
    ----------
    n, block : int
        Numbers of features, and of those in a block.
    absolute : bool
        Whether the sign of the correlation is dropped.
    """

    scale = 1.0

    def __init__(self, n: int, block: int, absolute: bool) -> None:
        self.n, self.block, self.absolute = n, block, absolute
        self.top = 1.0 if absolute else 2.0

    def _dissimilarity(self, R: NDArray[Any]) -> NDArray[Any]:
        """Turn correlations into dissimilarities, in place."""
        if self.absolute:
            np.abs(R, out=R)
        return np.subtract(1, R, out=R)


class CorrelationSource(CorrelationTiles):
    """Tiles of ``1 - pearson`` between standardized columns.

    Parameters
    ----------
    rows : ndarray of shape (n_padded, m)
        The standardized columns, padded with zeros to whole blocks.
    n, block : int
        Numbers of features, and of those in a block.
    dtype : dtype
        The type of the numbers in the table, float32 or float64.
    absolute : bool, default=False
        Whether the sign of the correlation is dropped.
    """

    def __init__(
        self,
        rows: NDArray[np.float64],
        n: int,
        block: int,
        dtype: Any,
        absolute: bool = False,
    ) -> None:
        self._describe(n, block, rows.shape[1], dtype, absolute)
        # What is decided in float32 is recomputed from these.
        self._exact = rows
        self._work = rows.astype(np.float32) if self.error else rows
        self.nbytes = rows.nbytes + (self._work.nbytes if self.error else 0)

    def _describe(self, n: int, block: int, m: int, dtype: Any, absolute: bool) -> None:
        """Set what does not depend on where the features lie."""
        super().__init__(n, block, absolute)
        self.group = group_size(m, dtype)
        # Two rounded factors and a sum of m products, each of relative size u.
        self.error = (m + 4) * 2.0**-24 if dtype == np.float32 else 0.0

    def _pair(self, i: int, j: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return two blocks of features, each in float64 and as tiles use it."""
        a, b = self._rows(i), self._rows(j)
        return (self._exact[a], self._work[a]), (self._exact[b], self._work[b])

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        (_, A), (_, B) = self._pair(i, j)
        return self._dissimilarity(A @ B.T)

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        (A, _), (B, _) = self._pair(i, j)
        return self._dissimilarity(A @ B.T)

    def refine(self, i: int, j: int, *found: Any) -> NDArray[np.float64]:
        """Return the float64 dissimilarities at some positions of a tile."""
        rows, cols, values = found
        if self.error == 0.0:
            return values
        r = np.empty(len(rows))
        (A, _), (B, _) = self._pair(i, j)
        pair_products(A, B, rows, cols, out=r)
        return self._dissimilarity(r)


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
    sessions : iterable of lists of rounds, optional
        The tiles in their order, by which blocks are read ahead.
    """

    def __init__(
        self,
        file: RowFile,
        block: int,
        rough: bool,
        capacity: int,
        sessions: Iterable[list[list[Tile]]] = (),
    ) -> None:
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
        self._sessions: dict[int, set[int]] = {}
        self._session_of: dict[tuple[int, int], int] = {}
        self._now = -1
        for number, rounds in enumerate(sessions):
            tiles = [(tile.i, tile.j) for tiles in rounds for tile in tiles]
            self._sessions[number] = set(chain(*tiles))
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
        needed = self._needed(self._now) | self._coming(self._now)
        while self._blocks and len(self._blocks) + len(self._loading) > self._capacity:
            spare = (i for i in self._blocks if i not in needed)
            del self._blocks[next(spare, next(iter(self._blocks)))]

    def _needed(self, number: int) -> set[int]:
        return self._sessions.get(number, set())

    def _coming(self, number: int) -> set[int]:
        # After the last session a further pass begins with the first.
        return self._needed((number + 1) % max(1, len(self._sessions)))

    def _read_ahead(self, number: int) -> None:
        """Read the blocks of the next session, as far as there is room for them."""
        try:
            here, coming = self._needed(number), self._coming(number)
            # Those of the present session first: they are waited for.
            for i in (*sorted(here), *sorted(coming - here)):
                with self._lock:
                    keep = here | (coming & set(self._blocks)) | {i}
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
        sessions = self.grid().sessions()
        self._cache = BlockCache(file, block, self.error > 0.0, capacity, sessions)

    def _pair(self, i: int, j: int) -> tuple[Block, Block]:
        return self._cache.pair(i, j)

    def rest(self) -> None:
        """Leave the memory of blocks to what is done between passes."""
        self._cache.clear()

    def close(self) -> None:
        """Give the temporary file back."""
        self._file.close()


class PairwiseCorrelationSource(CorrelationTiles):
    """Tiles of ``1 - pearson`` over the rows in which neither value is missing.

    Pairs with fewer than three common rows, or constant on them, count as
    uncorrelated: two points always lie on a line.

    Parameters
    ----------
    X : ndarray of shape (m, n_columns)
        The table; NaN is missing.
    columns : ndarray of int
        The columns that take part, none of them constant.
    absolute : bool, default=False
        Whether the sign of the correlation is dropped.
    """

    min_rows = 3

    def __init__(
        self, X: NDArray[Any], columns: NDArray[np.intp], absolute: bool = False
    ) -> None:
        super().__init__(len(columns), block_size(len(columns)), absolute)
        rows = feature_rows(X, columns, self._n_padded, np.float64)
        present = ~np.isnan(rows)
        present[self.n :] = False
        # Standardized over what is there, so that the sums below hardly cancel.
        largest = np.abs(rows).max(axis=1, where=present, initial=0.0)
        rows *= powers_of_two(largest)[:, None]
        count = np.maximum(present.sum(axis=1), 1)
        for _ in range(2):
            rows -= (rows.sum(axis=1, where=present) / count)[:, None]
        rows[~present] = 0.0
        spread = np.abs(rows).max(axis=1, initial=0.0)
        rows /= np.where(spread > 0.0, spread, 1.0)[:, None]
        self._values = rows
        self._present = present.astype(np.float64)
        self.nbytes = rows.nbytes + self._present.nbytes

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the dissimilarities of block `i` against block `j`."""
        a, b = self._rows(i), self._rows(j)
        A, P = self._values[a], self._present[a]
        B, Q = self._values[b].T, self._present[b].T
        N = P @ Q
        few = self.min_rows > N
        N[few] = 1.0
        sa, sb = A @ Q, P @ B
        va = (A * A) @ Q - sa * sa / N
        vb = P @ (B * B) - sb * sb / N
        # Sums of squares below rounding mean constant on the common rows.
        few |= (va <= 1e-13 * N) | (vb <= 1e-13 * N)
        va[few] = vb[few] = 1.0
        R = (A @ B - sa * sb / N) / np.sqrt(va * vb)
        R[few] = 0.0
        np.clip(R, -1.0, 1.0, out=R)
        return self._dissimilarity(R)


def rank_columns(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the average ranks of each column, as float64."""
    from scipy.stats import rankdata

    ranks = np.empty(X.shape, np.float64)
    for at in range(0, X.shape[1], 1024):
        ranks[:, at : at + 1024] = rankdata(X[:, at : at + 1024], axis=0)
    return ranks
