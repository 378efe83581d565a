"""AnnData under other endings than .h5ad, and sparse matrices in HDF5 files."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from franet import FRANe
from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io import read_table
from franet.pairs.columns import Columns
from stored_tables import NAMES, TABLE, assert_same

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
zarr = pytest.importorskip("zarr", reason="needs the extra zarr")

MAKES = [np.asarray, sparse.csr_matrix, sparse.csc_matrix]


def write(path, make=sparse.csr_matrix, **more):
    """Write cells with principal components, which are no table of genes."""
    data = anndata.AnnData(None if make is None else make(TABLE), **more)
    if make is not None:
        data.var_names, data.obsm["X_pca"] = NAMES, TABLE[:, :10]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the version of zarr to come
        data.write_zarr(path) if path.suffix == ".zarr" else data.write_h5ad(path)
    return path


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_genes_are_read_with_their_names(tmp_path, name, make):
    path = write(tmp_path / name, make, layers={"raw": make(2 * TABLE)})
    for variable in (None, "X"):
        table = read_table(path, variable=variable)
        np.testing.assert_array_equal(dense(table.X), TABLE)
        assert table.names == NAMES
        assert sparse.issparse(table.X) == (make is not np.asarray)
    doubled = read_table(path, variable="raw")
    np.testing.assert_array_equal(dense(doubled.X), 2 * TABLE)
    turned = read_table(path, transpose=True)
    np.testing.assert_array_equal(dense(turned.X), TABLE.T)
    assert turned.names == [str(i) for i in range(len(TABLE))]
    with pytest.raises(UsageError, match="has no layer 'log'; it has X, raw"):
        read_table(path, variable="log")


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_large_ones_are_opened_only(tmp_path, name, make):
    path = write(tmp_path / name, make)
    opened = read_table(path, lazy=1000)
    assert isinstance(opened.X, Columns)
    assert opened.names == NAMES
    ranker = FRANe(n_thresholds=20)
    expected = FRANe(n_thresholds=20).fit(read_table(path).X)
    if make is np.asarray:
        assert_same(ranker.fit(opened.X), expected)
    else:
        np.testing.assert_array_equal(ranker.fit(opened.X).ranking_, expected.ranking_)


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_without_x(tmp_path, name):
    path = write(tmp_path / name, None, layers={"raw": TABLE})
    with pytest.raises(DataError, match=r"has no X; choose a layer .*: raw"):
        read_table(path)


def test_other_arrays_of_a_hdf5_file_have_to_be_named(tmp_path):
    path = write(tmp_path / "x.h5")
    table = read_table(path, variable="obsm/X_pca")
    np.testing.assert_array_equal(table.X, TABLE[:, :10])
    assert table.names is None


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_missing_extra(tmp_path, without, name):
    path = write(tmp_path / name)
    without("anndata")
    with pytest.raises(MissingExtraError, match=r"franet\[anndata\]"):
        read_table(path)


# Newer versions of zarr say so of folders in the newest format.
@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
def test_a_folder_that_would_grow(tmp_path):
    path = write(tmp_path / "x.zarr", np.asarray)
    group = zarr.open_group(path, mode="r+")
    attributes = dict(group["X"].attrs)
    del group["X"]
    huge = group.create_array("X", shape=(10**6, 45), chunks=(10**5, 45), dtype="f8")
    huge.attrs.update(attributes)
    zarr.consolidate_metadata(path)
    with pytest.raises(DataError, match=r"would take 0\.4 GB of memory"):
        read_table(path)


def write_10x(path, group="matrix"):
    X = sparse.csc_matrix(TABLE)
    with h5py.File(path, "w") as file:
        for name in ("data", "indices", "indptr", "shape"):
            file[f"{group}/{name}"] = np.array(getattr(X, name))
        file[f"{group}/features/name"] = NAMES
    return path


@pytest.mark.parametrize("variable", [None, "matrix", "/matrix/"])
def test_sparse_matrix_of_10x(tmp_path, variable):
    path = write_10x(tmp_path / "x.h5")
    with pytest.raises(DataError) as caught:
        read_table(path, variable=variable)
    said = str(caught.value)
    assert said.startswith(f"{path}: matrix is a sparse matrix")
    assert "scanpy.read_10x_h5" in said and "write_h5ad" in said
    assert "--variable" not in said and "\n" not in said


def test_a_table_beside_a_sparse_matrix_has_to_be_named(tmp_path):
    path = write_10x(tmp_path / "x.h5", "X")
    with h5py.File(path, "a") as file:
        file["pca"] = TABLE
    with pytest.raises(DataError, match=r"X is a sparse matrix.*; choose .*--variable"):
        read_table(path)
    np.testing.assert_array_equal(read_table(path, variable="pca").X, TABLE)


def test_nothing_to_choose_from(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["b"], file["c"] = np.ones(3), 4.0, np.ones((2, 2, 2))
    with pytest.raises(DataError) as caught:
        read_table(tmp_path / "x.h5")
    said = str(caught.value)
    assert "no array with rows and columns" in said
    assert "a (3), b (a number), c (2×2×2)" in said
    assert "--variable" not in said


def test_raw(tmp_path):
    adata = anndata.AnnData(sparse.csr_matrix(np.arange(12.0).reshape(3, 4)))
    adata.var_names = list("abcd")
    adata.raw = adata
    part = adata[:, :2].copy()
    part.X = part.X * 2.0
    part.write_h5ad(tmp_path / "a.h5ad")
    table = read_table(tmp_path / "a.h5ad", variable="raw")
    assert table.names == list("abcd")
    np.testing.assert_array_equal(table.X.toarray(), adata.X.toarray())
    assert read_table(tmp_path / "a.h5ad").names == list("ab")
    part.layers["raw"] = part.X * 3.0
    part.write_h5ad(tmp_path / "a.h5ad")
    layer = read_table(tmp_path / "a.h5ad", variable="raw")
    assert layer.names == list("ab")
    del part.layers["raw"], part.raw
    part.write_h5ad(tmp_path / "a.h5ad")
    with pytest.raises(UsageError, match="has no layer 'raw'"):
        read_table(tmp_path / "a.h5ad", variable="raw")
