"""Pictures of `Cover`: what picks explain, and the others."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from franet import Cover
from franet.exceptions import MissingExtraError, UsageError
from franet.plotting import (
    plot_explained,
    plot_network,
    plot_quality,
    plot_scores,
    plot_similarity,
)
from network.covers import NAMES, TABLE, X, correlations, cover
from plotting.test_plots import RANKER as PAPER
from plotting.test_plots import pixels

RANKER = cover()


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lines_of(ax):
    return {line.get_label(): line for line in ax.lines}


def starting(ax, start):
    handles, labels = ax.get_legend_handles_labels()
    found = zip(handles, labels, strict=True)
    return [(h, label) for h, label in found if label.startswith(start)]


def test_axes():
    given = plt.figure().add_subplot()
    assert plot_explained(RANKER, ax=given) is given
    own = plot_explained(RANKER)
    assert own.figure is not given.figure
    assert pixels(own).std() > 5
    np.testing.assert_array_equal(pixels(own), pixels(plot_explained(cover())))


def test_curves_and_marks():
    ax = plot_explained(RANKER, TABLE)
    at = np.arange(1, RANKER.n_ranked_ + 1)
    ((curve, _),) = starting(ax, "explained by the picks")
    np.testing.assert_array_equal(curve.get_xdata(), at)
    np.testing.assert_array_equal(curve.get_ydata(), RANKER.explained_)
    ((components, _),) = starting(ax, "by as many principal components")
    wanted = RANKER.explained_by_components(TABLE)
    np.testing.assert_array_equal(components.get_ydata(), wanted)
    assert not starting(plot_explained(RANKER), "by as many")
    title = ax.get_title(loc="left").replace("\n", " ")
    assert title == RANKER.summary()


def test_suggested_and_selected():
    for n, ranked in ((2, 20), (4, 20)):
        ranker = cover(n_features_to_select=n, n_ranked=ranked)
        ax = plot_explained(ranker)
        count = ranker.n_features_suggested_
        ((star, label),) = starting(ax, "suggested")
        assert star.get_xdata()[0] == count
        assert star.get_ydata()[0] == ranker.explained_[count - 1]
        assert label.startswith(f"suggested: {count}, which explain")
        marks = starting(ax, "selected")
        assert len(marks) == (n != count)
        for ring, label in marks:
            at = ring.get_xdata()[0], ring.get_ydata()[0]
            assert at == (n, ranker.explained_[n - 1])
            assert label == f"selected: {n}, which explain {at[1]:.0%}"


def test_nothing_is_suggested():
    noise = np.random.default_rng(4).normal(size=(40, 150))
    ranker = cover(noise, None, n_ranked=64)
    assert ranker.n_features_ > ranker.n_ranked_
    ax = plot_explained(ranker)
    for start in ("suggested", "selected"):
        assert not starting(ax, start)
    assert "No small subset" in ax.get_title(loc="left")
    pixels(ax)


def test_one_pick():
    pixels(plot_explained(cover(X[:, [0, 20]], 1)))


def test_wrong_rankers():
    with pytest.raises(UsageError, match=r"needs a fitted Cover"):
        plot_explained(PAPER)
    with pytest.raises(UsageError, match="ranker must be a fitted ranker, not Attr"):
        plot_explained(RANKER.network_)
    with pytest.raises(NotFittedError):
        plot_explained(Cover())
    with pytest.raises(UsageError) as caught:
        plot_quality(RANKER)
    assert str(caught.value) == (
        "plot_quality shows thresholds, and Cover has none. "
        "plot_explained shows how much of the table its picks explain."
    )


def test_without_the_extra(monkeypatch):
    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr("franet._common.optional.import_module", no_module)
    with pytest.raises(MissingExtraError, match=r"franet\[plot\]"):
        plot_explained(RANKER)


def test_network_shows_signs():
    ax = plot_network(RANKER, labels=0)
    dots = ax.collections[-1]
    (lines,) = [c for c in ax.collections if c is not dots]
    dashed = [pattern is not None for _, pattern in lines.get_linestyles()]
    r = RANKER.representative_corr_
    assert sum(dashed) == (r < 0).sum() > 0
    assert len(dashed) == RANKER.network_.n_edges
    assert ax.get_legend().get_title().get_text() == "Groups, by their representative"
    plain = plot_network(PAPER, labels=0)
    (lines,) = [c for c in plain.collections if c is not plain.collections[-1]]
    assert {pattern for _, pattern in lines.get_linestyles()} == {None}


def test_scores():
    """What the search maximizes is not shown beside what is explained."""
    for given in (RANKER, RANKER.network_):
        with pytest.raises(UsageError, match="plot_explained shows how much"):
            plot_scores(given)


@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
def test_heat_map(similarity):
    ranker = cover(similarity=similarity)
    ax = plot_similarity(ranker, TABLE, top=10)
    values = ax.images[0].get_array()
    at = [NAMES.index(label.get_text()) for label in ax.get_yticklabels()]
    ranks = pd.DataFrame(X).rank().to_numpy()
    r = np.abs(correlations(ranks if similarity == "spearman" else X))
    np.testing.assert_allclose(
        values[~values.mask], r[np.ix_(at, at)][~values.mask], atol=1e-9
    )
    assert values.mask.sum() == 10
    bars = [other.get_ylabel() for other in ax.figure.axes]
    assert "|r|" in bars
    blank = plot_similarity(ranker, top=10)
    assert "|r|; blank: no edge" in [o.get_ylabel() for o in blank.figure.axes]
