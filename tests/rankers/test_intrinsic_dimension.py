"""The two-neighbour estimate, on manifolds whose dimension is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_swiss_roll

from data import load, needs_shared
from franet.exceptions import DataError, UsageError
from franet.rankers.agnos import standardize
from franet.rankers.intrinsic_dimension import intrinsic_dimension

M = 2000


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def sphere(m, d, seed=0):
    points = normal(m, d + 1, seed=seed)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def line(m, seed=0):
    t = np.random.default_rng(seed).uniform(size=(m, 1))
    return np.hstack([np.cos(3 * t), np.sin(3 * t), t])


MANIFOLDS = {
    "line in 3": (line(M), 1),
    "plane in 30": (np.random.default_rng(0).uniform(size=(M, 2)) @ normal(2, 30), 2),
    "swiss roll": (make_swiss_roll(M, random_state=0)[0], 2),
    "sphere in 3": (sphere(M, 2), 2),
    "sphere in 5": (sphere(M, 4), 4),
    "gaussian in 5": (normal(M, 5), 5),
}


# The standard error is about d / √M, 2.2 %; the tolerance is five of them. Curvature
# and the tails of the Gaussian pull the estimate down by less than that.
@pytest.mark.parametrize("method", ["fit", "mle"])
@pytest.mark.parametrize("name", MANIFOLDS)
def test_known_dimension(name, method):
    X, dimension = MANIFOLDS[name]
    assert intrinsic_dimension(X, method=method) == pytest.approx(dimension, rel=0.11)


# Doquet & Sebag 2019, as whole numbers, by the line and on standardized columns.
PUBLISHED = {
    "arcene": 40,
    "Isolet": 9,
    "ORL": 6,
    "pixraw10P": 4,
    "Prostate-GE": 23,
    "TOX-171": 15,
    "warpPIE10P": 3,
    "Yale": 10,
}


@needs_shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_dimension(name):
    X = load(name)[0]
    Z = standardize(X[:, X.max(axis=0) > X.min(axis=0)])
    assert abs(intrinsic_dimension(Z) - PUBLISHED[name]) < 1.0


def naive_log_ratios(X):
    out = []
    for i, row in enumerate(X):
        others = [math.dist(row, other) for k, other in enumerate(X) if k != i]
        nearest, second = sorted(others)[:2]
        out.append(math.log(second / nearest))
    return sorted(out)


@pytest.mark.parametrize("discard", [0.0, 0.1, 0.5])
def test_the_formulas_line_by_line(discard):
    X = normal(40, 3)
    logs = naive_log_ratios(X)
    kept = math.floor(40 * (1 - discard))
    points = [(x, -math.log(1 - (i + 1) / 40)) for i, x in enumerate(logs) if i < 39]
    points = points[:kept]
    slope = sum(x * y for x, y in points) / sum(x * x for x, _ in points)
    assert intrinsic_dimension(X, discard=discard) == pytest.approx(slope, rel=1e-12)
    likely = kept / (sum(logs[:kept]) + (40 - kept) * logs[kept - 1])
    found = intrinsic_dimension(X, method="mle", discard=discard)
    assert found == pytest.approx(likely, rel=1e-12)


def test_likelihood_is_at_its_maximum():
    logs = np.array(naive_log_ratios(normal(40, 3)))
    d = intrinsic_dimension(normal(40, 3), method="mle", discard=0.25)

    def likelihood(d):
        return 30 * np.log(d) - d * logs[:30].sum() - 10 * d * logs[29]

    assert likelihood(d) > max(likelihood(0.99 * d), likelihood(1.01 * d))


@pytest.mark.parametrize("method", ["fit", "mle"])
def test_copies_of_rows_count_once(method):
    X = normal(60, 4)
    doubled = np.vstack([X, X[::2], X[:5]])
    assert intrinsic_dimension(doubled, method=method) == pytest.approx(
        intrinsic_dimension(X, method=method), rel=1e-12
    )


@pytest.mark.parametrize("scale", [1e-160, 1e160])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_scale_and_place_do_not_matter(scale, shift):
    X = normal(60, 30)
    moved = (X + shift) * scale
    assert intrinsic_dimension(moved) == pytest.approx(intrinsic_dimension(X), rel=1e-6)


def test_near_copies_far_from_the_origin_keep_their_distance():
    # The neighbour search alone would find 0 here, in 30 dimensions.
    X = normal(50, 30)
    X = np.vstack([X, X + 1e-10 * normal(50, 30, seed=1)])
    found = intrinsic_dimension(X, discard=0.0, method="mle")
    logs = naive_log_ratios(X)
    assert found == pytest.approx(100 / sum(logs), rel=1e-6)


def test_sparse_and_float32():
    X = np.where(np.abs(normal(60, 8)) > 0.5, normal(60, 8), 0.0).astype(np.float32)
    wide = intrinsic_dimension(X.astype(np.float64))
    assert intrinsic_dimension(X) == wide
    assert intrinsic_dimension(sparse.csr_array(X)) == wide


def test_input_is_not_changed():
    X = normal(30, 4)
    before = X.copy()
    intrinsic_dimension(X)
    np.testing.assert_array_equal(X, before)


def test_too_few_rows():
    with pytest.raises(DataError, match=r"3 different row.*at least 4.*more rows"):
        intrinsic_dimension(np.repeat(normal(3, 5), 10, axis=0))


def test_a_grid_has_no_answer():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1)
    with pytest.raises(DataError, match=r"as far away as the first.*more variety"):
        intrinsic_dimension(grid.reshape(-1, 2))


def test_mostly_a_grid_is_a_number():
    # More than nine tenths of the ratios are one: the line has no slope to find.
    X = np.vstack([np.arange(200.0)[:, None], [[1000.0], [1007.0], [1008.5]]])
    for method in ("fit", "mle"):
        assert np.isfinite(intrinsic_dimension(X, method=method))


def test_bad_options():
    X = normal(30, 4)
    with pytest.raises(UsageError, match=r"method='knn': choose 'fit' or 'mle'"):
        intrinsic_dimension(X, method="knn")
    with pytest.raises(UsageError, match=r"discard=1\.0: choose a share"):
        intrinsic_dimension(X, discard=1.0)
