"""Bad files, one by one: each is one line that names the file and the remedy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from franet.exceptions import DataError
from franet.io import read_table

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
X = np.random.default_rng(0).normal(size=(40, 30))


def refused(path, **options):
    """Return the message of the error, which is one line that names the file."""
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message


def test_missing_file(tmp_path):
    assert "no such file" in refused(tmp_path / "absent.csv")


def test_directory(tmp_path):
    assert "is a directory" in refused(tmp_path)


def test_not_a_regular_file(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    assert "not a regular file" in refused(path)


def test_not_a_path():
    assert "no such file" in refused(Path("a\0.csv"))


def test_name_too_long(tmp_path):
    assert "cannot be opened" in refused(tmp_path / ("a" * 400 + ".csv"))


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    message = refused(path)
    assert "cannot be opened (permission denied); check its permissions" in message


@pytest.mark.parametrize(
    "name",
    "x.csv x.tsv x.txt x.parquet x.feather x.npy x.npz x.mat x.h5ad x.mtx x.svm "
    "x.arff x.csv.gz".split(),
)
class TestEveryFormat:
    def test_empty(self, tmp_path, name):
        (tmp_path / name).touch()
        assert "the file is empty" in refused(tmp_path / name)

    def test_a_picture(self, tmp_path, name):
        (tmp_path / name).write_bytes(PNG)
        refused(tmp_path / name)

    def test_zeros(self, tmp_path, name):
        (tmp_path / name).write_bytes(bytes(2000))
        refused(tmp_path / name)

    def test_prose(self, tmp_path, name):
        (tmp_path / name).write_text("It was the best of times,\nthe worst; of times\n")
        refused(tmp_path / name)


def write_npy(path):
    np.save(path, X)


def write_npz(path):
    np.savez(path, X)


def write_sparse(path):
    sparse.save_npz(path, sparse.csr_array(X))


def write_mat(path):
    scipy_io.savemat(path, {"X": X})


def write_small_mat(path):
    scipy_io.savemat(path, {"X": X}, do_compression=True)


def write_mtx(path):
    scipy_io.mmwrite(path, sparse.coo_array(X))


def write_parquet(path):
    pl = pytest.importorskip("polars")
    pl.DataFrame(X).write_parquet(path)


def write_feather(path):
    pl = pytest.importorskip("polars")
    pl.DataFrame(X).write_ipc(path)


def write_h5ad(path):
    pytest.importorskip("anndata").AnnData(X).write_h5ad(path)


@pytest.mark.parametrize("part", [0.02, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.npy", write_npy),
        ("x.npz", write_npz),
        ("s.npz", write_sparse),
        ("x.mat", write_mat),
        ("z.mat", write_small_mat),
        ("x.mtx", write_mtx),
        ("x.parquet", write_parquet),
        ("x.feather", write_feather),
        ("x.h5ad", write_h5ad),
    ],
)
def test_cut_off(tmp_path, name, write, part):
    path = tmp_path / name
    write(path)
    read_table(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    refused(path)


def test_objects_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("sprung",))

    path = tmp_path / "x.npy"
    np.save(path, np.array([[Trap()]], object), allow_pickle=True)
    assert "Python objects, which are never loaded" in refused(path)
    path = tmp_path / "x.npz"
    np.savez(path, a=np.array([[Trap()]], object))
    assert "Python objects, which are never loaded" in refused(path)


def test_a_pickle_under_another_name(tmp_path):
    import pickle

    path = tmp_path / "x.npy"
    path.write_bytes(pickle.dumps(X))
    assert "is not a npy file" in refused(path)


@pytest.mark.parametrize("shape", [(), (5,), (2, 2, 2)])
def test_shapes_that_are_no_table(tmp_path, shape):
    np.save(tmp_path / "x.npy", np.zeros(shape))
    assert f"shape {shape}; a table needs two" in refused(tmp_path / "x.npy")


@pytest.mark.parametrize(("shape", "what"), [((0, 3), "rows"), ((3, 0), "columns")])
def test_empty_tables(tmp_path, shape, what):
    np.save(tmp_path / "x.npy", np.zeros(shape))
    assert f"the table has no {what}" in refused(tmp_path / "x.npy")


def test_numbers_that_do_not_rank(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X + 1j)
    assert "complex; save their real or absolute values" in refused(path)
    np.save(path, np.array([["a", "b"]]))
    assert "not numbers; save it with a numeric dtype" in refused(path)
    np.save(path, np.array([["2020-01-01"]], "M8[D]"))
    assert "not numbers" in refused(path)
    scipy_io.mmwrite(tmp_path / "x.mtx", X + 1j)
    assert "complex" in refused(tmp_path / "x.mtx")


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.npy.gz", "x.gz"])
def test_unknown_ending(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n")
    message = refused(tmp_path / name)
    assert "unknown file ending" in message
    assert ".csv, .tsv" in message
    assert "--format" in message


def test_mislabelled_by_the_caller(tmp_path):
    np.save(tmp_path / "x.npy", X)
    assert "is not UTF-8 text" in refused(tmp_path / "x.npy", format="csv")
    assert "is not a parquet file" in refused(tmp_path / "x.npy", format="parquet")
    assert "is not a npz file" in refused(tmp_path / "x.npy", format="npz")


def test_feather_of_version_1(tmp_path):
    (tmp_path / "x.feather").write_bytes(b"FEA1" + bytes(100))
    assert "is not a feather (version 2)" in refused(tmp_path / "x.feather")


def test_too_large_for_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)

    def full(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(np, "load", full)
    assert "does not fit into memory" in refused(tmp_path / "x.npy")


def test_a_panic_of_polars_is_told_in_one_line(tmp_path, in_process, monkeypatch):
    pl = pytest.importorskip("polars")
    write_parquet(tmp_path / "x.parquet")

    class PanicException(BaseException):
        pass

    def panic(*args):
        raise PanicException

    monkeypatch.setattr(pl, "read_parquet", panic)
    assert "cannot be read as parquet" in refused(tmp_path / "x.parquet")

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(pl, "read_parquet", stop)
    with pytest.raises(KeyboardInterrupt):
        read_table(tmp_path / "x.parquet")


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, franet.io\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'polars', 'sklearn', 'h5py', 'anndata'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
