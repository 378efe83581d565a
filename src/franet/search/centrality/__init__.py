"""Centralities: one number for each node of a graph, larger is more central.

A centrality is a function of a :class:`Graph`. PageRank alone has a certified search
(:mod:`franet.search.exact`); every other one is evaluated on each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.returned import finite_numbers
from franet.search.centrality._graph import Graph
from franet.search.centrality.degree import degree
from franet.search.centrality.eigenvector import eigenvector
from franet.search.centrality.paths import MAX_NODES, closeness, harmonic

__all__ = ["CENTRALITIES", "MAX_NODES", "Graph", "from_function"]

Centrality = Callable[[Graph], NDArray[np.float64]]

CENTRALITIES: dict[str, Centrality] = {
    "closeness": closeness,
    "degree": degree,
    "eigenvector": eigenvector,
    "harmonic": harmonic,
}


def from_function(function: Callable[[Any], Any]) -> Centrality:
    """Make a centrality of a user's function of the sparse adjacency matrix."""

    def centrality(graph: Graph) -> NDArray[np.float64]:
        returned = function(graph.matrix())
        return finite_numbers(returned, (graph.n,), "The centrality function")

    return centrality
