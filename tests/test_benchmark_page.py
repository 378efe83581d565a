"""The benchmark's page says what the committed results say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOME = ROOT / "docs" / "benchmark"
MODULES = ("document", "text")


@pytest.fixture
def modules(monkeypatch):
    folder = ROOT / "benchmarks" / "reproduce"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.syspath_prepend(folder)
    import document
    import text

    yield document, text
    for name in MODULES:
        del sys.modules[name]


def test_the_page_is_made_of_the_results(modules):
    document, text = modules
    expected = text.page(document.Tables(HOME / "results"))
    assert (HOME / "README.md").read_text("utf-8") == expected


def test_what_the_page_shows_is_there():
    page = (HOME / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert len(links) >= 6
    for link in links:
        assert (HOME / link).exists(), link


def test_the_bars_hold(modules):
    """What the project promises of its reproduction."""
    document, text = modules
    tables = document.Tables(HOME / "results")
    assert len(tables.datasets) == 19
    gaps = [abs(text._gap(tables, dataset)) for dataset in tables.datasets]
    assert sum(gap <= 0.005 for gap in gaps) >= 16
    last = {
        "ORL": 0.703, "Yale": 0.749, "warpPIE10P": 0.526, "colon": 0.661,
        "leukemia": 0.833, "pixraw10P": 0.412, "arcene": 0.457, "madelon": 0.856,
    }  # fmt: skip
    for dataset, published in last.items():
        error = tables.error(dataset, "last-columns")
        assert error == pytest.approx(published, abs=0.0015)
