"""Small valid files of every format, for the fuzzer to damage.

A file is a mapping from names inside it to bytes: one name, "", for a plain file, many
for a folder.
"""

from __future__ import annotations

import gzip
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

Files = dict[str, bytes]

_RNG = np.random.default_rng(0)
X = np.round(_RNG.normal(size=(7, 4)), 3)
X[2, 1] = 0.0
NAMES = ["alpha", "beta", "gamma", "delta"]
S = sparse.csr_array(np.where(np.abs(X) > 0.6, X, 0.0))


def _lines(rows: Any, mark: str) -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


def _text(mark: str) -> list[Files]:
    plain = _lines(X.tolist(), mark)
    named = _lines([NAMES], mark) + plain
    labelled = _lines([["", *NAMES]], mark) + _lines(
        [[f"row {i}", *row] for i, row in enumerate(X.tolist())], mark
    )
    gaps = named.replace("0.0" + mark, "NA" + mark).replace("\n", "\r\n")
    quoted = _lines([[f'"{name}"' for name in NAMES]], mark) + plain
    words = _lines([[*NAMES, "kind"]], mark) + _lines(
        [[*row, f"k{i % 2}"] for i, row in enumerate(X.tolist())], mark
    )
    texts = [plain, named, labelled, gaps, quoted, words, "\ufeff" + named]
    found = [{"": text.encode()} for text in texts]
    if mark != ",":
        found.append({"": named.replace(".", ",").encode()})
    # A zipped file must be told by its first bytes, whatever its ending.
    return [*found, {"": gzip.compress(named.encode(), mtime=0)}]


def _csv(folder: Path) -> list[Files]:
    return [*_text(","), *_text(";")]


def _tsv(folder: Path) -> list[Files]:
    return _text("\t")


def _txt(folder: Path) -> list[Files]:
    return [*_text(" "), *_text("|")]


def _npy(folder: Path) -> list[Files]:
    records = np.zeros(5, [("a", "f8"), ("b", "i4"), ("c", "?")])
    arrays = [
        X, np.asfortranarray(X), X.astype("f4"), X.astype(">f8"), X.astype("f2"),
        (10 * X).astype("i2"), X > 0, records, X.astype("longdouble"),
    ]  # fmt: skip
    return [{"": _saved(lambda file, a=a: np.save(file, a))} for a in arrays]


def _saved(save: Callable[[Any], Any]) -> bytes:
    file = BytesIO()
    save(file)
    return file.getvalue()


def _npz(folder: Path) -> list[Files]:
    saves: list[Callable[[Any], Any]] = [
        lambda file: np.savez(file, X),
        lambda file: np.savez(file, a=X, y=np.arange(7)),
        lambda file: np.savez_compressed(file, a=X, n=3),
        *(
            lambda file, kind=kind: sparse.save_npz(file, S.asformat(kind))
            for kind in ("csr", "csc", "coo", "bsr", "dia")
        ),
    ]
    return [{"": _saved(save)} for save in saves]


def _mat(folder: Path) -> list[Files]:
    held = {"X": X, "y": np.arange(7.0), "about": "words"}
    saves: list[Callable[[Any], Any]] = [
        lambda file: scipy_io.savemat(file, held),
        lambda file: scipy_io.savemat(file, held, do_compression=True),
        lambda file: scipy_io.savemat(file, {"X": X}, format="4"),
        lambda file: scipy_io.savemat(file, {"S": S.tocsc()}),
        lambda file: scipy_io.savemat(file, {"c": np.array([[1, "u"]], object)}),
        lambda file: scipy_io.savemat(file, {"s": {"a": X, "b": "u"}}),
    ]
    return [{"": _saved(save)} for save in saves] + _mat73(folder)


def _mat73(folder: Path) -> list[Files]:
    import h5py

    path = folder / "x.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = X.T
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
    dense = path.read_bytes()
    matrix = S.tocsc()
    with h5py.File(path, "w", userblock_size=512) as file:
        file["S/data"], file["S/ir"] = matrix.data, matrix.indices.astype("u8")
        file["S/jc"] = matrix.indptr.astype("u8")
        file["S"].attrs["MATLAB_sparse"] = np.uint64(7)
    return [{"": dense}, {"": path.read_bytes()}]


def _hdf5(folder: Path) -> list[Files]:
    import h5py

    found = []
    for version in ("earliest", "latest"):
        for options in ({}, {"chunks": (3, 2), "compression": "gzip"}):
            path = folder / "x.h5"
            with h5py.File(path, "w", libver=version) as file:
                file.create_dataset("data/X", data=X, **options)
                file["y"] = np.arange(7)
                file["about"] = "words"
            found.append({"": path.read_bytes()})
    return [*found, *_h5ad(folder)]


def _anndata() -> list[Any]:
    import anndata

    found = [anndata.AnnData(matrix) for matrix in (X, S, S.tocsc())]
    for table in found:
        table.var_names = NAMES
    return found


def _h5ad(folder: Path) -> list[Files]:
    found, path = [], folder / "x.h5ad"
    for table in _anndata():
        table.write_h5ad(path)
        found.append({"": path.read_bytes()})
    return found


