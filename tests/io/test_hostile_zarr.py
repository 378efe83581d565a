"""Zarr folders whose metadata name codecs, types or paths that are not for tables."""

from __future__ import annotations

import json
import os
import pickle
import warnings

import numpy as np
import pytest

from franet import FRANe
from franet.evaluation import evaluate
from franet.exceptions import DataError
from franet.io import read_table
from franet.pairs.columns import open_columns
from franet.rankers import Variance
from franet.rankers.intrinsic_dimension import intrinsic_dimension

zarr = pytest.importorskip("zarr", reason="needs the extra zarr")
import numcodecs  # noqa: E402
from numcodecs.abc import Codec  # noqa: E402
from zarr.abc.codec import BytesBytesCodec  # noqa: E402
from zarr.registry import register_codec  # noqa: E402

X = np.random.default_rng(0).normal(size=(40, 6)).round(2)
calls: list[str] = []


class Spy2(Codec):
    """A codec of zarr 2 that notes what is asked of it."""

    codec_id = "franet_spy"

    def __init__(self):
        calls.append("made")

    def encode(self, buf):
        calls.append("encode")
        return buf

    def decode(self, buf, out=None):
        calls.append("decode")
        return buf


class Spy3(BytesBytesCodec):
    """The same for zarr 3."""

    is_fixed_size = True

    @classmethod
    def from_dict(cls, data):
        calls.append("made")
        return cls()

    def to_dict(self):
        return {"name": "franet_spy"}

    def compute_encoded_size(self, size, _):
        return size

    async def _encode_single(self, data, spec):
        calls.append("encode")
        return data

    async def _decode_single(self, data, spec):
        calls.append("decode")
        return data


numcodecs.register_codec(Spy2)
register_codec("franet_spy", Spy3)
SPY = {2: {"id": "franet_spy"}, 3: {"name": "franet_spy"}}


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


def make(path, version, **options):
    made = zarr.create_array(
        path, shape=X.shape, chunks=(10, 3), dtype="f8", zarr_format=version, **options
    )
    made[:] = X


def write(adata, path, version):
    import anndata

    with (
        warnings.catch_warnings(),
        anndata.settings.override(zarr_write_format=version),
    ):
        warnings.simplefilter("ignore")  # about version 2, and consolidated metadata
        adata.write_zarr(path)
        zarr.consolidate_metadata(path, zarr_format=version)


def make_adata(path, version):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    names = [f"g{j}" for j in range(X.shape[1])]
    adata = anndata.AnnData(X.copy())
    adata.var_names = names
    adata.var["kind"] = 1
    write(adata, path, version)
    assert read_table(path).names == names


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def spy_on(document):
    """Let the array of a document be decoded by the spy."""
    version = document["zarr_format"]
    if version == 2:
        document["compressor"] = SPY[2]
    else:
        document["codecs"].append(SPY[3])


