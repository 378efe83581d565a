"""Other libraries and files hold the same nodes, edges and weights."""

from __future__ import annotations

import builtins
import csv
import json
import os
import re

import igraph
import networkx as nx
import numpy as np
import pytest

from franet import DataError
from franet.exceptions import MissingExtraError, UsageError
from franet.network import _export
from network.nets import HOSTILE, SMALL, TRIANGLES, fit, make
from tables import TABLES, blocks

NETWORKS = {
    **SMALL,
    "random": fit(TABLES["random"], min_mean_degree=3).network_,
    "constant": fit(TABLES["constant"], min_mean_degree=3).network_,
    "blocks": fit(blocks(), min_mean_degree=4).network_,
}
LOST = "\N{REPLACEMENT CHARACTER}"
IN_XML = {name: re.sub("[\x00\x07\ufffe\ud800]", LOST, name) for name in HOSTILE}


def rows(net):
    """Return the nodes as tuples, in their order."""
    labels = net.communities().labels.tolist()
    values = net.names.tolist(), net.scores.tolist(), net.ranking.tolist(), labels
    return list(zip(*values, strict=True))


def weights(net):
    """Return the weight of each pair of positions."""
    coo = net.adjacency.tocoo()
    j, k = (c.tolist() for c in coo.coords)
    return {(a, b): w for a, b, w in zip(j, k, coo.data.tolist(), strict=True) if a < b}


def by_position(graph, place):
    """Return the weights of a networkx graph by positions."""
    pairs = {}
    for a, b, w in graph.edges(data="weight"):
        j, k = sorted((place[a], place[b]))
        assert (j, k) not in pairs
        pairs[j, k] = w
    return pairs


def check_file_graph(graph, net):
    """Assert that a graph with nodes n0, n1, … is the network, as XML can hold it."""
    assert not graph.is_directed()
    assert not graph.is_multigraph()
    assert list(graph) == [f"n{j}" for j in range(len(net))]
    place = {f"n{j}": j for j in range(len(net))}
    assert by_position(graph, place) == weights(net)
    for (name, score, rank, community), node in zip(
        rows(net), graph.nodes.values(), strict=True
    ):
        assert node.get("name", "") == IN_XML.get(name, name)
        assert (node["score"], node["rank"]) == (score, rank)
        assert node["community"] == community
        assert isinstance(node["rank"], int)


@pytest.mark.parametrize("name", NETWORKS)
def test_graphml(name, tmp_path):
    net = NETWORKS[name]
    net.write(tmp_path / "net.graphml")
    check_file_graph(nx.read_graphml(tmp_path / "net.graphml"), net)
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "net.graphml"))
    assert graph.vcount() == len(net)
    assert not graph.is_directed()
    found = {tuple(sorted(e.tuple)): e["weight"] for e in graph.es}
    assert found == weights(net)
    if len(net):
        assert graph.vs["name"] == [IN_XML.get(n, n) for n in net.names]
        np.testing.assert_array_equal(graph.vs["score"], net.scores)
        np.testing.assert_array_equal(graph.vs["rank"], net.ranking)
        np.testing.assert_array_equal(graph.vs["community"], net.communities().labels)


@pytest.mark.parametrize("name", NETWORKS)
def test_gexf(name, tmp_path):
    net = NETWORKS[name]
    net.write(tmp_path / "net.gexf")
    graph = nx.read_gexf(tmp_path / "net.gexf")
    check_file_graph(graph, net)
    labels = [node["label"] for node in graph.nodes.values()]
    assert labels == [IN_XML.get(n, n) for n in net.names]


@pytest.mark.parametrize("name", NETWORKS)
def test_json(name, tmp_path):
    net = NETWORKS[name]
    net.write(tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text())
    graph = nx.node_link_graph(data, edges="edges")
    expected = net.to_networkx()
    assert list(graph.nodes(data=True)) == list(expected.nodes(data=True))
    place = {n: j for j, n in enumerate(net.names)}
    assert by_position(graph, place) == by_position(expected, place) == weights(net)
    assert graph.graph["truncated"] == net.truncated_
    assert graph.graph.get("threshold", net.threshold) is not None


