"""Each binary and sparse format: round trips with names, and choices."""

import gzip

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io import read_table

X = np.array([[1.0, 0.0, 2.5], [0.0, -3e-7, 0.1]])
S = sparse.csr_array(X)


@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "i8", "u1", "i2", "?", "f2", ">f8", ">i4", "longdouble"]
)
def test_npy_keeps_or_widens_the_type(tmp_path, dtype):
    path = tmp_path / "x.npy"
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    np.save(path, array)
    table = read_table(path)
    expected = {"?": "u1", "f2": "f4", ">f8": "f8", ">i4": "i4", "longdouble": "f8"}
    assert table.X.dtype == np.dtype(expected.get(dtype, dtype))
    assert table.X.dtype.isnative
    assert type(table.X) is np.ndarray
    np.testing.assert_array_equal(table.X, array.astype("f8"))
    assert table.names is None


def test_structured_npy(tmp_path):
    records = np.array([(1, "u", 2.5), (3, "v", 4.5)], "i4,U3,f8")
    records.dtype.names = ("a", "kind", "b")
    np.save(tmp_path / "x.npy", records)
    with pytest.raises(DataError, match="1 column is not numeric: 'kind'"):
        read_table(tmp_path / "x.npy")
    table = read_table(tmp_path / "x.npy", drop_non_numeric=True)
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 4.5]])
    assert (table.names, table.dropped) == (["a", "b"], ["kind"])
    np.save(tmp_path / "words.npy", np.zeros(3, [("kind", "U3")]))
    with pytest.raises(DataError, match="no numeric column is left"):
        read_table(tmp_path / "words.npy", drop_non_numeric=True)


def test_npz_with_one_array(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X)
    np.testing.assert_array_equal(read_table(tmp_path / "x.npz").X, X)


def test_npz_with_several_arrays(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=X, b=X + 1, y=np.arange(2), n=5)
    with pytest.raises(DataError) as caught:
        read_table(path)
    for part in ("a (2×3)", "b (2×3)", "y (2)", "n (a number)", "--variable"):
        assert part in str(caught.value)
    np.testing.assert_array_equal(read_table(path, variable="b").X, X + 1)
    with pytest.raises(UsageError, match="no variable 'c'; it has a"):
        read_table(path, variable="c")


def test_npz_with_one_table_among_other_things(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, y=np.arange(2), a=X, names=np.array(["u", "v"], object))
    np.testing.assert_array_equal(read_table(path).X, X)
    with pytest.raises(DataError, match="Python objects, which are never loaded"):
        read_table(path, variable="names")


def test_npz_with_nothing(tmp_path):
    np.savez(tmp_path / "x.npz")
    with pytest.raises(DataError, match="holds no arrays"):
        read_table(tmp_path / "x.npz")


def test_npz_with_names_in_greek(tmp_path):
    with pytest.warns(UserWarning, match=r"3\.0"):
        np.savez(tmp_path / "x.npz", np.zeros(2, [("Δ", "f8"), ("Σ", "f8")]))
    assert read_table(tmp_path / "x.npz").names == ["Δ", "Σ"]


def test_npy_with_a_huge_header(tmp_path):
    wide = np.zeros(2, [(f"a_rather_long_name_{j}", "f8") for j in range(3000)])
    with pytest.warns(UserWarning, match=r"2\.0"):
        np.save(tmp_path / "x.npy", wide)
    with pytest.raises(DataError, match=r"Header info length .* is large"):
        read_table(tmp_path / "x.npy")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_npz_stays_sparse(tmp_path, kind):
    path = tmp_path / "x.npz"
    for make in (sparse.csr_array, sparse.csr_matrix):
        sparse.save_npz(path, make(X).asformat(kind))
        table = read_table(path)
        assert isinstance(
            table.X, sparse.csc_array if kind == "csc" else sparse.csr_array
        )
        np.testing.assert_array_equal(table.X.toarray(), X)


def test_damaged_sparse_npz(tmp_path):
    bad = sparse.csr_array(X)
    bad.indices[0] = 77
    sparse.save_npz(tmp_path / "x.npz", bad)
    with pytest.raises(DataError, match="the sparse matrix is damaged"):
        read_table(tmp_path / "x.npz")


def test_mat_version_5(tmp_path):
    path = tmp_path / "x.mat"
    scipy_io.savemat(path, {"X": X, "Y": np.ones((2, 1)), "about": "words"})
    np.testing.assert_array_equal(read_table(path).X, X)
    assert read_table(path, variable="Y").X.shape == (2, 1)
    with pytest.raises(DataError, match="not numbers"):
        read_table(path, variable="about")
    scipy_io.savemat(path, {"X": X, "Z": X})
    with pytest.raises(DataError, match=r"X \(2×3\), Z \(2×3\); choose one by --var"):
        read_table(path)
    scipy_io.savemat(path, {"S": S})
    np.testing.assert_array_equal(read_table(path).X.toarray(), X)
    assert sparse.issparse(read_table(path).X)


def test_mat_version_4(tmp_path):
    path = tmp_path / "x.mat"
    scipy_io.savemat(path, {"X": X}, format="4")
    np.testing.assert_array_equal(read_table(path).X, X)


