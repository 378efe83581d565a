"""Networks of `Cover`: what represents what, with signs."""

from __future__ import annotations

import functools
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from franet import DataError
from franet.network import CoverExplanation, layout
from franet.network._explain import Representation
from network.covers import (
    CONSTANT,
    COPY,
    NAMES,
    TABLE,
    X,
    correlations,
    cover,
    represented,
)
from network.nets import TRIANGLES, fit, make

RANKER = cover()
NET = RANKER.network_
R = correlations()
CHOICES = [
    {},
    {"n_features_to_select": "auto"},
    {"n_features_to_select": None},
    {"include": ["gene 9"], "exclude": ["gene 0", 1]},
    {"n_features_to_select": 1},
    {"n_features_to_select": 20},
    {"cost": {"gene 3": 0.2}, "groups": {"gene 3": "a", "gene 4": "a"}},
]


NAMED = {str(choice): choice for choice in CHOICES}


@functools.cache
def ranker_of(choice):
    return cover(**NAMED[choice])


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("choice", NAMED)
def test_explanations(choice):
    ranker = ranker_of(choice)
    net, by = ranker.network_, represented(ranker, R)
    assert set(np.unique(by)) <= {-1, *ranker.members_}
    for j, name in enumerate(NAMES):
        why = net.explain(name)
        assert isinstance(why, CoverExplanation)
        start = f"{name} ranks {ranker.ranking_[j]}. "
        text = str(why)
        assert text.startswith(start)
        text = text.removeprefix(start)
        below = np.flatnonzero((by == j) & (np.arange(21) != j))
        assert set(why.members.indices.tolist()) == set(below.tolist())
        if by[j] == -1:
            assert text == (
                "No representative resembles it more than chance would let it."
            )
            assert why.representative is why.correlation is None
        elif by[j] != j:
            found = re.fullmatch(
                r"It is represented by (gene \d+) \(r = (.+)\)\.", text
            )
            assert found[1] == why.representative == NAMES[by[j]]
            assert number(found[2]) == pytest.approx(R[j, by[j]], abs=0.0051)
            assert why.correlation == pytest.approx(R[j, by[j]], abs=1e-12)
        else:
            assert why.is_representative
            check_pick(text, why, j, below)


def check_pick(text, why, j, below):
    if not len(below):
        assert text == "It represents itself alone."
        assert why.mean_correlation is None
        return
    mean = np.abs(R[j, below]).mean()
    assert why.mean_correlation == pytest.approx(mean, abs=1e-12)
    some = "feature" if len(below) == 1 else "features"
    most = ", most of all" if len(below) > 5 else ""
    assert text.startswith(
        f"It represents {len(below)} {some}, mean |r| {mean:.2f}{most}: gene "
    )
    shown = re.findall(r"(gene \d+) \(r = ([−.\d]+)\)", text)
    best = below[np.argsort(-np.abs(R[j, below]).round(12), kind="stable")][:5]
    assert [name for name, _ in shown] == [NAMES[k] for k in best]
    for k, (_, r) in zip(best, shown, strict=True):
        assert number(r) == pytest.approx(R[j, k], abs=0.0051)
    assert (why.members.correlation < 0).tolist() == (
        R[j, why.members.indices] < 0
    ).tolist()


def test_there_are_signs_of_both_kinds():
    """Or the tests of signs would say nothing."""
    r = RANKER.representative_corr_
    assert (r < 0).sum() >= 3
    assert ((r > 0) & (r < 1)).sum() >= 3
    assert (NET.adjacency.data > 0).all()
    np.testing.assert_array_equal(NET.representation.r, r)
    np.testing.assert_array_equal(NET.representation.by, RANKER.representative_)


def test_other_networks_have_none():
    net = fit(X).network_
    assert net.representation is None
    assert not isinstance(net.explain(0), CoverExplanation)
    assert np.isnan(net.neighbors(0).correlation).all()
    assert list(net.to_pandas_edges()) == ["source", "target", "weight"]


def test_neighbors_have_signs():
    hub = int(RANKER.order_[0])
    found = NET.neighbors(hub, top=None)
    np.testing.assert_allclose(found.correlation, R[hub, found.indices], atol=1e-12)
    np.testing.assert_array_equal(found.similarity, np.abs(found.correlation))
    assert (found.correlation < 0).any()
    head, *lines = str(found).splitlines()
    assert head.split() == ["name", "r", "score", "rank"]
    assert float(lines[0].split()[2]) == pytest.approx(found.correlation[0], abs=1e-4)
    leaf = int(found.indices[np.argmin(found.correlation)])
    (back,) = NET.neighbors(leaf)
    assert (back.index, back.correlation) == (hub, found.correlation.min())
    assert "<th" in found._repr_html_()
    assert "similarity" not in found._repr_html_()


def test_no_correlation_is_no_edge():
    """A feature may be represented by one that it has nothing to do with."""
    names = np.array(["a", "b", "c"])
    by, r = np.array([0, 0, 0]), np.array([1.0, 0.0, -0.5])
    who = Representation(by, r, names[by])
    net = make(3, [(0, 2, 0.5)], names=names, representation=who, threshold=np.nan)
    assert str(net.explain("b")) == ("b ranks 2. It is represented by a (r = 0.00).")
    assert str(net.explain("a")).endswith(
        "It represents 2 features, mean |r| 0.25: c (r = −0.50), b (r = 0.00)."
    )
    assert net.communities().labels.tolist() == [0, -1, 0]


