import pytest


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    """No data, an empty cache, and no way to the internet through a proxy."""
    monkeypatch.delenv("FRANET_DATA", raising=False)
    monkeypatch.setenv("FRANET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path
