from __future__ import annotations

import pytest

from cli.commands import save


@pytest.fixture
def data(tmp_path):
    return save(tmp_path / "data.csv")
