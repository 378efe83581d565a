"""Small AnnData with known groups of genes."""

from __future__ import annotations

from dataclasses import replace

import anndata as ad
import numpy as np

from franet.datasets import make_groups

MADE = make_groups(100, 4, [6, 5, 4, 3], random_state=0)
# All in one unit, but not of unit variance, which would look like scaled values.
GROUPS = replace(MADE, X=4.0 * MADE.X)


def planted(matrix=None, **more):
    """Return genes in four groups, each with a known representative."""
    adata = ad.AnnData(GROUPS.X.copy() if matrix is None else matrix, **more)
    adata.var_names = GROUPS.names
    return adata


def counts(seed=0):
    """Return counts of 60 cells: three programmes of four genes, two silent genes."""
    rng = np.random.default_rng(seed)
    activity = rng.gamma(2.0, 3.0, (60, 3))
    made = rng.poisson(np.repeat(activity, 4, axis=1))
    return np.column_stack([made, np.zeros((60, 2), int)])


def counted():
    """Return the planted groups in units that differ, so that variances differ."""
    return GROUPS.X * np.random.default_rng(0).uniform(1.0, 2.0, len(GROUPS.names))


def tokens(adata):
    """Return what a call may change, in comparable form."""
    return (
        adata.shape,
        list(adata.var),
        sorted(adata.uns),
        sorted(adata.varp),
        adata.is_view,
    )


def same(left, right):
    assert type(left) is type(right) or not isinstance(left, dict)
    if isinstance(left, dict):
        assert sorted(left) == sorted(right)
        for name in left:
            same(left[name], right[name])
    else:
        np.testing.assert_array_equal(left, right)
