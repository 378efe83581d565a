"""The page about scaling says what the recorded measurements say."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def model(monkeypatch):
    folder = ROOT / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    import scaling_model

    yield scaling_model
    for name in ("scaling_model", "scaling_simulation"):
        del sys.modules[name]


def test_the_page_is_made_of_the_results(model):
    page = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    assert model.filled(page, model.read()) == page


def test_simulation_without_losses_is_arithmetic(model):
    work = model.Pass([10] * 8, [100.0] * 8)
    # Four workers do two parts each, then the client takes the last result.
    assert model.simulate(work, 0.5, 4, (0.0, 0.0)) == 10.0
    assert model.simulate(work, 0.5, 1, (0.0, 0.0)) == 40.0
    # A client that is slower than all workers together.
    assert model.simulate(work, 0.0, 4, (1.0, 0.01)) == pytest.approx(16.0)


def test_losses_take_time(model):
    work = model.Pass([10] * 50, [0.0] * 50)
    losses = model.Losses(100.0, 60.0, np.random.default_rng(0))
    lossy = model.simulate(work, 1.0, 4, (0.0, 0.0), losses)
    assert lossy > model.simulate(work, 1.0, 4, (0.0, 0.0)) + 60.0


def test_fit_finds_the_coefficients(model):
    rows = []
    for n in (1000, 2000, 4000):
        for m in (50, 100):
            tiles, sent = n * n / 1e5, 1e4 * n
            size = {"part": "passes", "n": n, "m": m, "note": "", "tiles": tiles}
            for kind in model.KINDS:
                seconds = tiles * (2e-4 + 3e-6 * m)
                seconds += 1e-9 * sent * kind.startswith("edges")
                cost = {"cpu_seconds": seconds, "bytes_out": sent}
                rows.append({**size, "what": kind, **cost})
            rows.append({**size, "what": "open", "cpu_seconds": 2e-8 * n * m})
            rows.append({**size, "what": "memory", "memory": 5e6 + 12 * n * m})
    found = model.fit(rows, "passes")
    for kind in model.KINDS:
        byte = 1e-9 if kind.startswith("edges") else 0.0
        np.testing.assert_allclose(found.seconds[kind], [2e-4, 3e-6, byte], rtol=1e-6)
    np.testing.assert_allclose(found.opening, 2e-8)
    np.testing.assert_allclose(found.memory, [5e6, 12.0], rtol=1e-6)
