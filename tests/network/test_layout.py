"""Where features are drawn: apart, inside the circle, the same in every run."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from franet.exceptions import UsageError
from franet.network import layout
from franet.network._layout import backbone, pack_discs
from network.nets import SMALL, TRIANGLES, make
from network.test_communities import cliques


@pytest.mark.parametrize("name", SMALL)
def test_small_networks(name):
    net = SMALL[name]
    places = layout(net)
    assert places.shape == (len(net), 2)
    assert np.isfinite(places).all()
    assert np.hypot(*places.T).max(initial=0.0) <= 1.0 + 1e-12
    if len(net) > 1:
        assert cKDTree(places).query(places, 2)[0][:, 1].min() > 0.01


def test_the_same_in_every_run():
    first = layout(cliques([20, 10, 5])[0], seed=3)
    np.testing.assert_array_equal(first, layout(cliques([20, 10, 5])[0], seed=3))
    assert (first != layout(cliques([20, 10, 5])[0], seed=4)).any()


@pytest.mark.parametrize("sizes", [[40, 30, 20, 12], [100, 3, 3, 3, 2, 2], [2] * 40])
def test_communities_are_apart(sizes):
    net, group = cliques(sizes, noise=0.01)
    places = layout(net, group)
    discs = []
    for c in range(len(sizes)):
        mine = places[group == c]
        middle = (mine.min(axis=0) + mine.max(axis=0)) / 2
        discs.append((middle, np.hypot(*(mine - middle).T).max()))
    for a in range(len(discs)):
        for b in range(a):
            apart = np.hypot(*(discs[a][0] - discs[b][0]))
            assert apart > 0.9 * (discs[a][1] + discs[b][1])
    # The next feature is of the same community.
    near = cKDTree(places).query(places, 2)[1][:, 1]
    assert (group[near] == group).mean() > 0.95


def test_room_between_features():
    net, group = cliques([150, 60])
    near = np.sort(cKDTree(p := layout(net, group)).query(p, 2)[0][:, 1])
    assert near[10] > 0.5 * np.median(near)


def test_features_alone_stand_below():
    net = make(30, [(j, k, 0.9) for j in range(8) for k in range(j)])
    places = layout(net)
    assert places[8:, 1].max() < places[:8, 1].min()


def test_what_is_connected_is_near():
    # Three groups in a chain of strong ties, and a fourth that has none.
    net, group = cliques([20, 20, 20, 20], noise=0.0)
    W = net.adjacency.toarray()
    first = [np.flatnonzero(group == c) for c in range(4)]
    for a, b in ((0, 3), (3, 1)):
        for j, k in zip(first[a][:9], first[b][:9], strict=True):
            W[j, k] = W[k, j] = 1.0
    object.__setattr__(net, "adjacency", type(net.adjacency)(W))
    places = layout(net, group)
    middle = np.array([places[g].mean(axis=0) for g in first])
    near = np.hypot(*(middle[0] - middle[3])), np.hypot(*(middle[3] - middle[1]))
    assert max(near) < 1.3 * min(near)
    # Those with a tie look towards it.
    towards = (middle[3] - middle[0]) / np.hypot(*(middle[3] - middle[0]))
    tied = (places[first[0][:9]] - middle[0]) @ towards
    assert tied.mean() > 0


def test_arguments():
    W, labels = TRIANGLES.adjacency, TRIANGLES.communities().labels
    assert layout(W).shape == layout(W, labels).shape == (9, 2)
    np.testing.assert_array_equal(
        layout(TRIANGLES), layout(TRIANGLES, TRIANGLES.communities())
    )
    with pytest.raises(UsageError, match=r"communities has shape \(3,\), not \(9,\)"):
        layout(W, np.zeros(3, int))
    gaps = np.array([0, 0, 0, 5, 5, 5, 9, 9, -1])
    assert np.isfinite(layout(W, gaps)).all()


def test_very_large_communities():
    labels = np.repeat([0, 1], [3000, 10])
    W = make(3010, [(0, 1, 0.5)]).adjacency
    places = layout(W, labels)
    assert cKDTree(places).query(places, 2)[0][:, 1].min() > 1e-3


def test_discs_do_not_overlap():
    rng = np.random.default_rng(0)
    none = np.empty(0, int)
    for n in (0, 1, 2, 3, 50, 450):
        radius = np.sort(rng.gamma(1.0, 1.0, n))[::-1] + 0.1
        centre = pack_discs(radius, (none, none, np.empty(0)))
        assert centre.shape == (n, 2)
        gap = np.hypot(*(centre[:, None] - centre).transpose(2, 0, 1))
        gap -= radius[:, None] + radius
        np.fill_diagonal(gap, 0.0)
        assert gap.min(initial=0.0) > -1e-6


def test_backbone():
    net, _ = cliques([30, 30], noise=0.1)
    W = net.adjacency
    from scipy.sparse.csgraph import connected_components

    for most in (0, 59, 100, 10**6):
        chosen = backbone(W, most)
        assert abs(chosen - chosen.T).nnz == 0
        kept = chosen.toarray() > 0
        np.testing.assert_array_equal(chosen.toarray()[kept], W.toarray()[kept])
        assert chosen.nnz // 2 == min(max(most, 59), W.nnz // 2)
        assert connected_components(chosen)[0] == connected_components(W)[0] == 1
    # The strongest edge of each feature is in every spanning tree of strong edges.
    tree = backbone(W, 0).toarray()
    np.testing.assert_array_equal(tree.max(axis=1), W.toarray().max(axis=1))
    assert backbone(make(3, []).adjacency, 5).nnz == 0
