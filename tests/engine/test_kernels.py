"""Every kernel on tiny tables; the suite runs these also without compiling them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.engine import kernels
from franet.engine._numpy import TileEngine
from franet.estimators._parameters import SIMILARITIES
from naive import naive_frane
from tables import random
from test_agreement import assert_agrees, fit, power

pytestmark = pytest.mark.kernels

TABLE = random(m=5, n=9, seed=7)
NAMED = [name for name in SIMILARITIES if name != "precomputed"]


@pytest.mark.parametrize("similarity", NAMED)
def test_similarities(similarity):
    choice = {"similarity": similarity, "n_thresholds": 6, **power(similarity)}
    assert_agrees(fit(TABLE, **choice), naive_frane(TABLE, **choice))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kept", [0, 12, 100])
@pytest.mark.parametrize("weighted", [True, False])
def test_stored_and_streamed_graphs(monkeypatch, dtype, kept, weighted):
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", kept)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", kept)
    X = TABLE.astype(dtype)
    X = np.column_stack([X, X[:, 0]])
    choice = {"n_thresholds": 8, "weighted": weighted}
    assert_agrees(fit(X, **choice), naive_frane(X.astype(np.float64), **choice))


def test_mean_and_order_statistics():
    for thresholds in ("linear-mean", "linear-median", "quantile"):
        choice = {"thresholds": thresholds, "n_thresholds": 5}
        assert_agrees(fit(TABLE, **choice), naive_frane(TABLE, **choice))


def test_sparse_table():
    X = sparse.random_array((20, 9), density=0.09, rng=1, format="csr")
    assert_agrees(fit(X, n_thresholds=5), naive_frane(X.toarray(), n_thresholds=5))


def test_strongest_edges():
    rng = np.random.default_rng(0)
    n, most = 30, 4
    D = rng.integers(0, 12, (n, n)).astype(float)
    D = np.triu(D, 1) + np.triu(D, 1).T
    size = np.zeros(n, np.int64)
    values, features = np.empty((n, most)), np.empty((n, most), np.int32)
    heap = {"size": size, "values": values, "features": features}
    kernels.strongest(D, n, n, True, 0, 0, 8.0, **heap)
    for j in range(n):
        others = [(D[j, k], k) for k in range(n) if k != j and D[j, k] <= 8.0]
        kept = zip(values[j, : size[j]], features[j, : size[j]], strict=True)
        assert sorted(kept) == sorted(others)[:most]
