"""Where files are looked for, and what is made of them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from datasets.served import GIT_ID, SHA256, TINY, X, Y, entry, mat
from franet import datasets
from franet.datasets import DATASETS, cache_folder, find, load, names
from franet.exceptions import DataError


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Put the small data set into the registry; its address does not answer."""
    monkeypatch.setitem(DATASETS, "tiny-set", entry())


def put(folder, name="tiny-set.mat", content=TINY):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def test_nothing_is_here():
    assert find("tiny-set") is None
    assert names(available=True) == []
    assert len(names(available=False)) == 30


@pytest.mark.parametrize("name", ["tiny-set.mat", "tiny_set.mat"])
def test_order_of_folders(folders, monkeypatch, name):
    cached = put(folders / "cache", name)
    assert find("Tiny_Set") == cached
    inner = put(folders / "data" / "datasets", name)
    assert find("tiny-set") == cached
    monkeypatch.setenv("FRANET_DATA", str(folders / "data"))
    assert find("tiny-set") == inner
    outer = put(folders / "data", name)
    assert find("tiny-set") == outer
    monkeypatch.setenv("FRANET_DATA", str(folders / "nowhere"))
    assert find("tiny-set") == cached
    assert names(available=True) == ["tiny-set"]
    assert names(paper=True, available=True) == []


def test_cache_folder_of_the_system(monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("FRANET_CACHE")
    for value in (None, "/somewhere/else", "", "not/absolute"):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        if value is not None:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == Path(pooch.os_cache("franet"))


@pytest.mark.parametrize(
    ("platform", "parts"),
    [
        ("linux", (".cache", "franet")),
        ("darwin", ("Library", "Caches", "franet")),
        ("win32", ("AppData", "Local", "franet", "franet", "Cache")),
    ],
)
def test_cache_folder_of_other_systems(monkeypatch, platform, parts):
    for name in ("FRANET_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path.home().joinpath(*parts)


def test_cache_folder_given(monkeypatch):
    monkeypatch.setenv("FRANET_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"


def test_load(folders):
    path = put(folders / "cache")
    dataset = load("TINY_SET")
    assert dataset.name == "tiny-set"
    assert dataset.path == path
    assert dataset.feature_names is None
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.y.dtype == np.int64
    np.testing.assert_array_equal(dataset.y, Y[:, 0])


def test_sparse_files_become_dense(folders, monkeypatch):
    content = mat(X=sparse.csc_array(X.astype(float)), Y=Y)
    monkeypatch.setitem(DATASETS, "tiny-set", entry(sha256=None))
    put(folders / "cache", content=content)
    dataset = load("tiny-set")
    assert isinstance(dataset.X, np.ndarray)
    assert dataset.X.flags.c_contiguous
    np.testing.assert_array_equal(dataset.X, X)


def test_not_here_and_not_to_be_fetched(folders, monkeypatch):
    monkeypatch.setenv("FRANET_DATA", str(folders / "data"))
    with pytest.raises(DataError) as caught:
        load("tiny-set", download=False)
    message = str(caught.value)
    assert message.startswith("tiny-set: is not on this machine; looked for ")
    for part in (
        "tiny-set.mat or tiny_set.mat", str(folders / "data"),
        str(folders / "data" / "datasets"), str(folders / "cache"),
        "'franet datasets fetch tiny-set'", "http://127.0.0.1:9/tiny_set.mat",
        "set FRANET_DATA",
    ):  # fmt: skip
        assert part in message
    assert "\n" not in message


def broken(folders, message):
    path = folders / "cache" / "tiny-set.mat"
    with pytest.raises(DataError, match=message) as caught:
        load("tiny-set", download=False)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "delete" in text
    assert "'franet datasets fetch tiny-set'" in text


def test_another_sha256(folders):
    put(folders / "cache", content=TINY + b"\0")
    broken(folders, rf"its SHA-256 is [0-9a-f]{{64}} instead of {SHA256}")


def test_another_git_id(folders, monkeypatch):
    monkeypatch.setitem(DATASETS, "tiny-set", entry(sha256=None, git_id=GIT_ID))
    put(folders / "cache")
    np.testing.assert_array_equal(load("tiny-set").X, X)
    put(folders / "cache", content=TINY[:-1])
    broken(folders, rf"its git id is [0-9a-f]{{40}} instead of {GIT_ID}")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"X": X[:3], "Y": Y[:3]}, "holds 3 × 3 numbers and 3 classes; .* is 4 × 3"),
        ({"X": X.T, "Y": Y[:3]}, "holds 3 × 4 numbers and 3 classes; .* is 4 × 3"),
        ({"X": X, "Y": Y[:3]}, "holds 4 × 3 numbers and 3 classes; .* is 4 × 3"),
        ({"X": X}, "has no variable 'Y'"),
        ({"fea": X, "gnd": Y}, "has no variable 'X'; it has fea"),
    ],
)
def test_another_content(folders, monkeypatch, variables, message):
    monkeypatch.setitem(DATASETS, "tiny-set", entry(sha256=None))
    put(folders / "cache", content=mat(**variables))
    broken(folders, message)


def test_not_a_mat_file(folders, monkeypatch):
    monkeypatch.setitem(DATASETS, "tiny-set", entry(sha256=None))
    put(folders / "cache", content=b"<html>Sign in to this network</html>")
    with pytest.raises(DataError, match="is not a mat file"):
        load("tiny-set")


def test_fetch_leaves_what_is_here(folders):
    path = put(folders / "cache")
    assert datasets.fetch("tiny-set") == datasets.Fetched(
        "tiny-set", path, SHA256, downloaded=False
    )
