"""The fewest nodes of a graph, no two of them linked, that all others are linked with.

An independent dominating set: greedily first, then by exchanges, and, if asked for, by
an integer program for each connected part. Nodes come in an order that depends on
content, by which ties are broken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from franet.pruning import kernels
from franet.pruning._exact import least_cost, program

# Rounds of exchanges without a saving, and links that they may look at in all.
_PATIENCE = 20
_MOST_WORK = 300_000_000


class Graph(NamedTuple):
    """Links between nodes.

    Attributes
    ----------
    at, to : ndarray of int
        The neighbors of node v are ``to[at[v] : at[v + 1]]``.
    """

    at: NDArray[np.int64]
    to: NDArray[np.int32]

    def matrix(self) -> csr_array:
        """Return the same as a matrix, neighbors in order."""
        n = len(self.at) - 1
        ones = np.ones(len(self.to), bool)
        found = csr_array((ones, self.to, self.at), shape=(n, n))
        found.sort_indices()
        return found


class Solution(NamedTuple):
    """Which nodes of a graph are kept.

    Attributes
    ----------
    kept : ndarray of bool
        The nodes: no two are linked, and each other one is linked with one of them.
    block : ndarray of int
        The connected part of each node.
    least : float or None
        What such nodes cost at least, as was proven; None where it was not asked for.
    """

    kept: NDArray[np.bool_]
    block: NDArray[np.intp]
    least: float | None


def solve(
    graph: Graph,
    cost: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    exact: bool = False,
) -> Solution:
    """Return nodes that cost little in all, no two of them linked, all others linked.

    Parameters
    ----------
    graph : Graph
        The links of n nodes.
    cost : ndarray of shape (n,)
        What each node costs.
    fixed : ndarray of bool of shape (n,)
        Nodes that must be kept, no two of them linked.
    exact : bool, default=False
        Whether the least cost is searched for, and proven.
    """
    n = len(cost)
    at, to = graph
    state = {"kept": np.zeros(n, bool), "cover": np.zeros(n, np.int64)}
    kept = state["kept"]
    kernels.keep(np.flatnonzero(fixed), at, to, **state)
    kernels.dominate(at, to, cost, **state)
    block = np.empty(n, np.int64)
    n_blocks = kernels.parts(at, to, part=block)
    nodes = np.flatnonzero(_improvable(block, n_blocks, kept, cost)[block])
    limits = _PATIENCE, _MOST_WORK
    kernels.improve(at, to, cost, nodes, fixed, *limits, **state)
    if not exact:
        return Solution(kept, block, None)
    least = float(cost[kept & (np.bincount(block)[block] == 1)].sum())
    order, matrix = np.argsort(block, kind="stable"), graph.matrix()
    for part in np.split(order, np.cumsum(np.bincount(block))[:-1]):
        if len(part) > 1:
            links = matrix[part][:, part]
            kept[part], bound = program(links, cost[part], fixed[part], kept[part])
            least += bound
    return Solution(kept, block, least)


def _improvable(
    block: NDArray[np.intp],
    n_blocks: int,
    kept: NDArray[np.bool_],
    cost: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return the parts of which fewer nodes might be enough.

    Where all cost the same, the first choice finds the one node that is enough.
    """
    alike = cost.min() == cost.max() if len(cost) else True
    return np.bincount(block[kept], minlength=n_blocks) > (2 if alike else 0)


def least_cost_of(degree: NDArray[np.int64], cost: NDArray[np.float64]) -> float:
    """Return what nodes that cover all others cost at least, from degrees alone."""
    return least_cost((degree + 1).astype(np.float64), cost)
