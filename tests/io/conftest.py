"""The process that reads binary files, in tests."""

from __future__ import annotations

import pytest

from franet.io import _sandbox


@pytest.fixture
def worker(monkeypatch):
    """Give a process that no other test uses."""
    found = _sandbox._Reader()
    monkeypatch.setattr(_sandbox, "_reader", found)
    yield found
    found.stop()


@pytest.fixture
def in_process(worker, monkeypatch):
    """Let there be no other process."""
    monkeypatch.setattr("sys.executable", "")


@pytest.fixture
def without(worker, monkeypatch, tmp_path):
    """Give a function that hides a module, in the other process, too."""

    def hide(name):
        (tmp_path / "hidden").mkdir()
        (tmp_path / "hidden" / f"{name}.py").write_text("raise ImportError\n")
        monkeypatch.syspath_prepend(tmp_path / "hidden")

    return hide
