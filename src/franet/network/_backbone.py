"""Which edges to draw, so that a network does not become a ball of wool."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from franet._common.features import edges_of

__all__ = ["backbone"]


def backbone(adjacency: Any, n_edges: int) -> sparse.csr_array:
    """Return the edges that show the structure, at most about `n_edges` of them.

    First those of a spanning forest of the strongest edges, so that what is connected
    stays so; then the strongest of all others.

    Parameters
    ----------
    adjacency : CSR array of shape (n, n)
        Symmetric weights.
    n_edges : int
        How many edges; the forest is kept whole even if it has more.

    Returns
    -------
    chosen : CSR array of shape (n, n)
        The chosen edges, symmetric.
    """
    n = adjacency.shape[0]
    j, k, w = edges_of(adjacency)
    if len(w) > n_edges:
        # Strong is short; no length may be zero, because that means "no edge".
        length = w.max() - w
        length += max(float(length.max()), 1.0) * 1e-9
        tree = minimum_spanning_tree(sparse.csr_array((length, (j, k)), (n, n))).tocoo()
        pair = j.astype(np.int64) * n + k
        rows, cols = tree.coords
        in_tree = np.isin(pair, rows.astype(np.int64) * n + cols)
        order = np.lexsort((pair, -w, ~in_tree))
        chosen = order[: max(n_edges, int(in_tree.sum()))]
        j, k, w = j[chosen], k[chosen], w[chosen]
    both = np.r_[w, w], (np.r_[j, k], np.r_[k, j])
    matrix = sparse.csr_array(both, (n, n))
    matrix.sort_indices()
    return matrix
