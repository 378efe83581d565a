"""Files for other tools, written in pieces so that a large network fits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import escape  # nosec B406

from franet._common.files import atomic_write, guard, text_writer
from franet.exceptions import UsageError
from franet.network._convert import edge_columns, node_columns

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["FORMATS", "write_network"]

_PIECE = 50_000
# What XML 1.0 cannot hold, not even as a reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Readers turn plain line ends of attributes into blanks, and \r into \n.
_SPACES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;", '"': "&quot;"}
_LOST = "\N{REPLACEMENT CHARACTER}"

Node = tuple[int, str, float, int, int]
Edge = tuple[int, int, tuple[float, ...]]


def write_network(
    net: AttributeNetwork, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a network to a file whose ending says the format."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        endings = ", ".join(FORMATS)
        raise UsageError(f"{path}: cannot write that format; end the name in {endings}")
    if kind == ".json":
        net._index.check_unique("A json file")
    with atomic_write(path, force=force) as file:
        FORMATS[kind](net, file)


def _nodes(net: AttributeNetwork) -> Iterator[Node]:
    rows = zip(*node_columns(net).values(), strict=True)
    return ((i, *row) for i, row in enumerate(rows))


def _edges(net: AttributeNetwork) -> Iterator[Edge]:
    """Yield the edges; plain values are made of a piece at a time."""
    j, k, columns = edge_columns(net)
    for at in range(0, len(j), _PIECE):
        piece = slice(at, at + _PIECE)
        values = (column[piece].tolist() for column in columns.values())
        rows = zip(*values, strict=True)
        yield from zip(j[piece].tolist(), k[piece].tolist(), rows, strict=True)


def _of_edges(net: AttributeNetwork) -> list[str]:
    """Return what is known of each edge: its weight and, if it has one, its sign."""
    return ["weight"] + ["correlation"] * (net.representation is not None)


def _members(net: AttributeNetwork) -> str:
    """Return the pattern of an edge's values in JSON."""
    return ", ".join(f'"{name}": {{!r}}' for name in _of_edges(net))


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub(_LOST, text), _SPACES)


def _json_list(file: IO[str], texts: Iterator[str]) -> None:
    """Write a list, one element a line."""
    file.write("[")
    for i, text in enumerate(texts):
        file.write(",\n" if i else "\n")
        file.write(text)
    file.write("\n]")


def _write_csv(net: AttributeNetwork, file: IO[str]) -> None:
    names = [guard(_SURROGATE.sub(_LOST, str(name))) for name in net.names]
    writer = text_writer(file, names)
    writer.writerow(["source", "target", *_of_edges(net)])
    writer.writerows((names[j], names[k], *row) for j, k, row in _edges(net))


def _write_json(net: AttributeNetwork, file: IO[str]) -> None:
    """Write node-link data: ``networkx.node_link_graph(data, edges="edges")``."""
    names, members = [json.dumps(str(name)) for name in net.names], _members(net)
    file.write('{"directed": false, "multigraph": false, "graph": ')
    json.dump(_facts(net), file)
    file.write(',\n"nodes": ')
    _json_list(
        file,
        (
            f'{{"id": {names[i]}, "score": {score!r}, "rank": {rank}, '
            f'"community": {community}}}'
            for i, _, score, rank, community in _nodes(net)
        ),
    )
    file.write(',\n"edges": ')
    _json_list(
        file,
        (
            f'{{"source": {names[j]}, "target": {names[k]}, {members.format(*row)}}}'
            for j, k, row in _edges(net)
        ),
    )
    file.write("}\n")


def _facts(net: AttributeNetwork) -> dict[str, Any]:
    known = net.threshold == net.threshold
    return {
        "name": "attribute network",
        "n_edges": int(net.n_edges),
        "truncated": bool(net.truncated_),
        "communities": net.communities().method,
        **({"threshold": float(net.threshold)} if known else {}),
    }


_CX2_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "float": "double"}


