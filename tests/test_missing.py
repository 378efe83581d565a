"""Missing values: an error by default, or left out pair by pair."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from franet import DataError, FRANe
from naive import naive_frane
from tables import TABLES, blocks, random, tied
from test_agreement import fit


def with_holes(table, share, seed=0):
    holes = np.random.default_rng(seed).random(table.shape) < share
    return np.where(holes, np.nan, table)


def expectation(table, absolute=False, **choice):
    """Rank by the correlations of pandas; pairs without one count as uncorrelated."""
    frame = pd.DataFrame(table)
    live = frame.nunique().to_numpy() > 1  # of the values that are there
    r = frame.loc[:, live].corr(min_periods=3).fillna(0.0).to_numpy()
    w = np.abs(r) if absolute else 1.0 + r
    return fit(w, similarity="precomputed", **choice), live


HOLED = {
    "few holes": with_holes(random(30, 24), 0.05),
    "many holes": with_holes(random(30, 24), 0.6),
    "hardly anything": with_holes(random(14, 30), 0.8),
    "ties": with_holes(tied(12, 20), 0.3),
    "several tiles": with_holes(blocks(40, 300), 0.2),
}


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("name", HOLED)
def test_equals_the_correlations_of_pandas(name, absolute):
    table = HOLED[name]
    similarity = "abs-correlation" if absolute else "correlation"
    choice = {"n_thresholds": 30, "min_mean_degree": 2}
    ranker = fit(table, missing="pairwise", similarity=similarity, **choice)
    expected, live = expectation(table, absolute, **choice)
    np.testing.assert_array_equal(ranker.constant_, ~live)
    assert ranker.winner_ == expected.winner_
    np.testing.assert_allclose(ranker.thresholds_, expected.thresholds_, atol=1e-11)
    largest = expected.scores_.max()
    np.testing.assert_allclose(
        ranker.scores_[live], expected.scores_, rtol=0, atol=1e-9 * largest
    )
    np.testing.assert_array_equal(ranker.n_edges_, expected.n_edges_)


def test_the_tables_have_pairs_without_a_correlation():
    # Fewer than three common rows, or constant on them: the rules are exercised.
    sparse = pd.DataFrame(HOLED["hardly anything"]).notna().to_numpy().astype(int)
    assert (sparse.T @ sparse < 3).any()
    frame = pd.DataFrame(HOLED["ties"])
    assert frame.corr().isna().to_numpy().any() or frame.nunique().min() > 1


def test_constant_on_the_common_rows_is_uncorrelated():
    table = random(12, 6)
    table[:6, 0] = 2.0
    table[6:, 1] = np.nan
    ranker = fit(table, missing="pairwise", n_thresholds=50, store_candidates=True)
    W = fit(table, missing="pairwise", min_mean_degree=5).network_.adjacency.toarray()
    assert W[0, 1] == W[1, 0] == 1.0
    assert not ranker.constant_.any()


@pytest.mark.parametrize("name", ["random", "tied", "duplicated", "constant"])
@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation"])
def test_without_holes_it_is_the_plain_result(name, similarity):
    table = TABLES[name]
    ranker = fit(table, missing="pairwise", similarity=similarity)
    expected = naive_frane(table, similarity=similarity)
    assert ranker.winner_ == expected.winner
    np.testing.assert_array_equal(ranker.ranking_, expected.ranking)
    np.testing.assert_array_equal(ranker.constant_, expected.constant)
    np.testing.assert_allclose(
        ranker.scores_, expected.scores, rtol=0, atol=1e-10 * expected.scores.max()
    )


def test_float32_with_holes():
    table = HOLED["few holes"].astype(np.float32)
    a = fit(table, missing="pairwise")
    b = fit(table.astype(np.float64), missing="pairwise")
    np.testing.assert_array_equal(a.scores_, b.scores_)


def test_empty_and_nearly_empty_columns_are_constant():
    table = random(20, 10)
    table[:, 2] = np.nan
    table[1:, 5] = np.nan
    table[::2, 7] = np.nan
    table[1::2, 7] = 3.0
    ranker = fit(table, missing="pairwise")
    np.testing.assert_array_equal(np.flatnonzero(ranker.constant_), [2, 5, 7])
    np.testing.assert_array_equal(ranker.scores_[[2, 5, 7]], 0.0)
    np.testing.assert_array_equal(ranker.ranking_[[2, 5, 7]], [8, 9, 10])
    rest = np.delete(table, [2, 5, 7], axis=1)
    np.testing.assert_allclose(
        np.delete(ranker.scores_, [2, 5, 7]), fit(rest).scores_, rtol=1e-10
    )
    with pytest.raises(DataError, match="All columns are constant"):
        FRANe(missing="pairwise").fit(np.full((5, 4), np.nan))


def test_two_values_make_no_correlation():
    # Two points always lie on a line: such a pair is as good as unrelated.
    table = random(20, 8)
    table[2:, 0] = np.nan
    W = fit(table, missing="pairwise", min_mean_degree=7).network_.adjacency.toarray()
    np.testing.assert_array_equal(W[0, 1:], 1.0)


def test_transform_passes_missing_values_on():
    table = HOLED["few holes"]
    ranker = FRANe(5, missing="pairwise").fit(table)
    np.testing.assert_array_equal(ranker.transform(table), table[:, ranker.support_])


@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_is_an_error_all_the_same(sign):
    table = HOLED["few holes"].copy()
    table[3, 4] = sign * np.inf
    with pytest.raises(DataError, match=r"Column 4 holds infinity \(inf\) in row 3\."):
        FRANe(missing="pairwise").fit(table)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_masked_values_are_missing(kind):
    X = (100 * random(30, 12)).astype(kind)
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    masked = np.ma.masked_array(X, holes)
    expected = fit(np.where(holes, np.nan, X), missing="pairwise")
    assert (masked.data == X).all()  # the caller's numbers
    ranker = fit(masked, missing="pairwise")
    np.testing.assert_allclose(ranker.scores_, expected.scores_, rtol=1e-6)
    with pytest.raises(DataError, match=r"[Cc]olumn .* NaN"):
        fit(masked)
    kept = ranker.transform(masked)
    np.testing.assert_array_equal(np.isnan(kept), holes[:, ranker.support_])
    with pytest.raises(DataError, match="NaN"):
        FRANe().fit(X).score(masked)
    clear = np.ma.masked_array(X, np.zeros_like(holes))
    np.testing.assert_array_equal(fit(clear).scores_, fit(X).scores_)
