"""Published tables: what is measured, and the page about it."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
HOME = ROOT / "docs" / "benchmark"


@pytest.fixture
def published(monkeypatch):
    folder = ROOT / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    before = set(sys.modules)
    import published

    yield published
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).is_relative_to(folder):
            del sys.modules[name]


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 3)) @ generator.normal(size=(3, 12))
    return X + 0.1 * generator.normal(size=X.shape), np.arange(40) % 2


def test_the_page_is_made_of_the_results(published):
    from document import Tables
    from published_text import page

    assert (HOME / "published.md").read_text("utf-8") == page(Tables())


@pytest.mark.parametrize("n", [5, 100, 325, 2000, 10_000])
def test_steps_judge_up_to_a_tenth_of_the_features(published, n):
    steps = published.counts(n)
    assert len(steps) == 20
    assert steps == sorted(steps)
    assert steps[0] == math.ceil(0.005 * n)
    assert steps[-1] == math.ceil(0.1 * n)


def test_what_is_stored_is_known_until_the_ranking_changes(
    published, monkeypatch, tmp_path
):
    monkeypatch.setattr(published, "OUT", tmp_path / "published.csv")
    order = np.arange(5)
    unit = ("fseval", "cover", "Yale", 0)
    assert not published.known(unit, ["NMI"], order, again=False)
    published.keep(published.rows(unit, {"NMI": 0.5, "CLSACC": 0.25}, 1.0, order))
    assert published.known(unit, ["NMI", "CLSACC"], order, again=False)
    assert not published.known(unit, ["NMI", "CLSACC"], order, again=True)
    assert not published.known(unit, ["NMI", "ACC"], order, again=False)
    assert not published.known(unit, ["NMI"], order[::-1], again=False)
    published.keep(published.rows(unit, {"NMI": 0.75}, 1.0, order[::-1]))
    found = {key[-1]: row["value"] for key, row in published.stored().items()}
    assert found == {"NMI": "0.75", "CLSACC": "0.25"}
    assert [path.name for path in tmp_path.iterdir()] == ["published.csv"]


def test_the_error_is_that_of_linear_regression(published, table):
    X, y = table
    train, test = published.halves(X, 7)
    assert sorted([*train, *test]) == list(range(40))
    order = published.order_of("column-subset", X[train], 4, 7)
    A, B = (np.column_stack([np.ones(len(r)), X[r][:, order]]) for r in (train, test))
    expected = np.mean((B @ np.linalg.lstsq(A, X[train])[0] - X[test]) ** 2)
    error, accuracy = published.rebuild(X, y, "column-subset", 4, 7)
    assert error == pytest.approx(expected, rel=1e-8)
    assert 0.0 <= accuracy <= 1.0


@pytest.mark.parametrize("name", ["cover", "random", "pfa"])
def test_rankers_return_different_features(published, table, name):
    order = published.order_of(name, table[0], 6, 0)
    assert len(set(order)) == 6
    assert set(order) <= set(range(12))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("7_PFA_CV", ("PFA", 64, None)),
        ("9_AgnoSS_CV", ("AgnoS-S", 64, None)),
        ("12_FAE_50_CV/bias_True", ("FAE", "50", "True")),
        ("1_LS_CV", None),
    ],
)
def test_names_of_published_methods_are_read(published, name, expected):
    row = {"dataset": "arcene", "method": name, "splits": "50", "mse": "1"}
    found = published.method(row)
    if found is not None:
        assert (found["splits"], found["mse"]) == ("50", "1")
        found = (found["method"], found["n_features"], found["bias"])
    assert found == expected


def test_methods_with_an_error_below_that_of_cover_are_named(published):
    from published_text import _above

    line = {f"{name}, published": 0.5 for name in ("CAE", "FAE", "PFA")}
    assert _above({**line, "Cover": 0.4}) == []
    line["PFA, published"] = 0.3
    assert _above({**line, "Cover": 0.4}) == ["PFA 0.30000"]
