"""Small tables that are hard in different ways, all seeded."""

from __future__ import annotations

import numpy as np


def random(m=30, n=24, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(m, 4))
    mixing = rng.normal(size=(4, n)) * (rng.random((4, n)) < 0.5)
    return factors @ mixing + rng.normal(size=(m, n)) * rng.gamma(1.0, 0.6, n)


def tied(m=12, n=16, seed=1):
    return np.random.default_rng(seed).integers(0, 3, (m, n)).astype(float)


def duplicated(m=20, n=12, seed=2):
    X = random(m, n, seed)
    # Exact copies, a copy of a copy, and copies up to scale and offset.
    return np.column_stack([X, X[:, :3], X[:, 0], 3.0 * X[:, 4] - 7.0, X[:, 5] + 1e3])


def constant(m=15, n=14, seed=3):
    X = random(m, n, seed)
    X[:, 0] = 0.1
    X[:, 5] = -3.0
    X[:, 13] = 0.0
    return X


def tiny(m, n, seed=4):
    return np.random.default_rng(seed + 10 * m + n).normal(size=(m, n))


def blocks(m=40, n=700, seed=5):
    """More features than fit into one tile."""
    return random(m, n, seed)


TABLES = {
    "random": random(),
    "tied": tied(),
    "duplicated": duplicated(),
    "constant": constant(),
    **{f"tiny{m}x{n}": tiny(m, n) for m in (2, 3) for n in (2, 3, 4)},
}
