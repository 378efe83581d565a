"""Every kernel of the approximate search, on tables that need no compiling."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from franet.search.approximate import _cells, _dense, _search
from search.approximate.made import approximate, dense_winner, factors

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning"),
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_cells, "ONE_CELL", 20)
    monkeypatch.setattr(_cells, "CELL", 16)
    monkeypatch.setattr(_search, "ALL_PAIRS", 0)
    monkeypatch.setattr(_search, "DEEP_PAIRS", 0)


@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells(similarity, dtype):
    X = factors(90, m=12).astype(dtype)
    outcome = approximate(X, similarity, n_thresholds=8)
    exact = FRANe(similarity=similarity, n_thresholds=8).fit(X)
    assert outcome.approximation.n_cells > 1
    assert outcome.winner == exact.winner_
    np.testing.assert_allclose(outcome.scores, exact.scores_, rtol=1e-9)


def test_samples(monkeypatch):
    monkeypatch.setattr(_search, "STORED", 2)
    monkeypatch.setattr(_search, "DEEP", 2)
    for name in ("ROUGH", "FINE", "POLISH"):
        monkeypatch.setattr(_dense, name, 60)
    outcome = approximate(dense_winner(90, m=12), n_thresholds=8)
    assert outcome.winner is not None
    assert np.isfinite(outcome.scores).all()
