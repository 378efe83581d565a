"""What a fit will take, said before it."""

from __future__ import annotations

import numpy as np
import pytest

from franet import Cover
from franet._common.progress import listening


@pytest.mark.parametrize("shape", [(2, 2), (2, 30), (3, 2), (30, 2), (5000, 2)])
def test_tiny_tables(shape):
    X = np.random.default_rng(0).normal(size=shape)
    plan = Cover().plan(X)
    assert plan["n_picks"] == min(shape[1], 64)
    assert plan["seconds"] > 0.0


def test_no_columns_are_permuted():
    # That takes many times what a fit of a table with structure takes.
    stages = set()
    X = np.random.default_rng(0).normal(size=(600, 80))
    with listening(lambda stage, done, total: stages.add(stage)):
        Cover(8).plan(X)
    assert stages == {"picks"}
