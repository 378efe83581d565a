"""Finding features, their neighbours, and what the network says of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from franet import DataError
from franet.exceptions import UsageError
from network.nets import HOSTILE, SMALL, TRIANGLES, fit, make
from tables import TABLES


def test_by_name_and_by_position():
    by_name, by_position = TRIANGLES.neighbors("f3"), TRIANGLES.neighbors(3)
    assert by_name == by_position == TRIANGLES.neighbors(np.int32(3))
    assert TRIANGLES.explain("f3").index == TRIANGLES.explain(np.int64(3)).index == 3


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("f33", "There is no feature 'f33'. Did you mean 'f3'"),
        ("F3", "There is no feature 'F3'. Did you mean"),
        ("gene", "There is no feature 'gene'. The 9 features are 'f0', 'f1', 'f2' …"),
        (9, "There is no feature 9: positions go from 0 to 8."),
        (-1, "There is no feature -1: positions go from 0 to 8."),
        (True, "There is no feature 'True'"),
    ],
)
def test_unknown_feature(feature, message):
    for ask in (
        TRIANGLES.neighbors,
        TRIANGLES.explain,
        lambda f: TRIANGLES.subgraph([f]),
    ):
        with pytest.raises(DataError) as caught:
            ask(feature)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_close_names_in_another_case():
    net = make(2, [], names=["TP53", "BRCA1"])
    with pytest.raises(DataError, match="Did you mean 'TP53'"):
        net.explain("tp53")


def test_repeated_names_need_a_position():
    net = make(3, [(0, 1, 0.5)], names=["a", "b", "a"])
    with pytest.raises(
        DataError, match=r"Several features are called 'a'\. Give a pos"
    ):
        net.neighbors("a")
    assert net.neighbors(0).names == ["b"]
    assert net.neighbors("b").names == ["a"]


def test_neighbors():
    found = TRIANGLES.neighbors("f2")
    assert found.names == ["f1", "f0", "f3"]
    np.testing.assert_array_equal(found.similarity, [0.8, 0.7, 0.1])
    np.testing.assert_array_equal(found.scores, [0.9, 0.2, 0.8])
    np.testing.assert_array_equal(found.ranks, TRIANGLES.ranking[[1, 0, 3]])
    np.testing.assert_array_equal(found.indices, [1, 0, 3])
    assert found[0].name == "f1"
    assert found[0].similarity == 0.8
    assert len(TRIANGLES.neighbors("f2", top=2)) == 2
    assert len(TRIANGLES.neighbors("f2", top=None)) == 3
    assert TRIANGLES.neighbors("f2", top=0) == ()
    with pytest.raises(UsageError, match="top=-1"):
        TRIANGLES.neighbors("f2", top=-1)
    assert str(found).splitlines()[1].split() == ["f1", "0.8", "0.9", "1"]


def test_neighbors_of_equal_similarity_come_by_rank():
    assert TRIANGLES.neighbors("f4").names == ["f3", "f5"]
    net = make(4, [(0, j, 0.5) for j in (1, 2, 3)], scores=[0.9, 0.1, 0.3, 0.2])
    assert net.neighbors(0).names == ["f2", "f3", "f1"]


def test_nobody_near():
    found = TRIANGLES.neighbors("f8")
    assert found == ()
    assert found.names == []
    assert found.similarity.shape == found.indices.shape == (0,)
    assert str(found) == "no neighbours"


@pytest.mark.parametrize("table", ["random", "tied", "duplicated", "constant"])
def test_explanations(table):
    net = fit(TABLES[table], min_mean_degree=3).network_
    W = net.adjacency.toarray()
    feature, weight = net.redundant_with()
    labels = net.communities().labels
    for j in range(len(net)):
        found = net.explain(j)
        assert (found.rank, found.score) == (net.ranking[j], net.scores[j])
        near = np.flatnonzero(W[j])
        assert found.n_neighbors == len(near)
        assert found.isolated == (len(near) == 0)
        assert found.community == labels[j]
        better = {int(k) for k in near if net.ranking[k] < net.ranking[j]}
        assert set(found.redundant_with.indices.tolist()) == better
        below = set(np.flatnonzero(feature == j).tolist())
        assert set(found.members.indices.tolist()) == below
        for table_ in (found.members, found.redundant_with):
            assert (np.diff(table_.similarity) <= 0).all()
            np.testing.assert_array_equal(table_.similarity, W[j, table_.indices])
        if better:
            assert found.redundant_with[0].index == feature[j]
            assert found.redundant_with[0].similarity == weight[j]
        if labels[j] >= 0:
            same = np.flatnonzero(labels == labels[j])
            hub = same[np.argmin(net.ranking[same])]
            assert found.community_hub == net.names[hub]
            assert found.community_size == len(same)


def test_explanation_as_text():
    hub = str(TRIANGLES.explain("f1"))
    assert hub.startswith(
        "f1 ranks 1 (score 0.9). It is connected with 2 features and "
    )
    assert "It stands for 2 lower-ranked features: f0 (0.9), f2 (0.8)." in hub
    assert hub.endswith("No higher-ranked feature is redundant with it.")
    alone = str(TRIANGLES.explain("f8"))
    assert "No other feature is similar enough" in alone
    pair = str(TRIANGLES.explain("f6"))
    assert "It is connected with 1 feature and belongs to a community of 2" in pair
    assert "It stands for no lower-ranked feature." in pair
    assert "It is redundant with 1 higher-ranked feature: f7 (0.5)." in pair
    cut = str(SMALL["truncated"].explain(0))
    assert "connected with at least 1 feature" in cut
    star = make(9, [(0, j, 1.0 / j) for j in range(1, 9)])
    assert "8 lower-ranked features, most of all f1 (1), f2 (0.5), f3" in str(
        star.explain(0)
    )


def test_redundant_with_gives_copies():
    feature, _ = TRIANGLES.redundant_with()
    feature[:] = 99
    assert (TRIANGLES.redundant_with()[0] != 99).all()


@pytest.mark.parametrize("name", SMALL)
def test_every_small_network_answers(name):
    net = SMALL[name]
    for j in range(len(net)):
        assert len(net.neighbors(j, top=None)) == np.diff(net.adjacency.indptr)[j]
        assert str(net.explain(j)).startswith(f"{net.names[j]} ranks ")
        if list(net.names).count(net.names[j]) == 1:
            assert net.explain(str(net.names[j])).index == j


def test_hostile_names_are_found():
    for j, name in enumerate(HOSTILE):
        assert SMALL["hostile"].explain(name).index == j


def test_pickle():
    net = fit(TABLES["random"]).network_
    net.communities()
    back = pickle.loads(pickle.dumps(net))
    assert str(back.explain(3)) == str(net.explain(3))
    assert abs(back.adjacency - net.adjacency).max() == 0
    assert back.at(net.threshold * 0.9, X=TABLES["random"]).n_edges >= net.n_edges
