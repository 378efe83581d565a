"""Files that would run code, open other files or take all memory, one of each format.

HDF5 and zarr have files of their own.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import sqlite3
import struct
import warnings
from contextlib import closing

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from franet import FRANe
from franet.evaluation.store import ResultsStore
from franet.exceptions import DataError
from franet.io import read_table

MANY = 2_000_000_000
X = np.random.default_rng(0).normal(size=(30, 6))


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


@pytest.fixture
def mark(tmp_path):
    """Give the folder that code in a file would make, and see that it is not there."""
    yield (path := tmp_path / "sprung")
    assert not path.exists()


def refused(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        read_table(path, **options)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


# Shapes


def few(shape, kind="csr"):
    """Return a matrix of a shape, which stores three numbers; no axis is stored."""
    long = shape[0] > shape[1]
    kind = {"csr": "csc"}.get(kind, kind) if long else kind
    rows, columns = np.arange(3), np.arange(3)
    return sparse.coo_array(([1.0, 2, 3], (rows, columns)), shape=shape).asformat(kind)


def npz(path, shape):
    sparse.save_npz(path, few(shape))


def npz_coo(path, shape):
    sparse.save_npz(path, few(shape, "coo"))


def mtx(path, shape):
    path.write_text(
        "%%MatrixMarket matrix coordinate real general\n"
        f"{shape[0]} {shape[1]} 2\n1 1 1.5\n3 2 2.5\n"
    )


def mtx_symmetric(path, shape):
    text = f"%%MatrixMarket matrix array real symmetric\n{shape[0]} {shape[1]}\n1\n2\n"
    path.write_text(text)


def mtx_gzipped(path, shape):
    mtx(path, shape)
    path.write_bytes(gzip.compress(path.read_bytes()))


def libsvm(path, shape):
    path.write_text(f"1 1:2\n0 2:3\n1 1:2 {shape[1]}:4\n")


def libsvm_gzipped(path, shape):
    libsvm(path, shape)
    path.write_bytes(gzip.compress(path.read_bytes()))


def mat4(path, shape):
    cells = np.array([[1, 1, 1.5], [3, 2, 2.5], [*shape, 0]])
    head = struct.pack("<5i", 2, 3, 3, 0, 2) + b"X\0"
    path.write_bytes(head + cells.T.tobytes())


def mat5(path, shape):
    small = sparse.csc_array(([1.0, 2], ([0, 2], [0, 1])), shape=(77, 3))
    scipy_io.savemat(path, {"X": small})
    old, new = struct.pack("<2i", 77, 3), struct.pack("<2i", *shape)
    assert path.read_bytes().count(old) == 1
    path.write_bytes(path.read_bytes().replace(old, new))


def mat73(path, shape):
    h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = np.uint64(shape[0])
        group["data"], group["ir"], group["jc"] = [1.0, 2], [0, 2], [0, 1, 2, 2]


def in_anndata(path, shape):
    """Write AnnData whose matrix declares another shape than its names have."""
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    kind = sparse.csc_matrix if shape[0] > shape[1] else sparse.csr_matrix
    adata = anndata.AnnData(kind(np.eye(3)))
    if path.suffix == ".zarr":
        zarr = pytest.importorskip("zarr", reason="needs the extra zarr")
        with warnings.catch_warnings(), anndata.settings.override(zarr_write_format=3):
            warnings.simplefilter("ignore")  # about metadata that it consolidates
            adata.write_zarr(path)
        zarr.open_group(path, mode="r+", use_consolidated=False)["X"].attrs["shape"] = (
            list(shape)
        )
        about = json.loads((path / "zarr.json").read_text())
        about.pop("consolidated_metadata")
        (path / "zarr.json").write_text(json.dumps(about))
    else:
        h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")
        adata.write_h5ad(path)
        with h5py.File(path, "r+") as file:
            file["X"].attrs["shape"] = list(shape)


WIDE, LONG = (3, MANY), (MANY, 3)
SHAPES = [
    ("npz", npz, WIDE), ("npz", npz, LONG), ("npz", npz_coo, (MANY, MANY)),
    ("mtx", mtx, WIDE), ("mtx", mtx, LONG), ("mtx", mtx_symmetric, (MANY, MANY)),
    ("mtx.gz", mtx_gzipped, WIDE),
    ("libsvm", libsvm, WIDE), ("libsvm.gz", libsvm_gzipped, WIDE),
    ("mat", mat4, WIDE), ("mat", mat4, LONG), ("mat", mat5, LONG), ("mat", mat73, LONG),
    ("h5ad", in_anndata, WIDE), ("h5ad", in_anndata, LONG), ("h5", in_anndata, WIDE),
    ("zarr", in_anndata, WIDE), ("zarr", in_anndata, LONG),
]  # fmt: skip


@pytest.mark.parametrize("lazy", [None, 0])
@pytest.mark.parametrize(("ending", "make", "shape"), SHAPES)
def test_few_numbers_of_a_huge_declared_shape(tmp_path, ending, make, shape, lazy):
    path = tmp_path / f"x.{ending}"
    make(path, shape)
    assert sum(f.stat().st_size for f in [path, *path.rglob("*")]) < 100_000
    # anndata counts names before the shape comes here.
    words = re.escape(f"declared shape ({shape[0]}, {shape[1]})")
    refused(path, str(MANY) if ending.startswith("h5") else words, lazy=lazy)


@pytest.mark.parametrize("shape", [(3, 1 << 20), (20_000, 30_000), (1 << 20, 3)])
@pytest.mark.parametrize(
    ("ending", "make"), [("npz", npz), ("mtx", mtx), ("libsvm", libsvm)]
)
def test_empty_columns_and_rows_are_read(tmp_path, shape, ending, make):
    # Such as hashed words of a few documents.
    path = tmp_path / f"x.{ending}"
    make(path, shape)
    assert read_table(path).X.shape[1] == shape[1]


@pytest.mark.parametrize("kind", ["npz", "zarr"])
def test_empty_dense_tables_of_a_huge_shape(tmp_path, kind):
    # 40 MB of zeros as bytes; their columns would take far more.
    path = tmp_path / f"x.{kind}"
    if kind == "npz":
        np.savez_compressed(path, np.zeros((2, 20_000_000), np.uint8))
    else:
        zarr = pytest.importorskip("zarr", reason="needs the extra zarr")
        zarr.create_array(
            path, shape=(2, 20_000_000), chunks=(2, 1_000_000), dtype="u1"
        )
    refused(path, r"declared shape \(2, 20000000\)")


# Code


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_objects_of_numpy(tmp_path, mark, kind):
    path = tmp_path / f"x.{kind}"
    {"npy": np.save, "npz": np.savez}[kind](path, np.array([[Trap(str(mark))]], object))
    refused(path, "Python objects, which are never loaded")
    if kind == "npy":
        refused(path, "Python objects, which are never loaded", lazy=0)


@pytest.mark.parametrize("part", ["format", "data"])
def test_objects_in_a_sparse_npz(tmp_path, mark, part):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, few((3, 4)))
    with np.load(path) as file:
        parts = dict(file)
    np.savez(path, **{**parts, part: np.array([Trap(str(mark))] * 3, object)})
    refused(path, "cannot be read as npz|Python objects")


@pytest.mark.parametrize(
    ("number", "word"),
    [(1, "cell"), (2, "struct"), (3, "object"), (16, "function"), (17, "opaque")],
)
def test_objects_of_matlab(tmp_path, number, word):
    path = tmp_path / "x.mat"
    scipy_io.savemat(path, {"X": np.eye(3)})
    data = bytearray(path.read_bytes())
    at = data.index(struct.pack("<2i", 6, 8)) + 8
    assert data[at] == 6  # the class of the array
    data[at] = number
    path.write_bytes(data)
    refused(path, f"{word} values, not numbers|shape|cannot be read as mat")


def test_pickles_in_matlab_files(tmp_path, mark):
    for data in (pickle.dumps(Trap(str(mark))), b"\0\0\0\0" + pickle.dumps(X)):
        (tmp_path / "x.mat").write_bytes(data)
        refused(tmp_path / "x.mat", "mat")


EXTENSIONS = ["arrow.py_extension_type", "POLARS_EXTENSION_TYPE", "franet.unknown"]


def write_extension(path, name, value):
    """Write a column whose type a library may look up by its name."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    known = {"ARROW:extension:name": name, "ARROW:extension:metadata": value}
    columns = [
        pa.field("a", pa.float64(), metadata=known),
        pa.field("b", pa.float64()),
    ]
    table = pa.table([pa.array([1.0, 2.0])] * 2, schema=pa.schema(columns))
    if path.suffix == ".parquet":
        from pyarrow.parquet import write_table

        write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize("name", EXTENSIONS)
