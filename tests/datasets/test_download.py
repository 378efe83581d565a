"""Downloading, from a server on this machine."""

import logging
import socket
import sys

import numpy as np
import pytest

from datasets.served import GIT_ID, SHA256, TINY, X, Y, entry, mat, serving
from franet._common.progress import listening
from franet.datasets import DATASETS, _load, fetch, load
from franet.exceptions import DataError, MissingExtraError

pooch = pytest.importorskip("pooch")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    with serving() as server:
        monkeypatch.setitem(DATASETS, "tiny-set", entry(server.url))
        yield server


@pytest.fixture
def cached(folders):
    """The file that a download makes; nothing else may be left in its folder."""
    path = folders / "cache" / "tiny-set.mat"
    yield path
    left = set(path.parent.iterdir()) if path.parent.exists() else set()
    assert left <= {path}


def fails(message):
    with pytest.raises(DataError, match=message) as caught:
        load("tiny-set")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_download(server, cached):
    fetched = fetch("tiny_set")
    assert (fetched.name, fetched.path) == ("tiny-set", cached)
    assert fetched.sha256 == SHA256
    assert fetched.downloaded
    assert cached.read_bytes() == TINY
    assert not fetch("tiny-set").downloaded
    assert server.n_requests == 1


def test_load_downloads_once(server, cached):
    np.testing.assert_array_equal(load("tiny-set").X, X)
    np.testing.assert_array_equal(load("tiny-set").y, Y[:, 0])
    assert server.n_requests == 1


def test_wrong_checksum(server, cached):
    server.answers = [(200, mat(X=X + 1, Y=Y))]
    message = fails("tiny-set: what came from http.* is something else")
    assert SHA256 in message
    assert "nothing was kept" in message
    assert not cached.exists()
    assert server.n_requests == 3


def test_wrong_git_id(server, cached, monkeypatch):
    known = entry(server.url, sha256=None, git_id=GIT_ID)
    monkeypatch.setitem(DATASETS, "tiny-set", known)
    server.answers = [(200, mat(X=X + 1, Y=Y))]
    fails(f"something else .its git id is [0-9a-f]+ instead of {GIT_ID}")
    assert not cached.exists()
    server.answers = [(200, TINY)]
    assert fetch("tiny-set").sha256 == SHA256


@pytest.mark.parametrize("content", [mat(X=X.T, Y=Y), TINY[:150], b"<html>", b""])
def test_wrong_content_where_no_checksum_is_known(server, cached, monkeypatch, content):
    monkeypatch.setitem(DATASETS, "tiny-set", entry(server.url, sha256=None))
    server.answers = [(200, content)]
    fails("something else .not a table of 4 × 3 numbers with classes")
    assert not cached.exists()


def test_cut_download(server, cached):
    server.answers = [(200, TINY, 150)]
    message = fails("the download failed 3 times")
    assert "'franet datasets fetch tiny-set'" in message
    assert not cached.exists()
    assert server.n_requests == 3


def test_download_that_hangs(server, cached, monkeypatch):
    monkeypatch.setattr(_load, "_TIMEOUT", 2)

    def patient():  # only the first attempt is short of time
        _load._TIMEOUT = 600

    server.answers = [(200, TINY, 150, patient), (200, TINY)]
    assert fetch("tiny-set").downloaded
    assert cached.read_bytes() == TINY
    assert server.n_requests == 2


def test_second_attempt(server, cached):
    server.answers = [(200, TINY, 150), (503, b""), (200, TINY)]
    assert fetch("tiny-set").downloaded
    assert cached.read_bytes() == TINY
    assert server.n_requests == 3


def test_no_such_file_on_the_server(server, cached):
    server.answers = [(404, b"")]
    fails("cannot be downloaded .404 Client Error")
    assert server.n_requests == 1, "another attempt is of no use"


def test_no_server(cached, monkeypatch):
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/tiny_set.mat"
        monkeypatch.setitem(DATASETS, "tiny-set", entry(url))
        message = fails("tiny-set: cannot be downloaded .no connection: ")
    for part in (
        url, str(cached.parent), "'franet datasets fetch tiny-set'", "set FRANET_DATA"
    ):  # fmt: skip
        assert part in message


@pytest.mark.parametrize("checksum", [{}, {"sha256": None, "git_id": GIT_ID}])
def test_damaged_file_in_the_cache_is_replaced(server, cached, monkeypatch, checksum):
    monkeypatch.setitem(DATASETS, "tiny-set", entry(server.url, **checksum))
    cached.parent.mkdir()
    cached.write_bytes(TINY[:-1])
    (cached.parent / "tiny_set.mat").write_bytes(b"x")
    with pytest.raises(DataError, match="delete it, then run 'franet datasets fetch"):
        load("tiny-set")
    assert fetch("tiny-set").downloaded
    assert cached.read_bytes() == TINY


def test_damaged_file_of_the_user_is_left(server, cached, folders, monkeypatch):
    monkeypatch.setenv("FRANET_DATA", str(folders))
    own = folders / "tiny-set.mat"
    own.write_bytes(TINY[:-1])
    with pytest.raises(DataError, match=r"is not tiny-set as published .*delete it"):
        fetch("tiny-set")
    assert own.read_bytes() == TINY[:-1]
    assert server.n_requests == 0


def test_cache_that_cannot_be_written(server, folders, monkeypatch):
    (folders / "file").write_text("")
    monkeypatch.setenv("FRANET_CACHE", str(folders / "file"))
    fails("file: cannot be written .*; set FRANET_CACHE to another folder")


def test_without_pooch(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[datasets\]'"):
        load("tiny-set")


def test_progress_and_silence(server, cached, capfd):
    seen = []
    level = pooch.get_logger().level
    with listening(lambda *what: seen.append(what)):
        fetch("tiny-set")
    assert seen[-1] == ("fetching tiny-set", len(TINY), len(TINY))
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level != logging.CRITICAL


def test_progress_of_several_chunks():
    bar, seen = _load._Progress("a"), []
    bar.total = 10
    with listening(lambda *what: seen.append(what[1:])):
        bar.update(8)
        bar.update(8)
        bar.reset()
        bar.update(10)
    assert seen == [(8, 10), (10, 10), (10, 10)]
