"""Tables in every kind of storage, and fits that are to be the same bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tables import blocks

TABLE = blocks(m=60, n=45)
TABLE[:, 7] = 3.0
NAMES = [f"gene {j}" for j in range(TABLE.shape[1])]


def in_memmap(X, folder, order="C"):
    path = folder / "table.npy"
    np.save(path, np.asarray(X, order=order))
    return np.load(path, mmap_mode="r")


def in_mapped_columns(X, folder):
    return in_memmap(X, folder, "F")


def in_hdf5(X, folder):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    return h5py.File(folder / "table.h5", "w").create_dataset("X", data=X)


def in_hdf5_chunks(X, folder):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    file = h5py.File(folder / "chunks.h5", "w")
    return file.create_dataset("X", data=X, chunks=(7, 11), compression="gzip")


def in_zarr(X, folder):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    found = zarr.create_array(
        folder / "table.zarr", shape=X.shape, chunks=(13, 8), dtype=X.dtype
    )
    found[:] = X
    return found


def in_dask(X, folder):
    array = pytest.importorskip("dask.array", reason="needs dask")
    return array.from_array(X, chunks=(17, 9))


def in_parquet(X, folder):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = folder / "table.parquet"
    parquet.write_table(
        pyarrow.table(dict(zip(NAMES, X.T, strict=True))), path, row_group_size=25
    )
    return parquet.ParquetFile(path)


def in_backed(X, folder):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    adata = anndata.AnnData(X)
    adata.var_names = NAMES
    adata.write_h5ad(folder / "table.h5ad")
    return anndata.read_h5ad(folder / "table.h5ad", backed="r")


def in_backed_matrix(X, folder):
    return in_backed(X, folder).X


def in_torch(X, folder):
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    return torch.tensor(np.asarray(X)).requires_grad_(X.dtype.kind == "f")


LAZY = [
    in_memmap, in_mapped_columns, in_hdf5, in_hdf5_chunks, in_zarr, in_dask,
    in_parquet, in_backed, in_backed_matrix,
]  # fmt: skip
STORAGES = [*LAZY, in_torch]


def assert_same(found, expected):
    """Every number is the same, bit for bit."""
    for name in ("scores_", "thresholds_", "n_edges_", "ranking_", "constant_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.quality_, expected.quality_)
    assert found.winner_ == expected.winner_
    ours, others = found.network_.adjacency, expected.network_.adjacency
    assert (ours != others).nnz == 0
