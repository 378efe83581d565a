"""The report of thousands of features: small, and it answers before all is drawn."""

from __future__ import annotations

import warnings

import pytest

from browsing import PATIENCE, settle
from data import load, needs_shared
from franet import FRANe
from franet.report import summarize, write

# Writes down what the page says of itself.
WATCH = """
window.seen = [];
new MutationObserver(() => {
  const ready = document.documentElement?.dataset.ready;
  if (ready && seen.at(-1) !== ready) seen.push(ready);
}).observe(document, { attributes: true, childList: true, subtree: true });
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    X, _ = load("nci9")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = FRANe().fit(X)
    path = tmp_path_factory.mktemp("wide") / "nci9.html"
    summary = summarize(ranker, X, title="nci9")
    write(summary, path)
    return path, summary


@needs_shared
def test_size(made):
    path, summary = made
    assert path.stat().st_size <= 6e6
    assert summary["n_features"] == 9712
    assert len(summary["features"]) == 500


@needs_shared
def test_it_answers_before_all_is_drawn(browser, made, artefacts):
    path, summary = made
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator("#table tbody tr").nth(1).click()
    page.locator("#panel.open").wait_for()
    assert page.inner_text("#panel-title") == summary["features"][1]["name"]
    page.wait_for_selector("html[data-ready=all]")
    assert page.evaluate("seen") == ["map", "all"]
    assert page.locator("#table tbody tr:visible").count() == 500
    page.evaluate("$('network').scrollIntoView({ behavior: 'instant' })")
    settle(page)
    page.screenshot(path=artefacts / "nci9-node.png")
    page.close()
