"""``franet doctor``: what is there, what is missing, and what to do about it."""

import json
import os
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from cli.commands import run
from franet import __version__
from franet.cli.doctor import is_old, packages

# The command of the same name hides it.
MODULE = import_module("franet.cli.doctor")
REQUIRES = [
    "numpy>=1.26",
    "rich",
    'anndata>=0.10.9; extra == "anndata"',
    "no-such-package-at-all>=2; extra == 'torch'",
    'dask[array]>=99999; extra == "dask"',
    'franet[dask,torch]; extra == "all"',
    'ruff>=0.9; extra == "check"',
]


def test_requirements_are_read():
    found = {each.name: each for each in packages(REQUIRES)}
    assert list(found) == [
        "numpy", "rich", "anndata", "no-such-package-at-all", "dask", "ruff",
    ]  # fmt: skip
    assert (found["numpy"].extra, found["numpy"].least) == ("", "1.26")
    assert found["numpy"].found is not None
    assert not found["numpy"].is_lacking
    assert (found["rich"].least, found["rich"].is_lacking) == ("", False)
    assert found["no-such-package-at-all"].found is None
    assert found["no-such-package-at-all"].is_lacking
    assert found["dask"].extra == "dask"


@pytest.mark.parametrize(
    ("version", "least", "old"),
    [
        ("1.26.4", "1.26", False),
        ("1.9", "1.26", True),
        ("2.0.0rc1", "2", False),
        ("2.13.0+cpu", "2.4", False),
        ("1.26", "1.26.0", False),
        ("anything", "", False),
    ],
)
def test_versions_are_compared_by_number(version, least, old):
    assert is_old(version, least) is old


@pytest.fixture
def wanted(monkeypatch):
    """Let franet ask for the packages of this file."""
    monkeypatch.setattr("importlib.metadata.requires", lambda name: [*REQUIRES])


def test_all_is_in_place(wanted, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    result = run("doctor")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"franet    {__version__}, Python 3.")
    assert lines[-1] == "All is in place."
    labels = {line.split()[0] for line in lines if line and line[0] != " "}
    assert {"packages", "threads", "BLAS", "GPU", "memory", "caches"} <= labels
    assert "pip install 'franet[torch]'" in result.stdout
    assert "ruff" not in result.stdout
    assert "OMP_NUM_THREADS=1" in result.stdout


def test_for_machines(wanted):
    found = json.loads(run("doctor", "--json").stdout)
    assert (found["format"], found["version"]) == ("franet-doctor", 1)
    assert found["franet"] == __version__
    assert found["python"] == sys.version.split()[0]
    assert list(found["packages"]) == ["numpy", "rich"]
    assert found["processor"]["threads"] >= 1
    assert found["memory"]["free"] > 0
    assert found["problems"] == []
    extras = {each["extra"]: each for each in found["extras"]}
    assert sorted(extras) == ["anndata", "dask", "torch"]
    assert extras["torch"]["missing"] == ["no-such-package-at-all"]
    assert extras["torch"]["install"] == "pip install 'franet[torch]'"
    # One that is too old is as good as none.
    assert extras["dask"]["missing"] == ["dask"]


def test_a_package_that_is_too_old(monkeypatch):
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["numpy>=999"])
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].endswith("pip install 'numpy>=999'")


def test_a_folder_on_the_path(monkeypatch):
    def requires(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", requires)
    result = run("doctor")
    assert result.exit_code == 1
    assert "To do: franet is not installed" in result.stdout


def test_what_cannot_be_looked_at_is_told(wanted, monkeypatch):
    def blas():
        raise OSError("libopenblas.so: cannot open shared object file")

    monkeypatch.setattr(MODULE, "blas", blas)
    result = run("doctor")
    assert result.exit_code == 1
    assert "To do: blas: OSError: libopenblas.so" in result.stdout
    assert "memory" in result.stdout


def test_kernels_that_cannot_be_kept(wanted, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: "franet" not in str(path))
    result = run("doctor")
    assert result.exit_code == 1
    assert "set NUMBA_CACHE_DIR to a folder" in result.stdout


def test_caches(tmp_path, monkeypatch):
    monkeypatch.setenv("FRANET_CACHE", str(tmp_path / "cache"))
    found = MODULE.caches()[1]
    assert (found["files"], found["bytes"], found["writable"]) == (0, 0, True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "ORL.mat").write_bytes(b"12345")
    found = MODULE.caches()[1]
    assert (found["files"], found["bytes"]) == (1, 5)
    assert found["path"] == str(tmp_path / "cache")


def test_gpu_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    found = MODULE.gpu()
    assert found["devices"] == []
    assert found["reason"].endswith("pip install 'franet[torch]'")


def test_gpus(wanted, monkeypatch):
    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 2,
        mem_get_info=lambda i: (3 * 10**9, 8 * 10**9),
        get_device_name=lambda i: f"Card {i}",
    )
    torch = SimpleNamespace(__version__="2.9", cuda=cuda)
    monkeypatch.setattr("franet.engine.device.load", lambda what: torch)
    shown = run("doctor").stdout
    assert "GPU       cuda:0: Card 0, 3.0 GB of 8.0 GB free (torch 2.9)" in shown
    assert "GPU       cuda:1: Card 1" in shown


def test_settings(monkeypatch):
    monkeypatch.setattr(os, "environ", {"NO_COLOR": "1", "HOME": "/"})
    assert MODULE._examine()["settings"] == {"NO_COLOR": "1"}
