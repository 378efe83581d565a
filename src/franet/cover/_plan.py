"""What picking features will take: memory by arithmetic, time by small fits."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from franet.cover._constraints import Constraints
from franet.cover._fit import rank_by_cover
from franet.cover._rows import Rows, n_drawn, reading_seconds

# Rows and columns of the largest fit that is timed, and its picks.
_ROWS, _COLUMNS, _PICKS = 512, 1024, (4, 12)
# What a fit keeps beside arrays that grow with the table.
_REST = 16_000_000


def plan_cover(
    table: Any, n_picks: int, max_memory: int | None, **options: Any
) -> dict[str, Any]:
    """Return the rows that are used, memory in bytes and time in seconds.

    Parameters
    ----------
    table : ndarray, sparse array or Columns
        The table.
    n_picks : int
        How many features are picked.
    max_memory : int or None
        The bytes that may be used.
    **options : object
        Arguments of `rank_by_cover`: what takes time.
    """
    m, n = table.shape
    k = n_drawn(table, max_memory)
    seconds = _seconds(k, n, n_picks, options)
    if k < m:
        seconds += reading_seconds(table)
    return {
        "n_features": n,
        "n_examples": m,
        "n_drawn": k,
        "n_picks": n_picks,
        "memory": _memory(k, n, n_picks, isinstance(table, np.ndarray) and k == m),
        "seconds": seconds,
    }


def _memory(k: int, n: int, n_picks: int, is_there: bool) -> int:
    """Return the bytes of a fit beside the table."""
    few = min(k, n)
    # Standardized, what is left in float32 twice, and the rows unless they are there.
    table = (16 if is_there else 24) * k * n
    # Products, once more in float32; what is kept of candidates and of picks.
    return int(table + 20 * few**2 + 8 * k * min(n, 8 * n_picks)) + _REST


def _seconds(k: int, n: int, n_picks: int, options: dict[str, Any]) -> float:
    """Return the time of a fit, by that of smaller ones.

    It is ``k n (a + b min(k, n)) + picks (c + d k n)``: a table is standardized and
    multiplied once, and each pick reads and writes what is left of it. Neighbors, in c,
    are among 512 samples at most, as in the fits that are timed.
    """
    columns = min(n, _COLUMNS)
    # As in the whole table, there are fewer samples than features, or more.
    rows = min(k, _ROWS, columns) if k <= n else min(k, max(_ROWS, 2 * columns))
    set_up, pick = _time(rows, columns, options)
    half = max(rows // 2, 2)
    of_fewer_rows, _ = _time(half, columns, options)
    _, of_fewer_columns = _time(rows, -(-columns // 2), options)
    d = max(pick - of_fewer_columns, 0.0) / (rows * (columns // 2))
    c = max(pick - d * rows * columns, 0.0)
    entry, before = set_up / (rows * columns), of_fewer_rows / (half * columns)
    few, fewer = min(rows, columns), min(half, columns)
    b = max(entry - before, 0.0) / (few - fewer) if few > fewer else 0.0
    entry += b * (min(k, n) - few)
    return k * n * entry + n_picks * (c + d * k * n)


def _time(k: int, n: int, options: dict[str, Any]) -> tuple[float, float]:
    """Return the seconds until the first pick of a fit, and those of each pick."""
    rng = np.random.default_rng(0)
    # Three factors, of which picks explain more than chance does: no columns are
    # permuted to find out.
    X = rng.normal(size=(k, 3)) @ rng.normal(size=(3, n)) + rng.normal(size=(k, n))
    rows = Rows(X, k, np.zeros(n, bool))
    free = Constraints.none(n)

    def fit(picks: int) -> float:
        start = time.perf_counter()
        rank_by_cover(rows, free, n_select=picks, n_picks=picks, **options)
        return time.perf_counter() - start

    few, many = (min(picks, max(n // 2, 1)) for picks in _PICKS)
    short, long = (min(fit(picks) for _ in range(2)) for picks in (few, many))
    each = max(long - short, 0.0) / max(many - few, 1)
    return max(short - few * each, 0.0), each
