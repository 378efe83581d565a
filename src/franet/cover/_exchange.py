"""Exchanges of single picks for features that explain more beside the other picks.

With P the projection on all picks, noise included, u the direction that pick i alone
brings, and ``c = Zu``, the products ``G`` of what is left become ``G + ccᵀ`` without
it. So their sums follow from those with it, and no pick is made again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from franet._common.progress import report
from franet.cover._constraints import Choice
from franet.cover._residual import Residual, gains_of
from franet.search.ranking import EQUAL

Floats = NDArray[np.float64]


class _Left(NamedTuple):
    """What picks leave: sums as those of `Residual`, and the picks in Z.

    Attributes
    ----------
    f, g : ndarray of shape (n,)
        The squared norms of the columns of ``G``, and its diagonal.
    Q : ndarray of shape (m, k)
        ``P x = x − Q Qᵀ x``.
    U : ndarray of shape (m, k)
        The direction of each pick.
    """

    f: Floats
    g: Floats
    Q: Floats
    U: Floats

    def without(self, i: int, x: Floats) -> Floats:
        """Return what all picks but the i-th leave of a vector."""
        u = self.U[:, i]
        return np.asarray(x - self.Q @ (self.Q.T @ x) + u * (u @ x))


class _Swap(NamedTuple):
    """An exchange of pick i for feature j, and the sums without either."""

    i: int
    j: int
    loss: float
    f: Floats
    g: Floats


def exchange(rows: Floats, residual: Residual, choice: Choice, most: int) -> int:
    """Exchange picks, each time where it explains most; return how often.

    Parameters
    ----------
    rows : ndarray of shape (n, m)
        The features as rows, as they were before the first pick.
    residual : Residual
        What the picks leave; it is not changed.
    choice : Choice
        The picks, and what else may be picked. Forced picks stay.
    most : int
        How many exchanges are made at the most.
    """
    f, g, noise = residual.f, residual.g, residual.noise
    picks, forced = [*residual.picked], {*choice.order[: choice.n_forced]}
    for done in range(most):
        left = _Left(f, g, *_directions(rows[picks], noise[picks]))
        swap = _best(rows, left, residual, choice, picks, forced)
        if swap is None:
            return done
        i, j = swap.i, swap.j
        q = left.without(i, rows[j])
        q /= np.sqrt(rows[j] @ q + noise[j])
        c = rows @ q
        v, gain = rows @ left.without(i, rows.T @ c), float(c @ c)
        if gain <= swap.loss:  # rounding had promised too much
            return done
        f, g = swap.f - c * (2.0 * v - gain * c), swap.g - c * c
        choice.replace([j if pick == picks[i] else pick for pick in choice.order])
        picks[i] = j
        report("exchanges", done + 1, most)
    return most


def _directions(A: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return `Q` and `U` of picks; the noise of each has a row of its own."""
    m = A.shape[1]
    Q, R = np.linalg.qr(np.vstack([A.T, np.diag(np.sqrt(noise))]))
    U = solve_triangular(R, Q.T).T
    return Q[:m], U[:m] / np.sqrt((U * U).sum(axis=0))


def _best(
    rows: Floats,
    left: _Left,
    residual: Residual,
    choice: Choice,
    picks: list[int],
    forced: set[int],
) -> _Swap | None:
    """Return the exchange that explains most; None: no one explains more."""
    C = rows @ left.U
    W = rows.T @ C
    V = rows @ (W - left.Q @ (left.Q.T @ W))
    losses = (C * C).sum(axis=0)
    best, found, shared = 0.0, None, choice.shared(picks)
    for i, pick in enumerate(picks):
        if pick in forced:
            continue
        c, loss = C[:, i], float(losses[i])
        f, g = left.f + c * (2.0 * V[:, i] + loss * c), left.g + c * c
        gains = gains_of(f, g, residual.noise, residual.own)
        # More, and more for its cost.
        least = np.maximum(choice.cost / choice.cost[pick], 1.0) * loss * (1.0 + EQUAL)
        gains[~choice.beside(picks, i, shared) | (gains <= least)] = 0.0
        j = int(np.argmax(gains))
        if gains[j] - loss > best + EQUAL * loss:
            best, found = float(gains[j]) - loss, _Swap(i, j, loss, f, g)
    return found
