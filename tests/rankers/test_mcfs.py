"""MCFS against least angle regression step by step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from franet.rankers import MCFS
from rankers.spectral import planted, standard, weights
from tables import TABLES, random

X = random(30, 24, seed=3)
# The scores of all features but a few tie at zero, and a warning says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*features have the same score:franet.exceptions.DegenerateRankingWarning"
)


def least_angle(X, y, steps):
    """Return the coefficients after some steps of LARS (Efron and others, 2004).

    With the lasso's modification: a coefficient that reaches zero leaves. Columns
    need not be of unit length: the covariance with the residual decides.
    """
    n = X.shape[1]
    a = np.zeros(n)
    active = [int(np.argmax(np.abs(X.T @ y)))]
    for _ in range(steps):
        c = X.T @ (y - X @ a)
        A = X[:, active]
        largest = np.abs(c[active]).max()
        direction = np.zeros(n)
        direction[active] = np.linalg.solve(A.T @ A, c[active])
        # The covariance of the active columns shrinks as largest·(1 − s).
        move = X.T @ (X @ direction)
        events = [(1.0, "end", 0)]
        for j in range(n):
            if j in active:
                crossing = -a[j] / direction[j]
                events += [(crossing, "out", j)] if a[j] and crossing > 0 else []
            else:
                for sign in (1, -1):
                    s = (largest - sign * c[j]) / (largest - sign * move[j])
                    events += [(s, "in", j)] if s > 1e-12 else []
        s, event, j = min(events)
        a = a + s * direction
        if event == "end":
            break
        if event == "in":
            active.append(j)
        else:
            active.remove(j)
            a[j] = 0.0
    return a


def oracle(X, W, k, steps):
    D = np.diag(W.sum(axis=1))
    vectors = eigh(D - W, D)[1][:, 1 : k + 1]
    out = []
    for y in vectors.T:
        y = y - y.mean()
        out.append(np.abs(least_angle(X, y / np.linalg.norm(y), steps)))
    return np.max(out, axis=0)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (1, 4), (3, 2), (5, 12)])
def test_step_by_step(standardize, k, d):
    table = standard(X) if standardize else X - X.mean(axis=0)
    expected = oracle(table, weights(table, 8), k, d)
    ranker = MCFS(
        n_clusters=k, n_nonzero=d, n_neighbors=8, standardize=standardize
    ).fit(X)
    np.testing.assert_allclose(ranker.scores_, expected, rtol=1e-7, atol=1e-10)
    assert np.count_nonzero(ranker.scores_) <= k * d


def test_negative_coefficients_count():
    """A feature against the eigenvector is as good as one along it."""
    table, _ = planted(60, 12, 2, k=2)
    turned = MCFS(n_clusters=1, n_nonzero=3).fit(-table).scores_
    np.testing.assert_allclose(
        MCFS(n_clusters=1, n_nonzero=3).fit(table).scores_, turned
    )
    assert turned.min() == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_planted(seed):
    # Two columns, that together tell three clusters apart.
    table, columns = planted(90, 20, 2, k=3, seed=seed)
    table[:, columns[0]] = 4 * (np.arange(90) % 3 == 0) + 0.1 * table[:, columns[0]]
    table[:, columns[1]] = 4 * (np.arange(90) % 3 == 1) + 0.1 * table[:, columns[1]]
    ranker = MCFS(2, n_clusters=2, standardize=False).fit(table)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), columns)


def test_coefficients_leave():
    """Or the comparison above would not see that they do."""
    table = standard(X)
    W = weights(table, 8)
    y = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)))[1][:, 3]
    y -= y.mean()
    counts = [np.count_nonzero(least_angle(table, y, d)) for d in range(1, 13)]
    assert (np.diff(counts) <= 0).any()


def test_number_of_features_in_a_regression():
    def count(rows=X, **parameters):
        return np.count_nonzero(MCFS(n_clusters=1, **parameters).fit(rows).scores_)

    assert count(n_features_to_select=3) == 3
    # Never more steps than half of the examples, unless asked for.
    half = count(n_features_to_select=24)
    assert half == count(n_nonzero=15) <= 15
    assert half < count(n_nonzero=24)
    assert count(X[:9], n_nonzero=99) == count(X[:9], n_nonzero=8) <= 8


def test_copies_of_a_column():
    """LARS takes up one of several copies."""
    table, columns = planted(60, 12, 2, k=2)
    table = np.column_stack([table, table[:, columns]])
    ranker = MCFS(n_clusters=1, n_nonzero=6).fit(table)
    assert np.isfinite(ranker.scores_).all()
    both = ranker.scores_[[columns[0], 12]]
    assert both.min() == 0.0 < both.max()


def test_constant_columns_rank_last():
    ranker = MCFS(2, n_clusters=1).fit(TABLES["constant"])
    assert np.count_nonzero(ranker.scores_) == 2
    assert sorted(ranker.ranking_[[0, 5, 13]]) == [12, 13, 14]


def test_sparse():
    table = np.where(np.abs(X) > 1.0, X, 0.0)
    a, b = MCFS().fit(table), MCFS().fit(sparse.csc_array(table))
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-7, atol=1e-12)
