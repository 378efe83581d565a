"""PageRank of a graph that is known only by its products with vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["solve"]


def solve(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    d: NDArray[np.float64],
    damping: float,
    n_products: int,
) -> NDArray[np.float64]:
    """Return what a unit of weight passes on, of each node.

    Scores ``d z`` are in shares of 1/n: 1 is the mean. By conjugate gradients, as
    :func:`franet.engine.graph_kernels.pagerank` does it.

    Parameters
    ----------
    product : callable
        Multiplies a vector by the matrix of weights.
    d : ndarray of shape (n,)
        The weighted degrees; a node without edges gets 0.
    damping : float
        The damping factor.
    n_products : int
        So many at the most.
    """
    n, δ = len(d), damping
    root = np.where(d > 0.0, 1.0 / np.sqrt(np.where(d > 0.0, d, 1.0)), 0.0)
    volume = max(float(d.sum()), 1e-300)
    y = ((1.0 - δ) + δ * d * n / volume) * root
    ρ = root * ((1.0 - δ) + δ * product(y * root)) - y
    p, ρρ = ρ.copy(), float(ρ @ ρ)
    for _ in range(n_products):
        if ρρ <= 1e-24 * n:
            break
        q = p - δ * root * product(p * root)
        α = ρρ / float(p @ q)
        y += α * p
        ρ -= α * q
        new = float(ρ @ ρ)
        p = ρ + new / ρρ * p
        ρρ = new
    return y * root
