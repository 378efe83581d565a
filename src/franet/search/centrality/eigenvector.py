"""Eigenvector centrality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from franet.exceptions import DataError, Setting
from franet.search.centrality._graph import Graph

__all__ = ["eigenvector"]

# Below this size the dense solver is faster, and exact for equal eigenvalues.
_DENSE = 64
# Largest eigenvalues of components that differ by less are equal.
_SAME = 1e-9
# Products after which a graph that is not yet seen to be connected is stored.
_LOOKS = 8


def eigenvector(graph: Graph) -> NDArray[np.float64]:
    """Return the leading eigenvector of the adjacency matrix, summing to one.

    Where several components share the largest eigenvalue, the projection of the
    all-ones vector on their eigenspace: no component is favoured.
    """
    d = graph.degrees()
    if not d.any():
        return np.zeros(graph.n)
    if graph.n <= _DENSE:
        v = _projected(graph.matrix().toarray())
    elif _is_connected(graph, d > 0.0):
        v = _perron(graph.product, (d > 0.0).astype(np.float64))[1]
    else:
        v = _of_components(graph.matrix(), d)
    v = np.abs(v)
    # Other components have no part in the vector; rounding must not order them.
    v[v < 1e-12 * v.max()] = 0.0
    return v / v.sum()


def _projected(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the projection of the all-ones vector on the leading eigenspace."""
    values, vectors = np.linalg.eigh(A)
    leading = vectors[:, values >= values[-1] * (1 - _SAME)]
    projection: NDArray[np.float64] = leading @ leading.sum(axis=0)
    return projection


def _is_connected(graph: Graph, linked: NDArray[np.bool_]) -> bool:
    """Return whether the features with an edge are seen to be one component."""
    reached = np.zeros(graph.n, bool)
    reached[np.argmax(linked)] = True
    for _ in range(_LOOKS):
        reached |= graph.product(reached.astype(np.float64)) > 0.0
        if reached[linked].all():
            return True
    return False


def _of_components(A: Any, d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same, component by component.

    Each has one leading eigenvector, whereas an iteration on all of them, which starts
    anew from random numbers where it gets stuck, may favour one of several.
    """
    from scipy.sparse.csgraph import connected_components

    n_components, label = connected_components(A, directed=False)
    members = np.split(np.argsort(label, kind="stable"), np.bincount(label).cumsum())
    # No eigenvalue exceeds the largest degree.
    bounds = np.zeros(n_components)
    np.maximum.at(bounds, label, d)
    found: list[tuple[float, NDArray[np.intp], NDArray[np.float64]]] = []
    largest = 0.0
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
        found.append((value, inside, u * u.sum()))
    v = np.zeros(len(d))
    for value, inside, u in found:
        if value >= largest * (1 - _SAME):
            v[inside] = u
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
