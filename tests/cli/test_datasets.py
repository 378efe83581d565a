"""``franet datasets``: what it prints, and its exit codes."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from datasets.served import SHA256, TINY, entry, serving
from franet.cli import main
from franet.datasets import DATASETS


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("FRANET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("FRANET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setitem(DATASETS, "tiny-set", entry())
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("pooch")
    with serving() as server:
        monkeypatch.setitem(DATASETS, "tiny-set", entry(server.url))
        yield server


def put(folder, name="tiny-set"):
    folder.mkdir()
    (folder / f"{name}.mat").write_bytes(TINY)


def run(*args):
    return CliRunner().invoke(main, ["datasets", *args])


def row(output, name):
    (line,) = [line for line in output.splitlines() if line.startswith(name)]
    return line.split()


def test_help():
    for args in ((), ("--help",)):
        result = run(*args)
        assert result.exit_code == 0
        assert "Usage: franet datasets" in result.output
        assert "fetch" in result.output


def test_list(folders):
    put(folders / "data")
    put(folders / "cache", "colon")
    result = run("list")
    assert result.exit_code == 0, result.output
    assert row(result.stdout, "colon") == (
        ["colon", "62", "2,000", "2", "biology", "yes", "cache"]
    )
    assert row(result.stdout, "tiny-set") == (
        ["tiny-set", "4", "3", "2", "test", "no", "data"]
    )
    assert row(result.stdout, "GLI-85")[-2:] == ["yes", "—"]
    assert "2 of 30 are on this machine." in result.stdout
    assert f"cache {folders / 'cache'}" in result.stdout
    assert f"data  {folders / 'data'}" in result.stdout
    assert "franet datasets fetch all" in result.stdout
    assert "…" not in result.stdout


def test_screen_that_knows_only_ascii():
    done = subprocess.run(
        [sys.executable, "-m", "franet", "datasets", "list"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"SMK-CAN-187" in done.stdout


def test_list_as_json(folders):
    put(folders / "data")
    document = json.loads(run("list", "--json").stdout)
    assert (document["format"], document["version"]) == ("franet-datasets", 1)
    rows = {row["name"]: row for row in document["datasets"]}
    assert list(rows) == list(DATASETS)
    assert rows["tiny-set"]["path"] == str(folders / "data" / "tiny-set.mat")
    assert rows["BASEHOCK"]["path"] is None
    assert rows["BASEHOCK"]["published"] == "baseshock"
    assert rows["BASEHOCK"]["in_paper"] is True
    assert rows["warpAR10P"]["in_paper"] is False
    assert rows["warpAR10P"]["excluded"] == DATASETS["warpAR10P"].excluded


def test_list_of_all_that_are_here(folders, monkeypatch):
    put(folders / "data")
    for name in list(DATASETS):
        if name != "tiny-set":
            monkeypatch.delitem(DATASETS, name)
    result = run("list")
    assert "1 of 1 are on this machine." in result.stdout
    assert "fetch all" not in result.stdout


def test_fetch(server, folders):
    path = folders / "cache" / "tiny-set.mat"
    result = run("fetch", "TINY_SET", "tiny-set")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"tiny-set  downloaded  {path}  sha256:{SHA256}\n"
    assert result.stderr == ""
    result = run("fetch", "tiny-set")
    assert result.stdout == f"tiny-set  here already  {path}  sha256:{SHA256}\n"
    assert run("fetch", "--quiet", "tiny-set").output == ""
    assert server.n_requests == 1


def test_one_that_fails_does_not_stop_the_others(server, folders, monkeypatch):
    for name in list(DATASETS):
        if name != "tiny-set":
            monkeypatch.delitem(DATASETS, name)
    gone = entry("http://127.0.0.1:9/gone.mat", name="gone")
    later = entry(server.url, name="later")
    monkeypatch.setitem(DATASETS, "gone", gone)
    monkeypatch.setitem(DATASETS, "later", later)
    result = run("fetch", "all")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: gone: cannot be downloaded (no connection: ")
    assert [line.split()[:2] for line in result.stdout.splitlines()] == [
        ["tiny-set", "downloaded"],
        ["later", "downloaded"],
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "error: Name the data sets, or say all."),
        (("tiny-set", "iris"), "error: There is no data set 'iris'."),
    ],
)
def test_bad_names(folders, names, message):
    result = run("fetch", *names)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(message)
    assert not (folders / "cache").exists()


def test_without_pooch(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    result = run("fetch", "all")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.endswith("pip install 'franet[datasets]'")
