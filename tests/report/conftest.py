"""Fitted rankers, their reports, and a browser to look at them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from franet import FRANe, report
from franet.exceptions import DegenerateRankingWarning
from franet.rankers import ColumnSubset, LaplacianScore
from tables import random

ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"

# What a column may be called: shown, never run.
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"double\" 'single' `back` \\",
    "&amp; &lt;b&gt; <b>bold</b>",
    "emoji 🧬👩‍🔬 naïve",
    "עברית שם עמודה",
    "\u202eoverride\u202c",
    "long " * 100,
    "new\nline\ttab\r\x00\x7f",
    "\u2028line\u2029paragraph",
    "$$\\frac{1}{2}$$ \\(x\\)",
    "{{ 7 * 7 }} {% raw %} @name @{x}",
    "javascript:alert(3)",
    "",
    "=1+1",
    "half \ud800 of a pair",
]


def hostile_table():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(60, 4))
    X = base[:, np.arange(len(HOSTILE)) % 4] + 0.4 * rng.normal(size=(60, len(HOSTILE)))
    return pd.DataFrame(X, columns=HOSTILE)


@pytest.fixture(scope="session")
def cancer():
    X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    return FRANe(n_features_to_select=8).fit(X), X


@pytest.fixture(scope="session")
def digits():
    X, _ = load_digits(return_X_y=True, as_frame=True)
    return FRANe().fit(X), X


@pytest.fixture(scope="session")
def hostile():
    X = hostile_table()
    ranker = FRANe().fit(X.to_numpy())
    return report.summarize(ranker, X.to_numpy(), names=HOSTILE, title=HOSTILE[0])


@pytest.fixture(scope="session")
def summary(cancer):
    ranker, X = cancer
    return report.summarize(ranker, X, title="Tumours")


@pytest.fixture(scope="session")
def collapsed():
    """Return the report of the literature's settings on a table of large values."""
    X = 100 * random(30, 24, seed=3)
    ranker = LaplacianScore(width=1.0)
    with pytest.warns(DegenerateRankingWarning):
        ranker.fit(X)
    return report.summarize(ranker, X, title="A collapsed ranking")


@pytest.fixture(scope="session")
def collapsed_path(browser, collapsed, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "collapsed.html"
    report.write(collapsed, path)
    return path


@pytest.fixture(scope="session")
def greedy(cancer):
    X = cancer[1]
    return report.summarize(ColumnSubset(8).fit(X), X, title="Tumours")


@pytest.fixture(scope="session")
def greedy_path(browser, greedy, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "greedy.html"
    report.write(greedy, path)
    return path


@pytest.fixture(scope="session")
def artefacts():
    ARTEFACTS.mkdir(exist_ok=True)
    return ARTEFACTS


@pytest.fixture(scope="session")
def browser():
    """Yield headless Chromium; skip, and say why, where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: pip install 'franet[test]'"
    )
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()
