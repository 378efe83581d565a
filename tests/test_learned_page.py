"""The learned similarity of the benchmarks: its definition, and the page about it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def learned():
    folder = ROOT / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    sys.path.insert(0, str(folder))
    try:
        import learned
    finally:
        sys.path.remove(str(folder))
    yield learned
    del sys.modules["learned"]


def ridge(X, shrinkage):
    """Return the similarities by the other definition: what ridge regression weighs."""
    m, n = X.shape
    R = np.corrcoef(X.T)
    penalty = shrinkage * n / min(n, m - 1) * np.eye(n)
    H = np.linalg.solve(R + penalty, R)
    d = np.sqrt(np.diag(H))
    return H / np.outer(d, d)


# More features than examples, and fewer.
@pytest.mark.parametrize("shape", [(12, 30), (40, 9)])
@pytest.mark.parametrize("shrinkage", [0.3, 1.0, 10.0])
def test_similarities_are_weights_of_ridge_regression(learned, shape, shrinkage):
    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1)
    X[:, 1] += X[:, 0]
    whitening = learned.Whitening(learned.standardized(X))
    every = np.arange(shape[1])
    expected = ridge(X, shrinkage)
    found = whitening.similarities(shrinkage, every, every)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    mapped = np.corrcoef(whitening.table(shrinkage).T)
    np.testing.assert_allclose(mapped, expected, atol=1e-10)


def test_without_shrinkage_nothing_is_mapped(learned):
    X = np.random.default_rng(1).normal(size=(15, 8))
    whitening = learned.Whitening(learned.standardized(X))
    mapped = np.corrcoef(whitening.table(np.inf).T)
    np.testing.assert_allclose(mapped, np.corrcoef(X.T), atol=1e-12)


@pytest.mark.parametrize("shape", [(10, 20), (40, 9)])
def test_a_constant_column_stays_one(learned, shape):
    X = np.random.default_rng(2).normal(size=shape)
    X[:, 3] = 7.0
    mapped = learned.Whitening(learned.standardized(X)).table(1.0)
    assert np.all(mapped[:, 3] == 0.0)
    assert np.all(np.ptp(np.delete(mapped, 3, axis=1), axis=0) > 0.0)


def test_what_is_learned_depends_on_the_table(learned):
    generator = np.random.default_rng(3)
    noise = generator.normal(size=(60, 100))
    # One cause of all features is their leading direction, which whitening removes.
    assert learned.learn(generator.normal(size=(60, 1)) + noise) == np.inf
    # Groups are told apart by many directions.
    groups = np.repeat(generator.normal(size=(60, 20)), 5, axis=1)
    assert learned.learn(groups + 0.3 * noise) < np.inf


def test_errors_are_those_of_kernel_regression(learned, monkeypatch):
    monkeypatch.setattr(learned, "SHRINKAGES", (np.inf,))
    monkeypatch.setattr(learned, "SHARPNESS", (2.0,))
    X = np.random.default_rng(4).normal(size=(21, 6)) + np.arange(6)
    X[:, 5] += X[:, 0]
    found = learned.rebuilding_errors(X, np.random.default_rng(5))
    rows = np.random.default_rng(5).permutation(21)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    first, second = Z[rows[:11]], Z[rows[11:]] - Z[rows[:11]].mean(axis=0)
    S = np.corrcoef(first.T)
    spread = S[~np.eye(6, dtype=bool)].std()
    error = 0.0
    for j in range(6):
        others = [i for i in range(6) if i != j]
        weights = np.exp(2.0 * S[j, others] / spread)
        rebuilt = second[:, others] @ (weights / weights.sum())
        error += np.sum((second[:, j] - rebuilt) ** 2)
    np.testing.assert_allclose(found, error / np.sum(second**2), rtol=1e-10)


def test_the_page_shows_the_results(learned):
    page = (ROOT / "docs" / "learned.md").read_text("utf-8").splitlines()
    table = learned.stored()
    assert set(table) == {*learned.CHOOSING, *learned.REPORTING}
    expected = learned.table_of_sets(table)
    for half in ("choosing", "reporting"):
        expected += learned.table_of_counts(learned.half_of(half, table))
    assert [line for line in expected if line not in page] == []
