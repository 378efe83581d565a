"""Damage that once ended the process or came through as another library's error."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from franet.exceptions import DataError, UsageError
from franet.io import _arrays, read_table, write_table

X = np.random.default_rng(0).normal(size=(40, 6))


def refused(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        table = read_table(path, **options).X
        getattr(table, "load", lambda: None)()
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_parquet_page_with_a_negative_count(tmp_path):
    pl = pytest.importorskip("polars", reason="needs the extra polars")
    path = tmp_path / "x.parquet"
    pl.DataFrame(X).write_parquet(path, compression="uncompressed")
    data = bytearray(path.read_bytes())
    read_table(path)
    # The first page header: type, sizes, then the number of values, 40 as zigzag 80.
    at = data.index(b",\x15\x50") + 2
    data[at] = 0x4F
    path.write_bytes(data)
    refused(path, "cannot be read as parquet|crashed")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "c16"])
def test_mat_files_hold_what_scipy_wrote(tmp_path, dtype, compressed):
    path = tmp_path / "x.mat"
    array = (10 * X).astype(dtype) if dtype != "u1" else np.abs(10 * X).astype(dtype)
    scipy_io.savemat(path, {"X": array}, do_compression=compressed)
    if dtype == "c16":
        refused(path, "complex")
    else:
        np.testing.assert_array_equal(read_table(path).X, array)
        assert read_table(path).X.dtype == dtype


def test_sparse_mat_with_an_index_outside(tmp_path):
    path = tmp_path / "x.mat"
    matrix = sparse.csc_array(np.eye(4))
    scipy_io.savemat(path, {"S": matrix})
    np.testing.assert_array_equal(read_table(path).X.toarray(), np.eye(4))
    data = path.read_bytes()
    rows = np.arange(4, dtype="<i4").tobytes()
    path.write_bytes(data.replace(rows, rows[:-4] + b"\x05\x7f\0\0", 1))
    refused(path, "the sparse matrix is damaged")


@pytest.mark.parametrize("kind", ["bsr", "csr", "csc"])
def test_sparse_npz_with_an_index_outside(tmp_path, kind):
    bad = sparse.csr_array(np.eye(6)).asformat(kind)
    bad.indices[0] = 2**30
    sparse.save_npz(tmp_path / "x.npz", bad)
    refused(tmp_path / "x.npz", "the sparse matrix is damaged")


@pytest.mark.parametrize("kind", [sparse.bsr_array, sparse.csr_array])
def test_sparse_npz_without_entries_but_with_pointers(tmp_path, kind):
    """SciPy's own check passes over these, and its conversion ends the process."""
    X = kind((7, 4))
    X.indptr[2:5] = 3, 1 << 30, 5
    sparse.save_npz(tmp_path / "x.npz", X)
    with pytest.raises(DataError, match="do not ascend"):
        read_table(tmp_path / "x.npz")


@pytest.mark.parametrize("cell", ["\0006", "0.9\0"])
def test_zero_bytes_far_down_in_a_text(tmp_path, cell):
    """The first lines tell that it is text; a reader below takes zeros for ends."""
    lines = ["a\tb", *["1.5\t2.5"] * 500, f"0.5\t{cell}"]
    (tmp_path / "x.tsv").write_text("\n".join(lines))
    with pytest.raises(DataError, match="line 502 holds a zero byte"):
        read_table(tmp_path / "x.tsv")


def test_damage_is_told_when_a_piece_is_read(tmp_path, in_process, monkeypatch):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        made = file.create_dataset("X", data=X, chunks=(40, 6), compression="gzip")
        at = made.id.get_chunk_info(0).byte_offset
    data = bytearray(path.read_bytes())
    data[at : at + 20] = bytes(20)
    path.write_bytes(data)
    refused(path, "cannot be read as hdf5", lazy=0)
    with h5py.File(path, "r+") as file:
        file["Y"] = X
    np.testing.assert_array_equal(read_table(path, variable="Y").X, X)
    refused(path, "cannot be read as hdf5", lazy=0, variable="X")
    # As amid a large dataset, of which only the ends were looked at.
    monkeypatch.setattr(_arrays, "_look_through", lambda *_: None)
    refused(path, "it is cut off or damaged, write it", lazy=0, variable="X")


def test_small_files_that_claim_to_be_huge(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"0,0,0,0,0,0,0,0\n" * (5 << 20)))
    refused(path, "times the file; it is damaged or a possible decompression bomb")
    path = tmp_path / "x.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate real general\n99999999 3 1\n1 1 1\n"
    )
    refused(path, r"declared shape \(99999999, 3\) would take 6.0 GB of memory")


@pytest.mark.parametrize("lazy", [None, 0])
def test_many_chunks_that_are_not_there(tmp_path, lazy):
    zarr = pytest.importorskip("zarr", reason="needs the extra zarr")
    path = tmp_path / "x.zarr"
    zarr.create_array(path, shape=(7, 65_535), chunks=(4, 2), dtype="f8")
    refused(path, "would take 0.3 GB of memory", lazy=lazy)


def test_numbers_too_large_for_a_double_are_infinite(tmp_path):
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are doubles here")
    np.save(tmp_path / "x.npy", np.full((3, 2), np.longdouble("1e4000")))
    assert np.isinf(read_table(tmp_path / "x.npy").X).all()


def test_labels_in_quotes_between_blanks(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text('"a" "b"\n"row 1" 1 2\n"row 2" 3 NA\n')
    table = read_table(path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, np.nan]])
    assert table.names == ["a", "b"]
    path.write_text("a b\n1\u20282 3\n4 5\n")  # no blank, whatever Unicode says
    with pytest.raises(DataError, match="not numeric: 'a'"):
        read_table(path)
    path.write_text("a b c\n1 2 3\n4\u20285 6\n7 8 9\n")
    with pytest.raises(DataError, match="line 3 has 2 fields where others have 3"):
        read_table(path, index=True)


def test_formulas_come_back_as_names(tmp_path):
    names = ["=1+1", "@x", "-", "'=y", "-1.5", "plain"]
    for path in (tmp_path / "x.csv", tmp_path / "x.tsv"):
        write_table({name: [0.5, 1.5] for name in names}, path)
        assert path.read_text()[0] == "'"
        assert "'-1.5" not in path.read_text()
        assert read_table(path).names == names
    write_table({"feature": ["a\rb", "=c"]}, tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b'"feature"\n"a\rb"\n"\'=c"\n'


@pytest.mark.parametrize(
    "options",
    [{"format": 3}, {"variable": 1}, {"lazy": "a"}, {"dtype": "words"},
     {"dtype": "U3"}, {"feature_names": 3}, {"transpose": np.zeros(2)}],
    ids=str,
)  # fmt: skip
def test_arguments_of_a_wrong_type(tmp_path, options):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(UsageError, match=next(iter(options))):
        read_table(tmp_path / "x.npy", **options)
    for path in (None, 3, "", b"x.npy"):
        with pytest.raises(UsageError, match="path must be a path"):
            read_table(path)
        with pytest.raises(UsageError, match="path must be a path"):
            write_table({"a": [1]}, path)