@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("options", [{}, {"lazy": 0}, {"text": True}], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_types_that_arrow_files_name(tmp_path, mark, name, kind, options):
    pytest.importorskip("polars", reason="needs the extra polars")
    path = tmp_path / f"x.{kind}"
    write_extension(path, name, pickle.dumps(Trap(str(mark)), protocol=0))
    try:
        X = read_table(path, **options).X
        X = X.load() if hasattr(X, "load") else X
        np.testing.assert_array_equal(getattr(X, "values", X), [[1, 1], [2, 2]])
    except DataError as err:
        assert str(err).startswith(str(path))


def test_pyarrow_that_unpickles_types_is_not_used(tmp_path, in_process, monkeypatch):
    pytest.importorskip("polars", reason="needs the extra polars")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    import polars as pl
    import pyarrow

    path = tmp_path / "x.parquet"
    pl.DataFrame(X).write_parquet(path)
    monkeypatch.setattr(pyarrow, "__version__", "14.0.0")
    monkeypatch.setattr(parquet, "ParquetFile", None)
    np.testing.assert_array_equal(read_table(path, lazy=0).X, X)


@pytest.mark.parametrize("kind", ["file", "stream", "parquet"])
@pytest.mark.parametrize("column", ["zeros", "text", "dictionary"])
def test_arrow_files_that_unpack_to_far_more(tmp_path, kind, column):
    pytest.importorskip("polars", reason="needs the extra polars")
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow.parquet import write_table

    text = "x" * (1 << 28)
    values = {
        "zeros": lambda: pa.array(np.zeros(1 << 24)),
        "text": lambda: pa.array([text, None]),
        "dictionary": lambda: pa.array([text, None]).dictionary_encode(),
    }[column]()
    table = pa.table({"a": values})
    path = tmp_path / ("x.parquet" if kind == "parquet" else "x.feather")
    if kind == "parquet":
        write_table(table, path, compression="zstd", write_statistics=False)
    else:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        packed = pa.ipc.IpcWriteOptions(compression="zstd")
        with new(path, table.schema, options=packed) as writer:
            writer.write_table(table)
    assert path.stat().st_size < 200_000
    refused(path, "possible decompression bomb")


def test_a_batch_that_an_arrow_file_names_again_and_again(tmp_path):
    pytest.importorskip("polars", reason="needs the extra polars")
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    path = tmp_path / "x.feather"
    table = pa.table({f"x{j}": [0.0] for j in range(200)})
    with pa.ipc.new_file(path, table.schema) as writer:
        for _ in range(100):
            writer.write_table(table)
    assert read_table(path).X.shape == (100, 200)
    data = path.read_bytes()
    (size,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = data[-10 - size :]
    block = struct.Struct("<qi4xq")
    first = footer.index(struct.pack("<I", 100)) + 4
    at, head, body = block.unpack_from(footer, first)
    blocks = 100 * footer[first : first + block.size]
    footer = footer[:first] + blocks + footer[first + len(blocks) :]
    path.write_bytes(data[: at + head + body] + footer)
    # As large as it seems, which is harmless.
    assert read_table(path).X.shape == (100, 200)


def test_pickles_beside_the_matrix_of_anndata(tmp_path, mark):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    path = tmp_path / "x.h5ad"
    data = pickle.dumps(Trap(str(mark)), protocol=0)
    adata = anndata.AnnData(X.copy())
    adata.uns["text"] = data.decode()
    adata.uns["bytes"] = np.frombuffer(data, np.uint8)
    adata.write_h5ad(path)
    import h5py

    with h5py.File(path, "r+") as file:
        file["uns"].attrs["pickle"] = np.void(data)
        file["uns/void"] = np.void(data)
    np.testing.assert_array_equal(read_table(path).X, X)


CODE = "__import__('os').mkdir({!r})"
TEXTS = {
    "csv": "a,b\n1,{}\n2,3\n", "tsv": "a\tb\n1\t{}\n2\t3\n", "txt": "a b\n1 {}\n2 3\n",
    "mtx": "%%MatrixMarket matrix array real general\n1 2\n1\n{}\n",
    "libsvm": "1 1:{}\n2 1:4\n",
    "arff": "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1,{}\n",
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", TEXTS)
def test_code_instead_of_numbers(tmp_path, mark, kind, packed):
    path = tmp_path / f"x.{kind}{'.gz' * packed}"
    text = TEXTS[kind].format(CODE.format(str(mark))).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    refused(path, "x")


def test_dates_and_relations_of_arff(tmp_path, mark):
    path = tmp_path / "x.arff"
    for kind in (f'date "{CODE.format(str(mark))}"', "relational", "string"):
        path.write_text(f"@relation r\n@attribute a {kind}\n@data\n1\n")
        refused(path, "x.arff")


def test_names_inside_gzipped_files(tmp_path):
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "x.csv.gz"
    with path.open("wb") as file:
        with gzip.GzipFile("../../made.csv", "wb", fileobj=file) as packed:
            packed.write(b"a,b\n1,2\n3,4\n")
    np.testing.assert_array_equal(read_table(path).X, [[1, 2], [3, 4]])
    assert [each.name for each in tmp_path.rglob("*")] == ["inner", "x.csv.gz"]


@pytest.mark.parametrize("name", ["table.npy", "00001.npz", "about.json"])
def test_pickles_in_a_checkpoint(tmp_path, mark, name):
    folder = tmp_path / "checkpoint"
    FRANe(n_thresholds=5, checkpoint=folder).fit(X)
    trap = np.array([Trap(str(mark))], object)
    with (folder / name).open("wb") as file:
        if name.endswith("y"):
            np.save(file, trap)
        elif name.endswith("z"):
            np.savez(file, **{"/place": trap, "/digest": trap, "/state": trap})
        else:
            file.write(pickle.dumps(trap))
    with pytest.raises(DataError, match=r"is damaged|holds no checkpoint"):
        FRANe(n_thresholds=5, checkpoint=folder).fit(X)


def test_huge_arrays_in_a_checkpoint(tmp_path):
    folder = tmp_path / "checkpoint"
    FRANe(n_thresholds=5, checkpoint=folder).fit(X)
    with (folder / "table.npy").open("wb") as file:
        about = {"descr": "<f8", "fortran_order": False, "shape": (1 << 55,)}
        np.lib.format.write_array_header_1_0(file, about)
    with pytest.raises(DataError, match=r"is damaged: table\.npy cannot be read"):
        FRANe(n_thresholds=5, checkpoint=folder).fit(X)


def test_code_in_results_of_a_benchmark(tmp_path, mark):
    for line in (
        CODE.format(str(mark)),
        json.dumps({"py/reduce": [{"py/function": "os.mkdir"}, [str(mark)]]}),
        pickle.dumps(Trap(str(mark)), protocol=0).decode().replace("\n", " "),
    ):
        folder = tmp_path / str(len(line))
        ResultsStore(folder).close()
        with closing(sqlite3.connect(folder / "results.sqlite")) as file, file:
            file.execute("INSERT INTO franet_records VALUES (?)", (line,))
        for use in (ResultsStore.read, ResultsStore):
            with pytest.raises(DataError, match="a row of franet_records is damaged"):
                use(folder)