def _write_cx2(net: AttributeNetwork, file: IO[str]) -> None:
    facts, members = _facts(net), _members(net)
    kinds = {key: {"d": _CX2_TYPES[type(v).__name__]} for key, v in facts.items()}
    count = {
        "attributeDeclarations": 1,
        "networkAttributes": 1,
        "nodes": len(net),
        "edges": net.adjacency.nnz // 2,
    }
    declared = {
        "networkAttributes": kinds,
        "nodes": {
            "name": {"d": "string"},
            "score": {"d": "double"},
            "rank": {"d": "integer"},
            "community": {"d": "integer"},
        },
        "edges": {name: {"d": "double"} for name in _of_edges(net)},
    }
    listed = [{"name": name, "elementCount": size} for name, size in count.items()]
    head = (
        {"CXVersion": "2.0", "hasFragments": False},
        {"metaData": listed},
        {"attributeDeclarations": [declared]},
        {"networkAttributes": [facts]},
    )
    file.write("[" + ",\n".join(map(json.dumps, head)))
    file.write(',\n{"nodes": ')
    _json_list(
        file,
        (
            f'{{"id": {i}, "v": {{"name": {json.dumps(name)}, "score": {score!r}, '
            f'"rank": {rank}, "community": {community}}}}}'
            for i, name, score, rank, community in _nodes(net)
        ),
    )
    file.write('},\n{"edges": ')
    _json_list(
        file,
        (
            f'{{"id": {i}, "s": {j}, "t": {k}, "v": {{{members.format(*row)}}}}}'
            for i, (j, k, row) in enumerate(_edges(net))
        ),
    )
    file.write('},\n{"status": [{"success": true}]}]\n')


def _write_graphml(net: AttributeNetwork, file: IO[str]) -> None:
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
        'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
        '<key id="name" for="node" attr.name="name" attr.type="string"/>\n'
        '<key id="score" for="node" attr.name="score" attr.type="double"/>\n'
        '<key id="rank" for="node" attr.name="rank" attr.type="long"/>\n'
        '<key id="community" for="node" attr.name="community" attr.type="long"/>\n'
    )
    file.writelines(
        f'<key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>\n'
        for name in _of_edges(net)
    )
    file.write('<graph id="network" edgedefault="undirected">\n')
    file.writelines(
        f'<node id="n{i}"><data key="name">{_xml(name)}</data>'
        f'<data key="score">{score!r}</data><data key="rank">{rank}</data>'
        f'<data key="community">{community}</data></node>\n'
        for i, name, score, rank, community in _nodes(net)
    )
    data = "".join(f'<data key="{name}">{{!r}}</data>' for name in _of_edges(net))
    file.writelines(
        f'<edge source="n{j}" target="n{k}">{data.format(*row)}</edge>\n'
        for j, k, row in _edges(net)
    )
    file.write("</graph>\n</graphml>\n")


def _write_gexf(net: AttributeNetwork, file: IO[str]) -> None:
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
        "<meta><creator>franet</creator></meta>\n"
        '<graph mode="static" defaultedgetype="undirected">\n'
        '<attributes class="node" mode="static">\n'
        '<attribute id="name" title="name" type="string"/>\n'
        '<attribute id="score" title="score" type="double"/>\n'
        '<attribute id="rank" title="rank" type="long"/>\n'
        '<attribute id="community" title="community" type="long"/>\n'
        "</attributes>\n"
    )
    rest = "/>"
    if net.representation is not None:  # a weight needs no declaration
        file.write(
            '<attributes class="edge" mode="static">\n'
            '<attribute id="correlation" title="correlation" type="double"/>\n'
            "</attributes>\n"
        )
        value = '<attvalue for="correlation" value="{!r}"/>'
        rest = f"><attvalues>{value}</attvalues></edge>"
    file.write("<nodes>\n")
    file.writelines(
        f'<node id="n{i}" label="{_xml(name)}"><attvalues>'
        f'<attvalue for="name" value="{_xml(name)}"/>'
        f'<attvalue for="score" value="{score!r}"/>'
        f'<attvalue for="rank" value="{rank}"/>'
        f'<attvalue for="community" value="{community}"/></attvalues></node>\n'
        for i, name, score, rank, community in _nodes(net)
    )
    file.write("</nodes>\n<edges>\n")
    file.writelines(
        f'<edge id="{i}" source="n{j}" target="n{k}" weight="{w!r}"'
        f"{rest.format(*others)}\n"
        for i, (j, k, (w, *others)) in enumerate(_edges(net))
    )
    file.write("</edges>\n</graph>\n</gexf>\n")


FORMATS: dict[str, Callable[[AttributeNetwork, IO[str]], None]] = {
    ".graphml": _write_graphml,
    ".gexf": _write_gexf,
    ".csv": _write_csv,
    ".cx2": _write_cx2,
    ".json": _write_json,
}