def refused(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        read_table(path, **options)
    assert str(caught.value).startswith(str(path))
    assert calls == []


@pytest.mark.parametrize("lazy", [None, 0])
@pytest.mark.parametrize("version", [2, 3])
def test_a_codec_of_an_array(tmp_path, version, lazy):
    path = tmp_path / "x.zarr"
    make(path, version)
    edit(path / {2: ".zarray", 3: "zarr.json"}[version], spy_on)
    refused(path, "names the codec 'franet_spy'", lazy=lazy)


def test_a_filter(tmp_path):
    path = tmp_path / "x.zarr"
    make(path, 2)
    edit(path / ".zarray", lambda found: found.update(filters=[SPY[2]]))
    refused(path, "names the codec 'franet_spy'")


@pytest.mark.parametrize("key", ["codecs", "index_codecs"])
def test_a_codec_inside_shards(tmp_path, key):
    path = tmp_path / "x.zarr"
    make(path, 3, shards=(20, 6))
    edit(
        path / "zarr.json",
        lambda found: found["codecs"][0]["configuration"][key].append(SPY[3]),
    )
    refused(path, "names the codec 'franet_spy'")


def test_a_codec_under_the_name_of_another(tmp_path):
    path = tmp_path / "x.zarr"
    make(path, 3)
    codec = {"name": "numcodecs.zlib", "configuration": {"id": "franet_spy"}}
    edit(path / "zarr.json", lambda found: found["codecs"].append(codec))
    refused(path, "names the codec 'numcodecs.zlib'")


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("array", ["var/_index", "X", "var/kind"])
@pytest.mark.parametrize("where", ["consolidated", "own"])
def test_a_codec_in_anndata(tmp_path, version, array, where):
    # Each document is checked: libraries choose which of them they follow.
    path = tmp_path / "x.zarr"
    make_adata(path, version)
    if where == "own":
        edit(path / array / {2: ".zarray", 3: "zarr.json"}[version], spy_on)
    elif version == 2:
        edit(path / ".zmetadata", lambda d: spy_on(d["metadata"][f"{array}/.zarray"]))
    else:
        edit(
            path / "zarr.json",
            lambda d: spy_on(d["consolidated_metadata"]["metadata"][array]),
        )
    refused(path, "names the codec 'franet_spy'")


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_that_the_user_has_opened(tmp_path, version):
    path = tmp_path / "x.zarr"
    make(path, version)
    edit(path / {2: ".zarray", 3: "zarr.json"}[version], spy_on)
    opened = zarr.open_array(path, mode="r")
    fitted = FRANe(n_thresholds=5).fit(X)
    uses = (
        open_columns, FRANe(n_thresholds=5).fit, Variance().fit, fitted.transform,
        fitted.score, lambda X: fitted.report(tmp_path / "report.html", X),
        lambda X: evaluate(X, rankers=Variance(), n_features=[2]), intrinsic_dimension,
    )  # fmt: skip
    for use in uses:
        with pytest.raises(DataError, match="The zarr array '': names the codec"):
            use(opened)
    assert "decode" not in calls


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_that_a_worker_opens(tmp_path, version):
    from franet.engine._dask_tables import TableFile, _open_zarr

    path = tmp_path / "x.zarr"
    make(path, version)
    np.testing.assert_array_equal(
        TableFile(str(path), _open_zarr, ("",)).open().load(), X
    )
    edit(path / {2: ".zarray", 3: "zarr.json"}[version], spy_on)
    with pytest.raises(DataError, match="names the codec 'franet_spy'"):
        TableFile(str(path), _open_zarr, ("",)).open()
    assert "decode" not in calls


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def test_a_pickle_as_a_chunk(tmp_path):
    path, mark = tmp_path / "e.zarr", tmp_path / "sprung"
    path.mkdir()
    about = {
        "zarr_format": 2, "shape": [4, 3], "chunks": [4, 3], "dtype": "|O",
        "fill_value": "", "order": "C", "filters": [{"id": "vlen-utf8"}],
        "compressor": {"id": "pickle", "protocol": 5},
    }  # fmt: skip
    (path / ".zarray").write_text(json.dumps(about))
    (path / "0.0").write_bytes(pickle.dumps(Trap(str(mark))))
    refused(path, r"e\.zarr/\.zarray: names the codec 'pickle'")
    about |= {"filters": [{"id": "pickle"}], "compressor": None}
    (path / ".zarray").write_text(json.dumps(about))
    refused(path, "names the codec 'pickle'")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("version", "change"),
    [
        (2, {"dtype": "|O"}),
        (2, {"dtype": [["a", "|O"]]}),
        (2, {"filters": [{"id": "delta", "dtype": "|O"}]}),
        (2, {"dtype": "franet.spy"}),
        (3, {"data_type": "franet.spy"}),
        (3, {"data_type": {"name": "struct", "configuration": {"fields": [
            ["a", "object"]]}}}),
    ],
    ids=str,
)  # fmt: skip
def test_types_that_are_no_numbers(tmp_path, version, change):
    path = tmp_path / "x.zarr"
    make(path, version)
    name = {2: ".zarray", 3: "zarr.json"}[version]
    edit(path / name, lambda found: found.update(change))
    refused(path, "which are neither numbers nor text")


def test_text_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    path = tmp_path / "x.zarr"
    made = zarr.create_array(path, shape=(2, 2), chunks=(2, 2), dtype=str)
    made[:] = np.array([["a", "b"], ["c", "d"]])
    monkeypatch.setattr(zarr.Array, "__getitem__", None)
    refused(path, "values, not numbers")


@pytest.mark.parametrize("name", ["../secret", "/secret", "a/../../secret", "..\\b"])
def test_names_that_lead_out_of_the_folder(tmp_path, name):
    make(tmp_path / "secret", 3)
    path = tmp_path / "x.zarr"
    zarr.create_group(path)
    inner = json.loads((tmp_path / "secret" / "zarr.json").read_text())
    known = {"kind": "inline", "must_understand": False, "metadata": {name: inner}}
    edit(path / "zarr.json", lambda d: d.update(consolidated_metadata=known))
    refused(path, "leads out of the folder")


