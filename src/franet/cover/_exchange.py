"""Exchanges of single picks for features that explain more beside the other picks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from franet._common.progress import report
from franet.cover._constraints import Choice
from franet.cover._residual import Residual, gains_of
from franet.search.ranking import EQUAL

Floats = NDArray[np.float64]


def exchange(rows: Floats, residual: Residual, choice: Choice, most: int) -> int:
    """Exchange picks, each time where it explains most; return how often.

    With P the projection on all picks, noise included, u the direction that only pick i
    brings, and ``c = Zu``, the products of what is left without it are ``G + ccᵀ``. So
    their sums follow from those with it, and no pick is made again.

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
    f, g = residual.f, residual.g
    noise, own, picks = residual.noise, residual.own, [*residual.picked]
    forced = set(choice.order[: choice.n_forced])
    for done in range(most):
        A, k = rows[picks], len(picks)
        # Columns with coordinates of their own, which hold their noise.
        Q, R = np.linalg.qr(np.vstack([A.T, np.diag(np.sqrt(noise[picks]))]))
        U = solve_triangular(R, Q.T).T
        Q, U = Q[: A.shape[1]], U[: A.shape[1]] / np.sqrt((U * U).sum(axis=0))
        C = rows @ U
        W = rows.T @ C
        V = rows @ (W - Q @ (Q.T @ W))
        losses = (C * C).sum(axis=0)
        full = choice.shared(picks)
        best, found = 0.0, None
        for i in range(k):
            if picks[i] in forced:
                continue
            c = C[:, i]
            without = f + c * (2.0 * V[:, i] + losses[i] * c), g + c * c
            gains = gains_of(*without, noise, own)
            least = losses[i] * (1.0 + EQUAL)
            worth = least * np.maximum(choice.cost / choice.cost[picks[i]], 1.0)
            gains[~choice.beside(picks, i, full) | (gains <= worth)] = 0.0
            j = int(np.argmax(gains))
            if gains[j] - losses[i] > best + EQUAL * losses[i]:
                best, found = gains[j] - losses[i], (i, j, without)
        if found is None:
            return done
        i, j, (f, g) = found
        u = U[:, i]

        def left(x: Floats, u: Floats = u, Q: Floats = Q) -> Floats:
            return x - Q @ (Q.T @ x) + u * (u @ x)

        q = left(rows[j])
        q /= np.sqrt(rows[j] @ q + noise[j])
        c = rows @ q
        v, gain = rows @ left(rows.T @ c), c @ c
        if gain <= losses[i]:  # rounding had promised too much
            return done
        f, g = f - c * (2.0 * v - gain * c), g - c * c
        choice.replace([j if x == picks[i] else x for x in choice.order])
        picks[i] = j
        report("exchanges", done + 1, most)
    return most
