"""Eigenvectors of the normalised Laplacian of a graph of examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from franet.rankers._affinity import Affinity

__all__ = ["embedding", "inverse_roots", "normalised"]

# Up to so many examples a dense solver is used.
DENSE_ROWS = 2000
# Eigenvalues that are closer count as one.
SAME_VALUE = 1e-8
# So many more are computed, to see where a group of equal eigenvalues ends.
MORE = 8


def inverse_roots(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return D^(−1/2), zero for a row without an edge."""
    there = degrees > 0
    return np.where(there, 1 / np.sqrt(np.where(there, degrees, 1.0)), 0.0)


def normalised(graph: Affinity) -> Any:
    """Return N = D^(−1/2) W D^(−1/2), sparse; the normalised Laplacian is I − N."""
    roots = sparse.diags_array(inverse_roots(graph.degrees))
    return sparse.csr_array(roots @ graph.weights @ roots)


def embedding(
    graph: Affinity, k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the k smallest eigenvalues of I − N, with their eigenvectors, m × k.

    The trivial eigenvector D^(1/2)·1 is taken out, by moving its eigenvalue from 0 to
    the other end: in a graph of several components no solver would name it first.
    There are never more than m − 1.
    """
    N = normalised(graph)
    m = N.shape[0]
    k = min(k, m - 1)
    trivial = np.sqrt(graph.degrees)
    length = np.linalg.norm(trivial)
    trivial = trivial / length if length > 0 else trivial
    wanted = min(k + MORE, m)
    if m <= DENSE_ROWS or wanted >= m:
        values, vectors = _dense(N, trivial, wanted)
    else:
        values, vectors = _iterative(N, trivial, wanted)
    order = np.argsort(-values, kind="stable")
    values, vectors = 1.0 - values[order], vectors[:, order]
    return values[:k], _fix_basis(values, vectors)[:, :k]


def _dense(
    N: Any, trivial: NDArray[np.float64], wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = len(trivial)
    A = N.toarray()
    A -= 2 * np.outer(trivial, trivial)
    values, vectors = eigh(A, subset_by_index=(m - wanted, m - 1))
    return values, vectors


def _iterative(
    N: Any, trivial: NDArray[np.float64], wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = len(trivial)

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        v = np.ravel(v)
        return np.asarray(N @ v - 2 * trivial * (trivial @ v))

    operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
    # The same start in every run: the result must not depend on chance.
    start = np.random.default_rng(0).normal(size=m)
    try:
        values, vectors = eigsh(
            operator, k=wanted, which="LA", v0=start, ncv=min(m, 4 * wanted + 20)
        )
    except ArpackNoConvergence:
        return _dense(N, trivial, wanted)
    return values, vectors


def _fix_basis(
    values: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Choose a basis that depends only on the space, where eigenvalues are equal.

    Components of the graph give equal eigenvalues, of which a solver returns any
    rotation. QR with pivoting sees the space alone.
    """
    vectors = vectors.copy()
    ends = np.flatnonzero(np.diff(values) > SAME_VALUE) + 1
    for group in np.split(np.arange(len(values)), ends):
        if len(group) > 1:
            Q = qr(vectors[:, group].T, pivoting=True)[0]
            vectors[:, group] = vectors[:, group] @ Q
    return vectors
