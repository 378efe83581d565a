"""The oracle against the authors' outputs, and against arithmetic done by hand."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform

from data import load, needs_reference, needs_shared, reference_dir
from naive import (
    AT_THRESHOLD,
    CENTRALITIES,
    QUALITIES,
    dissimilarity,
    naive_frane,
    pagerank,
    paper_grid,
    rank,
    rqh,
)

# The authors' names, and ours.
METRICS = {"cityblock": "manhattan"}
PROGRESSIONS = {
    "geomspace": "geometric",
    "linspace": "linear",
    "mean_linear": "linear-mean",
    "median_linear": "linear-median",
}

# Rows where pairs lie exactly at the threshold and the authors' rounding decided
# them: all out ("out"), or some in and some out ("mixed"). Ours are all in.
DECIDED_BY_ROUNDING = {
    "lung_small__canberra_linspace.npz": {36: "out", 72: "out"},
    "lung_small__canberra_median_linear.npz": {99: "mixed"},
    "lung_small__cityblock_median_linear.npz": {99: "mixed"},
}


def index() -> list:
    folder = reference_dir()
    return json.loads((folder / "index.json").read_text()) if folder else []


def arguments(params: dict) -> dict:
    metric = params.get("metric", "correlation")
    return {
        "variant": "reference",
        "similarity": METRICS.get(metric, metric),
        "thresholds": PROGRESSIONS[params.get("threshold_function", "geomspace")],
        "n_thresholds": params.get("iterations", 100),
        "damping": params.get("page_rank_decay", 0.85),
        "min_mean_degree": params.get("min_edge_threshold", 1.0),
        "weighted": not params.get("page_rank_no_weights", False),
    }


@needs_reference
@needs_shared
@pytest.mark.parametrize("entry", index(), ids=lambda entry: entry["file"])
def test_reference_files(entry):
    X, _ = load(entry["dataset"])
    given = arguments(entry["params"])
    expected = np.load(reference_dir() / entry["file"])
    ours = naive_frane(X, **given)

    special = DECIDED_BY_ROUNDING.get(entry["file"], {})
    rows = np.setdiff1d(np.arange(len(ours.thresholds)), list(special))
    assert_array_equal(ours.too_sparse, expected["too_sparse"])
    assert_allclose(
        ours.all_scores[rows], expected["all_scores"][rows], rtol=0, atol=1e-9
    )
    # The files have a quality for candidates that are too sparse as well.
    quality = np.array([rqh(scores) for scores in ours.all_scores])
    assert_allclose(quality[rows], expected["quality"][rows], rtol=1e-6)
    assert_array_equal(np.isnan(ours.quality), ours.too_sparse)
    dense = ~ours.too_sparse
    assert_array_equal(ours.quality[dense], quality[dense])
    assert_allclose(ours.scores, expected["scores"], rtol=0, atol=1e-9)

    # The exceptions are what they are said to be, and no more.
    d, _, scale = dissimilarity(X, given["similarity"], 2.0, "reference")
    w = d.max() - d
    np.fill_diagonal(w, -np.inf)
    for row, decision in special.items():
        at = np.abs(w - ours.thresholds[row]) <= AT_THRESHOLD * scale
        assert at.any()
        if decision == "out":
            inside = (w > ours.thresholds[row]) & ~at
            without = pagerank(np.where(inside, w, 0.0), given["damping"])
            assert_allclose(without, expected["all_scores"][row], rtol=0, atol=1e-9)


@needs_reference
@needs_shared
@pytest.mark.parametrize("name", ["Isolet", "Yale"])
def test_reference_scores(name):
    X, _ = load(name)
    expected = np.load(reference_dir() / f"{name}.npz")
    ours = naive_frane(X, variant="reference")
    assert_allclose(ours.scores, expected["scores"], rtol=0, atol=1e-9)


# By hand: w12 = 4, w13 = 2, w23 = 1.
THREE = np.array([[0.0, 4, 2], [4, 0, 1], [2, 1, 0]])


def test_three_features_by_hand():
    # M' = 4, D = {2, 3}: two thresholds are the two ends, 2 and 1. δ = 1/2.
    # t = 2: edges 12 and 13, degrees 6, 4, 2.
    #   r1 = (r2 + r3)/2 + 1/6, r2 = r1/3 + 1/6, r3 = r1/6 + 1/6
    #   r1 = r1/4 + 1/3 = 4/9, r2 = 17/54, r3 = 13/54.
    # t = 1: all edges, degrees 6, 5, 3.
    #   r1 = 2 r2/5 + r3/3 + 1/6, r2 = r1/3 + r3/6 + 1/6, r3 = 1 - r1 - r2
    #   r1 = r2/20 + 3/8, 7 r2 = r1 + 2: r1 = 109/278, r2 = 95/278, r3 = 74/278.
    # With three features RQH = median/median = 1: a tie, the sparser one wins.
    ours = naive_frane(THREE, similarity="precomputed", n_thresholds=2, damping=0.5)
    assert_allclose(ours.thresholds, [2, 1], rtol=1e-14)
    expected = np.array([[24 / 54, 17 / 54, 13 / 54], [109 / 278, 95 / 278, 74 / 278]])
    assert_allclose(ours.all_scores, expected, rtol=1e-14)
    assert_allclose(ours.quality, [1, 1], rtol=1e-14)
    assert ours.winner == 0
    assert_array_equal(ours.ranking, [1, 2, 3])
    assert_array_equal(ours.adjacency, [[0, 4, 2], [4, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize(
    ("weighted", "scores", "quality"),
    [
        # M' = 8, D = {1, 4, 8}: t = 8 - 8^0, 8 - 8^(1/2), 8 - 8 = 7, 5.17, 0. δ = 1/2.
        # t = 7 and 5.17: edges 12 and 13, degrees 15, 8, 7, and 4 is isolated: 1/8.
        #   r1 = (r2 + r3)/2 + 1/8, r2 = 4 r1/15 + 1/8, r3 = 7 r1/30 + 1/8
        #   r1 = r1/4 + 1/4 = 1/3, r2 = 77/360, r3 = 73/360: RQH = 77/73.
        # t = 0: six edges, three of weight zero; degrees 19, 8, 7, 4.
        #   r2 = 4 r1/19 + 1/8, r3 = 7 r1/38 + 1/8, r4 = 2 r1/19 + 1/8,
        #   r1 = (r2 + r3 + r4)/2 + 1/8 = r1/4 + 5/16 = 5/12
        #   in 456ths: 190, 97, 92, 77: RQH = 97/92 < 77/73.
        (
            True,
            [["120/360", "77/360", "73/360", "45/360"]] * 2
            + [["190/456", "97/456", "92/456", "77/456"]],
            ["77/73", "77/73", "97/92"],
        ),
        # Without weights: r2 = r3 = r1/4 + 1/8, r1 = 1/3; the last graph is complete.
        (
            False,
            [["8/24", "5/24", "5/24", "3/24"]] * 2 + [["1/4"] * 4],
            ["1", "1", "1"],
        ),
    ],
)
def test_four_features_by_hand(weighted, scores, quality):
    w = np.zeros((4, 4))
    w[0, 1:] = w[1:, 0] = [8, 7, 4]
    ours = naive_frane(
        w, similarity="precomputed", n_thresholds=3, damping=0.5, weighted=weighted
    )
    assert_allclose(ours.thresholds, [7, 8 - 8**0.5, 0], rtol=1e-14)
    expected = [[float(Fraction(x)) for x in row] for row in scores]
    assert_allclose(ours.all_scores, expected, rtol=1e-14)
    assert_allclose(ours.quality, [float(Fraction(x)) for x in quality], rtol=1e-13)
    assert not ours.too_sparse.any()
    assert ours.winner == 0
    # Two edges are four ordered pairs, one for each of four features: just enough.
    just_too_many = naive_frane(w, similarity="precomputed", min_mean_degree=1.01)
    assert just_too_many.too_sparse[0]
    assert not just_too_many.too_sparse[-1]


def test_correlation_with_a_constant_by_hand():
    # Orthogonal a, b, c and g = 3a + 4b: r(a, g) = .6, r(g, b) = .8, the rest 0,
    # w = 1.6, 1.8, 1. Linear, three thresholds: 1.8, 1.4, 1. δ = 1/2, n = 4.
    # t = 1.8: one edge, 2 ordered pairs / 4 < 1: too sparse.
    # t = 1.4: path a-g-b, c isolated; degrees 1.6, 3.4, 1.8.
    #   ra = 4 rg/17 + 1/8, rb = 9 rg/34 + 1/8, rg = rg/4 + 1/4 = 1/3
    #   in 408ths: g 136, b 87, a 83, c 51: RQH = 87/83.
    a, b, c = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    X = np.column_stack([a, np.full(4, 7), 3 * a + 4 * b, 5 + b, 2 * c])
    ours = naive_frane(X, thresholds="linear", n_thresholds=3, damping=0.5)
    assert_allclose(ours.thresholds, [1.8, 1.4, 1.0], rtol=1e-14)
    assert_array_equal(ours.too_sparse, [True, False, False])
    assert_array_equal(ours.constant, [False, True, False, False, False])
    assert ours.winner == 1
    assert np.isnan(ours.quality[0])
    assert_allclose(ours.quality[1], 87 / 83, rtol=1e-13)
    assert_allclose(ours.scores, np.array([83, 0, 136, 87, 51]) / 408, atol=1e-15)
    assert_array_equal(ours.ranking, [3, 5, 1, 2, 4])
    assert_array_equal(np.count_nonzero(ours.adjacency, axis=0), [1, 0, 2, 1, 0])
    assert_allclose(ours.adjacency[2], [1.6, 0, 0, 1.8, 0], rtol=1e-14)


@pytest.mark.parametrize(
    ("progression", "expected"),
    [
        ("geometric", [2, 4 - 6**0.5, 1]),  # gaps 2, √(2·3), 3
        ("linear", [4, 2.5, 1]),
        ("linear-mean", [4, 19 / 6, 7 / 3]),  # mean 7/3
        ("linear-median", [4, 3, 2]),
        ("quantile", [4, 2, 1]),
        ("logspace", [4 - 10**2, 4 - 10**2.5, 4 - 10**3]),
        (lambda low, high, count: np.linspace(low, high, count), [4, 2.5, 1]),
    ],
)
def test_progressions_by_hand(progression, expected):
    assert_allclose(paper_grid(THREE, progression, 3), expected, rtol=1e-14)


def test_duplicates_up_to_rounding_are_duplicates():
    # The second column is an affine copy, the third nearly: r = 1 - 1e-13 or so.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    X[:, 1] = 3 * X[:, 0] - 1000
    X[:, 2] = X[:, 0] + 1e-7 * X[:, 3]
    ours = naive_frane(X, n_thresholds=5)
    w = naive_frane(X, n_thresholds=2, min_mean_degree=0).thresholds
    assert w[0] < 2 - 1e-3  # not the gap between the copies
    assert ours.thresholds[0] == w[0]


@pytest.mark.parametrize(
    "metric",
    [
        "euclidean",
        "manhattan",
        "chebyshev",
        "canberra",
        "minkowski",
        "sqeuclidean",
        "seuclidean",
    ],
)
def test_distances_are_those_of_scipy(metric):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(9, 6)), 1) * (rng.random((9, 6)) < 0.7)
    name = {"manhattan": "cityblock"}.get(metric, metric)
    more = {"p": 3.0} if metric == "minkowski" else {}
    expected = squareform(pdist(X.T, name, **more))
    d, top, scale = dissimilarity(X, metric, 3.0, "paper")
    assert_allclose(d, expected, rtol=1e-13)
    assert top == scale == d.max()


def test_examples_without_variance_are_left_out_of_seuclidean():
    X = np.array([[1.0, 2, 4], [5, 5, 5], [0, 3, 1]])
    d, _, _ = dissimilarity(X, "seuclidean", 2.0, "paper")
    assert_allclose(d, squareform(pdist(X[[0, 2]].T, "seuclidean")), rtol=1e-14)


def test_correlations_are_those_of_numpy_and_scipy():
    from scipy.stats import spearmanr

    X = np.round(np.random.default_rng(2).normal(size=(12, 5)), 1)
    r = np.corrcoef(X.T)
    assert_allclose(dissimilarity(X, "correlation", 2, "paper")[0], 1 - r, atol=1e-14)
    assert_allclose(
        dissimilarity(X, "abs-correlation", 2, "paper")[0], 1 - abs(r), atol=1e-14
    )
    r = spearmanr(X).statistic
    assert_allclose(dissimilarity(X, "spearman", 2, "paper")[0], 1 - r, atol=1e-14)


def test_precomputed_and_callable_give_what_correlation_gives():
    X = np.random.default_rng(3).normal(size=(20, 8))
    direct = naive_frane(X)
    w = 1 + np.corrcoef(X.T)
    for other in (
        naive_frane(w, similarity="precomputed"),
        naive_frane(X, similarity=lambda A, B: 1 + np.corrcoef(A.T, B.T)[:8, 8:]),
    ):
        assert_allclose(other.all_scores, direct.all_scores, rtol=1e-10)
        assert other.winner == direct.winner
        assert_array_equal(other.ranking, direct.ranking)


def test_nothing_to_tell_apart():
    X = np.random.default_rng(4).normal(size=(5, 3))
    two = naive_frane(X[:, :2])
    assert two.winner is None
    assert_array_equal(two.scores, [0.5, 0.5])
    assert_array_equal(naive_frane(X[:, :2], variant="reference").scores, [1, 1])
    none_dense_enough = naive_frane(X, min_mean_degree=100)
    assert none_dense_enough.winner is None
    assert_array_equal(none_dense_enough.scores, [1 / 3] * 3)
    assert none_dense_enough.too_sparse.all()
    X[:, 0] = 1.0
    X[:, 2] = 2.0
    one_left = naive_frane(X)
    assert_array_equal(one_left.scores, [0, 1, 0])
    assert_array_equal(one_left.ranking, [2, 1, 3])
    assert_array_equal(one_left.constant, [True, False, True])


@pytest.mark.parametrize(
    ("X", "given"),
    [
        (np.ones((5, 1)), {}),
        (np.ones((1, 5)), {}),
        (np.eye(3), {"similarity": "cosine"}),
        (np.eye(3), {"thresholds": "cubic"}),
        (np.eye(3), {"variant": "other"}),
        (np.eye(3), {"thresholds": "quantile", "variant": "reference"}),
        (np.eye(3), {"similarity": "mixed", "variant": "reference"}),
        (np.eye(3), {"similarity": "seuclidean", "variant": "reference"}),
        (np.eye(3), {"similarity": "precomputed", "variant": "reference"}),
        (np.eye(3), {"similarity": np.dot, "variant": "reference"}),
        (np.eye(3) - 1, {"similarity": "precomputed"}),
        (np.triu(THREE), {"similarity": "precomputed"}),
    ],
)
def test_errors(X, given):
    with pytest.raises(ValueError):
        naive_frane(X, **given)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("degree", [1 / 4, 1 / 2, 1 / 4, 0]),
        ("eigenvector", np.array([1, 2**0.5, 1, 0]) / (2 + 2**0.5)),
        # Distances from an end 1 and 2, from the middle 1 and 1; n - 1 = 3.
        ("closeness", [2**2 / (3 * 3), 2**2 / (3 * 2), 2**2 / (3 * 3), 0]),
        ("harmonic", [1.5 / 3, 2 / 3, 1.5 / 3, 0]),
    ],
)
def test_centralities_of_a_path_and_an_isolated_node(name, expected):
    w = np.zeros((4, 4))
    w[[0, 1, 1, 2], [1, 0, 2, 1]] = 1.0
    assert_allclose(CENTRALITIES[name](w, 0.85), expected, atol=1e-14)


def test_eigenvector_centrality_of_equal_components():
    w = np.kron(np.eye(3), [[0, 2], [2, 0]])
    assert_allclose(CENTRALITIES["eigenvector"](w, 0.85), [1 / 6] * 6, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "scores", "expected"),
    [
        ("rqh", [5, 1, 2, 4], 4 / 2),
        ("rqh", [1, 3], 3),
        ("rqh", [0, 0, 1, 1], 1e10),
        ("gini", [1, 3], 1 / 4),  # mean difference (0 + 2 + 2 + 0)/4, over 2 · 2
        ("cv", [1, 3], 1 / 2),
        ("entropy", [0, 1], np.log(2)),
        ("entropy", [2, 2, 2], 0),
    ],
)
def test_qualities_by_hand(name, scores, expected):
    value = QUALITIES[name](np.array(scores, dtype=float))
    assert_allclose(value, expected, rtol=1e-14, atol=1e-15)


def test_ranking_by_column_among_equals():
    # Each step of the chain is within 1e-9, its ends are not: one group all the same.
    scores = np.array([0.5, 1 - 1.2e-9, 0.0, 1.0, 1 - 6e-10, 0.5 + 1e-8])
    constant = np.array([False, False, True, False, False, False])
    assert_array_equal(rank(scores, constant), [5, 1, 6, 2, 3, 4])