def test_mat_cells_are_no_table(tmp_path):
    cells = np.empty((2, 2), object)
    cells[:] = "u"
    scipy_io.savemat(tmp_path / "x.mat", {"c": cells})
    with pytest.raises(DataError, match="c holds cell values, not numbers"):
        read_table(tmp_path / "x.mat")


@pytest.fixture
def mat73(tmp_path):
    """Write what MATLAB writes: a block of its own, then transposed arrays."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_group("#refs#")
        file["X"] = X.T
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
        file["B"] = (X > 0).T.astype("u1")
        file["B"].attrs["MATLAB_class"] = np.bytes_("logical")
        file["about"] = np.array([[104], [105]], "u2")
        file["about"].attrs["MATLAB_class"] = np.bytes_("char")
        group = file.create_group("S")
        C = sparse.csc_array(X)
        group.attrs["MATLAB_sparse"] = np.uint64(2)
        for name, values in zip(
            ("data", "ir", "jc"), (C.data, C.indices, C.indptr), strict=True
        ):
            group[name] = values
        file.create_group("settings")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    return path


def test_mat_version_7_3(mat73):
    with pytest.raises(DataError, match=r"B .* S .* X .*--variable") as caught:
        read_table(mat73)
    assert "refs" not in str(caught.value)
    np.testing.assert_array_equal(read_table(mat73, variable="X").X, X)
    np.testing.assert_array_equal(read_table(mat73, variable="B").X, X > 0)
    table = read_table(mat73, variable="S")
    assert isinstance(table.X, sparse.csc_array)
    np.testing.assert_array_equal(table.X.toarray(), X)
    for name in ("settings", "#refs#"):
        with pytest.raises(ValueError, match=r"x\.mat: "):
            read_table(mat73, variable=name)
    transposed = read_table(mat73, variable="X", transpose=True)
    np.testing.assert_array_equal(transposed.X, X.T)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix])
def test_h5ad(tmp_path, make):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "x.h5ad"
    data = anndata.AnnData(make(X), layers={"raw": make(X * 2)})
    data.var_names = ["g1", "g2", "g3"]
    data.write_h5ad(path)
    table = read_table(path)
    assert table.names == ["g1", "g2", "g3"]
    assert sparse.issparse(table.X) == (make is not np.array)
    dense = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(dense, X)
    doubled = read_table(path, variable="raw").X
    np.testing.assert_array_equal(doubled.sum(0), (X * 2).sum(0))
    with pytest.raises(UsageError, match="no layer 'log'; it has X, raw"):
        read_table(path, variable="log")
    assert read_table(path, transpose=True).names == ["0", "1"]


def test_h5ad_without_x(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(layers={"raw": X}).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(DataError, match=r"has no X; choose a layer .*: raw"):
        read_table(tmp_path / "x.h5ad")


def test_h5ad_with_names_twice(tmp_path):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(X)
    data.var_names = ["g", "h", "g"]
    data.write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(DataError, match="more than once: 'g'"):
        read_table(tmp_path / "x.h5ad")


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
def test_matrix_market(tmp_path, ending):
    plain = tmp_path / "plain.mtx"
    scipy_io.mmwrite(plain, sparse.coo_array(X))
    path = tmp_path / f"x{ending}"
    data = plain.read_bytes()
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    table = read_table(path)
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.names is None


def test_matrix_market_as_10x_writes_it(tmp_path):
    scipy_io.mmwrite(tmp_path / "matrix.mtx", sparse.coo_array(X.T))
    names = tmp_path / "features.tsv.gz"
    lines = "E1\tSOX2\tGene\nE2\tTP53\tGene\nE3\tTP53\tGene\n"
    names.write_bytes(gzip.compress(lines.encode()))
    table = read_table(tmp_path / "matrix.mtx", transpose=True, feature_names=names)
    assert table.names == ["E1", "E2", "E3"]
    np.testing.assert_array_equal(table.X.toarray(), X)
    with pytest.raises(DataError, match="3 feature names for 2 features; they fit the"):
        read_table(tmp_path / "matrix.mtx", feature_names=names)


def test_dense_matrix_market(tmp_path):
    scipy_io.mmwrite(tmp_path / "x.mtx", X)
    np.testing.assert_array_equal(read_table(tmp_path / "x.mtx").X, X)


def test_name_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    names = tmp_path / "names.txt"
    names.write_bytes(b"\xef\xbb\xbfa\r\nb b\r\nc\r\n\r\n")
    assert read_table(tmp_path / "x.npy", feature_names=names).names == [
        "a",
        "b b",
        "c",
    ]
    for text, message in {
        "name\na\nb\nc\n": "one too many: remove the header line",
        "a\n": "1 feature names for 3 features; give one name per feature",
        "a\n\nc\n": "line 2 has no name",
        "\n": "holds no names",
        "": "the file is empty",
        "a\nb\na\n": "more than once: 'a'",
    }.items():
        names.write_text(text)
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / "x.npy", feature_names=str(names))
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "x.npy", feature_names=tmp_path / "absent")


@pytest.mark.parametrize("ending", [".svm", ".libsvm", ".libsvm.gz"])
def test_libsvm(tmp_path, ending):
    from sklearn.datasets import dump_svmlight_file

    plain = tmp_path / "plain"
    dump_svmlight_file(X, [1, -1], str(plain), zero_based=False)
    path = tmp_path / f"x{ending}"
    data = plain.read_bytes()
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    table = read_table(path)
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X)


ARFF = """% a comment
@relation flowers
@attribute 'petal length' numeric
@attribute width real
@attribute class {a,b}
@data
1.5,2,a
?,3,b
"""


def test_arff(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text(ARFF)
    with pytest.raises(DataError, match="1 column is not numeric: 'class'"):
        read_table(path)
    table = read_table(path, drop_non_numeric=True)
    np.testing.assert_array_equal(table.X, [[1.5, 2], [np.nan, 3]])
    assert table.names == ["petal length", "width"]
    assert table.dropped == ["class"]


@pytest.fixture
def frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"a": [1.5, 2.5], "b": [3, 4], "c": [True, False]})


@pytest.mark.parametrize(
    "name", ["x.parquet", "x.pq", "x.feather", "x.arrow", "s.arrow"]
)
def test_frames(tmp_path, frame, name):
    path = tmp_path / name
    _write(frame, path)
    table = read_table(path)
    assert table.names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.X, [[1.5, 3, 1], [2.5, 4, 0]])
    assert table.X.dtype == np.float64


def _write(frame, path):
    if path.name == "s.arrow":
        frame.write_ipc_stream(path)
    elif path.suffix in (".arrow", ".feather"):
        frame.write_ipc(path)
    else:
        frame.write_parquet(path)


def test_frames_keep_their_type(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "x.parquet"
    for kind, expected in ((pl.Float32, "f4"), (pl.Int16, "i2"), (pl.Boolean, "f8")):
        pl.DataFrame({"a": [0, 1], "b": [1, 0]}).cast(kind).write_parquet(path)
        table = read_table(path)
        assert table.X.dtype == np.dtype(expected)
        np.testing.assert_array_equal(table.X, [[0, 1], [1, 0]])


def test_frames_with_gaps_decimals_and_words(tmp_path):
    pl = pytest.importorskip("polars")
    from datetime import date
    from decimal import Decimal

    path = tmp_path / "x.parquet"
    pl.DataFrame(
        {
            "a": [1, None],
            "d": [Decimal("1.5"), Decimal("2.5")],
            "f": pl.Series([None, 0.5], dtype=pl.Float32),
            "w": ["u", "v"],
            "t": [date(2020, 1, 1)] * 2,
            "k": pl.Series(["u", "v"], dtype=pl.Categorical),
        }
    ).write_parquet(path)
    with pytest.raises(DataError, match="3 columns are not numeric: 'w', 't', 'k'"):
        read_table(path)
    table = read_table(path, drop_non_numeric=True)
    np.testing.assert_array_equal(table.X, [[1, 1.5, np.nan], [np.nan, 2.5, 0.5]])
    assert table.dropped == ["w", "t", "k"]
    pl.DataFrame({"w": ["u", "v"]}).write_parquet(path)
    with pytest.raises(DataError, match="no numeric column is left"):
        read_table(path, drop_non_numeric=True)


def test_frames_with_labels(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"gene": ["g1", "g2"], "s1": [1.0, 2.0], "s2": [3.0, 4.0]})
    frame.write_parquet(path)
    assert read_table(path).names == ["s1", "s2"]
    assert read_table(path).labels == "gene"
    table = read_table(path, transpose=True)
    assert table.names == ["g1", "g2"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    with pytest.raises(DataError, match="not numeric: 'gene'"):
        read_table(path, index=False)
    assert read_table(path, index=True).names == ["s1", "s2"]
    frame.with_columns(gene=pl.lit("same")).write_parquet(path)
    with pytest.raises(DataError, match="not numeric: 'gene'"):
        read_table(path)


@pytest.mark.parametrize("name", [None, "patient"])
def test_index_of_a_pandas_frame_is_no_feature(tmp_path, name):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    index = pd.Index([7, 9], name=name)
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=index).to_parquet(path)
    assert read_table(path).names == ["a", "b"]
    assert read_table(path, transpose=True).names == ["7", "9"]


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("polars", "x.parquet", "polars"),
        ("polars", "x.feather", "polars"),
        ("h5py", "x.mat", "hdf5"),
        ("anndata", "x.h5ad", "anndata"),
    ],
)
def test_missing_extras(tmp_path, without, module, name, extra):
    path = tmp_path / name
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    without(module)
    with pytest.raises(MissingExtraError) as caught:
        read_table(path)
    assert f"pip install 'franet[{extra}]'" in str(caught.value)


def test_format_as_stated(tmp_path):
    path = tmp_path / "table.data"
    path.write_text("a,b\n1,2\n")
    for name in ("csv", "CSV", ".csv", "txt", "tab"):
        assert read_table(path, format=name).names == ["a", "b"]
    with pytest.raises(UsageError, match="unknown format 'xlsx'; known are csv, tsv"):
        read_table(path, format="xlsx")
