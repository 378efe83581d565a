"""Correlation between few features of many examples, from one matrix of products.

Where examples are many times more than features, the matrix of all correlations is
much smaller than the table. It is computed once, from chunks of rows that come from
anywhere; every pass over the tiles then only looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import RowFile, own_pages
from franet._common.progress import report
from franet._common.threads import map_batches
from franet.pairs.columns._base import Columns, bad_value, first_bad
from franet.pairs.similarity._correlation import CorrelationTiles
from franet.pairs.similarity._standardize import powers_of_two
from franet.pairs.tiles import TileRunner, block_size

# So many times more examples than features, and so many cells: by shape alone, since
# results are the same bits wherever the table lies.
_TIMES = 4
_CELLS = 1 << 24
# Numbers in a chunk of rows, whose products are added up one after the other.
_CHUNK = 1 << 21
# … and rows of it, of which a product takes its speed.
_ROWS = 256
# Rows of a chunk that are centred at a time.
_SLICE = 64


def suits_gram(shape: tuple[int, int]) -> bool:
    """Return whether the matrix of products is the way for a dense table."""
    m, n = shape
    return m >= _TIMES * n and m * n >= _CELLS


def chunk_rows(n: int) -> int:
    """Return how many rows are multiplied at a time."""
    block = block_size(n)
    return max(_ROWS, _CHUNK // (-(-n // block) * block))


class Moments(NamedTuple):
    """What centres columns and brings them to about one.

    Attributes
    ----------
    constant : ndarray of bool
        Columns with one value only.
    scale : ndarray
        Powers of two that values are multiplied by first.
    mean : ndarray
        Means of the products, up to rounding.
    spread : ndarray
        Powers of two that differences from the mean are multiplied by.
    """

    constant: NDArray[np.bool_]
    scale: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, table: Columns, rows: int, piece: int) -> Moments:
        """Return the moments of all columns, by one pass over the rows.

        Parameters
        ----------
        table : Columns
            The table.
        rows : int
            Rows of a chunk.
        piece : int
            Bytes that are read at a time.
        """
        m, n = table.shape
        lo, hi = np.full(n, np.inf), np.full(n, -np.inf)
        total, scale = np.zeros(n), np.ones(n)
        bad: list[tuple[int, int, float]] = []
        for at, part in _chunks(table, rows, piece):
            low, high = part.min(axis=0), part.max(axis=0)
            finite = np.isfinite(low).all() and np.isfinite(high).all()
            if not finite and (found := first_bad(part, False)):
                row, j = found
                bad.append((j, at + row, float(part[row, j])))
            if bad:  # an earlier column may hold one further down
                continue
            np.minimum(lo, low, out=lo)
            np.maximum(hi, high, out=hi)
            # Sums that were scaled by less are scaled by the rest: exactly.
            new = powers_of_two(np.maximum(np.abs(lo), np.abs(hi)))
            total *= new / scale
            for rest in _slices(part):
                total += (rest * new).sum(axis=0)
            scale = new
            report("means", min(at + rows, m), m)
        if bad:
            j, row, value = min(bad)
            raise bad_value(value, row, j, table.names, table.for_gaps)
        mean = total / m
        reach = np.maximum(hi * scale - mean, mean - lo * scale)
        return cls(lo == hi, scale, mean, powers_of_two(reach))


def _chunks(table: Columns, rows: int, piece: int) -> Iterator[tuple[int, Any]]:
    """Yield the table in chunks of so many rows, as float64, row by row.

    Sums down columns are rounded in another way where these are contiguous.
    """
    for at, part in table.chunks(rows, piece):
        yield at, np.ascontiguousarray(part, np.float64)


def _slices(part: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield a chunk in slices of a few rows: what is made of them stays small."""
    for at in range(0, len(part), _SLICE):
        yield part[at : at + _SLICE]


