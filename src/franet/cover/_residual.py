"""What linear combinations of the picked features leave of all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXPLAINED", "Residual"]

# What is left of a feature's own sum of squares when it counts as explained.
EXPLAINED = 1e-10
# Sums are taken anew when so little of the last total is left.
_RENEW = 1e-2
_CHUNK = 1024


class Residual:
    """What the picked features leave of all, known by its sums only.

    Parameters
    ----------
    rows : ndarray of shape (n, m)
        The features as rows, centred; changed in place.
    weights : ndarray of shape (n,), optional
        What a feature counts where others explain it; 1 if not given.
    """

    def __init__(
        self, rows: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> None:
        self.rows = rows
        self.weights = np.ones(len(rows)) if weights is None else weights
        self.own = np.einsum("ji,ji->j", rows, rows)
        self.total = float(self.weights @ self.own)
        self._picked = np.zeros(len(rows), bool)
        self._Q = np.empty((0, rows.shape[1]))
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
        self.f = np.empty(n)
        # Products of rows or of columns, whichever are fewer.
        self._S = self._squares(parts) if m <= n else None
        for part in parts:
            if self._S is None:
                self.f[part] = (Z[part] @ Z.T) ** 2 @ self.weights
            else:
                self.f[part] = np.einsum("ji,ji->j", Z[part] @ self._S, Z[part])
        self._left = float(self.g.sum())

    def _squares(self, parts: list[slice]) -> NDArray[np.float64]:
        m = self.rows.shape[1]
        S = np.zeros((m, m))
        for part in parts:
            S += self.rows[part].T @ (self.weights[part, None] * self.rows[part])
        return S

    def gains(self) -> NDArray[np.float64]:
        """Return what each feature would explain; 0 for picked and explained ones."""
        open_ = (self.g > EXPLAINED * self.own) & ~self._picked
        gains = np.zeros(len(self.g))
        np.divide(self.f, self.g, out=gains, where=open_)
        own = np.where(open_, self.weights * self.g, 0.0)
        return np.clip(gains, own, None, out=gains)

    def remove(self, j: int, promised: float) -> float:
        """Pick feature j and return its gain; 0 if rounding had promised too much."""
        q = self._orthogonal(self._orthogonal(self.rows[j]))
        length = float(np.sqrt(q @ q))
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
        c, v = np.stack([q, Sq]) @ self.rows.T
        self.f -= c * (2.0 * v - gain * c)
        self.g -= c * c
        self._picked[j] = True
        self._Q = np.vstack([self._Q, q])
        if self.g.sum(where=self.g > 0.0) < _RENEW * self._left:
            self._renew()
        return gain

    def _orthogonal(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(x - (self._Q @ x) @ self._Q)
