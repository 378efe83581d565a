"""The rows from which features of long, sparse and stored tables are picked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet import Cover
from franet.cover import _rows
from franet.cover._rows import draw_rows, n_drawn
from franet.cover.kernels import (
    add_keys,
    add_moments,
    add_sparse_keys,
    add_sparse_moments,
    hash_rows,
)
from franet.exceptions import DataError, UsageError
from franet.pairs.columns import open_columns
from stored_tables import LAZY, in_backed_matrix, in_dask, in_memmap, in_parquet


def counts(m=300, n=45, seed=0):
    """Return a table of factors, mostly zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6)) @ rng.normal(size=(6, n)) + rng.normal(size=(m, n))
    return np.where(X > 1.0, X, 0.0)


@pytest.fixture
def few_rows(monkeypatch):
    """Draw 64 rows of tables that have more."""
    monkeypatch.setattr(_rows, "MOST", 64)
    monkeypatch.setattr(_rows, "LEAST", 32)


@pytest.fixture
def no_products(monkeypatch):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 8)


def picks(X, **parameters):
    ranker = Cover(8, **parameters).fit(X)
    return ranker.order_[:8].tolist()


@pytest.mark.kernels
def test_moments_and_keys_are_those_of_numpy():
    X = counts(40, 9) + np.arange(9)
    mean, squares = np.zeros(9), np.zeros(9)
    lo, hi = np.full(9, np.inf), np.full(9, -np.inf)
    add_moments(X, mean=mean, squares=squares, lo=lo, hi=hi)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares, X.var(axis=0) * 40, rtol=1e-12)
    np.testing.assert_array_equal([lo, hi], [X.min(axis=0), X.max(axis=0)])
    keys = np.zeros(40)
    add_keys(X, mean, 1 / X.std(axis=0), keys=keys)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(keys, (Z**2).sum(axis=1), rtol=1e-12)


@pytest.mark.kernels
def test_sparse_passes_are_those_of_the_dense_table():
    X = counts(40, 9)
    X[:, 3] += 5.0  # a column without an empty cell
    S = sparse.csr_array(X)
    mean, squares = np.zeros(9), np.zeros(9)
    add_sparse_moments(S.indices, S.data, 40, mean=mean, squares=squares)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares, X.var(axis=0) * 40, rtol=1e-12)
    inverse, places = 1 / X.std(axis=0), np.arange(1, 10, dtype=np.uint64) << 32
    dense = [np.zeros(40), np.zeros(40, np.uint64)]
    there = [np.zeros(40), np.zeros(40, np.uint64)]
    with np.errstate(over="ignore"):
        add_keys(X, mean, inverse, keys=dense[0])
        hash_rows((X + 0.0).view(np.uint64), places, out=dense[1])
        arrays = S.indptr, S.indices, S.data, mean, inverse, places
        add_sparse_keys(*arrays, keys=there[0], hashes=there[1])
    np.testing.assert_allclose(there[0], dense[0], rtol=1e-9)
    np.testing.assert_array_equal(there[1], dense[1])


@pytest.mark.parametrize("products", [False, True])
def test_sparse_and_dense_draw_the_same(few_rows, monkeypatch, products):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 1024 if products else 8)
    X = counts()
    dense = draw_rows(X)
    assert dense.X.shape == (64, 45)
    assert dense.n_rows == 300
    if products:
        np.testing.assert_allclose(
            dense.correlations, np.corrcoef(X.T), rtol=0, atol=1e-12
        )
    for make in (sparse.csr_array, sparse.csc_array):
        found = draw_rows(make(X))
        np.testing.assert_array_equal(found.X, dense.X)
        np.testing.assert_array_equal(found.constant, dense.constant)
        assert (found.correlations is None) is not products


