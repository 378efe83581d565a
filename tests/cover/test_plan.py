"""What a fit will take, said before it."""

from __future__ import annotations

import numpy as np
import pytest

from franet import Cover


@pytest.mark.parametrize("shape", [(2, 2), (2, 30), (3, 2), (30, 2), (5000, 2)])
def test_tiny_tables(shape):
    X = np.random.default_rng(0).normal(size=shape)
    plan = Cover().plan(X)
    assert plan["n_picks"] == min(shape[1], 64)
    assert plan["seconds"] > 0.0
