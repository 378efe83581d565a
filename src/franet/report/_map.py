"""The network map: which features and edges are drawn, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.features import edges_of
from franet.network import layout
from franet.network._backbone import backbone
from franet.report._text import number, numbers

# What can still be told apart on a screen.
_NODES = 300
_EDGES_PER_NODE = 1.7
_FEW_EDGES = 400
_STEPS = 60


def network_map(net: Any, communities: Any, listed: NDArray[np.intp]) -> dict[str, Any]:
    """Return the drawn part of a network.

    Parameters
    ----------
    net : AttributeNetwork
        The network.
    communities : Communities
        Its communities.
    listed : ndarray of int
        The features that have a row in the report, best first; only they are drawn.

    Returns
    -------
    dict
        ``row`` (of each node, in the list of features), ``x``, ``y``, ``a`` and
        ``b`` (nodes of each edge), ``weight``, ``negative`` (which correlations are;
        None if weights tell), ``n_between`` (edges between the nodes, drawn or not)
        and ``steps`` of the slider: ``weight`` that an edge needs, ``n_edges`` of the
        whole network and ``n_connected`` features then.
    """
    row = np.flatnonzero(np.diff(net.adjacency.indptr)[listed] > 0)[:_NODES]
    nodes = listed[row]
    within = net.adjacency[nodes][:, nodes].tocsr()
    limit = max(_FEW_EDGES, int(_EDGES_PER_NODE * len(nodes)))
    a, b, weight = edges_of(backbone(within, limit))
    strongest = np.lexsort((b, a, -weight))
    a, b, weight = a[strongest], b[strongest], weight[strongest]
    negative = None
    if net.representation is not None:
        negative = (net.representation.between(nodes[a], nodes[b]) < 0.0).tolist()
    xy = layout(within, communities.labels[nodes])
    return {
        "row": row.tolist(),
        "x": numbers(xy[:, 0], 5),
        "y": numbers(xy[:, 1], 5),
        "a": a.tolist(),
        "b": b.tolist(),
        "weight": numbers(weight, 6),
        "negative": negative,
        "n_between": within.nnz // 2,
        "steps": _steps(net, weight),
    }


def _steps(net: Any, drawn: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return the thresholds of the slider: each hides as many of the drawn edges."""
    if not len(drawn):
        return []
    limits = np.unique(np.quantile(drawn, np.linspace(0, 1, _STEPS), method="lower"))
    lowest = net.threshold if np.isfinite(net.threshold) else limits[0]
    limits = np.concatenate([[min(lowest, limits[0])], limits[1:]])
    edges = net.adjacency
    weights = np.sort(edges.data)
    starts = edges.indptr[:-1][np.diff(edges.indptr) > 0]
    # Of every feature that has an edge.
    strongest = np.sort(np.maximum.reduceat(edges.data, starts))
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
