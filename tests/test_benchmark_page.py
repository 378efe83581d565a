"""The benchmark's page says what the committed results say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).parents[1]
HOME = ROOT / "docs" / "benchmark"


@pytest.fixture
def modules(monkeypatch):
    folder = ROOT / "benchmarks" / "reproduce"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = set(sys.modules)
    import document
    import text

    yield document, text
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == folder:
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


def test_the_bars_of_cover_hold(modules):
    """What the page says of the ranking that does not repeat itself."""
    document, _ = modules
    import cover_text
    import parts

    from franet.evaluation.statistics import average_ranks

    tables = document.Tables(HOME / "results")
    assert len(document.RIVALS) == 15
    halves = {*parts.CHOOSING, *parts.REPORTING}
    assert halves == set(tables.datasets)
    assert len(parts.CHOOSING) + len(parts.REPORTING) == 19
    for measure in ("rmae", "rmae_shared"):
        for names in (tables.datasets, parts.CHOOSING, parts.REPORTING):
            means = cover_text.errors(tables, names, measure).mean(axis=0)
            assert means[0] < means[1:].min()
    scores = cover_text.errors(tables, tables.datasets)
    assert average_ranks(scores, ties="average")[0] <= 2.5
    for classic in ("frane-paper", "frane-reference"):
        assert cover_text.better(tables, classic) >= 17
    by_chance = cover_text.draws(tables)
    assert len(by_chance) == 19
    for dataset, errors in by_chance.items():
        assert len(errors) == 20
        assert tables.error(dataset, "cover", "rmae_shared") < fmean(errors)


@pytest.mark.parametrize("name", ["field", "panels"])
def test_other_pages_are_made_of_their_results(monkeypatch, name):
    folder = ROOT / "benchmarks"
    if not (folder / "results" / f"{name}.csv").exists():
        pytest.skip("nothing is measured")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = set(sys.modules)
    import pages

    try:
        assert (HOME / f"{name}.md").read_text("utf-8") == pages.page(name)
    finally:
        for module in set(sys.modules) - before:
            path = Path(getattr(sys.modules[module], "__file__", None) or "")
            if folder in path.parents:
                del sys.modules[module]