def _zarr(folder: Path) -> list[Files]:
    import zarr

    found = []
    for number, version in enumerate((2, 3)):
        path = folder / f"array{number}.zarr"
        array = zarr.create_array(
            path, shape=X.shape, chunks=(4, 2), dtype=X.dtype, zarr_format=version
        )
        array[:] = X
        found.append(_folder(path))
        path = folder / f"group{number}.zarr"
        group = zarr.open_group(path, mode="w", zarr_format=version)
        group.create_array("X", data=X, chunks=(7, 4))
        group.create_array("y", data=np.arange(7))
        found.append(_folder(path))
    for number, table in enumerate(_anndata()):
        path = folder / f"cells{number}.zarr"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of anndata, about versions of zarr
            table.write_zarr(path)
        found.append(_folder(path))
    return found


def _folder(path: Path) -> Files:
    return {
        str(each.relative_to(path)): each.read_bytes()
        for each in sorted(path.rglob("*"))
        if each.is_file()
    }


def _frame() -> Any:
    import polars as pl

    return pl.DataFrame(dict(zip(NAMES, X.T, strict=True)))


def _parquet(folder: Path) -> list[Files]:
    import polars as pl

    frame = _frame()
    kept = [
        frame,
        frame.with_columns(pl.Series("kind", list("abcabca"))),
        frame.cast(pl.Float32),
        frame.with_columns(pl.Series("count", [1, None, 3, 4, 5, 6, 7])),
    ]
    found = [_saved(one.write_parquet) for one in kept]
    found.append(_saved(lambda file: frame.write_parquet(file, compression="snappy")))
    found.append(
        _saved(lambda file: frame.write_parquet(file, compression="uncompressed"))
    )
    frame.to_pandas().rename(index=str).to_parquet(folder / "x.parquet")
    return [{"": data} for data in [*found, (folder / "x.parquet").read_bytes()]]


def _feather(folder: Path) -> list[Files]:
    import polars as pl

    frame = _frame()
    words = frame.with_columns(pl.Series("kind", list("abcabca")))
    found = [
        _saved(lambda file, one=one, how=how: one.write_ipc(file, compression=how))
        for one in (frame, words)
        for how in ("uncompressed", "zstd", "lz4")
    ]
    return [{"": data} for data in [*found, _saved(frame.write_ipc_stream)]]


def _mtx(folder: Path) -> list[Files]:
    square = sparse.coo_array(np.eye(5) + np.eye(5)[::-1])
    saves: list[Callable[[Any], Any]] = [
        lambda file: scipy_io.mmwrite(file, S.tocoo()),
        lambda file: scipy_io.mmwrite(file, X),
        lambda file: scipy_io.mmwrite(file, S.tocoo(), field="integer"),
        lambda file: scipy_io.mmwrite(file, S.tocoo(), field="pattern"),
        lambda file: scipy_io.mmwrite(file, square, symmetry="symmetric"),
    ]
    return _zipped([_saved(save) for save in saves])


def _zipped(texts: list[bytes]) -> list[Files]:
    return [{"": text} for text in [*texts, gzip.compress(texts[0], mtime=0)]]


def _libsvm(folder: Path) -> list[Files]:
    from sklearn.datasets import dump_svmlight_file

    plain = _saved(lambda file: dump_svmlight_file(X, np.arange(7) % 2, file))
    return _zipped([plain, b"# a remark\n" + plain.replace(b" ", b" qid:3 ", 1)])


def _arff(folder: Path) -> list[Files]:
    text = StringIO()
    text.write("% a remark\n@relation things\n\n")
    text.writelines(f"@attribute {name} numeric\n" for name in NAMES)
    numbers = text.getvalue() + "@data\n" + _lines(X.tolist(), ",")
    kinds = (
        text.getvalue()
        + "@attribute kind {u, v}\n@attribute day date yyyy-MM-dd\n@data\n"
        + _lines([[*row, "u", "2024-01-01"] for row in X.tolist()], ",")
    )
    gaps = numbers.replace("0.0,", "?,")
    return _zipped([numbers.encode(), kinds.encode(), gaps.encode()])


def _names(folder: Path) -> list[Files]:
    genes = "".join(f"ENSG{i}\t{name}\tGene\n" for i, name in enumerate(NAMES))
    return _zipped(["\n".join(NAMES).encode(), genes.encode()])


# The reader of names is one of its own: franet.io.read_table(feature_names=file).
SEEDS: dict[str, Callable[[Path], list[Files]]] = {
    "csv": _csv, "tsv": _tsv, "txt": _txt, "mtx": _mtx, "libsvm": _libsvm,
    "arff": _arff, "names": _names, "npy": _npy, "npz": _npz, "mat": _mat,
    "parquet": _parquet, "feather": _feather, "hdf5": _hdf5, "h5ad": _h5ad,
    "zarr": _zarr,
}  # fmt: skip
TEXTS = frozenset({"csv", "tsv", "txt", "mtx", "libsvm", "arff", "names"})


def seeds_of(kind: str) -> list[Files]:
    """Return the valid files of a format."""
    with tempfile.TemporaryDirectory() as folder:
        return SEEDS[kind](Path(folder))


def unpacked(data: bytes) -> tuple[str, dict[str, bytes]] | None:
    """Return what is inside a packed file, so that damage reaches it."""
    if data[:2] == b"\x1f\x8b":
        return "gzip", {"": gzip.decompress(data)}
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return "zip", {name: archive.read(name) for name in archive.namelist()}
    return None


def packed(how: str, members: dict[str, bytes]) -> bytes:
    """Pack again, with checksums that fit."""
    if how == "gzip":
        return gzip.compress(members[""], mtime=0)
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()
