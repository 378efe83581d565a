"""UDFS against its n × n form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.rankers import UDFS
from franet.rankers.udfs import local_scatter
from rankers.spectral import nearest, planted, standard
from tables import TABLES, random

TALL = random(40, 15, seed=3)
WIDE = random(20, 50, seed=4)


def scatter(X, k, λ):
    """Return A = Σ S H B H Sᵀ, with every matrix of the paper written out."""
    m = len(X)
    A = np.zeros((m, m))
    for i in range(m):
        group = [i, *nearest(X, i, min(k, m - 1))]
        S = np.eye(m)[:, group]
        H = np.eye(len(group)) - np.ones((len(group), len(group))) / len(group)
        local = X.T @ S @ H
        B = np.linalg.inv(local.T @ local + λ * np.eye(len(group)))
        A += S @ H @ B @ H @ S.T
    return A


def oracle(X, c, rounds, γ=0.1, λ=1.0, inside=False):
    """Return the lengths of the rows of W, from n × n matrices, and the objectives.

    With `inside`, directions that no row of the table has are made expensive.
    """
    M = X.T @ scatter(X, 5, λ) @ X
    n = len(M)
    outside = np.eye(n) - np.linalg.pinv(X) @ X if inside else np.zeros((n, n))
    projector = np.eye(n) - outside
    D = np.eye(n)
    objectives = []
    for _ in range(rounds):
        P = projector @ (M + γ * D) @ projector + 1e6 * outside
        W = np.linalg.eigh(P)[1][:, :c]
        lengths = np.array([np.sqrt(sum(w**2)) for w in W])
        D = np.diag(1 / (2 * np.maximum(lengths, 1e-8)))
        objectives.append(np.trace(W.T @ M @ W) + γ * lengths.sum())
    return lengths, np.array(objectives)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_local_scatter(k):
    near = np.array([nearest(TALL, i, min(k, 39)) for i in range(40)])
    A = local_scatter(TALL, near, 0.7).toarray()
    np.testing.assert_allclose(A, scatter(TALL, k, 0.7), atol=1e-10)
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-10)


def test_local_scatter_in_blocks(monkeypatch):
    near = np.array([nearest(TALL, i, 5) for i in range(40)])
    expected = local_scatter(TALL, near, 1.0).toarray()
    monkeypatch.setattr("franet.rankers.udfs.BLOCK", 7 * 6 * 15)
    found = local_scatter(TALL, near, 1.0).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 10])
@pytest.mark.parametrize("weight", [{}, {"γ": 3.0, "λ": 0.01}], ids=str)
def test_more_examples_than_features(rounds, weight):
    """The paper's problem, as it stands."""
    expected = oracle(standard(TALL), 3, rounds, **weight)[0]
    given = {"gamma": weight.get("γ", 0.1), "ridge": weight.get("λ", 1.0)}
    ranker = UDFS(n_clusters=3, max_iter=rounds, tol=0.0, **given).fit(TALL)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-8)
    assert ranker.n_iter_ == rounds


@pytest.mark.parametrize("rounds", [1, 2, 10])
def test_more_features_than_examples(rounds):
    """The paper's problem in the space of the rows."""
    expected = oracle(standard(WIDE), 3, rounds, inside=True)[0]
    ranker = UDFS(n_clusters=3, max_iter=rounds, tol=0.0).fit(WIDE)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-7)


def test_outside_the_rows_the_objective_says_nothing():
    """Why: with n > m the first term is zero for directions that no row has."""
    X = standard(WIDE)
    M = X.T @ scatter(X, 5, 1.0) @ X
    values = np.linalg.eigvalsh(M + 0.1 * np.eye(50))
    # As many equal smallest eigenvalues as there are such directions.
    assert np.count_nonzero(values < 0.1 + 1e-9) == 50 - 19


def test_all_directions_find_less_than_the_rows():
    """What the restriction is good for: 30 informative columns of 120."""
    table, columns = planted(45, 120, 30)
    everywhere = oracle(standard(table), 2, 20)[0]
    best = np.argsort(-everywhere)[:30]
    assert np.isin(best, columns).sum() < 10
    assert np.isin(
        np.flatnonzero(UDFS(30, n_clusters=2).fit(table).support_), columns
    ).all()


def test_the_objective_falls():
    for X in (standard(TALL), standard(WIDE)):
        objectives = oracle(X, 3, 20, inside=True)[1]
        assert (np.diff(objectives) <= 1e-9).all()
        assert objectives[-1] < objectives[0] - 1e-3


def test_wide_tables_need_no_large_matrix(monkeypatch):
    sizes = []
    from franet.rankers import udfs

    def solve(A, **options):
        sizes.append(A.shape)
        return original(A, **options)

    original = udfs.eigh
    monkeypatch.setattr(udfs, "eigh", solve)
    UDFS(max_iter=1).fit(WIDE)
    UDFS(max_iter=1).fit(TALL)
    assert sizes == [(19, 19), (15, 15)]


def test_raw_values():
    expected = oracle(TALL - TALL.mean(axis=0), 3, 5)[0]
    ranker = UDFS(n_clusters=3, max_iter=5, tol=0.0, standardize=False).fit(TALL)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("shape", "k"), [((60, 30, 6), 5), ((45, 120, 30), 2)], ids=["tall", "wide"]
)
@pytest.mark.parametrize("seed", range(3))
def test_planted(shape, k, seed):
    table, columns = planted(*shape, seed=seed)
    ranker = UDFS(len(columns), n_clusters=k).fit(table)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), columns)


def test_projections_are_of_unit_length():
    ranker = UDFS(n_clusters=4).fit(WIDE)
    np.testing.assert_allclose((ranker.scores_**2).sum(), 4.0)
    assert 0.0 <= ranker.scores_.min() < ranker.scores_.max() <= 1.0 + 1e-9
    # Never more than the table has dimensions.
    few = UDFS(n_clusters=99, max_iter=1).fit(WIDE)
    np.testing.assert_allclose((few.scores_**2).sum(), 19.0)


def test_tolerance():
    loose, tight = UDFS(tol=0.1).fit(TALL), UDFS(tol=1e-5, max_iter=900).fit(TALL)
    assert 1 < loose.n_iter_ < tight.n_iter_ < 900


def test_constant_columns_rank_last():
    ranker = UDFS(standardize=False).fit(TABLES["constant"])
    np.testing.assert_array_equal(ranker.scores_[[0, 5, 13]], 0.0)
    assert sorted(ranker.ranking_[[0, 5, 13]]) == [12, 13, 14]


def test_sparse():
    table = np.where(np.abs(WIDE) > 1.0, WIDE, 0.0)
    a, b = UDFS().fit(table), UDFS().fit(sparse.csr_array(table))
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-7, atol=1e-12)
