"""What comes after a fit with ``similarity="mixed"``: report, pictures, stability."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

from franet import DataError, FRANe
from franet.network._origin import similarities
from franet.pairs.alike import correlations
from franet.pairs.coded import code_table
from franet.plotting import plot_similarity
from franet.report import summarize
from test_mixed import frame, naive_similarity
from test_mixed_tables import PLAIN

mpl.use("Agg")
FRAMES = {
    "pandas": PLAIN,
    "category": PLAIN.astype({"c1": "category"}),
    "polars": pl.from_pandas(PLAIN),
    "objects": PLAIN.to_numpy(dtype=object),
    "coded": code_table(PLAIN),
}
NUMBERS = naive_similarity(PLAIN.astype({"b": float}))
np.fill_diagonal(NUMBERS, np.nan)


def fit(table, **parameters):
    return FRANe(similarity="mixed", **parameters).fit(table)


@pytest.mark.parametrize("kind", FRAMES)
def test_summary(kind):
    table = FRAMES[kind]
    summary = summarize(fit(table), table, names=list(PLAIN))
    assert summary["n_examples"] == 50
    assert summary["measure"]["symbol"] == "similarity"
    assert (summary["measure"]["low"], summary["measure"]["high"]) == (0.0, 1.0)
    values = {row["name"]: row["distribution"] for row in summary["features"]}
    counts = PLAIN["c1"].value_counts()
    assert values["c1"]["levels"] == len(counts) == 3
    assert values["c1"]["counts"] == counts.tolist()
    assert values["c1"]["commonest"] == counts.index[0]
    assert values["c1"]["median"] is None
    assert "levels" not in values["n0"]
    assert values["n0"]["low"] == pytest.approx(PLAIN["n0"].min(), rel=1e-3)
    assert values["b"]["high"] == 1.0
    heat = summary["heat"]
    at = [summary["features"][row]["index"] for row in heat["row"]]
    found = np.array(heat["weight"], float)
    np.testing.assert_allclose(found, NUMBERS[np.ix_(at, at)], atol=1e-3)
    assert heat["source"] == "data"


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_page(tmp_path, kind):
    fit(FRAMES[kind]).report(tmp_path / "page.html", FRAMES[kind])
    page = (tmp_path / "page.html").read_text()
    assert f"5 levels, most often {PLAIN['c2'].mode()[0]}" in page


def test_names_of_levels_are_text_not_html(tmp_path):
    table = PLAIN.replace({"level 0": "<b>&", "level 1": "a\nb"})
    fit(table).report(tmp_path / "page.html", table)
    page = (tmp_path / "page.html").read_text()
    assert "most often <b>" not in page


def test_another_table_than_that_of_the_fit():
    ranker = fit(PLAIN)
    for other in (PLAIN.drop(columns="n0"), PLAIN.rename(columns={"c0": "z"})):
        with pytest.raises(
            DataError, match=r"Pass that table\.$|Pass the columns of the fit"
        ):
            summarize(ranker, other)
    assert list(ranker.feature_names_in_) == list(PLAIN)


def test_words_of_what_is_left_out():
    table = PLAIN.assign(one="x", id=[f"{i}" for i in range(50)], copy=PLAIN["c1"])
    with pytest.warns(UserWarning, match="'id'"):
        ranker = fit(table)
    for X in (None, table):
        said = " ".join(summarize(ranker, X)["warnings"])
        assert "2 features are constant or like an identifier and rank last: " in said
        assert "one, id." in said
        assert "they are copies, or one determines the other: c1, copy." in said
    numbers = frame(levels=()).assign(one=1.0)
    ranker = FRANe(similarity="abs-correlation").fit(numbers)
    said = " ".join(summarize(ranker)["warnings"])
    assert "1 feature is constant and ranks last" in said


@pytest.mark.parametrize("kind", FRAMES)
def test_similarities(kind):
    net = fit(FRAMES[kind]).network_
    features = np.array([4, 0, 6, 7])
    found = similarities(net, features, FRAMES[kind])
    np.testing.assert_allclose(found, NUMBERS[np.ix_(features, features)], atol=1e-12)
    ax = plot_similarity(net, FRAMES[kind])
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    np.testing.assert_allclose(
        np.sort(drawn, axis=None), np.sort(NUMBERS, axis=None), atol=1e-12
    )
    mpl.pyplot.close(ax.figure)


def test_pictures_of_left_out_columns():
    table = PLAIN.assign(id=[f"{i}" for i in range(50)])
    with pytest.warns(UserWarning, match="'id'"):
        net = fit(table).network_
    found = similarities(net, np.array([0, 8, 4]), table)
    assert np.isnan(found[1]).all()
    assert found[0, 2] == pytest.approx(NUMBERS[0, 4], abs=1e-12)


@pytest.mark.parametrize("kind", FRAMES)
def test_another_threshold(kind):
    ranker = fit(FRAMES[kind])
    net = ranker.network_.at(ranker.threshold_ / 2, FRAMES[kind])
    assert net.n_edges == (NUMBERS >= ranker.threshold_ / 2).sum() // 2
    assert net.n_edges > ranker.network_.n_edges


def test_correlations_of_a_table_with_categories():
    features = np.array([5, 2, 0])
    found = correlations(code_table(PLAIN), features)
    np.testing.assert_allclose(found, NUMBERS[np.ix_(features, features)], atol=1e-12)


@pytest.mark.parametrize("kind", FRAMES)
def test_stability(kind):
    ranker = fit(FRAMES[kind], n_features_to_select=3)
    found = ranker.stability(FRAMES[kind], 8)
    assert found.selected.sum() == pytest.approx(3)
    assert (found.rank_low <= found.rank_high).all()
    expected = fit(PLAIN, n_features_to_select=3).stability(PLAIN, 8)
    np.testing.assert_array_equal(found.median_rank, expected.median_rank)


def test_why_rows_may_not_be_drawn_twice():
    # A level for each two rows, and noise. Halves say that there is nothing.
    random = np.random.default_rng(0)
    table = pd.DataFrame({f"n{j}": random.normal(size=40) for j in range(20)})
    coded = code_table(table.assign(c=[f"{i // 2}" for i in range(40)]))
    drawn = coded[random.integers(40, size=40)]
    half = coded[random.permutation(40)[:20]]
    mean = {
        name: np.nanmean(correlations(part, np.arange(21))[-1])
        for name, part in {"all": coded, "half": half, "drawn": drawn}.items()
    }
    assert mean["all"] < 0.1
    assert mean["half"] < 0.1
    assert mean["drawn"] > 0.3