@pytest.mark.parametrize("name", NETWORKS)
def test_csv_and_pandas(name, tmp_path):
    net = NETWORKS[name]
    net.write(tmp_path / "net.csv")
    with (tmp_path / "net.csv").open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == ["source", "target", "weight"]
    frame = net.to_pandas_edges()
    assert list(frame.columns) == head
    assert len(frame) == len(lines) == net.adjacency.nnz // 2
    place = {n: j for j, n in enumerate(net.names)}
    found = {
        (place[a], place[b]): w for a, b, w in frame.itertuples(index=False, name=None)
    }
    assert found == weights(net)
    clean = {n.replace("\ud800", LOST): j for n, j in place.items()}
    found = {(clean[a], clean[b]): float(w) for a, b, w in lines}
    assert found == weights(net)


@pytest.mark.parametrize("name", NETWORKS)
def test_libraries(name):
    net = NETWORKS[name]
    matrix = net.to_scipy()
    assert abs(matrix - net.adjacency).nnz == 0
    matrix.data[:] = 7.0
    assert (net.adjacency.data != 7.0).all()
    graph = net.to_networkx()
    assert list(graph) == list(net.names)
    place = {n: j for j, n in enumerate(net.names)}
    assert by_position(graph, place) == weights(net)
    for row, (node, facts) in zip(rows(net), graph.nodes(data=True), strict=True):
        assert row == (node, facts["score"], facts["rank"], facts["community"])
    graph = net.to_igraph()
    assert {tuple(sorted(e.tuple)): e["weight"] for e in graph.es} == weights(net)
    columns = ("name", "score", "rank", "community")
    found = list(zip(*(graph.vs[column] for column in columns), strict=True))
    assert found == rows(net)


def test_files_are_not_replaced_by_accident(tmp_path):
    path = tmp_path / "net.json"
    path.write_text("mine")
    with pytest.raises(DataError, match="exists already"):
        TRIANGLES.write(path)
    assert path.read_text() == "mine"
    TRIANGLES.write(str(path), force=True)
    assert json.loads(path.read_text())["directed"] is False
    assert os.listdir(tmp_path) == ["net.json"]


@pytest.mark.parametrize("name", ["net.xlsx", "net", "net.graphml.gz"])
def test_unknown_endings(name, tmp_path):
    with pytest.raises(
        UsageError, match=r"end the name in .graphml, .gexf, .csv, .json"
    ):
        TRIANGLES.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_endings_in_capitals(tmp_path):
    TRIANGLES.write(tmp_path / "NET.GEXF")
    assert nx.read_gexf(tmp_path / "NET.GEXF").number_of_nodes() == 9


def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    def fail(net, file):
        file.write("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(_export.FORMATS, ".json", fail)
    with pytest.raises(DataError, match="the disk is full"):
        TRIANGLES.write(tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


def test_repeated_names(tmp_path):
    net = make(3, [(0, 1, 0.5)], names=["a", "b", "a"])
    with pytest.raises(DataError, match=r"several are called 'a'\. Rename them"):
        net.to_networkx()
    with pytest.raises(DataError, match=r"several are called 'a'\. Rename them"):
        net.write(tmp_path / "net.json")
    net.write(tmp_path / "net.graphml")
    assert nx.read_graphml(tmp_path / "net.graphml").number_of_nodes() == 3


@pytest.mark.parametrize(
    ("module", "method", "message"),
    [
        ("networkx", "to_networkx", r"pip install 'franet\[network\]'"),
        ("pandas", "to_pandas_edges", r"pip install 'franet\[pandas\]'"),
        ("igraph", "to_igraph", r"to_igraph needs igraph: pip install igraph"),
    ],
)
def test_missing_libraries(module, method, message, monkeypatch):
    hide(module, monkeypatch)
    with pytest.raises(ImportError, match=message) as caught:
        getattr(TRIANGLES, method)()
    assert module == "igraph" or isinstance(caught.value, MissingExtraError)


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_files_that_need_networkx(ending, tmp_path, monkeypatch):
    hide("networkx", monkeypatch)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[network\]'"):
        TRIANGLES.write(tmp_path / f"net.{ending}")
    assert not list(tmp_path.iterdir())
    TRIANGLES.write(tmp_path / "net.json")
    TRIANGLES.write(tmp_path / "net.csv")


def hide(module, monkeypatch):
    """Have imports of a module fail."""
    true_import = builtins.__import__

    def no_import(name, *args, **kwargs):
        if name.split(".")[0] == module:
            raise ImportError(name)
        return true_import(name, *args, **kwargs)

    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr(builtins, "__import__", no_import)
    monkeypatch.setattr("franet._common.optional.import_module", no_module)
