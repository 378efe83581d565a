"""What must not change a ranking: order, units, types, threads; and hard numbers."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from franet.engine._numpy import TileEngine
from franet.pairs.similarity._distances import DistanceSource
from naive import naive_frane
from tables import TABLES, blocks, random, tied
from test_agreement import assert_agrees, fit, power

repeatable = settings(
    derandomize=True, deadline=None, database=None, max_examples=150, print_blob=False
)
X = TABLES["random"]
CORRELATIONS = ["correlation", "abs-correlation", "spearman"]


@st.composite
def tables(draw):
    """Return a table with structure: factors and noise, or small whole numbers."""
    m, n = draw(st.integers(4, 25)), draw(st.integers(4, 30))
    make = draw(st.sampled_from([random, tied]))
    return make(m, n, draw(st.integers(0, 2**32 - 1)))


def has_ties(ranker):
    # A margin around 1e-9, below which scores count as equal.
    ordered = np.sort(ranker.scores_)
    return (np.diff(ordered) <= 1e-8 * ordered[1:]).any()


def assert_same_scores(a, b, rtol):
    largest = max(a.scores_.max(), b.scores_.max())
    np.testing.assert_allclose(a.scores_, b.scores_, rtol=0, atol=rtol * largest)


@repeatable
@given(
    tables(),
    st.sampled_from([*CORRELATIONS, "euclidean", "canberra", "chebyshev"]),
    st.randoms(use_true_random=False),
)
def test_order_of_columns(table, similarity, shuffler):
    order = list(range(table.shape[1]))
    shuffler.shuffle(order)
    straight = fit(table, similarity=similarity)
    shuffled = fit(table[:, order], similarity=similarity)
    # The solver's own bound on the relative error is 1e-12 for each of the two.
    np.testing.assert_allclose(shuffled.scores_, straight.scores_[order], rtol=2e-12)
    assert shuffled.winner_ == straight.winner_
    if not has_ties(straight):
        np.testing.assert_array_equal(shuffled.ranking_, straight.ranking_[order])


@repeatable
@given(
    tables(),
    st.sampled_from([*CORRELATIONS, "manhattan", "euclidean"]),
    st.randoms(use_true_random=False),
)
def test_order_of_rows(table, similarity, shuffler):
    order = list(range(len(table)))
    shuffler.shuffle(order)
    straight = fit(table, similarity=similarity)
    shuffled = fit(table[order], similarity=similarity)
    assert_same_scores(shuffled, straight, 1e-11)
    np.testing.assert_array_equal(shuffled.ranking_, straight.ranking_)


@repeatable
@given(
    tables(),
    st.sampled_from(CORRELATIONS),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
    st.integers(0, 3),
    st.booleans(),
)
def test_units_of_a_column(table, similarity, factor, shift, column, negative):
    # Rounding of the shifted values is 1e-13 of their spread, edges have a slack of
    # 1e-12: no edge is lost or gained.
    if negative and similarity == "abs-correlation":
        factor = -factor
    other = table.copy()
    other[:, column] = factor * other[:, column] + shift
    assert_same_scores(
        fit(other, similarity=similarity), fit(table, similarity=similarity), 1e-9
    )


def test_a_reversed_column_matters_where_the_sign_does():
    other = X.copy()
    other[:, 3] *= -1
    assert abs(fit(other).scores_ - fit(X).scores_).max() > 1e-3


@repeatable
@given(
    tables(),
    st.integers(0, 3),
    st.sampled_from([np.exp, np.arctan, np.sinh, lambda x: 1e300 * x, lambda x: x**3]),
)
def test_monotone_transforms(table, column, transform):
    other = table.copy()
    other[:, column] = transform(other[:, column])
    a, b = fit(table, similarity="spearman"), fit(other, similarity="spearman")
    np.testing.assert_array_equal(a.scores_, b.scores_)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)


@repeatable
@given(tables(), st.sampled_from(CORRELATIONS))
def test_float32_has_the_winner_of_its_values(table, similarity):
    table = table.astype(np.float32)
    expected = naive_frane(table.astype(np.float64), similarity=similarity)
    ranker = fit(table, similarity=similarity)
    assert ranker.winner_ == expected.winner
    np.testing.assert_array_equal(ranker.ranking_, expected.ranking)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("offset", [1e9, -1e9, 1e12])
def test_huge_offsets(offset, missing):
    # Neighbouring doubles at 1e9 are 1.2e-7 apart, so adding the offset rounds the
    # noise. Taking it away again is exact: those are the values to compare with, and
    # what is left is rounding of the correlations, 1e-15 or so.
    shifted = X + offset
    there_and_back = shifted - offset
    ranker, expected = fit(shifted, missing=missing), fit(there_and_back)
    assert_same_scores(ranker, expected, 1e-11)
    np.testing.assert_array_equal(ranker.ranking_, expected.ranking_)
    if abs(offset) == 1e9:
        # A correlation moves by 1e-7 at the most; no pair is that near a threshold.
        assert_same_scores(ranker, fit(X), 1e-5)


def test_huge_offsets_in_float32():
    table = (X + 1e4).astype(np.float32)
    assert_agrees(fit(table), naive_frane(table.astype(np.float64)))


@pytest.mark.parametrize("similarity", CORRELATIONS)
def test_mixed_scales(similarity):
    powers = np.random.default_rng(0).integers(-650, 650, X.shape[1])
    plain = fit(X, similarity=similarity)
    # A power of two changes nothing at all.
    scaled = fit(np.ldexp(X, powers), similarity=similarity)
    np.testing.assert_array_equal(scaled.scores_, plain.scores_)
    decades = np.linspace(-200, 200, X.shape[1])
    other = fit(X * 10.0**decades, similarity=similarity)
    assert_same_scores(other, plain, 1e-11)
    np.testing.assert_array_equal(other.ranking_, plain.ranking_)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_largest_and_smallest_doubles(missing):
    plain = fit(X)
    # The sums of such values overflow, and so do the differences.
    huge = X / np.abs(X).max(axis=0) * np.finfo(float).max
    assert (huge.max(axis=0) / 2 - huge.min(axis=0) / 2).max() > 0.6 * huge.max()
    assert_same_scores(fit(huge, missing=missing), plain, 1e-11)
    # Below the smallest normal number: whole multiples of the smallest of all.
    counts = np.round(1000 * X)
    tiny = counts * np.finfo(float).smallest_subnormal
    assert (tiny / np.finfo(float).smallest_subnormal == counts).all()
    assert_same_scores(fit(tiny, missing=missing), fit(counts), 1e-11)


@pytest.mark.parametrize("similarity", ["euclidean", "manhattan", "minkowski"])
def test_distances_that_overflow_are_an_error(similarity):
    huge = X / np.abs(X).max() * 1e308
    with pytest.raises(ValueError, match=r"(?i)overflow|too large"):
        fit(huge, similarity=similarity, **power(similarity))


@pytest.mark.parametrize("p", [1.0, 3.0, 50.0, 1000.0])
@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7, 1e-150])
def test_powers_neither_vanish_nor_overflow(p, scale):
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(X[:, :, None] - X[:, None, :]))
    expected = scale * np.exp(logsumexp(p * logs, axis=0) / p)
    n = X.shape[1]
    found = DistanceSource(X * scale, "minkowski", p).tile(0, 0)[:n, :n]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("scale", [1e-7, 1e7])
def test_large_exponents_see_no_scale(scale, variant):
    choice = {"similarity": "minkowski", "p": 50.0, "variant": variant}
    plain, other = fit(X, **choice), fit(X * scale, **choice)
    assert other.winner_ == plain.winner_
    assert_same_scores(other, plain, 1e-11)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64, np.bool_])
@pytest.mark.parametrize(
    "similarity", [*CORRELATIONS, "euclidean", "manhattan", "canberra", "sqeuclidean"]
)
def test_whole_numbers(dtype, similarity):
    low, high = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, 0)
    if dtype is not np.bool_:
        # Up to the ends of the type, and of what a double can hold.
        high = min(np.iinfo(dtype).max, 2**53)
        low = max(low, -(2**53))
    rng = np.random.default_rng(0)
    table = rng.integers(low, high, (20, 12), np.int64, endpoint=True)
    table[0], table[1] = low, high
    table = table.astype(dtype)
    ranker = fit(table, similarity=similarity)
    expected = fit(table.astype(np.float64), similarity=similarity)
    np.testing.assert_array_equal(ranker.scores_, expected.scores_)
    assert_agrees(ranker, naive_frane(table.astype(np.float64), similarity=similarity))


def test_half_precision():
    table = X.astype(np.float16)
    ranker = fit(table)
    np.testing.assert_array_equal(ranker.scores_, fit(table.astype(float)).scores_)


def copies(kind):
    """Return a table whose last three columns repeat the first three."""
    rng = np.random.default_rng(0)
    first = X[:, :3]
    match kind:
        case "exact":
            other = first
        case "affine":
            other = first * [3.0, 0.1, 1e-6] + [1.0, -1e3, 7.0]
        case "negative":
            other = first * [-1.0, -0.3, 2.0] + 5.0
        case "near":
            other = first * (1 + 1e-6 * rng.normal(size=first.shape))
    return np.column_stack([X, other])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["exact", "affine", "negative", "near"])
def test_copies_of_columns(kind, dtype):
    table = copies(kind).astype(dtype)
    similarity = "abs-correlation" if kind == "negative" else "correlation"
    ranker = fit(table, similarity=similarity)
    expected = naive_frane(table.astype(np.float64), similarity=similarity)
    assert_agrees(ranker, expected)
    if dtype is np.float32 and kind != "exact":
        return  # float32 has rounded the copies: they are copies no more
    # The gap between copies (1e-12 of rounding or noise) does not become a threshold.
    top = 1.0 if kind == "negative" else 2.0
    assert top - ranker.thresholds_[0] > 1e-4
    twins = ranker.scores_[:3], ranker.scores_[-3:]
    if kind == "near":
        np.testing.assert_allclose(*twins, rtol=1e-5)
    else:
        np.testing.assert_allclose(*twins, rtol=1e-9)
        # Twins tie, and the one to the left comes first.
        assert (ranker.ranking_[:3] < ranker.ranking_[-3:]).all()


@pytest.mark.parametrize("similarity", ["euclidean", "manhattan", "canberra"])
def test_copies_under_distances(similarity):
    table = copies("exact")
    ranker = fit(table, similarity=similarity)
    assert_agrees(ranker, naive_frane(table, similarity=similarity))
    np.testing.assert_allclose(ranker.scores_[:3], ranker.scores_[-3:], rtol=1e-9)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"dtype": np.float32},
        {"similarity": "spearman", "thresholds": "quantile"},
        {"similarity": "manhattan", "thresholds": "linear-median"},
        {"variant": "reference", "thresholds": "linear-mean", "store_candidates": True},
        {"max_edges": 1500, "tie_break": "denser"},
        {"centrality": "degree", "quality": "entropy"},
    ],
    ids=str,
)
def test_threads(choice, stored, monkeypatch):
    if not stored:
        monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 2000)
    choice = dict(choice)
    table = blocks(m=30, n=1100).astype(choice.pop("dtype", np.float64))
    one, *more = (fit(table, n_thresholds=8, n_jobs=k, **choice) for k in (1, 2, 4))
    for other in more:
        for name in ("scores_", "ranking_", "quality_", "quality_bound_", "n_edges_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
        a, b = other.network_.adjacency, one.network_.adjacency
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


SCRIPT = """
import numpy as np
from franet import FRANe
X = np.random.default_rng(3).normal(size=(6, 9)) @ np.diag(np.arange(1.0, 10))
X[:, 3:6] += X[:, :1]
for choice in (
    {},
    {"similarity": "euclidean"},
    {"similarity": "spearman", "thresholds": "quantile"},
    {"variant": "reference", "max_edges": 3},
):
    ranker = FRANe(n_thresholds=10, **choice).fit(X.astype(np.float32))
    print(*ranker.ranking_, *ranker.n_edges_)
"""


def test_without_compilation():
    compiled = io.StringIO()
    with warnings.catch_warnings(action="ignore"), redirect_stdout(compiled):
        exec(SCRIPT, {})
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert len(plain.split()) == 4 * (9 + 10)
    assert compiled.getvalue() == plain
