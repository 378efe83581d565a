"""How alike some features are, against NumPy's own correlation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet.pairs.alike import REDUNDANT, correlations, redundant_among
from tables import random

BASE = random(40, 3, seed=1)
X = np.repeat(BASE, 4, axis=1) + 0.4 * random(40, 12, seed=2)
X[:, 5] *= -3.0
ORDER = np.array([5, 0, 4, 9, 1, 11, 8])


def naive(r):
    """Return the better feature that each repeats most, and how closely."""
    found = []
    for at in range(len(r)):
        near = [(abs(r[at, k]), -k) for k in range(at) if abs(r[at, k]) >= REDUNDANT]
        best = -max(near)[1] if near else -1
        found.append((best, r[at, best] if near else None))
    return found


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
def test_correlations(form, scale):
    table = scale * np.where(np.abs(X) > 0.2, X, 0.0)
    wanted = np.corrcoef(table.T / scale)[np.ix_(ORDER, ORDER)]
    np.fill_diagonal(wanted, np.nan)
    found = correlations(form(table), ORDER)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_many_blocks_of_a_sparse_table():
    wide = sparse.random_array((50, 700), density=0.05, rng=3).tocsr()
    order = np.arange(699, -1, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        wanted = np.corrcoef(wide.toarray().T)[np.ix_(order, order)]
    np.fill_diagonal(wanted, np.nan)
    np.testing.assert_allclose(correlations(wide, order), wanted, atol=1e-9)


def test_constant_columns_are_like_nothing():
    table = X.copy()
    table[:, 0] = 0.1
    r = correlations(table, ORDER)
    assert np.isnan(r[1]).all()
    assert np.isnan(r[:, 1]).all()
    assert redundant_among(r)[0][1] == -1
    assert 1 not in redundant_among(r)[0]
    table[:] = 0.1
    assert np.isnan(correlations(table, ORDER)).all()
    assert (redundant_among(correlations(table, ORDER))[0] == -1).all()


def test_redundant_among():
    r = correlations(X, ORDER)
    partner, weight = redundant_among(r)
    wanted = naive(r)
    assert partner.tolist() == [best for best, _ in wanted]
    assert [None if np.isnan(w) else w for w in weight] == [w for _, w in wanted]
    # Upside down is redundant as well, and another group is not.
    assert partner[2] == 0
    assert weight[2] < -REDUNDANT
    assert partner[3] == -1
