"""Pictures: what they show, on which axes, the same in every run."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.exceptions import NotFittedError

from franet import FRANe
from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.network._origin import similarities
from franet.plotting import plot_network, plot_quality, plot_scores, plot_similarity
from franet.rankers import Variance
from network.nets import SMALL, fit
from tables import TABLES, blocks

X = TABLES["random"]
RANKER = fit(X, min_mean_degree=3)
PLOTS = {
    "network": plot_network,
    "quality": plot_quality,
    "scores": plot_scores,
    "similarity": plot_similarity,
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def pixels(ax):
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba()).copy()


@pytest.mark.parametrize("name", PLOTS)
def test_axes(name):
    given = plt.figure().add_subplot()
    assert PLOTS[name](RANKER, ax=given) is given
    assert plt.get_fignums() == [given.figure.number]
    own = PLOTS[name](RANKER)
    assert isinstance(own, Axes)
    assert own.figure is not given.figure
    assert pixels(own).std() > 5


@pytest.mark.parametrize("name", PLOTS)
def test_the_same_in_every_run(name):
    first, second = (
        pixels(PLOTS[name](fit(blocks(m=20, n=120), min_mean_degree=3)))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


# The usual font has no emoji; matplotlib says so and draws a box.
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("net", SMALL)
@pytest.mark.parametrize("name", ["network", "scores", "similarity"])
def test_small_networks(name, net):
    if not len(SMALL[net]):
        with pytest.raises(DataError, match="no features"):
            PLOTS[name](SMALL[net])
        return
    pixels(PLOTS[name](SMALL[net]))


@pytest.mark.parametrize("name", ["network", "scores", "similarity"])
@pytest.mark.parametrize("top", [1, 2, 3, 24, 1000])
def test_top(name, top):
    pixels(PLOTS[name](RANKER, top=top))
    pixels(PLOTS[name](RANKER.network_, top=top))


@pytest.mark.parametrize("name", ["network", "scores", "similarity"])
def test_no_features(name):
    with pytest.raises(UsageError, match="top=0: give a number of features"):
        PLOTS[name](RANKER, top=0)


@pytest.mark.parametrize("name", PLOTS)
def test_not_fitted(name):
    with pytest.raises(NotFittedError):
        PLOTS[name](FRANe())


@pytest.mark.parametrize("name", PLOTS)
def test_rankers_without_a_network(name):
    with pytest.raises(UsageError, match="Variance has no network to draw; fit FRANe"):
        PLOTS[name](Variance().fit(np.diag([1.0, 2.0, 3.0])))


def test_network_shows_the_best():
    ax = plot_network(RANKER, top=10, max_edges=12)
    dots = ax.collections[-1]
    assert len(dots.get_offsets()) == 10
    size = dots.get_sizes()
    assert (np.diff(size) <= 1e-9).all()  # in the order of the ranks
    assert "10 of 24 features · 12 of" in ax.get_title(loc="left")
    (lines,) = [c for c in ax.collections if c is not dots]
    assert len(lines.get_segments()) == 12
    named = {text.get_text() for text in ax.texts}
    assert RANKER.network_.names[np.argmin(RANKER.ranking_)] in named
    assert not plot_network(RANKER, labels=0, legend=False).texts


def test_names_do_not_overlap():
    ax = plot_network(fit(blocks(m=20, n=200), min_mean_degree=3), labels=40)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 5 < len(boxes) <= 40
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_quality_curve():
    ranker = fit(X, min_mean_degree=2)
    lost = np.isnan(ranker.quality_) & np.isfinite(ranker.quality_bound_)
    assert lost.any()
    ax = plot_quality(ranker)
    lines = {line.get_label(): line for line in ax.lines}
    solved = np.isfinite(ranker.quality_)
    np.testing.assert_array_equal(lines["solved"].get_ydata(), ranker.quality_[solved])
    bounds = lines["discarded: proven to lie below"]
    np.testing.assert_array_equal(bounds.get_xdata(), ranker.thresholds_[lost])
    np.testing.assert_array_equal(bounds.get_ydata(), ranker.quality_bound_[lost])
    assert bounds.get_linestyle() == "None"
    (star,) = [line for label, line in lines.items() if label.startswith("winner")]
    assert star.get_xdata()[0] == ranker.threshold_
    assert star.get_ydata()[0] == np.nanmax(ranker.quality_)
    assert f"{ranker.network_.n_edges:,} edges" in star.get_label()
    twin = next(other for other in ax.figure.axes if other is not ax)
    np.testing.assert_array_equal(
        twin.lines[0].get_ydata(), np.maximum(ranker.n_edges_, 1)
    )
    assert ax.xaxis_inverted()


@pytest.mark.parametrize(
    "choice",
    [
        {"store_candidates": True},
        {"quality": "gini"},
        {"quality": "random", "random_state": 0},
        pytest.param({"quality": np.max}, id="function"),
        {"min_mean_degree": 1e6},
        {"variant": "reference"},
        {"similarity": "euclidean"},
    ],
    ids=str,
)
def test_quality_of_every_kind(choice):
    pixels(plot_quality(fit(X, **choice)))


def test_quality_without_thresholds():
    ax = plot_quality(fit(TABLES["tiny3x2"]))
    assert ax.texts[0].get_text() == "no threshold to choose from"
    pixels(ax)


def test_scores():
    ax = plot_scores(RANKER, top=7)
    best = np.argsort(RANKER.ranking_)[:7]
    assert [bar.get_width() for bar in ax.patches[:7]] == list(RANKER.scores_[best])
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"x{j}" for j in best]
    low, high = ax.get_ylim()
    assert low > high  # the best on top


def test_hostile_names_are_no_formulae():
    frame = pd.DataFrame(X[:, :4])
    frame.columns = ["$\\frac{$", "a$b$", "<img src=x>", "x" * 500]
    ranker = fit(frame, min_mean_degree=0.5)
    labels = [t.get_text() for t in plot_scores(ranker).get_yticklabels()]
    assert max(map(len, labels)) <= 34
    for plot in (plot_network, plot_scores, plot_similarity):
        pixels(plot(ranker))


CHOICES = [
    {},
    {"similarity": "abs-correlation"},
    {"similarity": "spearman"},
    {"similarity": "euclidean"},
    {"variant": "reference"},
    {"variant": "reference", "similarity": "manhattan"},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_similarities(choice):
    table = TABLES["constant"]
    ranker = fit(table, min_mean_degree=3, **choice)
    net = ranker.network_
    every = np.arange(len(net))
    W = net.adjacency.toarray()
    known = similarities(net, every)
    np.testing.assert_array_equal(np.isnan(known), W == 0)
    np.testing.assert_array_equal(known[W > 0], W[W > 0])
    whole = similarities(net, every, table)
    np.testing.assert_allclose(whole[W > 0], W[W > 0], rtol=1e-9)
    dense = net.at(-1.0, X=table).adjacency.toarray()
    np.testing.assert_allclose(whole[dense > 0], dense[dense > 0], rtol=1e-9)
    some = np.array([7, 2, 9])
    np.testing.assert_allclose(
        similarities(net.subgraph([9, 1, 7, 2]), np.array([2, 3, 0]), table),
        whole[np.ix_(some, some)],
        rtol=1e-9,
    )


def test_heat_map():
    ax = plot_similarity(RANKER, X, top=12)
    values = ax.images[0].get_array()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names) == {f"x{j}" for j in np.argsort(RANKER.ranking_)[:12]}
    at = [int(name[1:]) for name in names]
    r = np.corrcoef(X, rowvar=False)[np.ix_(at, at)]
    np.testing.assert_allclose(values[~values.mask], 1 + r[~values.mask], rtol=1e-9)
    assert values.mask.sum() == 12
    # Neighbours are more alike than in the order of the ranks.
    chosen = np.sort(at)
    plain = np.diag(1 + np.corrcoef(X, rowvar=False)[np.ix_(chosen, chosen)], 1)
    assert np.diag(values, 1).mean() > plain.mean()
    assert not plot_similarity(fit(blocks(m=20, n=100)), top=80).get_xticks().size


def test_another_table():
    with pytest.raises(DataError, match="X has 3 features"):
        plot_similarity(RANKER, X[:, :3])
    with pytest.raises(DataError, match="is not known"):
        plot_similarity(SMALL["triangles"], X)


def test_without_the_extra(monkeypatch):
    def no_module(name):
        raise ImportError(name)

    monkeypatch.setattr("franet._common.optional.import_module", no_module)
    for plot in PLOTS.values():
        with pytest.raises(MissingExtraError, match=r"franet\[plot\]"):
            plot(RANKER)


def test_import_loads_no_matplotlib():
    code = "import sys, franet.plotting; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "matplotlib" not in done.stdout.split()
