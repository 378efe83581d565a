"""The estimator against the oracle, on every combination of its choices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from franet import DegenerateRankingWarning, FRANe
from franet.estimators._parameters import PROGRESSIONS, SIMILARITIES
from naive import naive_frane
from tables import TABLES, blocks

NAMED = [name for name in SIMILARITIES if name != "precomputed"]
# The authors' code defines nothing to reproduce.
PAPER_ONLY = ("mixed", "seuclidean")
COMBINATIONS = [
    (similarity, progression, variant)
    for similarity in NAMED
    for progression in PROGRESSIONS
    for variant in ("paper", "reference")
    if variant == "paper"
    or (similarity not in PAPER_ONLY and progression != "quantile")
]


def fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateRankingWarning)
        return FRANe(**parameters).fit(X)


def power(similarity):
    """Return the parameter that only Minkowski's distance has."""
    return {"p": 3.0} if similarity == "minkowski" else {}


def assert_agrees(ranker, expected, tolerance=1e-10):
    np.testing.assert_array_equal(ranker.constant_, expected.constant)
    np.testing.assert_allclose(
        ranker.scores_, expected.scores, rtol=0, atol=tolerance * expected.scores.max()
    )
    assert ranker.winner_ == expected.winner
    np.testing.assert_array_equal(ranker.ranking_, expected.ranking)
    np.testing.assert_allclose(ranker.thresholds_, expected.thresholds, atol=1e-11)
    np.testing.assert_array_equal(ranker.too_sparse_, expected.too_sparse)
    solved = np.isfinite(ranker.quality_)
    assert not solved[expected.too_sparse].any()
    np.testing.assert_allclose(
        ranker.quality_[solved], expected.quality[solved], rtol=1e-9
    )
    candidates = ~expected.too_sparse
    bound, quality = ranker.quality_bound_[candidates], expected.quality[candidates]
    assert (bound >= quality * (1 - 1e-9)).all()
    if expected.winner is not None:
        unsolved = candidates & ~solved
        assert (ranker.quality_bound_[unsolved] < quality.max()).all()
        np.testing.assert_allclose(
            ranker.network_.adjacency.toarray(), expected.adjacency, atol=1e-12
        )


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("similarity", "progression", "variant"), COMBINATIONS)
def test_agrees_with_naive(table, similarity, progression, variant):
    for dtype in (np.float64, np.float32):
        X = TABLES[table].astype(dtype)
        choice = {
            "similarity": similarity,
            "thresholds": progression,
            "variant": variant,
            "n_thresholds": 12,
            **power(similarity),
        }
        ranker = fit(X, **choice)
        assert_agrees(ranker, naive_frane(X.astype(np.float64), **choice))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("similarity", NAMED)
def test_several_tiles(similarity, variant, dtype):
    if similarity in PAPER_ONLY and variant == "reference":
        pytest.skip(f"{similarity} has no reference definition")
    # Three blocks in float64, two in float32, the last one hardly begun.
    X = blocks(n=530).astype(dtype)
    choice = {"similarity": similarity, "variant": variant, "n_thresholds": 8}
    choice |= power(similarity)
    assert_agrees(fit(X, **choice), naive_frane(X.astype(np.float64), **choice))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("weighted", [True, False])
def test_weights_damping_and_degree(table, variant, weighted):
    for damping, degree in [(0.5, 1.0), (0.99, 0.0), (0.85, 3.0), (0.85, 1e9)]:
        choice = {
            "variant": variant,
            "weighted": weighted,
            "damping": damping,
            "min_mean_degree": degree,
            "n_thresholds": 20,
        }
        X = TABLES[table]
        assert_agrees(fit(X, **choice), naive_frane(X, **choice))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "centrality", ["degree", "eigenvector", "closeness", "harmonic"]
)
def test_centralities(table, centrality):
    for weighted in (True, False):
        choice = {"centrality": centrality, "weighted": weighted, "n_thresholds": 10}
        X = TABLES[table]
        expected = naive_frane(X, **choice)
        # Lanczos finds the leading vector to about this precision.
        assert_agrees(fit(X, **choice), expected, tolerance=1e-9)


