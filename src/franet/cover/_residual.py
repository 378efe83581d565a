"""What linear combinations of the picked features leave of all others."""

from __future__ import annotations

from math import sqrt

from franet.cover._arrays import Array, namespace

# What is left of a feature's own sum of squares when it counts as explained.
EXPLAINED = 1e-10
# Sums are taken anew when so little of the last total is left.
_RENEW = 1e-2
_CHUNK = 1024


def products_of_columns(Z: Array, weights: Array, parts: list[slice]) -> Array:
    """Return the products of all columns of Z, rows weighted, summed by parts."""
    return sum(Z[part].T @ (weights[part, None] * Z[part]) for part in parts)


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
        self._S = products_of_columns(Z, self.weights, parts) if m <= n else None
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