class GramSource(CorrelationTiles):
    """Tiles of ``1 - pearson`` that were computed before, all in one go.

    Parameters
    ----------
    table : Columns
        The table, of which rows can be read.
    moments : Moments
        What centres its columns.
    absolute : bool
        Whether the sign of the correlation is dropped.
    room : int
        Bytes for tiles in memory. What does not fit lies in a temporary file, and
        takes a pass over the table each time that the room is full.
    piece : int
        Bytes that are read at a time.
    n_threads : int
        Number of threads; no result depends on it.
    """

    def __init__(
        self,
        table: Columns,
        moments: Moments,
        absolute: bool,
        room: int,
        piece: int,
        n_threads: int,
    ) -> None:
        self._table, self._moments = table, moments
        self._columns = np.flatnonzero(~moments.constant)
        super().__init__(len(self._columns), block_size(table.shape[1]), absolute)
        self._chunk = chunk_rows(table.shape[1])
        self._piece, self._n_threads = piece, n_threads
        blocks = -(-self.n // self.block)
        self._pairs = [(i, j) for i in range(blocks) for j in range(i, blocks)]
        self._place = {pair: t for t, pair in enumerate(self._pairs)}
        width = self.block**2
        self._file: RowFile | None = None
        self._tiles = np.empty((0, width))
        at_once = max(1, room // (8 * width))
        if len(self._pairs) <= at_once:
            self._tiles = self._panel(self._pairs)
            self.nbytes = self._tiles.nbytes
            return
        self._file = RowFile(width)
        try:
            for at in range(0, len(self._pairs), at_once):
                self._file.write(at, self._panel(self._pairs[at : at + at_once]))
        except BaseException:
            self._file.close()
            raise
        self.nbytes = 8 * width * n_threads

    def _panel(self, pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
        """Return some tiles, as rows, by a pass over the table."""
        m, block = self._table.shape[0], self.block
        tiles = own_pages((len(pairs), block * block), np.float64)
        Z = own_pages((self._chunk, self._n_padded), np.float64)
        sums, squares = np.zeros((2, self._n_padded))

        def batches() -> Iterator[range]:
            for at, part in _chunks(self._table, self._chunk, self._piece):
                self._centre(part, Z)
                sums[:] += Z.sum(axis=0)
                squares[:] += np.einsum("ij,ij->j", Z, Z)
                yield range(len(pairs))
                report("correlations", min(at + self._chunk, m), m)

        def add(t: int) -> None:
            i, j = pairs[t]
            A, B = Z[:, self._rows(i)], Z[:, self._rows(j)]
            tiles[t] += (A.T @ B).ravel()

        with (
            TileRunner.one_blas_thread(),
            map_batches(add, batches(), self._n_threads) as results,
        ):
            for _ in results:
                pass
        # The mean of a large offset is itself rounded: what is left of it goes here.
        length = np.sqrt(np.maximum(squares - sums * sums / m, 0.0))
        length[length == 0.0] = 1.0
        for t, (i, j) in enumerate(pairs):
            a, b = self._rows(i), self._rows(j)
            R = tiles[t].reshape(block, block)
            R -= np.outer(sums[a] / m, sums[b])
            R /= length[a, None]
            R /= length[b]
            self._dissimilarity(R)
        return tiles

    def _centre(self, part: NDArray[np.float64], Z: NDArray[np.float64]) -> None:
        """Write a chunk of rows, centred and scaled; rows that are not there are 0."""
        columns, moments = self._columns, self._moments
        scale, mean = moments.scale[columns], moments.mean[columns]
        spread = moments.spread[columns]
        for some, out in zip(_slices(part), _slices(Z), strict=False):
            out = out[: len(some), : self.n]
            np.multiply(some[:, columns], scale, out=out)
            out -= mean
            out *= spread
        Z[len(part) :] = 0.0

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the dissimilarities of block `i` against block `j`."""
        t = self._place[min(i, j), max(i, j)]
        found = self._tiles[t] if self._file is None else self._file.read(t, t + 1)
        D = found.reshape(self.block, self.block)
        return D if i <= j else np.ascontiguousarray(D.T)

    def close(self) -> None:
        """Give the temporary file back, if there is one."""
        if self._file is not None:
            self._file.close()
