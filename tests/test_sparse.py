"""Sparse tables: the numbers of dense ones, without their memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from franet.engine._numpy import TileEngine
from franet.pairs.similarity import open_source
from franet.pairs.similarity._distances import row_deviations
from franet.pairs.similarity._sparse import SparseCorrelationSource
from tables import TABLES
from test_agreement import NAMED, fit, power

FORMS = ["csr_array", "csc_array", "csr_matrix", "csc_matrix"]


def counts(m, n, filled, seed=0):
    """Return a table of whole and negative numbers, most of them zero."""
    rng = np.random.default_rng(seed)
    groups = rng.random((m, 4)) @ (rng.random((4, n)) < 0.3)
    table = np.round(3 * groups + rng.normal(size=(m, n)), 1)
    return np.where(rng.random((m, n)) < filled, table, 0.0)


def offset(m=60, n=40):
    """Return a table with one full column whose mean dwarfs its spread."""
    table = counts(m, n, 0.04)
    table[:, 7] = 1e6 + np.random.default_rng(1).normal(size=m)
    return table


TABLE = {
    "sparse": counts(60, 40, 0.06),
    "half full": counts(60, 40, 0.5),
    "several tiles": counts(80, 300, 0.05),
    "offset": offset(),
    "full columns": np.where(np.arange(40) == 3, 5.0 + counts(60, 40, 1.0), 0)
    + counts(60, 40, 0.05),
}


def assert_equal(a, b, tolerance=1e-10):
    np.testing.assert_array_equal(a.constant_, b.constant_)
    np.testing.assert_allclose(
        a.scores_, b.scores_, rtol=0, atol=tolerance * b.scores_.max()
    )
    assert a.winner_ == b.winner_
    np.testing.assert_array_equal(a.n_edges_, b.n_edges_)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)


@pytest.mark.parametrize("table", TABLE)
@pytest.mark.parametrize("similarity", NAMED)
def test_sparse_equals_dense(similarity, table):
    dense = TABLE[table]
    choice = {"similarity": similarity, "n_thresholds": 12, **power(similarity)}
    expected = fit(dense, **choice)
    for form in FORMS:
        assert_equal(fit(getattr(sparse, form)(dense), **choice), expected)


def test_both_ways_of_correlation_are_taken():
    for table, stays_sparse in [
        ("sparse", True),
        ("several tiles", True),
        ("half full", False),
    ]:
        source, _ = open_source(sparse.csc_array(TABLE[table]), "correlation")
        assert isinstance(source, SparseCorrelationSource) is stays_sparse


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("similarity", [*NAMED, "reference"])
@pytest.mark.parametrize("filled", [0.04, 0.4])
def test_untidy_tables(form, similarity, filled):
    # Each entry in two halves, indices in any order, zeros that are stored.
    dense = counts(50, 30, filled)
    i, j = np.nonzero(dense)
    at = np.random.default_rng(0).permutation(np.tile(np.arange(len(i)), 2))
    values = np.append(dense[i, j][at] / 2, np.zeros(30))
    i, j = np.append(i[at], np.arange(30)), np.append(j[at], np.arange(30))
    down, across = (i, j) if form.startswith("csr") else (j, i)
    order = np.argsort(down, kind="stable")
    length = dense.shape[0] if form.startswith("csr") else dense.shape[1]
    ends = np.append(0, np.cumsum(np.bincount(down, minlength=length)))
    table = getattr(sparse, form)((values[order], across[order], ends), dense.shape)
    assert not table.has_canonical_format
    choice = {"similarity": similarity, "n_thresholds": 12}
    if similarity == "reference":
        choice = {"variant": "reference", "n_thresholds": 12}
    assert_equal(fit(table, **choice), fit(dense, **choice))


@pytest.mark.parametrize("filled", [0.05, 0.5])
def test_spearman_with_negative_values_and_ties(filled):
    rng = np.random.default_rng(3)
    dense = rng.integers(-3, 4, (40, 30)) * (rng.random((40, 30)) < filled)
    dense[:, 0] = rng.integers(-3, 4, 40)
    dense[:, 1] = -np.abs(dense[:, 1])
    dense = dense.astype(float)
    assert (dense < 0).any()
    expected = fit(dense, similarity="spearman")
    for form in FORMS:
        ranker = fit(getattr(sparse, form)(dense), similarity="spearman")
        assert_equal(ranker, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_, np.int64])
@pytest.mark.parametrize("filled", [0.05, 0.5])
def test_types(dtype, filled):
    dense = np.abs(counts(60, 40, filled)).astype(dtype)
    # Sparse tables work in float64 throughout.
    expected = fit(dense.astype(np.float64))
    assert_equal(fit(sparse.csr_array(dense)), expected)


def test_other_formats_are_converted():
    expected = fit(TABLE["sparse"])
    for make in (sparse.coo_array, sparse.lil_array, sparse.dok_array):
        assert_equal(fit(make(TABLE["sparse"])), expected)
    wide = sparse.csr_array(TABLE["sparse"])
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(int)
    assert_equal(fit(wide), expected)


def test_precomputed_and_callable():
    W = np.abs(np.corrcoef(TABLES["random"].T))
    W[W < 0.3] = 0.0
    choice = {"similarity": "precomputed"}
    assert_equal(fit(sparse.csr_array(W), **choice), fit(W, **choice))

    def overlap(A, B):
        assert isinstance(A, np.ndarray)
        return (A != 0).T.astype(float) @ (B != 0)

    dense = TABLE["several tiles"]
    choice = {"similarity": overlap, "n_thresholds": 10}
    assert_equal(fit(sparse.csc_array(dense), **choice), fit(dense, **choice))


def peak_of(function):
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("similarity", "n"), [("correlation", 50_000), ("spearman", 3000)]
)
def test_wide_table_is_not_made_dense(similarity, n):
    table = sparse.random_array(
        (2000, n), density=0.01, format="csr", rng=np.random.default_rng(0)
    )

    def open_and_use(table):
        source, constant = open_source(table, similarity)
        return source.tile(0, 1), source.tile(3, source.n // source.block), constant

    open_and_use(table[:, :1100])  # kernels take memory when they are first used
    (tile, _, constant), peak = peak_of(lambda: open_and_use(table))
    assert not constant.any()
    # Dense, 50,000 columns are 800 MB. Their entries and indices are 12 MB, of which
    # a handful of copies is made: a quarter of the dense size is out of their reach.
    assert peak < 8 * 2000 * n / 4
    r = np.corrcoef(table[:, : 2 * len(tile)].toarray().T)[: len(tile), len(tile) :]
    if similarity == "correlation":
        np.testing.assert_allclose(tile, 1 - r, atol=1e-12)


@pytest.mark.parametrize("similarity", ["correlation", "euclidean"])
def test_fit_does_not_make_the_table_dense(similarity, monkeypatch):
    # What is stored of the graphs is not the question here.
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 10_000)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", 10_000)
    # Distances are taken between dense blocks: three small ones are a fifth of a table.
    monkeypatch.setattr("franet.pairs.similarity._distances.block_size", lambda n: 64)
    m, n = (2000, 3000) if similarity == "correlation" else (1000, 1000)
    table = sparse.random_array(
        (m, n), density=0.01, format="csc", rng=np.random.default_rng(0)
    )
    choice = {"similarity": similarity, "n_thresholds": 3, "max_edges": n, "n_jobs": 1}
    fit(table[:, :300], **choice)  # kernels take memory when they are first used
    ranker, peak = peak_of(lambda: fit(table, **choice))
    assert ranker.winner_ is not None
    # Half of the dense table: it is not made, in float32 neither.
    assert peak < 8 * m * n / 2


@pytest.mark.parametrize("offset", [1e5, 1e7, 1e9])
def test_a_row_whose_mean_dwarfs_its_spread(offset):
    rng = np.random.default_rng(0)
    dense = counts(30, 60, 0.15)
    dense[4] = offset + rng.normal(size=60)
    deviation = row_deviations(sparse.csc_array(dense))
    np.testing.assert_allclose(deviation, row_deviations(dense), rtol=1e-12)
    ranker = fit(sparse.csr_array(dense), similarity="seuclidean")
    assert_equal(ranker, fit(dense, similarity="seuclidean"))