def copies(*counts):
    """Return columns of which each is there so many times, and some noise."""
    rng = np.random.default_rng(0)
    each = np.repeat(rng.normal(size=(30, len(counts))), counts, axis=1)
    return np.hstack([each, rng.normal(size=(30, 10))])


@pytest.mark.parametrize(
    "counts", [[2] * 50, [70, 70], [70, 69, 3], [80, 80, 80, 5, 5]]
)
@pytest.mark.parametrize("weighted", [True, False])
def test_eigenvector_of_components(counts, weighted):
    # More than are solved as a dense matrix; several have the same eigenvalue.
    X = copies(*counts)
    choice = {
        "centrality": "eigenvector", "thresholds": "linear", "n_thresholds": 4,
        "weighted": weighted, "min_mean_degree": 0.1,
    }  # fmt: skip
    assert_agrees(fit(X, **choice), naive_frane(X, **choice), tolerance=1e-9)


@pytest.mark.parametrize("damping", [0.99, 0.995, 0.999, 0.9999])
@pytest.mark.parametrize("n", [30, 100])
def test_damping_near_one(n, damping):
    # Conjugate gradients pause for long, as if rounding were all that is left.
    X = np.random.default_rng(5712689).normal(size=(20, n)).cumsum(axis=1)
    choice = {"damping": damping, "n_thresholds": 20}
    assert_agrees(fit(X, **choice), naive_frane(X, **choice))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("quality", ["gini", "cv", "entropy"])
def test_qualities(table, quality):
    choice = {"quality": quality, "n_thresholds": 10}
    X = TABLES[table]
    ranker, expected = fit(X, **choice), naive_frane(X, **choice)
    assert ranker.winner_ == expected.winner
    np.testing.assert_allclose(ranker.scores_, expected.scores, rtol=1e-10)
    np.testing.assert_allclose(ranker.quality_, expected.quality, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_store_candidates(table, variant):
    X = TABLES[table]
    expected = naive_frane(X, variant=variant, n_thresholds=15)
    ranker = fit(X, variant=variant, n_thresholds=15, store_candidates=True)
    assert ranker.all_scores_.shape == expected.all_scores.shape
    np.testing.assert_allclose(
        ranker.all_scores_, expected.all_scores, rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(ranker.quality_, expected.quality, rtol=1e-9)
    assert_agrees(ranker, expected)


def test_precomputed_and_callable_agree_with_naive():
    X = TABLES["random"]

    def similarity(A, B):
        return np.exp(-np.abs(A[:, :, None] - B[:, None, :]).mean(axis=0))

    W = similarity(X, X)
    for choice in ({}, {"thresholds": "quantile"}, {"weighted": False}):
        expected = naive_frane(W, similarity="precomputed", n_thresholds=15, **choice)
        given = fit(W, similarity="precomputed", n_thresholds=15, **choice)
        assert_agrees(given, expected)
        called = fit(X, similarity=similarity, n_thresholds=15, **choice)
        assert_agrees(called, expected)


def test_callable_over_several_tiles():
    X = blocks(n=300)

    def similarity(A, B):
        return 1.0 / (1.0 + np.abs(A[0][:, None] - B[0][None, :]))

    called = fit(X, similarity=similarity, n_thresholds=9)
    expected = naive_frane(X, similarity=similarity, n_thresholds=9)
    assert_agrees(called, expected)


def test_thresholds_function():
    X = TABLES["random"]

    def progression(smallest, largest, n):
        return largest - (largest - smallest) * np.linspace(0, 1, n) ** 3

    choice = {"thresholds": progression, "n_thresholds": 17}
    assert_agrees(fit(X, **choice), naive_frane(X, **choice))
