"""Columns of unit variance, whatever their units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from cli.commands import X, read, run
from franet.cli._job import standardized

TABLE = np.column_stack([X, np.full(len(X), 3.0)])
UNITS = 10.0 ** np.array([200, -200, 154, 0, 306, -306, 100, -100, 1, 2])


def filled(table):
    return table.toarray() if sparse.issparse(table) else table


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.astype(np.float32),
        (10 * TABLE).astype(np.int64),
        np.abs(10 * TABLE).astype(np.uint8),
        TABLE > 0,
        sparse.csr_array(TABLE),
        sparse.csc_matrix(TABLE),
        np.where(np.abs(TABLE) < 0.2, np.nan, TABLE),
    ],
    ids=range(8),
)
def test_ordinary_tables_have_the_bits_of_scikit_learn(table):
    found = standardized(table)
    expected = StandardScaler(with_mean=False).fit_transform(table)
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    assert filled(found).tobytes() == filled(expected).tobytes()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_huge_and_tiny_columns(make):
    table = make(X * UNITS)
    given = filled(table).copy()
    np.testing.assert_allclose(filled(standardized(table)), standardized(X), rtol=1e-13)
    np.testing.assert_array_equal(filled(table), given)


def test_gaps_beside_huge_values():
    table = X * UNITS
    table[3, 0], table[:, 9] = np.nan, np.nan
    found = standardized(table)
    np.testing.assert_allclose(np.nanstd(found[:, :9], axis=0), 1.0, rtol=1e-13)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(table))


def test_the_ranking_is_that_of_other_units(tmp_path):
    np.save(tmp_path / "x.npy", X * 1e200)
    np.save(tmp_path / "y.npy", X)
    options = ("--ranker", "column-subset", "--set", "standardize=false")
    options += ("--scale", "standard")
    assert run("rank", tmp_path / "x.npy", *options).stderr == ""
    found, expected = (
        [row["index"] for row in read(tmp_path / name, *options)["features"]]
        for name in ("x.npy", "y.npy")
    )
    assert found == expected