@pytest.mark.parametrize("choice", NAMED)
@pytest.mark.parametrize("method", ["auto", "leiden", "louvain", "components"])
def test_communities_are_groups_around_representatives(choice, method):
    ranker = ranker_of(choice)
    found = ranker.network_.communities(method=method)
    groups = {j: set(k.tolist()) for j, k in ranker.members_.items() if len(k)}
    assert len(found) == len(groups)
    assert {int(j) for j in found.hub} == set(groups)
    for label, hub in enumerate(found.hub.tolist()):
        assert set(found.members(label).tolist()) == {hub, *groups[hub]}
        mean = np.abs(ranker.representative_corr_[list(groups[hub])]).mean()
        assert found.mean_similarity[label] == pytest.approx(mean)
    alone = set(np.flatnonzero(found.labels < 0).tolist())
    assert alone == {
        *np.flatnonzero(ranker.representative_ < 0).tolist(),
        *(j for j, k in ranker.members_.items() if not len(k)),
    }
    assert method != "auto" or found.method == "components"


def test_the_better_feature_is_the_representative():
    feature, weight = NET.redundant_with()
    by = RANKER.representative_
    leaves = (by >= 0) & (by != np.arange(21))
    np.testing.assert_array_equal(feature, np.where(leaves, by, -1))
    np.testing.assert_array_equal(
        weight[leaves], np.abs(RANKER.representative_corr_[leaves])
    )


def test_subgraph():
    hub, *_ = RANKER.order_
    below = RANKER.members_[int(hub)]
    part = NET.subgraph([int(below[2]), int(hub), int(below[0]), CONSTANT])
    assert part.n_edges == 2
    why = part.explain(1)
    assert why.members.indices.tolist() == [2, 0]
    np.testing.assert_array_equal(
        why.members.correlation, RANKER.representative_corr_[below[[0, 2]]]
    )
    assert part.explain(0).correlation == RANKER.representative_corr_[below[2]]
    assert "No representative resembles it" in str(part.explain(3))
    apart = part.subgraph([2, 3])
    assert apart.explain(0).is_apart
    r = f"{RANKER.representative_corr_[below[0]]:.2f}".replace("-", "−")
    assert str(apart.explain(0)).endswith(
        f"It is represented by {NAMES[hub]} (r = {r}), which is not in this part of "
        "the network."
    )
    assert apart.explain(0).redundant_with == ()
    best = NET.subgraph(top=4)
    assert best.representation.representatives.tolist() == [0, 1, 2, 3]


def test_at_needs_the_table():
    with pytest.raises(DataError) as caught:
        NET.at(0.5)
    assert str(caught.value) == (
        "Features are connected with their representatives only "
        "(Cover): other edges are not stored. Pass the table of the fit: "
        "at(0.5, X=X)."
    )


def dense(net):
    assert net.representation is None
    assert net.n_edges == net.adjacency.nnz // 2
    return net.adjacency.toarray()


@pytest.mark.parametrize("choice", NAMED)
def test_at_gives_absolute_correlations(choice):
    ranker = ranker_of(choice)
    net = ranker.network_.at(0.4, X=TABLE)
    W = np.where(np.abs(np.nan_to_num(R)) >= 0.4, np.abs(R), 0.0)
    np.fill_diagonal(W, 0.0)
    np.testing.assert_allclose(dense(net), W, atol=1e-12)
    assert net.threshold == 0.4
    assert net.scores is ranker.network_.scores
    assert net.ranking is ranker.network_.ranking
    # From here on it is a network as any other.
    np.testing.assert_allclose(dense(net.at(0.8)), np.where(W >= 0.8, W, 0), atol=1e-12)
    assert net.at(0.3, X=X).n_edges >= net.n_edges
    assert "community" in str(net.explain(0))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_at_by_ranks(form):
    table = np.where(X > 0.3, X, 0.0)
    net = cover(form(table), similarity="spearman").network_.at(0.2, X=form(table))
    rho = np.abs(np.nan_to_num(correlations(rankdata(table, axis=0))))
    np.fill_diagonal(rho, 0.0)
    np.testing.assert_allclose(dense(net), np.where(rho >= 0.2, rho, 0), atol=1e-9)


def test_at_of_a_part_and_of_single_precision():
    chosen = [3, 1, COPY, 0]
    part = NET.subgraph(chosen).at(0.3, X=X)
    np.testing.assert_array_equal(
        dense(part), dense(NET.at(0.3, X=X))[np.ix_(chosen, chosen)]
    )
    small = X.astype(np.float32)
    assert cover(small).network_.at(0.3, X=small).n_edges > 0


def test_another_table_is_refused():
    with pytest.raises(DataError, match="not the table of the fit: the similarities"):
        NET.at(0.1, X=X[::-1] * X)
    with pytest.raises(DataError, match="X has 5 features"):
        NET.at(0.1, X=X[:, :5])


def test_layout_pickle_and_length():
    places = layout(NET)
    assert places.shape == (21, 2)
    assert np.isfinite(places).all()
    back = pickle.loads(pickle.dumps(NET))
    assert str(back.explain(COPY)) == str(NET.explain(COPY))
    assert len(NET.representation) == 21
    assert TRIANGLES.representation is None
