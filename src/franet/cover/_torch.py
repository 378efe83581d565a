"""What `kernels` does, for tensors: whole arrays at a time, on any device.

The letters are those of `kernels`. Functions that NumPy and torch have under one name
are not here; see `_arrays`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover.kernels import EQUAL
from franet.engine.device import load


def running_max(R: Any) -> Any:
    """Return the largest value so far, down each column."""
    return R.cummax(0).values


def subtract_falls(L: Any, old: Any, new: Any, w: Any, *, gains: Any) -> None:
    """Subtract how far the gains of the rows of L fall; L is used up."""
    load().clamp(L, old, new, out=L)
    L -= old
    gains -= L @ w


def press_errors(
    E: Any, F: Any, D: Any, h: Any, a: Any, s: Any, left_out: float, *, errors: Any
) -> None:
    """Write the error of all features with each further one, of samples left out."""
    aE = a[:, None] * E
    d = h - left_out * aE * E
    error = D - 2.0 * aE * F
    error += s[:, None] * aE.square_()
    errors[:] = (error / d.square_()).sum(dim=1)


def remove_pick(
    E: Any, F: Any, z: Any, e: Any, f: Any, a: float, s: float, *, c: Any, d: Any
) -> None:
    """Remove from the rows of E and F what a pick z, with its e and f, predicts."""
    c[:], d[:] = E @ z, F @ z
    F -= (a * d - a * a * s * c)[:, None] * e + (a * c)[:, None] * f
    E -= (a * c)[:, None] * e


def neighbor_errors(
    D: Any, X: Any, rows: Any, U: Any, k: int, *, out: NDArray[np.float64]
) -> None:
    """Write for each row of X the error of neighbors when it joins the distances."""
    d = (X[:, rows, None] - X[:, None, :]).square_()
    d += D
    # No sample is a neighbor of itself.
    d.scatter_(2, rows.expand(len(X), -1)[:, :, None], np.inf)
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


def gains_of_picks(
    A: Any, V: Any, best: Any, lengths: Any, sums: Any, centre: Any, spread: Any
) -> NDArray[np.float64]:
    """Return what each pick adds in one fold: all picks at a time.

    A pick counts where it exceeds `best` and all before it; what is kept of a feature
    is what the last pick that did so keeps.
    """
    torch = load()
    size = A.abs().nan_to_num_(0.0)
    before = torch.cat([best[None], size[:-1]]).cummax(0).values
    is_new = size > before
    r = A / lengths
    here = V - centre[:, None] * sums
    fresh = r * (2.0 * here - r * spread[:, None])
    fresh = torch.where(is_new, fresh, 0.0)
    # The place of the last new pick, counted from 1; 0, where nothing is kept: none.
    places = torch.arange(1, len(A) + 1, device=A.device)[:, None]
    last = (is_new * places).cummax(0).values
    kept = torch.cat([torch.zeros_like(fresh[:1]), fresh]).gather(0, last).sum(dim=1)
    return np.diff(np.asarray(kept.cpu()), prepend=0.0)
