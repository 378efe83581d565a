"""NDFS against its n × n form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from franet.rankers import NDFS
from rankers.spectral import planted, standard, weights
from tables import TABLES, random

TALL = random(40, 15, seed=3)
WIDE = random(20, 50, seed=4)


def oracle(X, W, k, rounds, α=1.0, β=1.0, γ=1e8, literal=False):
    """Return the lengths of the rows of W, with n × n inverses, and the objectives."""
    m, n = X.shape
    d = W.sum(axis=1)
    L = np.eye(m) - np.diag(d**-0.5) @ W @ np.diag(d**-0.5)
    labels = KMeans(k, n_init=10, random_state=0).fit(X).labels_
    F = np.eye(k)[labels] + 0.2
    F /= np.linalg.norm(F, axis=0)
    Λ = np.eye(n)
    objectives = []
    for _ in range(rounds):
        inverse = np.linalg.inv(X.T @ X + β * Λ)
        M = L + α * (np.eye(m) - X @ inverse @ X.T)
        above, below = γ * F, γ * F @ F.T @ F
        if literal:
            F = F * above / (M @ F + below)
        else:
            F = F * (above + np.maximum(-M @ F, 0)) / (below + np.maximum(M @ F, 0))
        F /= np.linalg.norm(F, axis=0)
        V = inverse @ X.T @ F
        lengths = np.array([np.sqrt(sum(v**2)) for v in V])
        Λ = np.diag(1 / (2 * np.maximum(lengths, 1e-12)))
        rest = np.linalg.norm(X @ V - F) ** 2
        objectives.append(np.trace(F.T @ L @ F) + α * (rest + β * lengths.sum()))
    return lengths, np.array(objectives)


@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("rounds", [1, 2, 15])
@pytest.mark.parametrize(
    "weight",
    [{}, {"literal": True}, {"α": 10.0, "β": 0.1}, {"β": 5.0, "γ": 10.0}],
    ids=str,
)
def test_whole_matrix(X, rounds, weight):
    table = standard(X)
    expected = oracle(table, weights(table), 3, rounds, **weight)[0]
    names = {"α": "alpha", "β": "beta", "γ": "gamma"}
    ranker = NDFS(
        n_clusters=3,
        max_iter=rounds,
        tol=0.0,
        random_state=0,
        **{names[key]: value for key, value in weight.items() if key in names},
    ).fit(X)
    np.testing.assert_allclose(ranker.scores_, expected, rtol=1e-6, atol=1e-9)
    assert ranker.n_iter_ == rounds


def test_raw_values():
    expected = oracle(WIDE, weights(WIDE), 3, 5)[0]
    ranker = NDFS(
        n_clusters=3, max_iter=5, tol=0.0, random_state=0, standardize=False
    ).fit(WIDE)
    np.testing.assert_allclose(ranker.scores_, expected, rtol=1e-6, atol=1e-9)


def test_wide_tables_need_no_large_matrix(monkeypatch):
    sizes = []
    from franet.rankers import ndfs

    def factor(A, **options):
        sizes.append(A.shape)
        return original(A, **options)

    original = ndfs.cho_factor
    monkeypatch.setattr(ndfs, "cho_factor", factor)
    NDFS(random_state=0, max_iter=2).fit(WIDE)
    NDFS(random_state=0, max_iter=1).fit(TALL)
    assert sizes == [(20, 20), (20, 20), (15, 15)]


def test_the_objective_falls():
    objectives = oracle(standard(WIDE), weights(standard(WIDE)), 3, 30)[1]
    # F settles in the first rounds; W is what is optimised then.
    assert (np.diff(objectives[3:]) <= 1e-9).all()
    assert objectives[-1] < objectives[0]


def test_tolerance():
    loose = NDFS(tol=0.1, random_state=0).fit(WIDE)
    tight = NDFS(tol=1e-3, random_state=0, max_iter=500).fit(WIDE)
    assert 1 < loose.n_iter_ < tight.n_iter_ < 500


@pytest.mark.parametrize(
    ("shape", "sure"),
    # The few columns of the first repeat each other: not all of them are needed.
    [((60, 30, 6), 4), ((45, 120, 25), 25)],
)
@pytest.mark.parametrize("seed", range(3))
def test_planted(shape, sure, seed):
    table, columns = planted(*shape, seed=seed)
    ranker = NDFS(sure, n_clusters=3, random_state=0).fit(table)
    assert set(np.flatnonzero(ranker.support_)) <= set(columns)


def test_more_clusters_than_examples():
    assert np.isfinite(NDFS(n_clusters=50, random_state=0).fit(WIDE).scores_).all()
    copies = np.repeat(WIDE[:3], 3, axis=0)
    assert np.isfinite(NDFS(random_state=0).fit(copies).scores_).all()


def test_constant_columns_rank_last():
    ranker = NDFS(random_state=0).fit(TABLES["constant"])
    assert sorted(ranker.ranking_[[0, 5, 13]]) == [12, 13, 14]
    raw = NDFS(random_state=0, standardize=False).fit(TABLES["constant"])
    np.testing.assert_array_equal(raw.scores_[[0, 5, 13]], 0.0)


def test_sparse():
    table = np.where(np.abs(WIDE) > 1.0, WIDE, 0.0)
    a = NDFS(random_state=0).fit(table)
    b = NDFS(random_state=0).fit(sparse.csr_array(table))
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-7, atol=1e-12)