@pytest.mark.parametrize("kind", ["index", "categories"])
def test_attributes_that_lead_out_of_the_folder(tmp_path, kind):
    """What anndata opens by the names in attributes was not checked."""
    path = tmp_path / "x.zarr"
    make_adata(path, 3)
    secret = zarr.create_array(
        tmp_path / "secret", shape=(6,), dtype="i4", compressors=Spy3()
    )
    secret[:] = 0
    calls.clear()
    for name in ("var/zarr.json", "zarr.json", "var/kind/zarr.json"):

        def change(document):
            document.pop("consolidated_metadata", None)
            attributes = document["attributes"]
            if "_index" in attributes and kind == "index":
                attributes["_index"] = "../../secret"
            elif "_index" in attributes:
                attributes["encoding-version"] = "0.1.0"
            elif attributes.get("encoding-type") == "array":
                attributes["categories"] = "../../secret"

        edit(path / name, change)
    if kind == "index":
        refused(path, "has no index '../../secret'")
    else:  # only the names are read
        assert read_table(path).names == [f"g{j}" for j in range(6)]
    assert calls == []


@pytest.mark.parametrize("kind", ["var", "X"])
def test_groups_that_are_no_tables(tmp_path, kind):
    path = tmp_path / "x.zarr"
    make_adata(path, 3)
    root = zarr.open_group(path, mode="r+", use_consolidated=False)
    name = "var/_index" if kind == "var" else "X"
    del root[name]
    root.create_group(name).attrs["encoding-type"] = "dataframe"
    edit(path / "zarr.json", lambda d: d.pop("consolidated_metadata"))
    refused(path, f"/{name} is encoded as 'dataframe'; expected an array or c")


def test_links(tmp_path):
    path = tmp_path / "x.zarr"
    make(path, 3)
    secret = tmp_path / "secret"
    secret.write_bytes(b"8" * 240)
    # Inside the folder they do no harm, and hide nothing.
    (path / "zarr.json").rename(path / "about")
    (path / "zarr.json").symlink_to("about")
    np.testing.assert_array_equal(read_table(path).X, X)
    edit(path / "about", spy_on)
    refused(path, "names the codec 'franet_spy'")
    (path / "zarr.json").unlink()
    make(path / "inner", 3)
    (path / "inner" / "c" / "0" / "0").unlink()
    (path / "inner" / "c" / "0" / "0").symlink_to(secret)
    refused(path, "is a link that leads out of the zarr folder")
    # The folder itself may be reached by one.
    make(tmp_path / "y.zarr", 3)
    (tmp_path / "link.zarr").symlink_to("y.zarr")
    np.testing.assert_array_equal(read_table(tmp_path / "link.zarr").X, X)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes(tmp_path):
    path = tmp_path / "x.zarr"
    make(path, 3)
    (path / "c" / "0" / "0").unlink()
    os.mkfifo(path / "c" / "0" / "0")
    refused(path, "is neither a file nor a folder")


def test_only_folders(tmp_path):
    (tmp_path / "x.zarr").write_bytes(b"PK\x03\x04")
    refused(tmp_path / "x.zarr", "is not a folder; unpack a zipped zarr folder first")


@pytest.mark.parametrize("document", ["[]", "3", '{"metadata": {"a/.zarray": 3}}'])
def test_documents_of_another_kind(tmp_path, document):
    path = tmp_path / "x.zarr"
    make(path, 2)
    (path / ".zmetadata").write_text(document)
    refused(path, "is damaged: zarr metadata is a JSON object")


CODECS = numcodecs.Delta("<f8"), numcodecs.FixedScaleOffset(0, 100, "<f8", "<i4")


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.codec_id)
def test_filters_of_numbers_are_read(tmp_path, codec):
    path = tmp_path / "x.zarr"
    make(path, 2, filters=[codec], compressors=numcodecs.LZ4())
    np.testing.assert_array_equal(read_table(path).X, zarr.open_array(path)[:])


def test_types_of_codecs_as_zarr_3_names_them_are_read(tmp_path):
    from zarr.codecs.numcodecs import AsType

    path = tmp_path / "x.zarr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such codecs are not in the specification
        codec = AsType(encode_dtype="float32", decode_dtype="float64")
        make(path, 3, filters=[codec])
    np.testing.assert_array_equal(read_table(path).X, X.astype(np.float32))


def test_other_parts_of_anndata_may_hold_records(tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    path = tmp_path / "x.zarr"
    adata = anndata.AnnData(X.copy())
    adata.uns["genes"] = np.array([("a", 1.5)], dtype=[("name", "U3"), ("score", "f8")])
    adata.uns["words"] = {"text": "a", "list": np.array(["a", "bc"])}
    for version in (2, 3):
        write(adata, path, version)
        np.testing.assert_array_equal(read_table(path).X, X)
