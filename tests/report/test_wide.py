"""The report of thousands of features: soon there, small, and quick to answer."""

from __future__ import annotations

import time
import warnings

import pytest

from data import load, needs_shared
from franet import FRANe
from franet.report import summarize, write


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    X, _ = load("nci9")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = FRANe().fit(X)
    path = tmp_path_factory.mktemp("wide") / "nci9.html"
    start = time.perf_counter()
    summary = summarize(ranker, X, title="nci9")
    write(summary, path)
    return path, summary, time.perf_counter() - start


@pytest.mark.alone
@needs_shared
def test_time_and_size(made):
    path, summary, seconds = made
    assert seconds < 20
    assert path.stat().st_size <= 6e6
    assert summary["n_features"] == 9712
    assert len(summary["features"]) == 500


@pytest.mark.alone
@needs_shared
def test_it_opens_and_answers_within_two_seconds(browser, made, artefacts):
    path, summary, _ = made
    taken = []
    for _ in range(3):  # the best of three: the machine may be busy
        page = browser.new_page(viewport={"width": 1366, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.locator("#table tbody tr").nth(1).click()
        page.locator("#panel.open").wait_for()
        taken.append(time.perf_counter() - start)
        assert page.inner_text("#panel-title") == summary["features"][1]["name"]
        page.wait_for_selector("html[data-ready=all]")
        assert page.locator("#table tbody tr:visible").count() == 500
        page.evaluate("$('network').scrollIntoView({ behavior: 'instant' })")
        page.wait_for_timeout(200)
        page.screenshot(path=artefacts / "nci9-node.png")
        page.close()
    assert min(taken) < 2
