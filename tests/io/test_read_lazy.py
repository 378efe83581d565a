"""Files that are opened, not read; arrays in HDF5 files and zarr folders."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from franet.exceptions import DataError, UsageError
from franet.io import read_table
from franet.pairs.columns import Columns
from stored_tables import NAMES, TABLE, assert_same, in_backed, in_parquet, in_zarr


def write_npy(folder):
    np.save(folder / "table.npy", TABLE)
    return folder / "table.npy"


def write_hdf5(folder):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    with h5py.File(folder / "table.h5", "w") as file:
        file["data/counts"] = TABLE
        file["labels"] = np.arange(60)
        file["title"] = "a table"
    return folder / "table.h5"


def write_zarr(folder):
    in_zarr(TABLE, folder)
    return folder / "table.zarr"


def write_h5ad(folder):
    in_backed(TABLE, folder).file.close()
    return folder / "table.h5ad"


def write_parquet(folder):
    in_parquet(TABLE, folder).close()
    return folder / "table.parquet"


WRITERS = [write_npy, write_hdf5, write_zarr, write_h5ad, write_parquet]


@pytest.mark.parametrize("write", WRITERS)
def test_large_tables_are_opened_only(write, tmp_path):
    path = write(tmp_path)
    read = read_table(path)
    np.testing.assert_array_equal(read.X, TABLE)
    assert isinstance(read.X, np.ndarray)
    opened = read_table(path, lazy=1000)
    assert isinstance(opened.X, Columns)
    assert opened.names == read.names
    assert opened.names == (NAMES if write in (write_h5ad, write_parquet) else None)
    assert_same(
        FRANe(n_thresholds=20).fit(opened.X), FRANe(n_thresholds=20).fit(read.X)
    )


@pytest.mark.parametrize("write", WRITERS)
def test_all_is_read_where_it_must_be(write, tmp_path):
    path = write(tmp_path)
    assert isinstance(read_table(path, lazy=10**9).X, np.ndarray)
    assert read_table(path, lazy=1000, dtype=np.float32).X.dtype == np.float32
    turned = read_table(path, lazy=1000, transpose=True)
    np.testing.assert_array_equal(turned.X, TABLE.T)


def test_parquet_labels_are_no_features(tmp_path):
    pandas = pytest.importorskip("pandas", reason="needs the extra pandas")
    path = tmp_path / "frame.parquet"
    rows = [f"r{i}" for i in range(60)]
    pandas.DataFrame(TABLE, index=rows, columns=NAMES).to_parquet(path)
    opened = read_table(path, lazy=1000)
    assert isinstance(opened.X, Columns)
    assert opened.names == NAMES
    frame = pandas.DataFrame(TABLE, columns=NAMES)
    frame.to_parquet(path, index=False)
    assert read_table(path, lazy=1000, index=True).names == NAMES[1:]
    assert read_table(path, lazy=1000, index=False).names == NAMES
    # Text and labels by their words are told apart by reading.
    frame.insert(0, "who", rows)
    frame.to_parquet(path, index=False)
    assert isinstance(read_table(path, lazy=1000).X, np.ndarray)


def test_one_of_several_arrays(tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    group = zarr.open_group(tmp_path / "several.zarr", mode="w")
    for name, X in (("a", TABLE), ("b", 2 * TABLE)):
        group.create_array(name, data=X)
    path = tmp_path / "several.zarr"
    with pytest.raises(DataError, match="holds several variables"):
        read_table(path)
    np.testing.assert_array_equal(read_table(path, variable="b").X, 2 * TABLE)
    with pytest.raises(UsageError, match="has no variable 'c'"):
        read_table(path, variable="c")


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(DataError, match="cannot be read as zarr"):
        read_table(tmp_path / "empty.zarr")
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(DataError, match="is not a HDF5 file"):
        read_table(tmp_path / "text.h5")
    np.save(tmp_path / "cube.npy", np.ones((9, 9, 9)))
    with pytest.raises(DataError, match=r"cube\.npy: Expected a table"):
        read_table(tmp_path / "cube.npy", lazy=10)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a directory"):
        read_table(tmp_path / "folder.csv")
