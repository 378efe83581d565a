"""A cluster for each file that asks for one."""

from __future__ import annotations

import tempfile

import pytest

from franet.engine import _windows


@pytest.fixture(scope="module")
def cluster():
    # Imported here: other files need no Dask.
    from engine.clusters import started

    with started(2) as client:
        yield client


@pytest.fixture
def client(cluster):
    # Those that an earlier test has killed are back.
    cluster.wait_for_workers(2)
    return cluster


@pytest.fixture(scope="module")
def undisturbed(cluster):
    """Return a fit of the table on a cluster that loses nothing."""
    from engine.clusters import TABLE, fit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_windows, "GROUP_BLOCKS", 1)
        cluster.wait_for_workers(2)
        return fit(cluster, TABLE)


@pytest.fixture
def many_parts(monkeypatch):
    monkeypatch.setattr(_windows, "GROUP_BLOCKS", 1)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Return the folder for temporary files; nothing is to be left in it."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())
