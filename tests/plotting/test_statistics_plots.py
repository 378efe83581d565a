"""Pictures of comparisons: the critical-difference diagram and the simplex."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from numpydoc.validate import validate

from franet import plotting
from franet.evaluation.statistics import hierarchical, nemenyi
from franet.exceptions import DataError, UsageError
from franet.plotting import plot_critical_difference, plot_simplex
from franet.plotting._comparisons import CORNERS, project
from franet.plotting._style import PALETTE
from franet.rankers import RandomRanking
from test_docstrings import CHECKS

NAMES = [
    "facility location",
    "greedy column subset",
    "FRANe (paper)",
    "FRANe (reference)",
    "AgnoS-S",
    "GENIE3",
    "URelief",
    "Laplacian score",
    "NDFS",
    "random",
    "variance",
    "unsupervised discriminative selection",
]
CLOSE = [6.4, 6.41, 6.42, 6.5, 6.5, 6.55, 6.6, 6.45, 6.62, 6.58, 6.48, 6.49]
SCORES = np.random.default_rng(0).normal(np.arange(6), 2.0, (20, 6))


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    a = rng.normal(0.5, 0.01, (12, 5))
    b = a + rng.normal(0.005, 0.01, a.shape)
    return hierarchical(a, b, rope=0.004, names=("FRANe", "Laplacian score"))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def bars(ax, colour):
    """Return the ends of thick lines of a colour."""
    return [
        tuple(line.get_xdata())
        for line in ax.lines
        if line.get_linewidth() == 4 and to_hex(line.get_color()) == colour
    ]


def boxes(ax):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in ax.texts]


# The critical-difference diagram


@pytest.mark.parametrize(
    ("ranks", "n_sets"),
    [(CLOSE, 19), (list(range(1, 13)), 19), ([1.0] * 4 + [8.0] * 8, 500)],
)
def test_texts_do_not_overlap(ranks, n_sets):
    ax = plot_critical_difference(ranks, NAMES, n_sets=n_sets)
    placed = boxes(ax)
    page = ax.figure.bbox
    for first, second in combinations(placed, 2):
        assert not first.overlaps(second)
    for box in placed:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1


def test_names_and_ranks_stand_in_order():
    ax = plot_critical_difference([3.0, 1.25, 1.75, 4.0], list("abcd"), n_sets=10)
    shown = texts(ax)
    assert {"b  1.25", "c  1.75", "3.00  a", "4.00  d"} <= set(shown)
    height = {t.get_text(): t.get_position()[1] for t in ax.texts}
    assert height["b  1.25"] < height["c  1.75"]  # the axis points down
    assert height["4.00  d"] < height["3.00  a"]


def test_bars_join_the_groups():
    found = nemenyi(SCORES)
    ax = plot_critical_difference(SCORES)
    expected = [
        (found.ranks[group[0]] - 0.03, found.ranks[group[-1]] + 0.03)
        for group in found.groups()
    ]
    assert len(expected) > 1
    np.testing.assert_allclose(bars(ax, PALETTE[0]), expected)
    assert f"critical difference {found.critical_difference:.2f}" in texts(ax)


def test_bars_do_not_lie_on_each_other():
    ax = plot_critical_difference(SCORES)
    thick = [line for line in ax.lines if line.get_linewidth() == 4]
    for first, second in combinations(thick, 2):
        if first.get_ydata()[0] == second.get_ydata()[0]:
            (_, end), (start, _) = sorted(
                (first.get_xdata(), second.get_xdata()), key=min
            )
            assert end < start


def test_no_bar_where_all_differ():
    ax = plot_critical_difference([1.0, 2.0, 3.0], n_sets=1000)
    assert bars(ax, PALETTE[0]) == []


def test_a_control():
    frame = pd.DataFrame(SCORES, columns=list("abcdef"))
    ax = plot_critical_difference(frame, control="c")
    by_number = plot_critical_difference(SCORES, list("abcdef"), control=2)
    assert texts(ax) == texts(by_number)
    ((low, high),) = bars(ax, PALETTE[1])
    middle = nemenyi(SCORES).ranks[2]
    assert low < middle < high
    assert high - middle < nemenyi(SCORES).critical_difference
    (bold,) = [t for t in ax.texts if t.get_fontweight() == "bold"]
    assert "c" in bold.get_text()


def test_the_critical_difference_on_given_axes():
    given = plt.figure().add_subplot()
    assert plot_critical_difference(SCORES, ax=given) is given
    assert plt.get_fignums() == [given.figure.number]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"scores": [1.0, 2.0]}, UsageError, "need the number of data sets"),
        ({"scores": [1.0, 2.0], "n_sets": 0}, UsageError, "n_sets=0"),
        ({"scores": SCORES, "n_sets": 3}, UsageError, "the table has 20"),
        ({"scores": SCORES, "names": ["a"]}, UsageError, "1 names for 6"),
        ({"scores": SCORES, "control": "z"}, UsageError, "no such ranker"),
        ({"scores": SCORES, "control": 6}, UsageError, "from 0 to 5"),
        ({"scores": SCORES[:, :1]}, DataError, "1 ranker"),
        ({"scores": SCORES * np.nan}, DataError, "data set 0, ranker 0"),
    ],
)
def test_what_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        plot_critical_difference(**given)
    assert plt.get_fignums() == []


# The simplex


def test_corners_of_the_triangle():
    np.testing.assert_allclose(project(np.eye(3)), CORNERS)
    sides = np.linalg.norm(CORNERS - np.roll(CORNERS, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 1.0)
    middle = project(np.full((1, 3), 1 / 3))[0]
    np.testing.assert_allclose(np.linalg.norm(CORNERS - middle, axis=1), 3**-0.5)


def test_every_draw_is_shown(comparison):
    ax = comparison.plot()
    (cells,) = ax.collections
    assert cells.get_array().sum() == len(comparison.regions)
    places = cells.get_offsets()
    assert places[:, 0].min() > -0.05
    assert places[:, 0].max() < 1.05


def test_labels_of_the_simplex(comparison):
    ax = plot_simplex(comparison)
    assert texts(ax) == [
        f"FRANe better\n{comparison.p_first:.3f}",
        f"equal within 0.004\n{comparison.p_equal:.3f}",
        f"Laplacian score better\n{comparison.p_second:.3f}",
    ]
    for first, second in combinations(boxes(ax), 2):
        assert not first.overlaps(second)
    x = [text.get_position()[0] for text in ax.texts]
    assert x == CORNERS[:, 0].tolist()


def test_the_simplex_on_given_axes(comparison):
    given = plt.figure().add_subplot()
    assert comparison.plot(ax=given) is given
    assert plt.get_fignums() == [given.figure.number]


def test_all_draws_in_one_corner(comparison):
    a = np.random.default_rng(0).random((4, 5))
    ax = hierarchical(a, a + 0.5, n_draws=4000).plot()
    ax.figure.canvas.draw()
    assert texts(ax)[0].endswith("1.000")


@pytest.mark.parametrize("name", ["plot_critical_difference", "plot_simplex"])
def test_docstrings(name):
    errors = validate(f"franet.plotting.{name}")["errors"]
    assert [e for e in errors if e[0] in CHECKS] == []


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        (plotting.plot_curves, "results must be what franet.evaluation.evaluate"),
        (plotting.plot_simplex, "comparison must be what franet.evaluation.compare"),
    ],
)
def test_another_object(plot, words):
    with pytest.raises(UsageError, match=words):
        plot(RandomRanking())
