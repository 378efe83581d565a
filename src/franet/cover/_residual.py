"""What linear combinations of the picked features leave of all others."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import sqrt

import numpy as np

from franet.cover._arrays import Array, at_once, blocks_of, namespace
from franet.pairs.tiles import TileRunner

# What is left of a feature's own sum of squares when it counts as explained.
EXPLAINED = 1e-10
# Sums are taken anew when so little of the last total is left.
_RENEW = 1e-2
_CHUNK = 1024
# Columns along a side of a tile of products.
_TILE = 512


def products_of_columns(
    Z: Array, weights: Array | None = None, runner: TileRunner | None = None
) -> Array:
    """Return the products of all columns of Z, its rows weighted.

    In tiles of a constant size, of which one triangle is computed: no bit depends on
    the number of threads.
    """
    xp, m = namespace(Z), Z.shape[1]
    K = xp.empty_like(Z, shape=(m, m)) if xp is np else Z.new_empty((m, m))
    parts, side = blocks_of(Z), _TILE * at_once(Z)
    tiles = [slice(at, at + side) for at in range(0, m, side)]

    def visit(pair: tuple[slice, slice]) -> None:
        across, down = pair
        for part in parts:
            rows = Z[part, across]
            if weights is not None:
                rows = rows * weights[part, None]
            if part.start:
                K[across, down] += rows.T @ Z[part, down]
            else:
                K[across, down] = rows.T @ Z[part, down]
        if down.start > across.start:
            K[down, across] = K[across, down].T

    (runner or TileRunner(1)).map(visit, list(combinations_with_replacement(tiles, 2)))
    return K


class Residual:
    """What the picked features leave of all, known by its sums only.

    Parameters
    ----------
    rows : ndarray or tensor of shape (n, m)
        The features as rows, centred; changed in place.
    weights : ndarray or tensor of shape (n,), optional
        What a feature counts where others explain it; 1 if not given.
    """

    def __init__(self, rows: Array, weights: Array | None = None) -> None:
        self._xp = xp = namespace(rows)
        self.rows = rows
        self.own = xp.einsum("ji,ji->j", rows, rows)
        self.weights = xp.ones_like(self.own) if weights is None else weights
        self.total = float(self.weights @ self.own)
        self._picked: list[int] = []
        self._Q = rows[:0]
        self._renew()

    def _renew(self) -> None:
        """Subtract from the rows what is explained, and take all sums anew."""
        Z, Q = self.rows, self._Q
        n, m = Z.shape
        parts = [slice(at, at + _CHUNK) for at in range(0, n, _CHUNK)]
        if len(Q):
            for part in parts:
                Z[part] -= (Z[part] @ Q.T) @ Q
            self._Q = Q[:0]
        einsum = self._xp.einsum
        self.g = einsum("ji,ji->j", Z, Z)
        self.f = self._xp.empty_like(self.g)
        # Products of rows or of columns, whichever are fewer.
        self._S = products_of_columns(Z, self.weights) if m <= n else None
        for part in parts:
            if self._S is None:
                self.f[part] = (Z[part] @ Z.T) ** 2 @ self.weights
            else:
                self.f[part] = einsum("ji,ji->j", Z[part] @ self._S, Z[part])
        self._left = float(self.g.sum())

    def gains(self) -> Array:
        """Return what each feature would explain; 0 for picked and explained ones."""
        xp = self._xp
        open_ = self.g > EXPLAINED * self.own
        open_[self._picked] = False
        gains = self.f / xp.where(open_, self.g, 1.0)
        # A feature explains itself at least.
        return xp.where(open_, xp.maximum(gains, self.weights * self.g), 0.0)

    def remove(self, j: int, promised: float) -> float:
        """Pick feature j and return its gain; 0 if rounding had promised too much."""
        q = self._orthogonal(self._orthogonal(self.rows[j]))
        length = sqrt(float(q @ q))
        if length * length <= EXPLAINED * self.own[j]:
            self.g[j] = 0.0
            return 0.0
        q = self._orthogonal(q / length)
        if self._S is None:
            Sq = self.rows.T @ (self.weights * (self.rows @ q))
        else:
            Sq = self._S @ q
        Sq = self._orthogonal(Sq)
        gain = float(q @ Sq)
        if gain < promised * (1.0 - 1e-6):
            self.g[j] = length * length
            self.f[j] = gain * self.g[j]
            return 0.0
        c, v = self._xp.stack([q, Sq]) @ self.rows.T
        self.f -= c * (2.0 * v - gain * c)
        self.g -= c * c
        self._picked.append(j)
        self._Q = self._xp.vstack([self._Q, q])
        if float(self.g.clip(min=0.0).sum()) < _RENEW * self._left:
            self._renew()
        return gain

    def _orthogonal(self, x: Array) -> Array:
        return x - (self._Q @ x) @ self._Q
