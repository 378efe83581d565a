"""Degree centrality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from franet.search.centrality._graph import Graph

__all__ = ["degree"]


def degree(graph: Graph) -> NDArray[np.float64]:
    """Return each node's share of the total weighted degree."""
    d = graph.degrees()
    total = d.sum()
    return d / total if total > 0.0 else d
