"""The graph of neighbouring examples and its eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from franet.rankers import MCFS, SPEC, LaplacianScore
from franet.rankers._affinity import (
    SPARE,
    affinity,
    autocorrelation,
    embedding,
    neighbors,
    normalised,
    scaled,
)
from rankers.spectral import graph_of, weights
from tables import TABLES, random

X = random(30, 24, seed=3)


@pytest.mark.parametrize("k", [1, 5, 29, 100])
@pytest.mark.parametrize("t", [None, 40.0])
def test_heat_kernel(k, t):
    graph = affinity(X, k, "heat", "auto" if t is None else t)
    np.testing.assert_allclose(graph.weights.toarray(), weights(X, k, t), atol=1e-12)
    np.testing.assert_allclose(graph.degrees, weights(X, k, t).sum(axis=1))
    assert graph.collapsed == ""


def counts(m=200):
    """Return a table of counts, most of them zero: many rows are equally far."""
    rng = np.random.default_rng(0)
    return rng.integers(1, 3, (m, 60)) * (rng.random((m, 60)) < 0.05)


@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_of_equally_far_rows_the_first_are_neighbours(k, metric):
    table = counts().astype(float)
    unit = table / np.maximum(np.linalg.norm(table, axis=1), 1e-9)[:, None]
    squares = ((table[:, None] - table) ** 2).sum(axis=2)
    far = squares if metric == "euclidean" else np.round(1.0 - unit @ unit.T, 9)
    np.fill_diagonal(far, np.inf)
    expected = np.argsort(far, axis=1, kind="stable")[:, :k]
    # There are ties, also beyond what is asked for at first.
    last = np.take_along_axis(far, expected[:, -1:], axis=1)
    assert ((far <= last).sum(axis=1) > SPARE + k).any()
    forms = [table, np.asfortranarray(table), sparse.csr_array(table)]
    for form in [*forms, table - table.mean(axis=0)][: 3 + (metric == "euclidean")]:
        distances, rows = neighbors(form, k, metric)
        np.testing.assert_array_equal(np.sort(rows), np.sort(expected))
        assert (np.diff(distances, axis=1) > -1e-7).all()
        found = np.take_along_axis(far, rows, axis=1)
        power = 2 if metric == "euclidean" else 1
        np.testing.assert_allclose(distances**power, found, atol=1e-9)


@pytest.mark.parametrize(
    "ranker",
    [
        LaplacianScore(),
        LaplacianScore(affinity="cosine", standardize=True),
        SPEC(affinity="cosine"),
        SPEC(),
        MCFS(),
    ],
    ids=str,
)
def test_rankings_of_counts_do_not_depend_on_their_form(ranker):
    table = np.log1p(counts())
    expected = clone(ranker).fit(table).scores_
    forms = [np.asfortranarray(table), sparse.csr_array(table), sparse.csc_array(table)]
    for form in forms:
        found = clone(ranker).fit(form).scores_
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    single = clone(ranker).fit(table.astype(np.float32)).scores_
    np.testing.assert_allclose(single, expected, rtol=1e-5, atol=1e-7)


def test_in_batches(monkeypatch):
    table = counts(60)
    expected = neighbors(table, 5)
    monkeypatch.setattr("franet.rankers._affinity.BATCH", 130)
    for found, wanted in zip(neighbors(table, 5), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_binary():
    graph = affinity(X, 5, "binary")
    np.testing.assert_array_equal(graph.weights.toarray(), weights(X, 5, 1e300) > 0)
    assert np.isnan(graph.width)


def test_cosine():
    W = affinity(X, 29, "cosine").weights.toarray()
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    expected = np.maximum(unit @ unit.T, 0.0)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(W, expected, atol=1e-12)
    assert (W == 0).sum() > 30  # negative cosines, or the test would show little


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("mode", ["heat", "binary", "cosine"])
def test_graphs_are_symmetric_without_loops(name, mode):
    W = affinity(TABLES[name], 5, mode).weights
    assert abs(W - W.T).max() == 0.0
    assert not W.diagonal().any()
    assert W.data.min() >= 0.0
    assert W.data.max() <= 1.0


def test_width_does_not_depend_on_copies_of_rows():
    copies = np.repeat(X[:6], 5, axis=0)
    graph = affinity(copies, 5)
    far = [((a - b) ** 2).sum() for a in X[:6] for b in X[:6] if a is not b]
    assert min(far) / 2 < graph.width < max(far)
    # Copies are connected with the full weight.
    np.testing.assert_allclose(graph.weights[0, 1], 1.0)


def test_equal_rows():
    graph = affinity(np.ones((4, 3)), 2)
    assert graph.width == 1.0
    np.testing.assert_array_equal(graph.weights.data, 1.0)


def test_width_follows_the_scale():
    a, b = affinity(X, 5), affinity(1e6 * X, 5)
    np.testing.assert_allclose(b.width, 1e12 * a.width)
    np.testing.assert_allclose(a.weights.toarray(), b.weights.toarray(), atol=1e-9)


def test_collapse():
    assert affinity(100 * X, 5, "heat", 1.0).collapsed.startswith(
        "The affinity collapsed: the heat kernel of width 1 is zero for 100% of the "
        "examples (median squared distance of neighbours: "
    )
    assert "Set width='auto'." in affinity(100 * X, 5, "heat", 1.0).collapsed
    assert affinity(100 * X, 5).collapsed == ""
    # One far example is no collapse.
    far = X.copy()
    far[0] += 1e3
    assert affinity(far, 5).collapsed == ""
    assert affinity(-np.eye(4), 1, "cosine").collapsed.endswith("affinity='heat'.")


def test_scaled():
    table = TABLES["constant"]
    constant = table.max(axis=0) == table.min(axis=0)
    out = scaled(table + 1e6, constant, standardize=True)
    np.testing.assert_allclose(out[:, ~constant].std(axis=0), 1.0)
    np.testing.assert_array_equal(out[:, constant], 0.0)
    rows = scaled(sparse.csr_array(table), constant, standardize=True).toarray()
    np.testing.assert_allclose(
        neighbors(rows, 4)[0], neighbors(out, 4)[0], rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("centre", [True, False])
def test_autocorrelation_of_blocks_and_sparse(centre, monkeypatch):
    graph = affinity(X, 5)
    expected = autocorrelation(graph, X, centre=centre)
    monkeypatch.setattr("franet.rankers._affinity.BLOCK", 7 * len(X))
    blocked = autocorrelation(graph, X, centre=centre)
    np.testing.assert_allclose(blocked, expected, rtol=1e-12)
    for form in (sparse.csr_array, sparse.csc_matrix):
        found = autocorrelation(graph, form(X), centre=centre)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def laplacian(graph):
    return np.eye(len(graph.degrees)) - normalised(graph).toarray()


@pytest.mark.parametrize("rows", [0, 2000])
def test_embedding(rows, monkeypatch):
    table = random(60, 24, seed=3)
    graph = affinity(table, 5)
    monkeypatch.setattr("franet.rankers._affinity.DENSE_ROWS", rows)
    values, vectors = embedding(graph, 4)
    everything = np.linalg.eigvalsh(laplacian(graph))
    np.testing.assert_allclose(values, everything[1:5], atol=1e-9)
    np.testing.assert_allclose(laplacian(graph) @ vectors, vectors * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(vectors.T @ np.sqrt(graph.degrees), 0.0, atol=1e-8)


def test_embedding_of_components():
    """Three components: two eigenvectors that tell them apart, in a fixed basis."""
    block = np.ones((4, 4)) - np.eye(4)
    W = np.kron(np.eye(3), block)
    values, vectors = embedding(graph_of(W), 3)
    np.testing.assert_allclose(values[:2], 0.0, atol=1e-12)
    assert values[2] > 1.0
    by_component = vectors[:, :2].reshape(3, 4, 2)
    spread = np.ptp(by_component, axis=1)
    np.testing.assert_allclose(spread, 0.0, atol=1e-12)
    # The order of the rows rotates what a solver returns, but not the result.
    at = np.random.default_rng(0).permutation(12)
    again = embedding(graph_of(W[np.ix_(at, at)] * (1 + 1e-15)), 2)[1]
    found, expected = (np.sort(np.abs(v), axis=None) for v in (again, vectors[:, :2]))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_row_without_an_edge_is_left_out():
    W = np.zeros((5, 5))
    W[:4, :4] = 1 - np.eye(4)
    W[0, 1] = W[1, 0] = 3.0
    values, vectors = embedding(graph_of(W), 2)
    assert (values > 0.5).all()
    assert np.isfinite(vectors).all()


def test_no_more_eigenvectors_than_there_are():
    values, vectors = embedding(graph_of(1 - np.eye(3)), 10)
    assert values.shape == (2,)
    assert vectors.shape == (3, 2)
