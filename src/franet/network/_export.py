"""The network for other libraries, and in files for other tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.features import edges_of
from franet._common.files import AnyPath, atomic_write, guard, text_writer
from franet._common.optional import require
from franet.exceptions import UsageError

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

# What XML 1.0 cannot hold, not even as a reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LOST = "\N{REPLACEMENT CHARACTER}"


def _node_columns(net: AttributeNetwork) -> dict[str, list[Any]]:
    """Return what is known of each feature besides its name, as plain values."""
    return {
        "score": [float(score) for score in net.scores],
        "rank": [int(rank) for rank in net.ranking],
        "community": net.communities().labels.tolist(),
    }


def _edge_columns(
    net: AttributeNetwork,
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[np.float64]]]:
    """Return both ends of every edge, and what is known of it; each edge once."""
    j, k, w = edges_of(net.adjacency)
    columns = {"weight": w}
    if net.representation is not None:
        columns["correlation"] = net.representation.between(j, k)
    return j, k, columns


def _records(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table."""
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


def _edges_between(
    net: AttributeNetwork, nodes: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield every edge with what its ends are called, and what is known of it."""
    j, k, columns = _edge_columns(net)
    rows = _records({name: column.tolist() for name, column in columns.items()})
    for a, b, row in zip(j.tolist(), k.tolist(), rows, strict=True):
        yield nodes[a], nodes[b], row


def _graph(
    net: AttributeNetwork,
    nodes: Sequence[str],
    columns: Mapping[str, Sequence[Any]],
    what: str,
) -> tuple[Any, Any]:
    """Return networkx, and its graph of nodes that have these attributes."""
    nx = require("networkx", what, "network")
    graph = nx.Graph()
    graph.add_nodes_from(zip(nodes, _records(columns), strict=True))
    graph.add_edges_from(_edges_between(net, nodes))
    return nx, graph


def to_pandas_edges(net: AttributeNetwork) -> Any:
    """Return the edges as a data frame, each once."""
    pd = require("pandas", "A table of edges", "pandas")
    j, k, columns = _edge_columns(net)
    return pd.DataFrame({"source": net.names[j], "target": net.names[k], **columns})


def to_networkx(net: AttributeNetwork) -> Any:
    """Return a networkx graph whose nodes are the names."""
    net._index.check_unique("networkx")
    return _graph(net, net._index.names, _node_columns(net), "to_networkx")[1]


def to_igraph(net: AttributeNetwork) -> Any:
    """Return an igraph graph whose vertices are in the order of the features."""
    try:
        import igraph
    except ImportError as err:
        # Not an extra: its licence is the GPL.
        raise ImportError("to_igraph needs igraph: pip install igraph") from err
    j, k, columns = _edge_columns(net)
    return igraph.Graph(
        n=len(net),
        edges=list(zip(j.tolist(), k.tolist(), strict=True)),
        vertex_attrs={"name": net._index.names, **_node_columns(net)},
        edge_attrs={name: column.tolist() for name, column in columns.items()},
    )


def write_network(net: AttributeNetwork, path: AnyPath, *, force: bool = False) -> None:
    """Write a network to a file whose ending says the format."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        endings = ", ".join(FORMATS)
        raise UsageError(f"{path}: cannot write that format; end the name in {endings}")
    with atomic_write(path, force=force) as file:
        FORMATS[kind](net, file)


def _write_csv(net: AttributeNetwork, file: Any) -> None:
    names = [guard(_SURROGATE.sub(_LOST, name)) for name in net._index.names]
    j, k, columns = _edge_columns(net)
    writer = text_writer(file, names)
    writer.writerow(["source", "target", *columns])
    ends = ([names[i] for i in end] for end in (j, k))
    values = (column.tolist() for column in columns.values())
    writer.writerows(zip(*ends, *values, strict=True))


def _write_json(net: AttributeNetwork, file: Any) -> None:
    """Write node-link data: ``networkx.node_link_graph(data, edges="edges")``."""
    net._index.check_unique("A json file")
    names = net._index.names
    known = net.threshold == net.threshold
    document = {
        "directed": False,
        "multigraph": False,
        "graph": {
            "name": "attribute network",
            "n_edges": int(net.n_edges),
            "truncated": bool(net.truncated_),
            "communities": net.communities().method,
            **({"threshold": float(net.threshold)} if known else {}),
        },
        "nodes": list(_records({"id": names, **_node_columns(net)})),
        "edges": [
            {"source": a, "target": b, **row}
            for a, b, row in _edges_between(net, names)
        ],
    }
    file.write(json.dumps(document) + "\n")


def _xml_graph(net: AttributeNetwork, what: str) -> tuple[Any, Any]:
    """Return networkx, and a graph that XML can hold: nodes have names by number."""
    names = [_NOT_XML.sub(_LOST, name) for name in net._index.names]
    columns = {"name": names, **_node_columns(net)}
    return _graph(net, [f"n{i}" for i in range(len(net))], columns, what)


def _write_graphml(net: AttributeNetwork, file: Any) -> None:
    nx, graph = _xml_graph(net, "A graphml file")
    text = BytesIO()
    nx.write_graphml_xml(graph, text, named_key_ids=True)
    # Readers turn a plain \r into \n.
    file.buffer.write(text.getvalue().replace(b"\r", b"&#13;"))


def _write_gexf(net: AttributeNetwork, file: Any) -> None:
    nx, graph = _xml_graph(net, "A gexf file")
    for node in graph.nodes.values():
        node["label"] = node["name"]
    nx.write_gexf(graph, file.buffer)


FORMATS: dict[str, Callable[[AttributeNetwork, Any], None]] = {
    ".graphml": _write_graphml,
    ".gexf": _write_gexf,
    ".csv": _write_csv,
    ".json": _write_json,
}
