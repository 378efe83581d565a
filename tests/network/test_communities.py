"""Communities: what they are, that they repeat, and without the extra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from franet import network
from franet.exceptions import MissingExtraError, UsageError
from franet.network import _communities
from network.nets import SMALL, TRIANGLES, fit, make
from tables import TABLES, blocks

METHODS = ["leiden", "louvain", "components"]


def cliques(sizes, seed=0, within=0.8, noise=0.02):
    """Return a network of noisy groups and the group of each feature."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    same = group[:, None] == group
    there = rng.random(same.shape) < np.where(same, within, noise)
    j, k = np.nonzero(np.triu(there, 1))
    weights = rng.uniform(0.5, 1.0, len(j))
    edges = list(zip(j.tolist(), k.tolist(), weights.tolist(), strict=True))
    return make(len(group), edges, scores=rng.random(len(group))), group


@pytest.mark.parametrize("method", ["leiden", "louvain", "auto"])
def test_groups_are_found(method):
    net, group = cliques([40, 30, 20, 12])
    found = net.communities(method=method)
    assert found.method == ("leiden" if method == "auto" else method)
    np.testing.assert_array_equal(found.size, [40, 30, 20, 12])
    # Groups were made in the order of their sizes.
    np.testing.assert_array_equal(found.labels, group)


def check(net, found):
    """Assert what holds for every partition."""
    n, labels = len(net), found.labels
    coo = net.adjacency.tocoo()
    positive = coo.data > 0
    (j, k), w = (c[positive] for c in coo.coords), coo.data[positive]
    lonely = np.bincount(j, minlength=n) == 0
    np.testing.assert_array_equal(labels < 0, lonely)
    assert set(labels[~lonely].tolist()) == set(range(len(found)))
    assert (np.diff(found.size) <= 0).all()
    assert found.size.sum() == (~lonely).sum()
    for c in range(len(found)):
        members = found.members(c)
        assert len(members) == found.size[c]
        assert found.hub[c] == members[np.argmin(net.ranking[members])]
        inside = (labels[j] == c) & (labels[k] == c)
        if inside.any():
            assert found.mean_similarity[c] == pytest.approx(w[inside].mean())
        else:
            assert np.isnan(found.mean_similarity[c])
        part = sparse.csr_array((w[inside], (j[inside], k[inside])), (n, n))
        assert connected_components(part[members][:, members])[0] == 1
    same = np.flatnonzero(np.diff(found.size) == 0)
    assert (net.ranking[found.hub[same]] < net.ranking[found.hub[same + 1]]).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SMALL)
def test_small_networks(name, method):
    found = SMALL[name].communities(method=method)
    assert found.method == method
    check(SMALL[name], found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("resolution", [0.01, 1.0, 30.0])
def test_any_network(method, resolution):
    for net in (cliques([9, 9, 5, 3, 2])[0], fit(blocks(), min_mean_degree=4).network_):
        if method == "components" and resolution != 1.0:
            with pytest.raises(UsageError, match=r"resolution=.*method='components'"):
                net.communities(method=method, resolution=resolution)
        else:
            check(net, net.communities(method=method, resolution=resolution))


def test_components():
    found = TRIANGLES.communities(method="components")
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 0, 0, 0, 1, 1, -1])
    np.testing.assert_array_equal(found.hub, [1, 7])
    assert found.mean_similarity[1] == 0.5
    assert len(found) == 2


def test_modularity_separates_what_a_weak_edge_joins():
    for method in ("leiden", "louvain"):
        labels = TRIANGLES.communities(method=method).labels
        np.testing.assert_array_equal(labels, [0, 0, 0, 1, 1, 1, 2, 2, -1])


def test_edges_without_weight_join_nothing():
    W = sparse.csr_array(
        (np.array([0.0, 0.0, 0.5, 0.5]), ([0, 1, 1, 2], [1, 0, 2, 1])), (3, 3)
    )
    net = make(3, [(1, 2, 0.5)])
    object.__setattr__(net, "adjacency", W)
    for method in METHODS:
        np.testing.assert_array_equal(net.communities(method).labels, [-1, 0, 0])


def test_resolution():
    net, _ = cliques([30, 30, 30], noise=0.2)
    few, many = (len(net.communities(resolution=r)) for r in (0.2, 8.0))
    assert few < 3 < many
    with pytest.raises(UsageError, match=r"resolution=0\.0: give a number above 0"):
        net.communities(resolution=0.0)
    with pytest.raises(UsageError, match="resolution=nan"):
        net.communities(resolution=np.nan)
    with pytest.raises(UsageError, match="method='kmeans': choose from auto, leiden"):
        net.communities(method="kmeans")


@pytest.mark.parametrize("method", ["leiden", "louvain"])
def test_the_same_on_any_number_of_threads(method):
    import networkit

    def ask(seed):
        net, _ = cliques([60] * 8, within=0.3, noise=0.1)
        return net.communities(method=method, random_state=seed)

    before = networkit.getMaxNumberOfThreads()
    first = ask(0)
    try:
        for threads in (1, 2, 4):
            networkit.setNumberOfThreads(threads)
            np.testing.assert_array_equal(ask(0).labels, first.labels)
            assert networkit.getMaxNumberOfThreads() == threads
    finally:
        networkit.setNumberOfThreads(before)
    assert any((ask(seed).labels != first.labels).any() for seed in range(1, 8))


def test_computed_once():
    net = fit(TABLES["random"], min_mean_degree=3).network_
    first = net.communities()
    assert net.communities(method="leiden") is first
    assert net.communities(random_state=1) is not first
    assert net.communities(resolution=2.0) is not first
    parts = net.communities("components")
    assert net.communities("components", random_state=5) is parts
    with pytest.raises(ValueError, match="read-only"):
        first.labels[0] = 7
    for values in (first.size, first.hub, first.mean_similarity):
        assert not values.flags.writeable


def test_chance_of_the_library_is_left_alone():
    import networkit

    def draw():
        return networkit.graphtools.randomNode(networkit.Graph(10**6))

    networkit.setSeed(7, False)
    expected = [draw(), draw()]
    networkit.setSeed(7, False)
    got = [draw()]
    cliques([9, 9])[0].communities()
    assert [*got, draw()] == expected


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(_communities, "find_spec", lambda name: None)
    net, _ = cliques([9, 9], noise=0.05)
    found = net.communities()
    assert found.method == "components"
    np.testing.assert_array_equal(found.labels, net.communities("components").labels)
    for method, word in (("leiden", "Leiden"), ("louvain", "Louvain")):
        with pytest.raises(MissingExtraError) as caught:
            net.communities(method=method)
        assert str(caught.value) == (
            f"Communities by {word} needs an extra: pip install 'franet[network]'"
        )
    assert net.explain(0).community == 0
    assert network.layout(net).shape == (18, 2)
