"""The Laplacian score against its double sum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.exceptions import DegenerateRankingWarning
from franet.rankers import LaplacianScore
from rankers.spectral import planted, standard, weights
from tables import TABLES, random

X = random(30, 24, seed=3)


def oracle(X, W):
    """Return the score of the paper, one pair of examples after the other."""
    d = W.sum(axis=1)
    scores = []
    for f in X.T:
        centred = f - (f * d).sum() / d.sum()
        pairs = [
            W[i, j] * (f[i] - f[j]) ** 2 / 2
            for i in range(len(f))
            for j in range(len(f))
        ]
        scores.append(sum(pairs) / (d * centred**2).sum())
    return np.array(scores)


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("width", ["auto", 30.0])
def test_double_sum(k, width):
    W = weights(X, k, None if width == "auto" else width)
    ranker = LaplacianScore(n_neighbors=k, width=width).fit(X)
    np.testing.assert_allclose(ranker.scores_, 1 - oracle(X, W), rtol=1e-10)


def test_standardized_distances():
    ranker = LaplacianScore(standardize=True).fit(X)
    expected = 1 - oracle(X, weights(standard(X)))
    np.testing.assert_allclose(ranker.scores_, expected, rtol=1e-10)
    assert not np.allclose(ranker.scores_, LaplacianScore().fit(X).scores_)


def test_worked_example():
    """Four examples on a line, each with the next: by hand."""
    table = np.array([[0.0, 5.0], [1.0, 4.0], [10.0, 5.0], [11.0, 4.0]])
    ranker = LaplacianScore(n_neighbors=1, affinity="binary").fit(table)
    # D = I, W pairs (0, 1) and (2, 3). Column 0: Σ = 1 + 1 over 2·50.5;
    # column 1: ±1/2 in each pair, L = 2 / 1.
    np.testing.assert_allclose(ranker.scores_, [1 - 2 / 101, -1.0])


@pytest.mark.parametrize("shape", [(60, 30, 6), (40, 120, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_planted(shape, seed):
    table, columns = planted(*shape, seed=seed)
    ranker = LaplacianScore(len(columns)).fit(table)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), columns)
    assert ranker.scores_[columns].min() > 0.8


def test_units_and_offsets_do_not_matter():
    rng = np.random.default_rng(0)
    a = LaplacianScore(standardize=True).fit(X)
    b = LaplacianScore(standardize=True).fit(X * rng.uniform(0.1, 10, 24) + 1e4)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-6)


def test_constant_columns():
    table = TABLES["constant"]
    ranker = LaplacianScore().fit(table)
    assert list(np.flatnonzero(ranker.constant_)) == [0, 5, 13]
    assert sorted(ranker.ranking_[[0, 5, 13]]) == [12, 13, 14]
    np.testing.assert_array_equal(ranker.scores_[[0, 5, 13]], -1.0)


def test_constant_columns_rank_last_even_in_a_tie():
    # Two examples: every column that varies has the worst score too.
    with pytest.warns(DegenerateRankingWarning, match="3 of 3 features"):
        ranker = LaplacianScore().fit([[1.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    np.testing.assert_allclose(ranker.scores_, -1.0)
    assert list(ranker.ranking_) == [3, 1, 2]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("standardize", [True, False])
def test_sparse(form, standardize, monkeypatch):
    table = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = LaplacianScore(standardize=standardize).fit(table)
    given = form(table)
    whole = type(given).toarray

    def toarray(part):
        assert part.shape != given.shape  # it stays sparse
        return whole(part)

    monkeypatch.setattr(type(given), "toarray", toarray)
    found = LaplacianScore(standardize=standardize).fit(given)
    np.testing.assert_allclose(found.scores_, dense.scores_, rtol=1e-8)


def test_a_large_offset_keeps_its_digits():
    exact = np.round(X * 2**10) / 2**10
    a, b = LaplacianScore().fit(exact), LaplacianScore().fit(exact + 2.0**30)
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-6)


def test_a_bad_width():
    with pytest.raises(ValueError, match="'width' parameter of LaplacianScore"):
        LaplacianScore(width=0.0).fit(X)
