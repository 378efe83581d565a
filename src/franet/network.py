"""The attribute network: features as nodes, similarities as edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AttributeNetwork"]


@dataclass(frozen=True, eq=False)
class AttributeNetwork:
    """The network behind a ranking.

    Attributes
    ----------
    adjacency : CSR array of shape (n, n)
        Symmetric edge weights, float64; no self-loops.
    names : ndarray of str
        The names of the features.
    scores : ndarray of shape (n,)
        The score of each feature.
    ranking : ndarray of shape (n,)
        The rank of each feature, 1 is best.
    threshold : float
        The smallest similarity that makes an edge; NaN if no threshold won.
    n_edges : int
        Number of edges of the network, those left out included.
    truncated_ : bool
        Whether only the strongest edges of each feature are stored.
    """

    adjacency: Any = field(repr=False)
    names: NDArray[Any] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)
    ranking: NDArray[np.intp] = field(repr=False)
    threshold: float
    n_edges: int
    truncated_: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def redundant_with(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return, for each feature, the better one that it repeats most.

        Returns
        -------
        feature : ndarray of shape (n,)
            Of the neighbours with a better rank, the one with the strongest edge
            (ties by rank); -1 where there is none.
        weight : ndarray of shape (n,)
            The weight of that edge, NaN where there is none.
        """
        edges = self.adjacency.tocoo()
        j, k = edges.coords
        better = self.ranking[k] < self.ranking[j]
        j, k, w = j[better], k[better], edges.data[better]
        order = np.lexsort((self.ranking[k], -w, j))
        rows, first = np.unique(j[order], return_index=True)
        feature = np.full(len(self), -1, np.intp)
        weight = np.full(len(self), np.nan)
        feature[rows] = k[order][first]
        weight[rows] = w[order][first]
        return feature, weight
