"""Graphs too dense to be stored: the streamed path against the oracle."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from franet.engine import levels
from franet.engine._numpy import TileEngine
from naive import naive_frane
from tables import TABLES, blocks
from test_agreement import assert_agrees, fit

TABLE = blocks(m=25, n=300)


def dense_winner():
    """Return a table where a tenth of the columns carry what all others only echo."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(400, 1))
    X = 0.5 * signal + rng.normal(size=(400, 300))
    X[:, :30] = signal + 0.05 * rng.normal(size=(400, 30))
    return X


DENSE_WINNER = dense_winner()


@cache
def expected(dtype, **choice):
    """Return what the oracle says of TABLE: the same whatever is kept."""
    return naive_frane(TABLE.astype(dtype).astype(np.float64), **choice)


@cache
def expected_dense_winner():
    return naive_frane(DENSE_WINNER)


@pytest.fixture(params=[(0, 0), (60, 60), (60, 5000), (2000, 2000)])
def few_kept(request, monkeypatch):
    # Pairs that are stored at first, and if denser graphs matter.
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", request.param[0])
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", request.param[1])
    monkeypatch.setattr(levels, "SAMPLED", 5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"variant": "reference"},
        {"weighted": False},
        {"damping": 0.999},
        {"similarity": "manhattan", "thresholds": "linear"},
        {"thresholds": "quantile"},
        {"similarity": "abs-correlation"},
        {"centrality": "degree"},
        {"centrality": "eigenvector"},
        {"centrality": "harmonic", "n_thresholds": 5},
        {"quality": "gini"},
    ],
)
def test_streamed_graphs_agree(few_kept, choice, dtype):
    choice = {"n_thresholds": 15, **choice}
    ranker = fit(TABLE.astype(dtype), **choice)
    assert_agrees(ranker, expected(dtype, **choice), tolerance=1e-10)


@pytest.mark.parametrize("table", ["tied", "duplicated", "constant", "tiny3x4"])
@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_streamed_graphs_of_hard_tables(few_kept, table, variant):
    X = TABLES[table]
    choice = {"n_thresholds": 15, "variant": variant}
    assert_agrees(fit(X, **choice), naive_frane(X, **choice))


def test_dense_winner(few_kept):
    naive = expected_dense_winner()
    assert naive.adjacency.astype(bool).mean() > 0.1
    assert_agrees(fit(DENSE_WINNER), naive)


def test_store_candidates_streamed(few_kept):
    naive = expected(np.float64, n_thresholds=9)
    ranker = fit(TABLE, n_thresholds=9, store_candidates=True)
    np.testing.assert_allclose(ranker.all_scores_, naive.all_scores, rtol=1e-10)
