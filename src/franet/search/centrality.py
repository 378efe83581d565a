"""Centralities: one number for each node of a graph, larger is more central.

A centrality is a function of one graph, a :class:`franet.engine.levels.Level`. PageRank
alone has a certified search (:mod:`franet.search.exact`); every other one is evaluated
on each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from franet._common.returned import finite_numbers
from franet.engine.levels import Level
from franet.exceptions import DataError, Setting, UsageError

__all__ = ["CENTRALITIES", "from_function"]

# All pairs of nodes, for every candidate graph: above this size it takes days.
MAX_NODES = 5000
# Below this size the dense solver is faster, and exact for equal eigenvalues.
_DENSE = 64
# Largest eigenvalues of components that differ by less are equal.
_SAME = 1e-9
# Products after which a graph that is not yet seen to be connected is stored.
_LOOKS = 8


def degree(graph: Level) -> NDArray[np.float64]:
    """Return each node's share of the total weighted degree."""
    d = graph.degrees()
    total = d.sum()
    return d / total if total > 0.0 else d


def _from_distances(
    graph: Level, summarize: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return what a function makes of each node's distances to all nodes.

    The length of an edge is one over its weight.
    """
    if graph.n > MAX_NODES:
        raise UsageError(
            f"{{}} and 'harmonic' need all shortest paths and stop at {MAX_NODES} "
            f"features; there are {graph.n}.",
            Setting("centrality", "closeness"),
            Setting("centrality", "pagerank"),
            remedy="Use {1}, 'degree' or 'eigenvector'.",
        )
    lengths = graph.matrix()
    lengths.eliminate_zeros()
    lengths.data = 1.0 / lengths.data
    scores = np.empty(graph.n)
    step = max(1, (1 << 21) // graph.n)
    for at in range(0, graph.n, step):
        some = np.arange(at, min(at + step, graph.n))
        options = {"directed": False, "unweighted": not graph.weighted}
        scores[some] = summarize(shortest_path(lengths, "D", indices=some, **options))
    return scores


def closeness(graph: Level) -> NDArray[np.float64]:
    """Return closeness, scaled by the reached share of the graph (Wasserman–Faust)."""

    def summarize(D: NDArray[np.float64]) -> NDArray[np.float64]:
        reached = np.isfinite(D)
        others = reached.sum(axis=1) - 1
        total = D.sum(axis=1, where=reached)
        return others**2 / ((graph.n - 1) * np.where(others > 0, total, 1.0))

    return _from_distances(graph, summarize)


def harmonic(graph: Level) -> NDArray[np.float64]:
    """Return the mean of one over the distance to every other node."""

    def summarize(D: NDArray[np.float64]) -> NDArray[np.float64]:
        inverse = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0.0)
        return inverse.sum(axis=1) / (graph.n - 1)

    return _from_distances(graph, summarize)


def eigenvector(graph: Level) -> NDArray[np.float64]:
    """Return the leading eigenvector of the adjacency matrix, summing to one.

    Where several components share the largest eigenvalue, the projection of the
    all-ones vector on their eigenspace: no component is favoured.
    """
    d = graph.degrees()
    if not d.any():
        return np.zeros(graph.n)
    if graph.n <= _DENSE:
        values, vectors = np.linalg.eigh(graph.matrix().toarray())
        leading = vectors[:, values >= values[-1] * (1 - _SAME)]
        v = leading @ leading.sum(axis=0)
    elif _is_connected(graph, d > 0.0):
        v = _perron(graph.product, (d > 0.0).astype(np.float64))[1]
    else:
        v = _of_components(graph.matrix(), d)
    v = np.abs(v)
    # Other components have no part in the vector; rounding must not order them.
    v[v < 1e-12 * v.max()] = 0.0
    return v / v.sum()


def _is_connected(graph: Level, linked: NDArray[np.bool_]) -> bool:
    """Return whether the features with an edge are seen to be one component."""
    reached = np.zeros(graph.n, bool)
    reached[np.argmax(linked)] = True
    for _ in range(_LOOKS):
        reached |= graph.product(reached.astype(np.float64)) > 0.0
        if reached[linked].all():
            return True
    return False


def _of_components(A: Any, d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the leading eigenvector, component by component.

    Each has one leading eigenvector, whereas an iteration on all of them, which starts
    anew from random numbers where it gets stuck, may favour one of several.
    """
    n_components, label = connected_components(A, directed=False)
    members = np.split(np.argsort(label, kind="stable"), np.bincount(label).cumsum())
    # No eigenvalue exceeds the largest degree.
    bounds = np.zeros(n_components)
    np.maximum.at(bounds, label, d)
    v, value_of, largest = np.zeros(len(d)), np.zeros(len(d)), 0.0
    for c in np.argsort(-bounds, kind="stable"):
        if bounds[c] < largest * (1 - _SAME):
            break
        inside = members[c]
        part = A[inside][:, inside]
        if len(inside) <= _DENSE:
            values, vectors = np.linalg.eigh(part.toarray())
            value, u = float(values[-1]), vectors[:, -1]
        else:
            value, u = _perron(part.dot, np.ones(len(inside)))
        largest = max(largest, value)
        value_of[inside], v[inside] = value, u * u.sum()
    v[value_of < largest * (1 - _SAME)] = 0.0
    return v


def _perron(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Return the largest eigenvalue of a connected graph, and its eigenvector."""
    operator = LinearOperator((len(start),) * 2, matvec=product, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=0)
    except ArpackError as err:
        raise DataError(
            "Eigenvector centrality did not converge ({}).",
            err,
            Setting("centrality", "pagerank"),
            remedy="Use {1}.",
        ) from err
    return float(values[0]), vectors[:, 0]


Centrality = Callable[[Level], NDArray[np.float64]]

CENTRALITIES: dict[str, Centrality] = {
    "closeness": closeness,
    "degree": degree,
    "eigenvector": eigenvector,
    "harmonic": harmonic,
}


def from_function(function: Callable[[Any], Any]) -> Centrality:
    """Make a centrality of a user's function of the sparse adjacency matrix."""

    def centrality(graph: Level) -> NDArray[np.float64]:
        returned = function(graph.matrix())
        return finite_numbers(returned, (graph.n,), "The centrality function")

    return centrality
