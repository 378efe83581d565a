"""The least cost of a connected part: by an integer program, or a proven bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, eye_array, triu, vstack

# Links of a part of which a program in whole numbers, or in fractions, is solved, and
# nodes of the search. Constants, not seconds: what is kept must not depend on the speed
# of the machine.
_MOST_LINKS = 2_000
_MOST_LINKS_IN_FRACTIONS = 100_000
_MOST_NODES = 2_000
# What sums of costs round.
_ROUNDING = 1e-6


def program(
    links: csr_array,
    cost: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], float]:
    """Return the nodes to keep, and what such nodes cost at least.

    Parameters
    ----------
    links : csr_array of shape (n, n)
        The links of a connected part, symmetric.
    cost : ndarray of shape (n,)
        What each node costs.
    fixed : ndarray of bool of shape (n,)
        Nodes that must be kept.
    kept : ndarray of bool of shape (n,)
        Nodes that were found, which are returned where none are found that cost less.
    """
    n, reached = len(cost), float(cost[kept].sum())
    degree = np.diff(links.indptr)
    bound = _whole(least_cost(degree + 1.0, cost), cost)
    one_is_enough = bool((degree == n - 1).any())
    if np.ptp(cost) == 0.0 and kept.sum() == 2 and not one_is_enough:
        bound = reached
    if (
        reached <= bound + _ROUNDING * reached
        or links.nnz > 2 * _MOST_LINKS_IN_FRACTIONS
    ):
        return kept, min(bound, reached)
    covers = (links.astype(float) + eye_array(n)).tocsr()
    bounds = Bounds(fixed.astype(float), 1.0)
    if links.nnz > 2 * _MOST_LINKS:
        ends = np.column_stack([bounds.lb, np.ones(n)])
        found = linprog(cost, -covers, -np.ones(n), bounds=ends, method="highs")
        return kept, min(reached, max(bound, _whole(found.fun or 0.0, cost)))
    pairs = np.array(triu(links).tocoo().coords)
    shape = pairs.shape[1], n
    rows = np.tile(np.arange(shape[0]), 2)
    either = csr_array((np.ones(pairs.size), (rows, pairs.ravel())), shape=shape)
    low = np.concatenate([np.ones(n), np.full(shape[0], -np.inf)])
    high = np.concatenate([np.full(n, np.inf), np.ones(shape[0])])
    found = milp(
        cost,
        integrality=np.ones(n),
        bounds=bounds,
        constraints=LinearConstraint(vstack([covers, either]).tocsr(), low, high),
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 0.0},
    )
    bound = max(bound, _whole(found.mip_dual_bound or 0.0, cost))
    if found.x is not None and cost @ np.round(found.x) < reached * (1 - _ROUNDING):
        kept = found.x > 0.5
        reached = float(cost[kept].sum())
    return kept, min(bound, reached)


def least_cost(reach: NDArray[np.float64], cost: NDArray[np.float64]) -> float:
    """Return what nodes cost at least that together reach all, by how many each does.

    Parameters
    ----------
    reach : ndarray of shape (n,)
        How many nodes each one reaches, itself included.
    cost : ndarray of shape (n,)
        What each node costs.
    """
    order = np.argsort(cost / reach, kind="stable")
    before = np.cumsum(reach[order]) - reach[order]
    # Of the last one only a part may be needed.
    part = np.clip((len(cost) - before) / reach[order], 0.0, 1.0)
    return float(part @ cost[order])


def _whole(bound: float, cost: NDArray[np.float64]) -> float:
    """Return a bound rounded up to a number of nodes, where all cost the same."""
    each = float(cost[0])
    if np.ptp(cost) > 0.0 or not np.isfinite(bound):
        return max(bound, 0.0) if np.isfinite(bound) else 0.0
    return each * float(np.ceil(bound / each - _ROUNDING))
