"""Progressions of thresholds, and the order statistics below two of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from franet.engine._numpy import TileEngine
from franet.estimators._parameters import PROGRESSIONS
from franet.pairs.similarity import open_source
from franet.search.exact import Settings
from franet.search.thresholds import lay_limits
from naive import paper_grid
from tables import TABLES, blocks, tied


def laid(variant, progression, n, engine, extrema, top):
    settings = Settings(variant=variant, thresholds=progression, n_thresholds=n)
    return lay_limits(settings, engine, extrema, top)


def symmetric(values, n):
    W = np.zeros((n, n))
    W[np.triu_indices(n, 1)] = values
    return W + W.T


def pair_values(n, kind):
    size = n * (n - 1) // 2
    rng = np.random.default_rng(size)
    match kind:
        case "different":
            return rng.random(size)
        case "heavy ties":
            return rng.integers(0, 4, size).astype(float)
        case "one value and one other":
            return np.where(np.arange(size) == size // 2, 2.0, 1.0)
        case "crowded":
            # Neighbouring doubles, and a far one that stretches the cells.
            values = 1.0 + rng.integers(0, 9, size) * np.finfo(float).eps
            values[0] = 1e6
            return values
        case "many decades":
            return 10.0 ** rng.uniform(-300, 300, size)


@pytest.mark.parametrize("n", [3, 20, 300])
@pytest.mark.parametrize(
    "kind",
    [
        "different",
        "heavy ties",
        "one value and one other",
        "crowded",
        "many decades",
    ],
)
def test_order_statistics(n, kind):
    values = pair_values(n, kind)
    source, _ = open_source(symmetric(values, n), "precomputed")
    engine = TileEngine(source, 2)
    d = np.sort(-values)
    extrema = engine.extrema()
    rng = np.random.default_rng(0)
    ranks = np.append(rng.integers(0, len(d), 50), [0, len(d) - 1, len(d) // 2])
    found = engine.order_statistics(ranks, extrema.low, extrema.high)
    np.testing.assert_array_equal(found, d[ranks])


@pytest.mark.parametrize("n", [3, 4, 20, 300])
@pytest.mark.parametrize("kind", ["different", "heavy ties"])
@pytest.mark.parametrize("progression", [p for p in PROGRESSIONS if p != "logspace"])
def test_paper_grids(n, kind, progression):
    W = symmetric(pair_values(n, kind), n)
    source, _ = open_source(W, "precomputed")
    engine = TileEngine(source, 1)
    limits = laid("paper", progression, 17, engine, engine.extrema(), 0.0)
    assert (np.diff(limits) >= 0).all()
    np.testing.assert_allclose(
        -limits, paper_grid(W, progression, 17), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("progression", ["geometric", "linear"])
@pytest.mark.parametrize("table", ["random", "tied", "duplicated"])
def test_ends_are_values_of_the_data(variant, progression, table):
    source, _ = open_source(TABLES[table], "correlation")
    engine = TileEngine(source, 1)
    extrema = engine.extrema()
    limits = laid(variant, progression, 100, engine, extrema, 2.0)
    first = {
        ("paper", "geometric"): extrema.next_low,
        ("paper", "linear"): extrema.low,
    }.get((variant, progression), extrema.next_zero)
    assert limits[0] == first
    assert limits[-1] == extrema.high
    assert (np.diff(limits) >= 0).all()


@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("progression", ["geometric", "linear"])
def test_rounding_does_not_move_the_ends(variant, progression):
    # As literal arithmetic the last limit misses the largest value now and then.
    source, _ = open_source(TABLES["random"], "correlation")
    engine = TileEngine(source, 1)
    plain = engine.extrema()
    rng = np.random.default_rng(0)
    for low, gap, rest in rng.random((500, 3)):
        extrema = replace(
            plain,
            low=low,
            next_low=low + gap,
            next_zero=low,
            high=low + gap + rest,
        )
        limits = laid(variant, progression, 100, engine, extrema, 2.0)
        starts_above = variant == "paper" and progression == "geometric"
        assert limits[0] == (extrema.next_low if starts_above else low)
        assert limits[-1] == extrema.high


@pytest.mark.parametrize("table", [tied(12, 40), blocks(20, 300)], ids=["tied", "wide"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mean_and_median_of_the_authors_count_the_diagonal(table, dtype):
    table = table.astype(dtype)
    source, _ = open_source(table, "correlation")
    engine = TileEngine(source, 2)
    extrema = engine.extrema()
    d = 1 - np.corrcoef(table.astype(np.float64).T)
    np.fill_diagonal(d, 0.0)
    for progression, last in [
        ("linear-mean", d.mean()),
        ("linear-median", np.median(d)),
    ]:
        limits = laid("reference", progression, 9, engine, extrema, 2.0)
        np.testing.assert_allclose(limits[-1], last, rtol=1e-11)


def test_function_sees_similarities_and_may_answer_in_any_order():
    seen = []

    def progression(low, high, n):
        seen.append((low, high, n))
        return [0.3, 0.9, 0.5]

    W = symmetric([0.2, 0.9, 0.6], 3)
    source, _ = open_source(W, "precomputed")
    engine = TileEngine(source, 1)
    limits = laid("paper", progression, 3, engine, engine.extrema(), 0.0)
    assert seen == [(0.2, 0.9, 3)]
    np.testing.assert_array_equal(limits, [-0.9, -0.5, -0.3])
