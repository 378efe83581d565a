"""The three spectral scores against the whole spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.rankers import SPEC, LaplacianScore
from rankers.spectral import planted, weights
from tables import TABLES, random

X = random(30, 24, seed=3)


def oracle(X, W, style, k):
    """Return φ1, φ2 or φ3 as sums over all eigenvectors."""
    d = W.sum(axis=1)
    L = np.eye(len(d)) - W / np.sqrt(np.outer(d, d))
    values, vectors = np.linalg.eigh(L)
    scores = []
    for f in X.T:
        g = np.sqrt(d) * f
        g /= np.linalg.norm(g)
        α = [g @ v for v in vectors.T]
        if style == 1:
            φ = sum(a**2 * λ for a, λ in zip(α, values, strict=True))
        elif style == 2:
            φ = sum(a**2 * λ for a, λ in zip(α[1:], values[1:], strict=True))
            φ /= sum(a**2 for a in α[1:])
        else:
            φ = sum((2 - values[j]) * α[j] ** 2 for j in range(1, k))
        scores.append(φ)
    return np.array(scores)


def clusters(style, k):
    """Return the parameter that only one style has."""
    return {"n_clusters": k} if style == 3 else {}


@pytest.mark.parametrize("style", [1, 2, 3])
@pytest.mark.parametrize("k", [2, 5, 30])
def test_whole_spectrum(style, k):
    # Many neighbours: the graph is connected, and the trivial eigenvector alone.
    expected = oracle(X, weights(X, 8), style, k)
    ranker = SPEC(style=style, n_neighbors=8, **clusters(style, k)).fit(X)
    if style < 3:
        expected = 1 - expected
    np.testing.assert_allclose(ranker.scores_, expected, rtol=1e-8, atol=1e-10)


def test_style_2_is_the_laplacian_score():
    a, b = SPEC(style=2).fit(X), LaplacianScore().fit(X)
    np.testing.assert_array_equal(a.scores_, b.scores_)


def test_style_1_likes_a_large_mean():
    table = X.copy()
    worst = int(np.argmax(LaplacianScore().fit(X).ranking_))
    table[:, worst] += 1e4
    assert SPEC(style=1).fit(table).ranking_[worst] == 1
    assert SPEC(style=2).fit(table).ranking_[worst] == 24


@pytest.mark.parametrize("style", [1, 2, 3])
@pytest.mark.parametrize("shape", [(60, 30, 6), (45, 120, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_planted(style, shape, seed):
    table, columns = planted(*shape, seed=seed)
    ranker = SPEC(len(columns), style=style, **clusters(style, 3)).fit(table)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), columns)


@pytest.mark.parametrize("style", [1, 2, 3])
def test_constant_columns(style):
    ranker = SPEC(style=style).fit(TABLES["constant"])
    assert sorted(ranker.ranking_[[0, 5, 13]]) == [12, 13, 14]


@pytest.mark.parametrize("style", [1, 2, 3])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_sparse(style, form, monkeypatch):
    table = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = SPEC(style=style).fit(table)
    given = form(table)
    # The table stays sparse; the small matrix of the graph need not.
    monkeypatch.setattr("franet.rankers._affinity.dense", None)
    found = SPEC(style=style).fit(given)
    np.testing.assert_allclose(found.scores_, dense.scores_, rtol=1e-8, atol=1e-12)


def test_many_rows_use_an_iteration(monkeypatch):
    table = planted(120, 10, 4)[0]
    expected = SPEC(n_clusters=3).fit(table).scores_
    monkeypatch.setattr("franet.rankers._affinity.DENSE_ROWS", 0)
    np.testing.assert_allclose(SPEC(n_clusters=3).fit(table).scores_, expected)


@pytest.mark.parametrize("style", [0, 4, 2.0, "3"])
def test_a_bad_style(style):
    with pytest.raises(ValueError, match="'style' parameter of SPEC"):
        SPEC(style=style).fit(X)