@pytest.mark.parametrize("make", LAZY)
@pytest.mark.parametrize("products", [False, True])
def test_every_storage_draws_the_same(few_rows, monkeypatch, tmp_path, make, products):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 1024 if products else 8)
    # Several pieces, which end where chunks do not.
    monkeypatch.setattr(_rows, "_PIECE", 8 * 45 * 50)
    X = counts()
    X[:, 7] = 3.0
    expected, found = draw_rows(X), draw_rows(open_columns(make(X, tmp_path)))
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.constant, expected.constant)
    assert found.constant[7]


def test_short_tables_are_taken_whole(tmp_path):
    X = counts()
    found = draw_rows(open_columns(in_memmap(X, tmp_path)))
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(draw_rows(sparse.csr_array(X)).X, X)
    assert draw_rows(X).X is X


@pytest.mark.parametrize("options", [{}, {"objective": "linear"}, {"scale": None}])
def test_the_same_picks_of_any_storage(few_rows, tmp_path, options):
    X = counts()
    expected = picks(X, **options)
    assert picks(sparse.csr_array(X), **options) == expected
    assert picks(in_memmap(X, tmp_path), **options) == expected
    assert picks(in_dask(X, tmp_path), **options) == expected


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_rows_and_columns_and_any_unit(few_rows, no_products, seed):
    X = counts()
    expected = picks(X)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(300), rng.permutation(45)
    assert picks(X[rows]) == expected
    assert picks(sparse.csr_array(X[rows])) == expected
    assert columns[picks(X[:, columns])].tolist() == expected
    assert picks(X * rng.uniform(0.1, 10.0, 45)) == expected


def test_drawn_rows_find_the_groups_of_all_rows(few_rows, no_products):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(5000, 6))
    X = np.repeat(factors, 5, axis=1) + 0.3 * rng.normal(size=(5000, 30))
    ranker = Cover(6).fit(X)
    assert sorted(ranker.order_[:6] // 5) == list(range(6))
    assert ranker.n_drawn_ == 64


def test_a_column_that_varies_in_other_rows_only(few_rows, no_products):
    X = counts()
    rare = np.zeros(300)
    drawn = draw_rows(np.column_stack([X, rare])).X
    rare[~(X[:, None] == drawn[:, :45]).all(axis=2).any(axis=1)] = 1e-6
    table = np.column_stack([X, rare])
    ranker = Cover(8).fit(table)
    assert not ranker.constant_[45]
    assert 45 not in ranker.order_[:8]
    included = Cover(8, include=[45]).fit(table)
    assert included.order_[0] == 45


def test_memory_bounds_the_rows():
    X = counts()
    assert n_drawn(X) == 300
    assert n_drawn(X, 45 * 600 * _rows.BYTES) == 300
    wide = np.zeros((2000, 10))
    assert n_drawn(wide, 10 * 700 * _rows.BYTES) == 700
    with pytest.raises(UsageError, match=r"Cover needs .* for 512 rows of 10 features"):
        n_drawn(wide, 1000)
    ranker = Cover(4, max_memory=45 * 100 * _rows.BYTES)
    with pytest.raises(UsageError, match=r"max_memory=.* Raise it, or pass fewer"):
        ranker.fit(X)


@pytest.mark.parametrize("make", [in_memmap, in_parquet, in_dask, in_backed_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_values_are_named(few_rows, no_products, monkeypatch, tmp_path, make, bad):
    monkeypatch.setattr(_rows, "_PIECE", 8 * 45 * 50)
    X = counts()
    X[217, 31] = bad
    with pytest.raises(DataError, match=r"(31|gene 31).* in row 217"):
        Cover(4).fit(make(X, tmp_path))


def test_no_part_of_a_stored_table_changes(few_rows, tmp_path):
    X = counts()
    path = tmp_path / "x.npy"
    np.save(path, X)
    before = path.read_bytes()
    Cover(4).fit(np.load(path, mmap_mode="r+"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_plan_says_how_many_rows_are_used(few_rows, kind):
    plan = Cover(8).plan(kind(counts()))
    assert (plan["n_examples"], plan["n_drawn"], plan["n_picks"]) == (300, 64, 8)
    assert plan["seconds"] > 0.0
