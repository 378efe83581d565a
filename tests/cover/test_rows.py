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
    add_sparse_extremes,
    add_sparse_keys,
    add_sparse_moments,
    hash_rows,
)
from franet.exceptions import DataError, UsageError
from franet.pairs.columns import open_columns
from franet.pairs.columns._kinds import ChunkedColumns
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
    mean, squares, filled = np.zeros(9), np.zeros(9), np.zeros(9, int)
    lo, hi = np.full(9, np.inf), np.full(9, -np.inf)
    add_sparse_extremes(S.indices, S.data, filled=filled, lo=lo, hi=hi)
    np.testing.assert_array_equal(filled, (X != 0.0).sum(axis=0))
    there = np.where(X != 0.0, X, np.nan)
    np.testing.assert_array_equal(
        [lo, hi], [np.nanmin(there, axis=0), np.nanmax(there, axis=0)]
    )
    factor = np.ones(9)
    add_sparse_moments(
        S.indices, S.data, factor, filled, 40, mean=mean, squares=squares
    )
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares, X.var(axis=0) * 40, rtol=1e-12)
    empty = (mean / X.std(axis=0)) ** 2
    inverse, places = 1 / X.std(axis=0), np.arange(1, 10, dtype=np.uint64) << 32
    dense = [np.zeros(40), np.zeros(40, np.uint64)]
    there = [np.zeros(40), np.zeros(40, np.uint64)]
    with np.errstate(over="ignore"):
        add_keys(X, mean, inverse, keys=dense[0])
        hash_rows((X + 0.0).view(np.uint64), places, out=dense[1])
        arrays = S.indptr, S.indices, S.data, factor, mean, inverse, empty, places
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


class Counted:
    """An array in chunks, which counts how often each of them is read."""

    def __init__(self, X, chunks):
        self.X, self.chunks = X, chunks
        self.shape, self.dtype = X.shape, X.dtype
        grid = [-(-size // chunk) for size, chunk in zip(X.shape, chunks, strict=True)]
        self.reads = np.zeros(grid, int)

    def __getitem__(self, at):
        rows, columns = (at, slice(None)) if isinstance(at, slice) else at
        some = (
            np.arange(size)[part] // chunk
            for part, size, chunk in zip(
                (rows, columns), self.shape, self.chunks, strict=True
            )
        )
        self.reads[np.ix_(*map(np.unique, some))] += 1
        return self.X[rows, columns]


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize(
    "chunks", [(7, 11), (300, 1), (300, 20), (100, 45), (1, 45), (300, 45), (150, 10)]
)
def test_chunks_are_read_three_times(few_rows, monkeypatch, products, chunks):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 1024 if products else 8)
    monkeypatch.setattr(_rows, "_PIECE", 8 * 500)
    monkeypatch.setattr("franet.pairs.columns._kinds._STRIP", 8 * 500)
    table = Counted(counts(), chunks)
    found = draw_rows(ChunkedColumns(table, chunks))
    np.testing.assert_array_equal(found.X, draw_rows(table.X).X)
    assert (table.reads == 3).all()


@pytest.mark.parametrize("chunks", [(300, 1), (300, 3)])
def test_tall_chunks_go_into_a_file(few_rows, monkeypatch, chunks):
    monkeypatch.setattr("franet.pairs.columns._kinds._LARGEST", 8 * 2000)
    table = Counted(counts(), chunks)
    found = draw_rows(ChunkedColumns(table, chunks))
    expected = draw_rows(table.X)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_allclose(found.correlations, expected.correlations, atol=1e-12)
    assert (table.reads == 1).all()
    table.X[217, 31] = np.nan
    with pytest.raises(DataError, match=r"Column 31 holds NaN in row 217"):
        draw_rows(ChunkedColumns(table, chunks))


def test_parquet_is_read_three_times(few_rows, monkeypatch, tmp_path):
    monkeypatch.setattr(_rows, "_PIECE", 8 * 45 * 50)
    table = open_columns(in_parquet(counts(), tmp_path))
    file, n_rows = table._file, []

    class Rows:
        def iter_batches(self, size, columns):
            for batch in file.iter_batches(size, columns=columns):
                n_rows.append(len(batch))
                yield batch

    table._file = Rows()
    np.testing.assert_array_equal(draw_rows(table).X, draw_rows(counts()).X)
    assert sum(n_rows) == 3 * 300
    assert max(n_rows) <= 50


def test_dask_reduces_its_chunks(few_rows, no_products):
    array = pytest.importorskip("dask.array", reason="needs dask")
    X = counts()
    expected = draw_rows(X)
    for chunks in ((300, 10), (100, 45), (17, 9), ((0, 300), (45,))):
        lazy = array.from_array(X, chunks=chunks)
        found = draw_rows(open_columns(lazy))
        np.testing.assert_array_equal(found.X, expected.X)
        filled = draw_rows(open_columns(lazy.map_blocks(sparse.csr_array)))
        np.testing.assert_array_equal(filled.X, expected.X)
    # Columns of chunks are joined only where rows are not too large.
    table = open_columns(array.from_array(X, chunks=(300, 10)))
    for nbytes, shapes in ((8 * 300, {(30, 10), (30, 5)}), (8 * 45 * 300, {(300, 45)})):
        parts = table.reduced(lambda part, **_: part.shape, nbytes, False)
        assert {shape for _, _, shape in parts} == shapes


def test_a_dask_array_of_unknown_size():
    array = pytest.importorskip("dask.array", reason="needs dask")
    lazy = array.from_array(counts(), chunks=(50, 45))
    with pytest.raises(DataError, match=r"compute_chunk_sizes\(\) first"):
        Cover(4).fit(lazy[lazy[:, 0] >= 0.0])


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-250, 1e-170, 1e170, 1e250])
def test_values_far_from_one(few_rows, monkeypatch, products, kind, unit):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 1024 if products else 8)
    X = counts()
    expected = picks(X)
    assert picks(kind(X * unit)) == expected
    assert picks(kind(X * np.where(np.arange(45) % 3, 1.0, unit))) == expected


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("mean", [1e6, 1e8])
def test_full_columns_far_from_zero(few_rows, monkeypatch, products, mean):
    monkeypatch.setattr(_rows, "FEW_FEATURES", 1024 if products else 8)
    X = counts()
    X[:, 7] = mean + np.random.default_rng(1).normal(size=300)
    X[:, 8] = mean
    expected = draw_rows(X)
    found = draw_rows(sparse.csr_array(X))
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.constant, np.arange(45) == 8)
    if products:
        np.testing.assert_allclose(
            found.correlations, expected.correlations, rtol=0, atol=1e-7
        )


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
