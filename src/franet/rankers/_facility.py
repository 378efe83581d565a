"""What features would add to a cover: for facility location, in all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.cover._shares import Representatives
from franet.cover.kernels import add_gains, block_gains
from franet.pairs.similarity._correlation import CorrelationSource
from franet.pairs.tiles import Tile, TileGrid, TileRunner
from franet.rankers._greedy import first_best

# Candidates that are looked at together, so that their products are one of matrices.
_BATCH = 16
# Features along a stripe of such a product: 0.5 MB.
_STRIPE = 4096
# From so many stripes on, threads are worth their start.
_MANY = 8


class FacilityGains:
    """How well each feature is represented, and what a further pick would add.

    Parameters
    ----------
    X : ndarray of shape (m, n_columns)
        The table, float32 or float64.
    columns : ndarray of int
        The columns that take part, none of them constant.
    power : float
        The exponent of correlations.
    n_threads : int
        Number of threads; no result depends on it.
    """

    def __init__(
        self, X: NDArray[Any], columns: NDArray[np.intp], power: float, n_threads: int
    ) -> None:
        self._source = CorrelationSource(X, columns)
        self.n = self._source.n
        self.power = power
        self.cover = np.zeros(self.n)
        # The standardized columns as rows of unit length.
        self._Z = self._source._exact[: self.n]
        self._runner = TileRunner(n_threads)
        self._alone = TileRunner(1)

    def all_gains(self, stage: str) -> NDArray[np.float64]:
        """Return the gains of all features, by a pass over all pairs."""
        gains = np.maximum(1.0 - self.cover, 0.0)
        rows, block = self._source._work, self._source.block
        cover = self.cover.astype(rows.dtype)

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a feature's sum has one writer.
            R = rows[tile.i * block :][:block] @ rows[tile.j * block :][:block].T
            at = tile.rows.start, tile.cols.start
            upper = tile.is_diagonal
            add_gains(R, *tile.shape, upper, *at, self.power, cover, gains=gains)

        self._runner.run(TileGrid(self.n, block).rounds(), visit, stage)
        return gains

    def pick(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Pick up to `k` features; return them and their gains."""
        order: list[int] = []
        gains: list[float] = []
        # Products of a few candidates are too small for the threads of BLAS.
        with self._runner.one_blas_thread():
            share = Representatives(
                self._Z, self._Z, np.ones(self.n), self._runner, self.power
            )
            noise = self._rounding(share.gains())
            # The exact gain where one was computed: gains never rise.
            ceiling = np.full(self.n, np.inf)
            while len(order) < k:
                fresh = self._fresh(np.minimum(share.gains() + noise, ceiling))
                np.minimum(ceiling, fresh, out=ceiling, where=fresh > -np.inf)
                j = first_best(fresh)
                if fresh[j] <= self.n * 1e-13:
                    break
                order.append(j)
                gains.append(float(fresh[j]))
                self._add(j)
                share.add(j)
                ceiling[j] = -np.inf
                report("picks", len(order), k)
        return np.array(order, np.intp), np.array(gains)

    def _fresh(self, bound: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gains of all features that may have the largest; -inf: others."""
        fresh = np.full(self.n, -np.inf)
        while True:
            best = fresh.max()
            part = np.argpartition(-bound, min(_BATCH, self.n) - 1)[:_BATCH]
            # Those within rounding of the best may come before it.
            part = np.sort(part[bound[part] >= best - 1e-9 * abs(best)])
            part = part[bound[part] > -np.inf]
            if not len(part):
                return fresh
            fresh[part] = self._gains(part)
            bound[part] = -np.inf

    def _rounding(self, first: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound how far a gain may be from what `Representatives` keeps of it.

        A correlation is off by at most `error`, a weight hence by ``p |r|^(p−1)``
        times that. The sum of these is bounded by Hölder's inequality from
        ``Σ |r|^p``, the first gain. An error counts once in the first gain, and at
        most twice in what is subtracted, because the rises of one cover do not
        overlap. The rest is for weights and covers that are rounded, and for sums.
        """
        p, (n, m) = self.power, self._Z.shape
        unit = float(np.finfo(np.float64).eps)
        error = (m + 6) * unit / 2
        root = n ** (1 / p)
        length = np.maximum(first, 0.0) ** (1 / p) + root * error
        weights = 3 * p * error * root * length ** (p - 1)
        return weights + 8 * unit * first + 2 * n * unit + n * n * 2.0**-51

    def _stripes(self) -> list[slice]:
        return [slice(at, at + _STRIPE) for at in range(0, self.n, _STRIPE)]

    def _gains(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        # Always as many rows: products round the same in any company.
        A = np.zeros((_BATCH, self._Z.shape[1]))
        A[: len(features)] = self._Z[features]

        def gains_in(stripe: slice) -> NDArray[np.float64]:
            gains = np.zeros(_BATCH)
            R = A @ self._Z[stripe].T
            block_gains(R, self.power, self.cover[stripe], gains=gains)
            return gains

        stripes = self._stripes()
        runner = self._runner if len(stripes) >= _MANY else self._alone
        return np.sum(runner.map(gains_in, stripes), axis=0)[: len(features)]

    def _add(self, j: int) -> None:
        """Let a feature represent all that resemble it more than others do."""
        for stripe in self._stripes():
            r = np.abs(self._Z[stripe] @ self._Z[j]) ** self.power
            np.maximum(self.cover[stripe], r, out=self.cover[stripe])
        self.cover[j] = 1.0
