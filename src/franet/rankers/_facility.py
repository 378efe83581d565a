"""What features would add to a cover, and bounds on it: for facility location."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.pairs.similarity._correlation import CorrelationSource
from franet.pairs.tiles import Tile, TileGrid, TileRunner
from franet.rankers._greedy import first_best
from franet.rankers.kernels import add_gains, block_gains, falls

__all__ = ["Bounds", "Columns", "FacilityGains"]

# Candidates that are looked at together, so that their products are one of matrices.
_BATCH = 16
# Features along a stripe of such a product: 0.5 MB.
_STRIPE = 4096
# The largest quadratic form, one row for each example: 34 MB.
_FORM = 2048
# From so many stripes on, threads are worth their start.
_MANY = 8
# Bounds that are renewed together: few at first, to learn what the best is about.
_FIRST, _LARGEST = 128, 8192
# Features and log entries of one product: 0.5 MB in float32.
_ROWS, _COLUMNS = 512, 256
# Entries that one thread goes through at a time: some milliseconds.
_ENTRIES = 8192
# A pass over all pairs takes as long as renewing bounds by this share of n².
_PASS = 0.5
# Entries for each feature after which the log is closed by such a pass.
_LONGEST = 8


class Columns(CorrelationSource):
    """The standardized columns as rows of unit length, exact and rough."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and of examples."""
        return self.n, self._exact.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of `rough`."""
        return self._work.dtype

    def rows(self, part: Any) -> NDArray[np.float64]:
        """Return some features in float64."""
        return np.asarray(self._exact[: self.n][part])

    def rough(self, part: NDArray[np.intp]) -> NDArray[Any]:
        """Return some features in the precision of the table."""
        return self._work.take(part, axis=0)

    def products(self, i: int, j: int) -> NDArray[Any]:
        """Return the correlations, with their sign, of two blocks."""
        return self._work[self._rows(i)] @ self._work[self._rows(j)].T


class FacilityGains:
    """How well each feature is represented, and what a further pick would add."""

    def __init__(self, source: Columns, power: float, n_threads: int) -> None:
        self.source = source
        self.n = source.n
        self.power = power
        self.cover = np.zeros(self.n)
        self.runner = TileRunner(n_threads)
        self._grid = TileGrid(source.n, source.block)
        self._alone = TileRunner(1)

    def all_gains(self, stage: str) -> NDArray[np.float64]:
        """Return the gains of all features, by a pass over all pairs."""
        gains = np.maximum(1.0 - self.cover, 0.0)
        cover = self.cover.astype(self.source.dtype)

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a feature's sum has one writer.
            add_gains(
                self.source.products(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                self.power,
                cover,
                gains=gains,
            )

        self.runner.run(self._grid.rounds(), visit, stage)
        return gains

    def first_gains(self) -> NDArray[np.float64]:
        """Return the gains before any pick."""
        n, m = self.source.shape
        if self.power != 2.0 or m > min(n // 4, _FORM):
            return self.all_gains("first gains")
        # Σ_j (z_i·z_j)² is a quadratic form of z_i: no pass over pairs.
        Z = self.source.rows(slice(None))
        Q = Z.T @ Z
        parts = [Z[stripe] for stripe in self._stripes()]
        return np.concatenate([np.einsum("ij,ij->i", part @ Q, part) for part in parts])

    def pick(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Pick up to `k` features; return them and their gains."""
        order: list[int] = []
        gains: list[float] = []
        # Products of a few candidates are too small for the threads of BLAS.
        with self.runner.one_blas_thread():
            bounds = Bounds(self)
            while len(order) < k:
                j, gain = self._best(bounds)
                if gain <= self.n * 1e-13:
                    break
                self._add(j)
                bounds.remove(j)
                order.append(j)
                gains.append(gain)
                report("picks", len(order), k)
        return np.array(order, np.intp), np.array(gains)

    def _best(self, bounds: Bounds) -> tuple[int, float]:
        """Return the first feature of the largest gain."""
        fresh = np.full(self.n, -np.inf)
        stale = bounds.upper()
        while True:
            best = fresh.max()
            part = np.argpartition(-stale, min(_BATCH, self.n) - 1)[:_BATCH]
            # Those within rounding of the best may come before it.
            part = np.sort(part[stale[part] >= best - 1e-9 * abs(best)])
            part = part[stale[part] > -np.inf]
            if not len(part):
                break
            fresh[part] = self._gains(part)
            stale[part] = -np.inf
        bounds.lower_to(fresh)
        j = first_best(fresh)
        return j, float(fresh[j])

    def _stripes(self) -> list[slice]:
        return [slice(at, at + _STRIPE) for at in range(0, self.n, _STRIPE)]

    def _gains(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        # Always as many rows: products round the same in any company.
        A = np.zeros((_BATCH, self.source.shape[1]))
        A[: len(features)] = self.source.rows(features)

        def gains_in(stripe: slice) -> NDArray[np.float64]:
            gains = np.zeros(_BATCH)
            R = A @ self.source.rows(stripe).T
            block_gains(R, self.power, self.cover[stripe], gains=gains)
            return gains

        stripes = self._stripes()
        runner = self.runner if len(stripes) >= _MANY else self._alone
        return np.sum(runner.map(gains_in, stripes), axis=0)[: len(features)]

    def _add(self, j: int) -> None:
        """Let a feature represent all that resemble it more than others do."""
        x = self.source.rows(j)
        for stripe in self._stripes():
            r = np.abs(self.source.rows(stripe) @ x) ** self.power
            np.maximum(self.cover[stripe], r, out=self.cover[stripe])
        self.cover[j] = 1.0


class Bounds:
    """Upper bounds on gains, brought up to date where they may matter.

    A pick raises the cover of some features only. Each rise is an entry of a log, and
    each bound knows up to which entry it is up to date: the entries after that are
    all it takes to renew it.
    """

    def __init__(self, cover: FacilityGains) -> None:
        self._cover = cover
        self._source = cover.source
        self._gain = cover.first_gains()
        self._noise = self._rounding(self._gain)
        # The exact gain where one was computed: gains never rise.
        self._ceiling = np.full(cover.n, np.inf)
        self._clear()

    def _clear(self) -> None:
        self._level = self._cover.cover.astype(self._source.dtype)
        self._columns = np.empty(0, np.intp)
        self._old = self._new = np.empty(0, self._source.dtype)
        self._seen = np.zeros(self._cover.n, np.intp)

    def _rounding(self, first: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound how far a gain may be from what is computed for it.

        A correlation is off by at most `error`, a weight hence by ``p |r|^(p−1)``
        times that. The sum of these is bounded by Hölder's inequality from
        ``Σ |r|^p``, the first gain. An error counts once in a pass over all pairs, and
        at most twice in the log, because the rises of one cover do not overlap. The
        rest is for weights and covers that are rounded, and for sums.
        """
        p, (n, m) = self._cover.power, self._source.shape
        unit = float(np.finfo(self._source.dtype).eps)
        error = (m + 6) * unit / 2
        root = n ** (1 / p)
        length = np.maximum(first, 0.0) ** (1 / p) + root * error
        weights = 3 * p * error * root * length ** (p - 1)
        return weights + 8 * unit * first + 2 * n * unit + n * n * 2.0**-51

    def remove(self, j: int) -> None:
        """Take a pick out, and log what it changed."""
        self._ceiling[j] = -np.inf
        level = self._cover.cover.astype(self._source.dtype)
        risen = np.flatnonzero(level > self._level)
        self._columns = np.append(self._columns, risen)
        self._old = np.append(self._old, self._level[risen])
        self._new = np.append(self._new, level[risen])
        self._level = level

    def lower_to(self, gains: NDArray[np.float64]) -> None:
        """Keep exact gains; -inf where there is none."""
        seen = gains > -np.inf
        self._ceiling[seen] = np.minimum(self._ceiling[seen], gains[seen])

    def upper(self) -> NDArray[np.float64]:
        """Return upper bounds; those that may be the largest are up to date."""
        size = _FIRST
        while True:
            end = len(self._columns)
            bound = np.minimum(self._gain + self._noise, self._ceiling)
            fresh = (self._seen == end) & (self._ceiling > -np.inf)
            least = np.max((self._gain - self._noise)[fresh], initial=-np.inf)
            # The margin keeps those that equal the best up to rounding.
            stale = (bound >= least - 1e-9 * abs(least)) & (self._seen < end)
            rows = np.flatnonzero(stale & (bound > -np.inf))
            if not len(rows):
                return bound
            if end > _LONGEST * self._cover.n or self._prefers_pass(rows, size):
                self._gain = self._cover.all_gains("renewed gains")
                self._clear()
                continue
            if len(rows) > size:
                rows = rows[np.argpartition(-bound[rows], size)[:size]]
            self._renew(rows)
            size = min(4 * size, _LARGEST)

    def _prefers_pass(self, rows: NDArray[np.intp], size: int) -> bool:
        """Tell whether a pass over all pairs is less work than renewing some rows."""
        # In the first round all seem to matter: nothing is known about the best.
        work = (len(self._columns) - self._seen[rows]).sum()
        return bool(size > _FIRST and work > _PASS * self._cover.n**2)

    def _renew(self, rows: NDArray[np.intp]) -> None:
        """Bring the gains of some features up to date."""
        rows = rows[np.argsort(self._seen[rows], kind="stable")]
        end = len(self._columns)
        tasks = [
            (rows[i : i + _ROWS], slice(at, min(at + _ENTRIES, end)))
            for i in range(0, len(rows), _ROWS)
            for at in range(int(self._seen[rows[i]]), end, _ENTRIES)
        ]
        found = self._cover.runner.map(self._fall, tasks)
        for (block, _), fall in zip(tasks, found, strict=True):
            self._gain[block] -= fall
        self._seen[rows] = end

    def _fall(self, task: tuple[NDArray[np.intp], slice]) -> NDArray[np.float64]:
        """Return by how much gains fall along a part of the log.

        The first rows have seen the least.
        """
        rows, part = task
        A = self._source.rough(rows)
        seen = self._seen[rows]
        total = np.zeros(len(rows))
        out = np.empty(len(rows))
        at = part.start
        while at < part.stop:
            count = int(seen.searchsorted(at, side="right"))
            later = part.stop if count == len(rows) else int(seen[count])
            now = slice(at, min(at + _COLUMNS, part.stop, later))
            R = A[:count] @ self._source.rough(self._columns[now]).T
            falls(R, self._cover.power, self._old[now], self._new[now], out=out)
            total[:count] += out[:count]
            at = now.stop
        return total
