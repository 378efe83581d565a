"""Few features of many examples: the matrix of products against the direct way."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from franet.exceptions import DataError, UsageError
from franet.pairs.columns._kinds import ArrayColumns
from franet.pairs.similarity import _gram, open_source
from franet.pairs.similarity._gram import GramSource, Moments
from stored_tables import (
    LAZY,
    TABLE,
    assert_same,
    in_backed_matrix,
    in_hdf5_chunks,
    in_memmap,
    in_parquet,
)

RNG = np.random.default_rng(0)


def tall(m=900, n=40):
    """Return columns that are hard to centre, to scale or to tell apart."""
    X = RNG.normal(size=(m, 4)) @ RNG.normal(size=(4, n)) + RNG.normal(size=(m, n))
    X[:, 3] = 5.0
    X[:, 4] = 1e9 + 1e-3 * X[:, 5]
    X[:, 6] *= 1e305
    X[:, 7] *= 1e-305
    X[:, 9] = 1.0 - 3.0 * X[:, 8]
    X[:, 10] = np.arange(m) == m - 1
    return X


TALL = tall()


@pytest.fixture
def by_products(monkeypatch):
    monkeypatch.setattr(_gram, "_CELLS", 1)
    monkeypatch.setattr(_gram, "_TIMES", 1)
    monkeypatch.setattr(_gram, "_CHUNK", 256 * 100)
    monkeypatch.setattr(_gram, "_ROWS", 10)


def open_gram(X, similarity="correlation", **choice):
    source, constant = open_source(X, similarity, **choice)
    assert isinstance(source, GramSource)
    return source, constant


@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
@pytest.mark.parametrize("n", [40, 300])
def test_tiles_are_those_of_the_direct_way(monkeypatch, similarity, n):
    X = tall(n=n)
    direct, constant = open_source(X, similarity)
    monkeypatch.setattr(_gram, "_CELLS", 1)
    monkeypatch.setattr(_gram, "_TIMES", 1)
    monkeypatch.setattr(_gram, "_CHUNK", 256 * 100)
    monkeypatch.setattr(_gram, "_ROWS", 10)
    source, same = open_gram(X, similarity)
    np.testing.assert_array_equal(same, constant)
    blocks = -(-source.n // source.block)
    for i in range(blocks):
        for j in range(i, blocks):
            a = source.tile(i, j)
            np.testing.assert_allclose(a, direct.exact_tile(i, j), rtol=0, atol=1e-12)
            if i != j:
                np.testing.assert_array_equal(source.tile(j, i), a.T)


def test_a_fit_agrees_with_the_direct_way(monkeypatch):
    direct = FRANe(n_thresholds=20).fit(TALL)
    monkeypatch.setattr(_gram, "_CELLS", 1)
    found = FRANe(n_thresholds=20).fit(TALL)
    assert found.winner_ == direct.winner_
    np.testing.assert_array_equal(found.n_edges_, direct.n_edges_)
    np.testing.assert_allclose(found.thresholds_, direct.thresholds_, atol=1e-12)
    np.testing.assert_allclose(found.scores_, direct.scores_, rtol=1e-11)


@pytest.mark.filterwarnings("ignore:.*have no edge at the winning threshold")
@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", LAZY)
def test_every_storage_has_the_same_bits(
    by_products, storage, dtype, similarity, tmp_path
):
    X = TABLE.astype(dtype)
    open_gram(X, similarity)
    choice = {"similarity": similarity, "n_thresholds": 20}
    expected = FRANe(n_jobs=1, **choice).fit(X)
    assert_same(FRANe(n_jobs=3, **choice).fit(storage(X, tmp_path)), expected)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_matrices_too_large_for_memory(
    by_products, monkeypatch, format, tmp_path
):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(300, 40, 0.08, format=format, random_state=0)
    anndata.AnnData(X).write_h5ad(tmp_path / "table.h5ad")
    backed = anndata.read_h5ad(tmp_path / "table.h5ad", backed="r")
    monkeypatch.setattr("franet.pairs.similarity._fits", lambda table, budget: False)
    found = FRANe(n_thresholds=20).fit(backed)
    assert_same(found, FRANe(n_thresholds=20).fit(X.toarray()))
    in_memory = FRANe(n_thresholds=20).fit(X)
    assert found.winner_ == in_memory.winner_
    np.testing.assert_allclose(found.scores_, in_memory.scores_, rtol=1e-11)


def test_tiles_in_a_file_are_those_in_memory(by_products):
    table = ArrayColumns(tall(n=600))
    moments = Moments.of(table, 100, 10**6)
    kept = GramSource(table, moments, False, 10**9, 10**6, 1)
    assert kept.nbytes == 6 * 8 * 256**2
    stored = GramSource(table, moments, False, 2 * 8 * 256**2, 10**4, 2)
    assert stored.nbytes == 2 * 8 * 256**2
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2)):
        np.testing.assert_array_equal(stored.tile(i, j), kept.tile(i, j))
    stored.close()


@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
@pytest.mark.parametrize(
    "storage", [in_memmap, in_hdf5_chunks, in_parquet, in_backed_matrix]
)
def test_the_first_column_with_a_bad_value_is_named(
    by_products, storage, similarity, tmp_path
):
    X = TABLE.copy()
    # Row by row, the value of the later column comes first.
    X[1, 30] = X[40, 20] = X[59, 20] = np.nan
    name = r"'gene 20' \(20\)" if storage is in_parquet else "20"
    with pytest.raises(DataError, match=rf"^Column {name} holds NaN in row 40\."):
        FRANe(similarity=similarity).fit(storage(X, tmp_path))


def test_constant_tables_are_refused(by_products):
    with pytest.raises(DataError, match="All columns are constant"):
        open_source(np.ones((30, 4)), "correlation")


def test_too_little_memory_is_told_before_the_work(by_products):
    with pytest.raises(UsageError, match=r"at least 0\.\d+ GB are needed"):
        open_source(TALL, "correlation", max_memory=10**6)


def test_the_way_is_chosen_by_shape():
    assert _gram.suits_gram((200_000, 1000))
    assert not _gram.suits_gram((2000, 100))
    assert not _gram.suits_gram((20_000, 10_000))
