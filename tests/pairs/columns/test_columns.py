"""Tables of every kind of storage: the same pieces, and the same bits after a fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet import Cover, FRANe, rankers
from franet.exceptions import DataError, UsageError
from franet.pairs.columns import Columns, open_columns
from stored_tables import (
    LAZY,
    NAMES,
    STORAGES,
    TABLE,
    assert_same,
    in_backed,
    in_backed_matrix,
    in_hdf5,
    in_parquet,
    in_torch,
)

DTYPES = [np.float64, np.float32, np.int16, ">f4"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", LAZY)
def test_pieces_are_those_of_the_array(storage, dtype, tmp_path):
    if dtype == ">f4" and storage in (in_parquet, in_backed, in_backed_matrix):
        pytest.skip("has no foreign byte order")
    X = (10 * TABLE).astype(dtype)
    table = open_columns(storage(X, tmp_path))
    assert isinstance(table, Columns)
    assert table.shape == X.shape
    kept = np.float32 if np.dtype(dtype) == np.float32 else np.float64
    assert table.dtype == kept
    part = table.read(5, 17)
    assert part.dtype == kept
    np.testing.assert_array_equal(part, X[:, 5:17])
    np.testing.assert_array_equal(table.read_rows(3, 20), X[3:20])
    np.testing.assert_array_equal(table.load(), X)
    assert table.has_columns or table.has_rows
    pieces = list(table.pieces(8 * 60 * 13))
    assert len(pieces) > 2
    np.testing.assert_array_equal(np.hstack([part for _, part in pieces]), X)
    pieces = list(table.row_pieces(8 * 45 * 11))
    assert len(pieces) > 2
    assert_rows(pieces, X)
    for rows in (8, 25):
        pieces = list(table.chunks(rows, 8 * 45 * 11))
        assert {len(part) for _, part in pieces[:-1]} == {rows}
        assert_rows(pieces, X)


def assert_rows(pieces, X):
    np.testing.assert_array_equal(np.vstack([part for _, part in pieces]), X)
    ends = np.cumsum([len(part) for _, part in pieces])
    assert [at for at, _ in pieces] == [0, *ends[:-1]]


@pytest.mark.filterwarnings("ignore:.*have no edge at the winning threshold")
@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
def test_a_fit_has_the_same_bits(storage, dtype, similarity, tmp_path):
    X = TABLE.astype(dtype)
    expected = FRANe(similarity=similarity, n_thresholds=20).fit(X)
    table = storage(X, tmp_path)
    found = FRANe(similarity=similarity, n_thresholds=20).fit(table)
    assert_same(found, expected)
    named = storage in (in_parquet, in_backed)
    assert hasattr(found, "feature_names_in_") is named
    if named:
        assert list(found.feature_names_in_) == NAMES
    if (
        storage is not in_torch
        and storage is not in_parquet
        and storage is not in_backed
    ):
        np.testing.assert_array_equal(np.asarray(table), X)


@pytest.mark.parametrize("fill", [0.05, 0.5])
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
def test_sparse_matrices_in_files(format, fill, similarity, tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    X = sparse.random(80, 40, fill, format=format, random_state=0, dtype=np.float32)
    anndata.AnnData(X).write_h5ad(tmp_path / "table.h5ad")
    backed = anndata.read_h5ad(tmp_path / "table.h5ad", backed="r")
    expected = FRANe(similarity=similarity, n_thresholds=20).fit(X)
    assert_same(FRANe(similarity=similarity, n_thresholds=20).fit(backed.X), expected)
    table = open_columns(backed)
    np.testing.assert_array_equal(table.read(3, 9), X.toarray()[:, 3:9])
    np.testing.assert_array_equal(table.read_rows(3, 9), X.toarray()[3:9])


def test_anndata_in_memory_and_views(tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    adata = anndata.AnnData(TABLE.copy())
    adata.var_names = NAMES
    expected = FRANe(n_thresholds=20).fit(TABLE)
    found = FRANe(n_thresholds=20).fit(adata)
    assert_same(found, expected)
    assert list(found.feature_names_in_) == NAMES
    view = in_backed(TABLE, tmp_path)[:, :20]
    found = FRANe(n_thresholds=20).fit(view)
    assert_same(found, FRANe(n_thresholds=20).fit(TABLE[:, :20]))
    assert list(found.feature_names_in_) == NAMES[:20]


@pytest.mark.parametrize("storage", LAZY)
def test_what_needs_all_of_the_table_reads_it(storage, tmp_path):
    table = storage(TABLE, tmp_path)
    for ranker in (
        Cover(),
        FRANe(similarity="euclidean", n_thresholds=20),
        FRANe(missing="pairwise", n_thresholds=20),
        rankers.Variance(),
    ):
        expected = ranker.fit(TABLE).scores_
        # Sums of columns and of rows are rounded differently.
        np.testing.assert_allclose(ranker.fit(table).scores_, expected, rtol=1e-12)


def test_what_does_not_fit_is_refused(tmp_path):
    table = in_hdf5(TABLE, tmp_path)
    ranker = FRANe(similarity="euclidean", max_memory=1000)
    with pytest.raises(UsageError, match=r"max_memory=1000. FRANe\(simil"):
        ranker.fit(table)


def test_a_ranker_without_a_limit_names_what_is_free(monkeypatch, tmp_path):
    X = in_hdf5(TABLE, tmp_path)
    monkeypatch.setattr("franet.estimators._validation.available_bytes", lambda: 1000)
    with pytest.raises(UsageError, match="more than the 1e-06 GB that are free") as err:
        rankers.ColumnSubset().fit(X)
    assert "max_memory" not in str(err.value)
    monkeypatch.setattr("franet.cover._rows.available_bytes", lambda: 1000)
    with pytest.raises(UsageError, match="more than the 1e-06 GB that are free"):
        Cover().fit(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
@pytest.mark.parametrize("storage", STORAGES)
def test_bad_values_are_named(storage, similarity, value, tmp_path):
    X = TABLE.copy()
    X[50, 30] = X[40, 20] = X[41, 20] = X[2, 21] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    name = r"'gene 20' \(20\)" if storage in (in_parquet, in_backed) else "20"
    with pytest.raises(DataError, match=rf"^Column {name} holds {kind}.* in row 40\."):
        FRANe(similarity=similarity).fit(storage(X, tmp_path))


def test_bad_tables_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    file = h5py.File(tmp_path / "bad.h5", "w")
    for name, bad, message in (
        ("cube", np.ones((3, 3, 3)), "got 3 dimension"),
        ("row", np.ones((1, 3)), "minimum of 2 is required by FRANe"),
        ("column", np.ones((3, 1)), "minimum of 2 is required by FRANe"),
        ("complex", np.ones((3, 3), complex), "Complex data not supported"),
        ("text", np.full((3, 3), b"a"), "not numbers"),
        ("constant", np.ones((3, 3)), "All columns are constant"),
    ):
        with pytest.raises(DataError, match=message):
            FRANe().fit(file.create_dataset(name, data=bad))


def test_parquet_files_with_text_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = tmp_path / "text.parquet"
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "b": ["x", "y"]}), path)
    with pytest.raises(DataError, match=r"Column 'b' \(1\) does not hold numbers"):
        FRANe().fit(parquet.ParquetFile(path))
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "b": [3, None]}), path)
    with pytest.raises(DataError, match=r"Column 'b' \(1\) holds NaN in row 1"):
        FRANe().fit(parquet.ParquetFile(path))


def test_private_changes_to_a_mapped_file_count(tmp_path):
    np.save(tmp_path / "table.npy", TABLE)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="c")
    mapped[:, 3] = np.arange(60)
    changed = TABLE.copy()
    changed[:, 3] = np.arange(60)
    assert open_columns(mapped) is None
    assert_same(FRANe(n_thresholds=20).fit(mapped), FRANe(n_thresholds=20).fit(changed))


def test_changes_to_a_shared_file_are_not_lost(tmp_path):
    np.save(tmp_path / "table.npy", TABLE)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r+")
    mapped[:, 3] = np.arange(60)
    part = mapped[10:, 3:20]
    np.testing.assert_array_equal(
        open_columns(part).read(0, 1)[:, 0], np.arange(10, 60)
    )
    np.testing.assert_array_equal(mapped[:, 3], np.arange(60))
    np.testing.assert_array_equal(np.load(tmp_path / "table.npy")[:, 3], np.arange(60))


def test_arrays_in_memory_are_not_columns():
    for X in (TABLE, TABLE.tolist(), sparse.csr_array(TABLE), np.asarray(TABLE)[0]):
        assert open_columns(X) is None
