"""What `kernels` does, for tensors: whole arrays at a time, on any device.

The letters are those of `kernels`. Functions that NumPy and torch have under one name
are not here; see `_arrays`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover.kernels import EQUAL


def judge(E: Any, F: Any, g: Any, s: Any, rest: Any, *, errors: Any) -> None:
    """Write the error with each of the features of the rows of E and F."""
    D, h, room, penalty, left_out, fine = rest
    a = (1.0 / (penalty + g.clip(min=0.0))).to(E.dtype)[:, None]
    aE = a * E
    leverage = left_out * aE * E
    error = D - 2.0 * aE * F
    error += s.to(E.dtype)[:, None] * aE.square_()
    error /= (h - leverage).square_()
    over = (leverage > room).any(dim=1).to(errors.dtype)
    errors[:] = error.sum(dim=1).to(errors.dtype) + fine * over


def remove_pick(
    E: Any, F: Any, pick: Any, rest: Any, *, g: Any, s: Any, errors: Any
) -> None:
    """Remove a pick from the rows of E and F, then write the errors with each."""
    z, e, f, a, b = pick
    x, y = E @ z, F @ z
    F -= (a * y - a * b * x)[:, None] * e + (a * x)[:, None] * f
    E -= (a * x)[:, None] * e
    g -= a * x**2
    s += a * x * (b * x - 2.0 * y)
    judge(E, F, g, s, rest, errors=errors)


def in_order(D: Any) -> None:
    """Return None: all distances are taken at a time."""


def neighbor_errors(
    D: Any, order: None, X: Any, rows: Any, U: Any, k: int, *, out: NDArray[np.float64]
) -> None:
    """Write for each row of X the error of neighbors when it joins the distances."""
    d = (X[:, rows, None] - X[:, None, :]).square_()
    d += D
    near = d.topk(k, largest=False).values
    last = near.amax(dim=2, keepdim=True)
    below, above = last * (1.0 - EQUAL), last * (1.0 + EQUAL)
    closer = (near < below).sum(dim=2, keepdim=True)
    # Examples that tie as the last neighbor share its weight.
    tied = ((d >= below) & (d <= above)).to(d.dtype)
    weight = (d < below).to(d.dtype)
    weight += tied * ((k - closer) / tied.sum(dim=2, keepdim=True))
    error = U[rows] - weight @ U / k
    out[:] = error.square_().sum(dim=(1, 2)).cpu() / len(rows)
