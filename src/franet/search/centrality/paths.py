"""Centralities from shortest paths; the length of an edge is one over its weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from franet.exceptions import Setting, UsageError
from franet.search.centrality._graph import Graph

__all__ = ["MAX_NODES", "closeness", "harmonic"]

# All pairs of nodes, for every candidate graph: above this size it takes days.
MAX_NODES = 5000


def _distances(graph: Graph) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield the distances from some nodes to all nodes, part by part."""
    if graph.n > MAX_NODES:
        raise UsageError(
            "{} and 'harmonic' need all shortest paths and stop at {} features; there "
            "are {}.",
            Setting("centrality", "closeness"),
            MAX_NODES,
            graph.n,
            Setting("centrality", "pagerank"),
            remedy="Use {3}, 'degree' or 'eigenvector'.",
        )
    lengths = graph.matrix()
    lengths.eliminate_zeros()
    lengths.data = 1.0 / lengths.data
    step = max(1, (1 << 21) // graph.n)
    for at in range(0, graph.n, step):
        part = slice(at, min(at + step, graph.n))
        sources = np.arange(part.start, part.stop)
        yield (
            part,
            shortest_path(
                lengths,
                method="D",
                directed=False,
                unweighted=not graph.weighted,
                indices=sources,
            ),
        )


def _each(
    graph: Graph, summarize: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    scores = np.empty(graph.n)
    for part, D in _distances(graph):
        scores[part] = summarize(D)
    return scores


def closeness(graph: Graph) -> NDArray[np.float64]:
    """Return closeness, scaled by the reached share of the graph (Wasserman–Faust)."""

    def summarize(D: NDArray[np.float64]) -> NDArray[np.float64]:
        reached = np.isfinite(D)
        others = reached.sum(axis=1) - 1
        total = D.sum(axis=1, where=reached)
        return others**2 / ((graph.n - 1) * np.where(others > 0, total, 1.0))

    return _each(graph, summarize)


def harmonic(graph: Graph) -> NDArray[np.float64]:
    """Return the mean of one over the distance to every other node."""

    def summarize(D: NDArray[np.float64]) -> NDArray[np.float64]:
        inverse = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0.0)
        return inverse.sum(axis=1) / (graph.n - 1)

    return _each(graph, summarize)
