"""The network map: which features and edges are drawn, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.network import layout
from franet.network._layout import backbone
from franet.report._numbers import number, numbers

__all__ = ["network_map"]

# What can still be told apart on a screen.
_NODES = 300
_EDGES_PER_NODE = 1.7
_FEW_EDGES = 400
_STEPS = 60


def network_map(net: Any, communities: Any, shown: int) -> dict[str, Any]:
    """Return the drawn part of a network.

    Parameters
    ----------
    net : AttributeNetwork
        The network.
    communities : Communities
        Its communities.
    shown : int
        How many features, best first, have a row in the report; only they are drawn.

    Returns
    -------
    dict
        ``row`` (of each node, in the list of features), ``x``, ``y``, ``a`` and
        ``b`` (nodes of each edge), ``weight``, ``negative`` (which correlations are;
        None if weights tell), ``n_between`` (edges between the nodes, drawn or not)
        and ``steps`` of the slider: ``weight`` that an edge needs, ``n_edges`` of the
        whole network and ``n_connected`` features then.
    """
    order = np.argsort(net.ranking, kind="stable")[:shown]
    linked = np.diff(net.adjacency.indptr)[order] > 0
    row = np.flatnonzero(linked)[:_NODES]
    nodes = order[row]
    within = net.adjacency[nodes][:, nodes].tocsr()
    a, b, weight = _strongest(within)
    xy = layout(within, communities.labels[nodes])
    return {
        "row": row.tolist(),
        "x": numbers(xy[:, 0], 5),
        "y": numbers(xy[:, 1], 5),
        "a": a.tolist(),
        "b": b.tolist(),
        "weight": numbers(weight, 6),
        "negative": _negative(net, nodes[a], nodes[b]),
        "n_between": within.nnz // 2,
        "steps": _steps(net, weight),
    }


def _negative(net: Any, j: NDArray[np.intp], k: NDArray[np.intp]) -> list[bool] | None:
    """Return which edges are of negative correlations; None if weights tell."""
    if net.representation is None:
        return None
    return [bool(r < 0.0) for r in net.representation.between(j, k)]


def _strongest(
    within: Any,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return edges, the strongest first, that keep connected what is connected."""
    limit = max(_FEW_EDGES, int(_EDGES_PER_NODE * within.shape[0]))
    upper = sparse.triu(backbone(within, limit), k=1).tocoo()
    a, b = upper.coords
    order = np.lexsort((b, a, -upper.data))
    return a[order], b[order], upper.data[order]


def _steps(net: Any, drawn: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return the thresholds of the slider: each hides as many of the drawn edges."""
    if not len(drawn):
        return []
    limits = np.unique(np.quantile(drawn, np.linspace(0, 1, _STEPS), method="lower"))
    lowest = net.threshold if np.isfinite(net.threshold) else limits[0]
    limits = np.concatenate([[min(lowest, limits[0])], limits[1:]])
    weights = np.sort(net.adjacency.data)
    strongest = np.sort(_strongest_of_each(net.adjacency))
    # What is rounded for the page must not hide the edge it was taken from.
    slack = 1e-9 * max(1.0, float(np.abs(drawn).max()))
    at = np.searchsorted(weights, limits - slack)
    apart = np.searchsorted(strongest, limits - slack)
    return [
        {
            "weight": number(limit, 7),
            "n_edges": int((len(weights) - i) // 2),
            "n_connected": int(len(strongest) - j),
        }
        for limit, i, j in zip(limits, at, apart, strict=True)
    ]


def _strongest_of_each(adjacency: Any) -> NDArray[np.float64]:
    """Return the weight of the strongest edge of every feature that has one."""
    starts = adjacency.indptr[:-1][np.diff(adjacency.indptr) > 0]
    return np.maximum.reduceat(adjacency.data, starts)
