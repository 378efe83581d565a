"""Which columns are kept: the guarantees, by stored links and by sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from franet.pairs.similarity import open_source
from franet.pruning import _select
from franet.pruning._graph import Graph, solve
from franet.pruning._links import Links, survey
from naive_prune import fewest


def columns(n, m=60, k=6, noise=0.4, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((m, k))[:, draw.integers(0, k, n)]
    return X + noise * draw.standard_normal((m, n))


def opener(X, opened=None, **options):
    def open_(chosen):
        if opened is not None:
            opened.append(len(chosen))
        return open_source(X[:, chosen], "correlation", n_thresholds=1, **options)[0]

    return open_


def chosen(X, cutoff, *, fixed=(), cost=None, opened=None, rough=False, **more):
    n = X.shape[1]
    return _select.select(
        opener(X, opened, rough=rough),
        n,
        cutoff,
        keys=np.zeros(n),
        cost=np.ones(n) if cost is None else np.asarray(cost, float),
        fixed=np.isin(np.arange(n), fixed),
        **more,
    )


def check(X, found, cutoff):
    R = np.corrcoef(X.T)
    S = np.abs(R)
    np.fill_diagonal(S, 0.0)
    kept = np.flatnonzero(found.kept)
    assert (S[np.ix_(kept, kept)] < cutoff).all()
    others = np.flatnonzero(~found.kept)
    by = found.representative
    assert found.kept[by].all()
    assert (S[others, by[others]] >= cutoff - 1e-9).all()
    np.testing.assert_allclose(S[others, by[others]], S[others][:, kept].max(axis=1))
    np.testing.assert_allclose(found.r[others], R[others, by[others]], atol=1e-9)


@pytest.mark.parametrize("most_links", [10_000_000, 20_000, 300, 0])
@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(("n", "noise"), [(40, 0.4), (700, 0.3), (1300, 0.7)])
def test_guarantees_by_stored_links_and_by_sweeps(n, noise, rough, most_links):
    X = columns(n, noise=noise)
    for cutoff in (0.5, 0.8, 0.9):
        check(X, chosen(X, cutoff, rough=rough, most_links=most_links), cutoff)


def test_sweeps_open_half_as_many_columns_each_time():
    opened = []
    X = columns(1300, k=200, noise=0.3)
    found = chosen(X, 0.8, most_links=0, opened=opened)
    check(X, found, 0.8)
    rounds = opened[:-1]  # the last one finds representatives
    assert rounds[0] == rounds[1] == 1300
    for now, after in zip(rounds[::2], rounds[2::2], strict=False):
        assert after <= now / 2 + 1


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("most_links", [10_000_000, 0])
def test_threads_change_nothing(most_links, rough):
    X = columns(1500, noise=0.6)
    first = chosen(X, 0.7, most_links=most_links, rough=rough)
    again = chosen(X, 0.7, most_links=most_links, rough=rough, n_threads=3)
    np.testing.assert_array_equal(again.representative, first.representative)
    np.testing.assert_array_equal(again.r, first.r)


@pytest.mark.parametrize("most_links", [10_000_000, 0])
def test_fixed_columns_are_kept(most_links):
    X = columns(600, noise=0.5)
    S = np.abs(np.corrcoef(X.T))
    fixed = [5]
    for j in range(600):
        if len(fixed) < 4 and (S[j, fixed] < 0.7).all():
            fixed.append(j)
    found = chosen(X, 0.7, fixed=fixed, most_links=most_links)
    assert found.kept[fixed].all()
    check(X, found, 0.7)


@pytest.mark.parametrize("most_links", [10_000_000, 0])
def test_cheap_columns_are_kept(most_links):
    draw = np.random.default_rng(0)
    X = draw.standard_normal((60, 4))[:, np.arange(80) % 4]
    X = X + 0.2 * draw.standard_normal(X.shape)
    # One or two of each group.
    cost = np.where(np.arange(80) // 4 % 11 == 3, 0.5, 7.0)
    cheap = chosen(X, 0.7, cost=cost, most_links=most_links)
    check(X, cheap, 0.7)
    assert (cost[cheap.kept] == 0.5).all()
    plain = chosen(X, 0.7, most_links=most_links)
    assert (cost[plain.kept] == 7.0).any()


def graph_of(A):
    j, k = np.nonzero(np.triu(A, 1))
    pairs = Links(j.astype(np.int32), k.astype(np.int32), np.ones(len(j)))
    return pairs.graph(np.arange(len(A)))


@pytest.mark.parametrize("seed", range(30))
def test_exact_is_the_fewest(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 13))
    S = draw.random((n, n))
    S = np.maximum(S, S.T) * (1 - np.eye(n))
    cutoff = draw.choice([0.6, 0.8, 0.9])
    least = fewest(S, cutoff)
    graph, none = graph_of(S >= cutoff), np.zeros(n, bool)
    exact = solve(graph, np.ones(n), none, exact=True)
    assert exact.kept.sum() == exact.least == least
    found = solve(graph, np.ones(n), none)
    assert found.least is None
    assert least <= found.kept.sum() <= least + 1


def test_exchanges_save_what_greed_wastes():
    # Greed keeps the node in the middle first, and then needs all the leaves.
    n_arms = 4
    n = 1 + n_arms + n_arms * 4
    A = np.zeros((n, n), bool)
    for arm in range(n_arms):
        A[0, 1 + arm] = True
        leaves = 1 + n_arms + 4 * arm + np.arange(4)
        A[1 + arm, leaves] = True
    A |= A.T
    cost = np.ones(n)
    cost[0] = 0.5
    found = solve(graph_of(A), cost, np.zeros(n, bool))
    assert found.kept.sum() == n_arms
    assert not found.kept[0]


def test_bounds_where_the_program_is_too_large(monkeypatch):
    from franet.pruning import _exact

    draw = np.random.default_rng(0)
    A = np.triu(draw.random((60, 60)) < 0.1, 1)
    A |= A.T
    graph, cost, none = graph_of(A), np.ones(60), np.zeros(60, bool)
    exact = solve(graph, cost, none, exact=True)
    assert exact.least == exact.kept.sum()
    bounds = []
    for name in ("_MOST_LINKS", "_MOST_LINKS_IN_FRACTIONS"):
        monkeypatch.setattr(_exact, name, 1)
        found = solve(graph, cost, none, exact=True)
        assert found.kept.sum() >= exact.least
        bounds.append(found.least)
    assert exact.least >= bounds[0] >= bounds[1] >= 1
    assert bounds[0] == round(bounds[0])


def test_parts_and_neighbors():
    A = np.zeros((6, 6), bool)
    for j, k in ((0, 3), (3, 5), (1, 4)):
        A[j, k] = A[k, j] = True
    graph = graph_of(A)
    assert isinstance(graph, Graph)
    np.testing.assert_array_equal(graph.matrix().toarray(), A)
    block = solve(graph, np.ones(6), np.zeros(6, bool)).block
    assert block[0] == block[3] == block[5] != block[1] == block[4] != block[2]


def test_survey_counts_what_it_does_not_store():
    X = columns(900)
    S = np.abs(np.corrcoef(X.T))
    linked = (S >= 0.8) & ~np.eye(900, dtype=bool)
    for rough in (False, True):
        source = opener(X, rough=rough)(np.arange(900))
        for most in (10**6, 10):
            found = survey(source, 0.8, 2, most)
            np.testing.assert_array_equal(found.degree, linked.sum(axis=0))
            assert (found.links is None) == (most == 10)


def test_a_pair_at_the_cutoff_is_linked():
    # r is 1/3 in exact numbers, and one of its neighbors in floating point.
    X = np.array([[1.0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(
        np.corrcoef(X.T)[np.triu_indices(3, 1)], [1 / 3, 1 / 3, -1 / 3]
    )
    for cutoff, kept in ((1 / 3, 1), (1 / 3 + 1e-9, 3)):
        assert chosen(X, cutoff).kept.sum() == kept
        assert chosen(X, cutoff, most_links=0).kept.sum() == kept
