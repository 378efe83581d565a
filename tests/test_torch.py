"""Torch found or asked for by name, and devices that work."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

from franet import FRANe
from franet._common.memory import available_bytes
from franet.engine import device as _torch
from franet.engine.device import (
    Place,
    choose_device,
    cuda_ready,
    free_bytes,
    load,
    wanted,
)
from franet.exceptions import DataError, MissingExtraError, UsageError


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: franet[torch]")


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    install = r"needs an extra: pip install 'franet\[torch\]'$"
    with pytest.raises(MissingExtraError, match="^The torch backend " + install):
        load()
    with pytest.raises(MissingExtraError, match="^AgnoS " + install):
        load("AgnoS")
    with pytest.raises(MissingExtraError):
        choose_device("cpu")
    assert not cuda_ready()


def test_nothing_is_imported_where_torch_is_not(monkeypatch):
    monkeypatch.setattr(_torch, "find_spec", lambda name: None)
    monkeypatch.setattr(_torch, "load", lambda: pytest.fail("torch was loaded"))
    assert not cuda_ready()


def test_nothing_is_imported_without_a_driver(monkeypatch):
    monkeypatch.setattr(_torch.sys, "platform", "linux")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(_torch, "find_spec", lambda name: "torch")
    monkeypatch.setattr(_torch.os.path, "exists", lambda path: False)
    monkeypatch.setattr(_torch, "load", lambda: pytest.fail("torch was loaded"))
    assert not cuda_ready()


def test_broken_torch_is_not_ready(monkeypatch):
    def broken():
        raise OSError("libtorch.so: cannot open shared object file")

    monkeypatch.setattr(_torch, "find_spec", lambda name: "torch")
    monkeypatch.setattr(_torch, "_has_driver", lambda: True)
    monkeypatch.setattr(_torch, "load", broken)
    assert not cuda_ready()


@pytest.mark.parametrize("ready", [False, True])
def test_wanted(monkeypatch, ready):
    monkeypatch.setattr(_torch, "cuda_ready", lambda: ready)
    assert wanted(Place("auto")) is ready
    assert not wanted(Place("auto"), pays=False)
    assert wanted(Place("torch", "cpu"), pays=False)
    assert wanted(Place("torch"), pays=False)
    assert not wanted(Place("numpy"))
    assert not wanted(Place("dask"))


@pytest.mark.parametrize("backend", ["torch:cpu", "torch"])
def test_tables_that_it_does_not_take(torch, backend):
    X = np.random.default_rng(0).normal(size=(12, 8))
    message = rf"^backend='{backend}' does not support "
    remedy = r".* or set backend='numpy'\.$"
    with pytest.raises(DataError, match=rf"{message}sparse tables{remedy}"):
        FRANe(backend=backend).fit(sparse.csr_array(X))
    X[2, 3] = np.nan
    with pytest.raises(UsageError, match=rf"{message}missing='pairwise'{remedy}"):
        FRANe(missing="pairwise", backend=backend).fit(X)


def test_devices(torch):
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device(torch.device("cpu")) == torch.device("cpu")
    assert choose_device().type == ("cuda" if cuda_ready() else "cpu")


@pytest.mark.parametrize(
    ("device", "reason"),
    [
        ("gpu", "there is no such device"),
        ("cuda:x", "there is no such device"),
        ("", "there is no such device"),
        (3.5, "there is no such device"),
        ("cuda:99", r"torch .* sees .* CUDA device\(s\)"),
        ("mps", "it has no float64"),
        ("meta", ".*meta tensors"),  # it takes any array, and computes nothing
    ],
)
def test_devices_that_do_not_work(torch, device, reason):
    message = (
        rf"^The torch device '{device}' cannot be used \({reason}\)\. "
        "Set backend='numpy' or 'auto'"
    )
    with pytest.raises(UsageError, match=message):
        choose_device(device)


def test_cuda_where_there_is_none(torch, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(UsageError, match=r"device 'cuda' cannot .* sees no CUDA"):
        choose_device("cuda")


def test_room_on_the_processor(torch):
    # Other programs come and go meanwhile.
    assert free_bytes(torch.device("cpu")) == pytest.approx(available_bytes(), rel=0.5)


@pytest.mark.cuda
def test_cuda():
    if not cuda_ready():
        pytest.skip("torch sees no CUDA device here")
    torch = load()
    place = choose_device("cuda:0")
    assert place == torch.device("cuda:0")
    total = torch.cuda.get_device_properties(place).total_memory
    assert 0 < free_bytes(place) <= total
    before = free_bytes(place)
    held = torch.zeros(2**28, dtype=torch.uint8, device=place)
    assert before - free_bytes(place) >= 0.9 * len(held)
    del held
    # Torch keeps it, but it is free all the same.
    assert free_bytes(place) >= before - 2**26
