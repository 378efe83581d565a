"""Tables to measure on, generated from a seed."""

from __future__ import annotations

import numpy as np


def factors(n: int, m: int = 85, seed: int = 0) -> np.ndarray:
    """Return m × n columns that mix 40 hidden factors: like gene expression.

    ``L @ A + E * g``: L is m × 40 normal, A is 40 × n normal, kept with
    probability 0.06, E normal, g gamma(1, 0.6) for each column.
    """
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(m, 40))
    A = rng.normal(size=(40, n)) * (rng.random((40, n)) < 0.06)
    E = rng.normal(size=(m, n))
    g = rng.gamma(1.0, 0.6, n)
    return (L @ A + E * g).astype(np.float32)


def dense_winner(n: int, m: int = 85, seed: int = 0) -> np.ndarray:
    """Return a table whose winning network holds more than a tenth of all pairs.

    One column in ten is a copy of one signal, up to its scale; all others echo
    the signal weakly, and differ in how strongly.
    """
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(m, 1))
    X = rng.normal(size=(m, n)) + signal * (0.3 + 0.4 * rng.random(n))
    tight = n // 10
    X[:, :tight] = signal * rng.uniform(0.5, 2.0, tight)
    return X.astype(np.float32)[:, rng.permutation(n)]
