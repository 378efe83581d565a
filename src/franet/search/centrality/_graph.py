"""What a centrality may ask of a graph."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Graph"]


class Graph(Protocol):
    """An undirected graph with non-negative weights, stored or streamed."""

    n: int
    weighted: bool

    def degrees(self) -> NDArray[np.float64]:
        """Return the weighted degrees."""
        ...

    def product(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the adjacency matrix with a vector."""
        ...

    def matrix(self) -> Any:
        """Return the adjacency matrix as a CSR array."""
        ...
