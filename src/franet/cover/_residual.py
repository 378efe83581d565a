"""What linear combinations of the picked features leave of all others."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from franet.cover._arrays import Array, at_once, blocks_of, namespace
from franet.pairs.tiles import TileRunner

Floats = NDArray[np.float64]

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

    A noisy measurement is a column with a coordinate of its own beside the samples, in
    which it holds its noise and no feature holds anything. So a projection on noisy
    columns is one on columns like any other.

    Parameters
    ----------
    rows : ndarray of shape (n, m)
        The features as rows, centered; changed in place where there is no noise.
    noise : ndarray of shape (n,), optional
        The sum of squares of the noise with which a feature is measured.
    n_picks : int, default=0
        How many features are picked at the most; of use where there is noise.

    Attributes
    ----------
    f, g : ndarray of shape (n,)
        Of the matrix of products of what is left: the squared norms of its columns, and
        its diagonal.
    picked : list of int
        The picks that explained something.
    """

    def __init__(
        self, rows: Floats, noise: Floats | None = None, n_picks: int = 0
    ) -> None:
        n, self._m = rows.shape
        self.own = np.einsum("ji,ji->j", rows, rows)
        self.total = float(self.own.sum())
        self.noise = np.zeros(n) if noise is None else noise
        if noise is not None:
            rows = np.hstack([rows, np.zeros((n, n_picks))])
        self.rows = rows
        self.picked: list[int] = []
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
        self.g = np.einsum("ji,ji->j", Z, Z)
        self.f = np.empty_like(self.g)
        # Products of rows or of columns, whichever are fewer.
        self._S = products_of_columns(Z) if m <= n else None
        for part in parts:
            if self._S is None:
                self.f[part] = ((Z[part] @ Z.T) ** 2).sum(axis=1)
            else:
                self.f[part] = np.einsum("ji,ji->j", Z[part] @ self._S, Z[part])
        self._left = float(self.g.sum())

    def gains(self) -> Floats:
        """Return what each feature would explain; 0 for picked and explained ones."""
        gains = gains_of(self.f, self.g, self.noise, self.own)
        gains[self.picked] = 0.0
        return gains

    def remove(self, j: int, promised: float) -> float:
        """Pick feature j and return its gain; 0 if rounding had promised too much."""
        x, noise = self.rows[j], self.noise[j]
        if noise:
            x = x.copy()
            x[self._m + len(self.picked)] = sqrt(noise)
        q = self._orthogonal(self._orthogonal(x))
        square = float(q @ q)
        if square - noise <= EXPLAINED * self.own[j]:
            self.g[j] = 0.0
            return 0.0
        q = self._orthogonal(q / sqrt(square))
        Sq = self.rows.T @ (self.rows @ q) if self._S is None else self._S @ q
        Sq = self._orthogonal(Sq)
        gain = float(q @ Sq)
        if gain < promised * (1.0 - 1e-6):
            self.g[j] = square - noise
            self.f[j] = gain * square
            return 0.0
        c, v = np.stack([q, Sq]) @ self.rows.T
        self.f -= c * (2.0 * v - gain * c)
        self.g -= c * c
        self.picked.append(j)
        self._Q = np.vstack([self._Q, q])
        if float(self.g.clip(min=0.0).sum()) < _RENEW * self._left:
            self._renew()
        return gain

    def _orthogonal(self, x: Floats) -> Floats:
        return x - (self._Q @ x) @ self._Q


def gains_of(f: Floats, g: Floats, noise: Floats, own: Floats) -> Floats:
    """Return what each feature would explain, from its sums; 0 for explained ones."""
    open_ = g > EXPLAINED * own
    # A feature explains itself at least.
    gains = np.maximum(f, g * g) / np.where(open_, g + noise, 1.0)
    return np.where(open_, gains, 0.0)
