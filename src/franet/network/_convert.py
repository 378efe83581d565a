"""The network for other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.features import edges_of
from franet._common.optional import require

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = [
    "edge_columns",
    "node_columns",
    "to_igraph",
    "to_networkx",
    "to_pandas_edges",
]


def node_columns(net: AttributeNetwork) -> dict[str, list[Any]]:
    """Return what is known of each feature, as plain values."""
    return {
        "name": [str(name) for name in net.names],
        "score": [float(score) for score in net.scores],
        "rank": [int(rank) for rank in net.ranking],
        "community": net.communities().labels.tolist(),
    }


def edge_columns(
    net: AttributeNetwork,
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[np.float64]]]:
    """Return both ends of every edge, and what is known of it; each edge once."""
    j, k, w = edges_of(net.adjacency)
    columns = {"weight": w}
    if net.representation is not None:
        columns["correlation"] = net.representation.between(j, k)
    return j, k, columns


def to_pandas_edges(net: AttributeNetwork) -> Any:
    """Return the edges as a data frame, each once."""
    pd = require("pandas", "A table of edges", "pandas")
    j, k, columns = edge_columns(net)
    return pd.DataFrame({"source": net.names[j], "target": net.names[k], **columns})


def to_networkx(net: AttributeNetwork) -> Any:
    """Return a networkx graph whose nodes are the names."""
    nx = require("networkx", "to_networkx", "network")
    net._index.check_unique("networkx")
    columns = node_columns(net)
    names = columns.pop("name")
    graph = nx.Graph()
    rows = zip(*columns.values(), strict=True)
    graph.add_nodes_from(
        (name, dict(zip(columns, row, strict=True)))
        for name, row in zip(names, rows, strict=True)
    )
    j, k, found = edge_columns(net)
    values = zip(*(column.tolist() for column in found.values()), strict=True)
    graph.add_edges_from(
        (names[a], names[b], dict(zip(found, row, strict=True)))
        for a, b, row in zip(j.tolist(), k.tolist(), values, strict=True)
    )
    return graph


def to_igraph(net: AttributeNetwork) -> Any:
    """Return an igraph graph whose vertices are in the order of the features."""
    try:
        import igraph
    except ImportError as err:
        # Not an extra: its licence is the GPL.
        raise ImportError("to_igraph needs igraph: pip install igraph") from err
    j, k, columns = edge_columns(net)
    return igraph.Graph(
        n=len(net),
        edges=list(zip(j.tolist(), k.tolist(), strict=True)),
        vertex_attrs=node_columns(net),
        edge_attrs={name: column.tolist() for name, column in columns.items()},
    )
