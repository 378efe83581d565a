"""Eigenvector centrality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from franet.centrality._graph import Graph
from franet.exceptions import DataError

__all__ = ["eigenvector"]

# Below this size the dense solver is faster, and exact for equal eigenvalues.
_DENSE = 64


def eigenvector(graph: Graph) -> NDArray[np.float64]:
    """Return the leading eigenvector of the adjacency matrix, summing to one.

    Where several components share the largest eigenvalue, the projection of the
    all-ones vector on their eigenspace: no component is favoured. The Lanczos
    iteration starts from that vector and never leaves its Krylov space.
    """
    n = graph.n
    if not graph.degrees().any():
        return np.zeros(n)
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(graph.matrix().toarray())
        leading = vectors[:, values >= values[-1] * (1 - 1e-9)]
        v = leading @ leading.sum(axis=0)
    else:
        operator = LinearOperator((n, n), matvec=graph.product, dtype=np.float64)
        try:
            _, vectors = eigsh(operator, k=1, which="LA", v0=np.ones(n), tol=0)
        except ArpackError as err:
            raise DataError(
                f"Eigenvector centrality did not converge ({err}). Use "
                "centrality='pagerank'."
            ) from err
        v = vectors[:, 0]
    v = np.abs(v)
    # Other components have no part in the vector; rounding must not order them.
    v[v < 1e-12 * v.max()] = 0.0
    return v / v.sum()
