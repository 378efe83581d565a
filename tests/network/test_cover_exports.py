"""Networks of `Cover` for other tools and notebooks: signs are there."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from network.covers import NAMES, X, correlations, cover
from network.nets import HOSTILE, SMALL
from network.test_html import ALLOWED, Reader, ranking_of

RANKER = cover()
NET = RANKER.network_
R = correlations()


def expected():
    """Return weight and correlation of each edge by the positions of its ends."""
    pairs = {}
    for j, k in enumerate(RANKER.representative_.tolist()):
        if k not in (j, -1):
            pairs[min(j, k), max(j, k)] = R[j, k]
    assert any(r < 0 for r in pairs.values())
    return pairs


def check(found):
    """Assert that edges ``(j, k, weight, correlation)`` are those of the network."""
    pairs = {(min(j, k), max(j, k)): (w, r) for j, k, w, r in found}
    assert pairs.keys() == expected().keys()
    for pair, r in expected().items():
        assert pairs[pair][1] == pytest.approx(r, abs=1e-12)
        assert pairs[pair][0] == abs(pairs[pair][1])


def place(name):
    return NAMES.index(name)


def from_networkx(graph, place):
    return [
        (place(a), place(b), e["weight"], e["correlation"])
        for a, b, e in graph.edges(data=True)
    ]


def test_other_libraries():
    edges = NET.to_pandas_edges()
    assert list(edges) == ["source", "target", "weight", "correlation"]
    check([(place(a), place(b), w, r) for a, b, w, r in edges.itertuples(index=False)])
    check(from_networkx(NET.to_networkx(), place))
    graph = NET.to_igraph()
    check([(*e.tuple, e["weight"], e["correlation"]) for e in graph.es])


def test_csv(tmp_path):
    NET.write(tmp_path / "net.csv")
    with (tmp_path / "net.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["source", "target", "weight", "correlation"]
    check([(place(a), place(b), float(w), float(r)) for a, b, w, r in rows])


def test_json(tmp_path):
    NET.write(tmp_path / "net.json")
    data = json.loads((tmp_path / "net.json").read_text())
    assert "threshold" not in data["graph"]
    check(from_networkx(nx.node_link_graph(data, edges="edges"), place))


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_xml(ending, tmp_path):
    NET.write(tmp_path / f"net.{ending}")
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[ending]
    graph = read(tmp_path / f"net.{ending}")
    assert len(graph) == 21
    check(from_networkx(graph, lambda node: int(node[1:])))


@pytest.mark.parametrize("ending", ["graphml", "gexf", "csv", "json"])
def test_other_networks_have_no_signs(ending, tmp_path):
    SMALL["triangles"].write(tmp_path / f"net.{ending}")
    assert "correlation" not in (tmp_path / f"net.{ending}").read_text()


def hostile():
    # From pandas 3 on an index of text takes no lone surrogates.
    names = pd.Index(HOSTILE, dtype=object)
    frame = pd.DataFrame(X[:, : len(HOSTILE)], columns=names).drop(columns="")
    frame["constant"] = 1.0
    return cover(frame, 3)


@pytest.mark.parametrize("ranker", [RANKER, cover(X), hostile()], ids=str)
def test_network_in_a_notebook(ranker):
    net = ranker.network_
    reader = Reader(net._repr_html_())
    assert set(reader.tags) <= ALLOWED
    text = "".join(reader.text)
    n = len(ranker.members_)
    assert f"{len(net)} features · {n} representatives · {net.n_edges} edges" in text
    assert "1 without a representative" in text
    assert "threshold" not in text
    cells = reader.text[-4 * n :]
    for at, (j, below) in enumerate(ranker.members_.items()):
        name, rank, count, mean = cells[4 * at : 4 * at + 4]
        assert rank == str(at + 1)
        assert count == str(len(below))
        wanted = str(net.names[j])
        assert name[:40] == wanted[:40] or not wanted.isprintable()
        if len(below):
            wanted = np.abs(ranker.representative_corr_[below]).mean()
            assert float(mean) == pytest.approx(wanted, abs=0.0051)
        else:
            assert mean == "–"


def test_part_of_a_network_in_a_notebook():
    leaf = int(RANKER.members_[int(RANKER.order_[0])][0])
    text = "".join(Reader(NET.subgraph([leaf])._repr_html_()).text)
    assert "0 representatives" in text


def test_estimator_in_a_notebook():
    html = ranking_of(RANKER._repr_html_())
    text = Reader(html).text
    assert RANKER.summary() in text
    by, r = RANKER.representative_, RANKER.representative_corr_
    for j in np.argsort(RANKER.ranking_)[:10]:
        at = text.index(NAMES[j])
        if by[j] == j:
            n = len(RANKER.members_[int(j)])
            assert text[at + 3] == (f"represents {n}" if n else "represents itself")
        elif by[j] < 0:
            assert text[at + 3] == "not represented"
        else:
            sign = "−" if r[j] < 0 else ""
            assert text[at + 3] == f"by {NAMES[by[j]]} ({sign}{abs(r[j]):.2f})"
    assert "by" not in ranking_of(SMALL_TABLE._repr_html_()).split("<table")[0]


# So few features that the constant one is among the best ten.
SMALL_TABLE = cover(X[:, [16, 17, 18, 0, 20]], 2)


def test_estimator_without_names_and_with_odd_ones():
    text = Reader(ranking_of(SMALL_TABLE._repr_html_())).text
    at = text.index("x4")
    assert text[at : at + 4] == ["x4", "5", "–", "–"]
    html = ranking_of(hostile()._repr_html_())
    assert "<img" not in html
    assert set(Reader(html).tags) <= ALLOWED
