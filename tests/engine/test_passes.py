"""Passes over parts of the tiles, put together, against passes over all of them."""

from __future__ import annotations

import numpy as np
import pytest

from franet.engine import _windows, passes
from franet.engine._numpy import TileEngine
from franet.engine._windows import WindowSource, windows
from franet.engine.graphs import KeptGraphs
from franet.engine.measure import Measure
from franet.engine.pairs import Gather
from franet.pairs.similarity import open_source
from tables import random

pytestmark = pytest.mark.kernels

N = 40
EDGES = np.array([0.4, 0.7, 0.9, 1.2, 1.5])
MEASURE = Measure(top=2.0, snap=1e-9, snap_to=0.0, floor=1e-12, weighted=True)
NO_WEIGHTS = Measure(top=2.0, snap=1e-9, snap_to=0.0, floor=1e-12, weighted=False)
VECTORS = np.random.default_rng(0).random((len(EDGES), N))
SAMPLED = np.array([2, 4])


@pytest.fixture(params=[np.float32, np.float64])
def engine(request, monkeypatch):
    source, _ = open_source(random(m=8, n=N).astype(request.param), "correlation")
    monkeypatch.setattr(source, "block", 8)
    monkeypatch.setattr(_windows, "GROUP_BLOCKS", 1)
    return TileEngine(source)


def in_window(engine, what, window, chosen=None):
    """Return the state of a pass over a window, as a table of its own."""
    part = what.narrow(window)
    state = part.start(window.grid, engine.store)
    view = WindowSource(engine.source, window)
    for tiles in window.rounds(window.crop(chosen)):
        for tile in tiles:
            part.visit(view, tile, state)
    return part.close(state)


def in_parts(engine, what, chosen=None):
    states = ((w, in_window(engine, what, w, chosen)) for w in windows(engine.grid))
    return what.assemble(engine.grid, states)


def assert_same(merged, whole):
    assert merged.keys() == whole.keys()
    for name, value in whole.items():
        if isinstance(value, dict):
            assert_same(merged[name], value)
        elif value is None:
            assert merged[name] is None
        else:
            np.testing.assert_allclose(merged[name], value, rtol=1e-13)


@pytest.mark.parametrize(
    "what",
    [
        passes.TileExtremes(1e-9),
        passes.TileExtremes(None),
        passes.Sharpen(1.0, 0.8),
        passes.Sharpen(-1.0, -0.8, 1e-9),
        passes.Sharpen(1.0, 0.8, 1e-9),
        passes.LeastAbove(0.9),
        passes.Total(),
        passes.CountCells(np.array([0.2, 1.0]), np.array([0.6, 1.4]), 7),
        passes.Degrees(EDGES, MEASURE),
        passes.Degrees(EDGES, NO_WEIGHTS),
        passes.Product(EDGES, MEASURE, VECTORS, exact=True),
    ],
    ids=lambda what: what.stage,
)
def test_parts_make_the_whole(engine, what):
    whole = engine.visit_tiles(what, list(engine.grid.rounds()))
    assert_same(in_parts(engine, what), whole)


@pytest.mark.parametrize("n_kept", [0, 2, 5])
def test_edges_of_parts(engine, n_kept):
    error = engine.source.error
    sampled = SAMPLED[SAMPLED >= n_kept]
    what = Gather(EDGES, n_kept, sampled, MEASURE, N * N, error)
    whole = engine.visit_tiles(what, list(engine.grid.rounds()))
    merged = in_parts(engine, what)
    for name in ("n_pairs", "degrees"):
        assert_same({name: merged[name]}, {name: whole[name]})
    for state in (merged, whole):
        order = np.lexsort((state["near"]["k"], state["near"]["j"]))
        state["near"] = {x: values[order] for x, values in state["near"].items()}
    assert_same(merged["near"], whole["near"])
    if not n_kept:
        assert merged["edges"] is None
        return
    one, two = (KeptGraphs(N, **state["edges"]) for state in (merged, whole))
    # Tiles are in one order, so that sums are the same, too.
    np.testing.assert_array_equal(one.degrees, two.degrees)
    for i in range(n_kept):
        a, b = one.matrix(i).toarray(), two.matrix(i).toarray()
        np.testing.assert_array_equal(a, b)
        x = VECTORS[0]
        np.testing.assert_array_equal(one.product(i, x), two.product(i, x))


def test_strongest_of_parts(engine):
    what = passes.Strongest(1.2, 3)
    whole = engine.visit_tiles(what, list(engine.grid.rounds()))
    merged = in_parts(engine, what)
    np.testing.assert_array_equal(merged["size"], whole["size"])
    for j, size in enumerate(whole["size"]):
        sets = [
            set(zip(s["values"][j, :size], s["features"][j, :size], strict=True))
            for s in (merged, whole)
        ]
        assert sets[0] == sets[1]
