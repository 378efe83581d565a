"""``variant="reference"`` against the outputs of the authors' own code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from data import load, needs_reference, needs_shared, reference_dir
from franet.quality import rqh
from test_agreement import fit
from test_naive import DECIDED_BY_ROUNDING, arguments, index


@needs_reference
@needs_shared
@pytest.mark.parametrize("entry", index(), ids=lambda entry: entry["file"])
def test_reference_files(entry):
    X, _ = load(entry["dataset"])
    expected = np.load(reference_dir() / entry["file"])
    ranker = fit(X, store_candidates=True, **arguments(entry["params"]))

    special = list(DECIDED_BY_ROUNDING.get(entry["file"], {}))
    rows = np.setdiff1d(np.arange(len(ranker.thresholds_)), special)
    assert_array_equal(ranker.too_sparse_, expected["too_sparse"])
    assert_allclose(
        ranker.all_scores_[rows], expected["all_scores"][rows], rtol=0, atol=1e-9
    )
    # The files have a quality for candidates that are too sparse as well.
    quality = np.array([rqh(scores) for scores in ranker.all_scores_])
    assert_allclose(quality[rows], expected["quality"][rows], rtol=1e-6)
    assert_array_equal(np.isnan(ranker.quality_), ranker.too_sparse_)
    dense = ~ranker.too_sparse_
    assert_allclose(ranker.quality_[dense], quality[dense], rtol=1e-12)
    assert_allclose(ranker.scores_, expected["scores"], rtol=0, atol=1e-9)

    # Pruning changes nothing of what is reported.
    pruned = fit(X, **arguments(entry["params"]))
    assert pruned.winner_ == ranker.winner_
    assert_allclose(pruned.scores_, expected["scores"], rtol=0, atol=1e-9)


@needs_reference
@needs_shared
@pytest.mark.parametrize("name", ["Isolet", "Yale", "colon", "lymphoma"])
def test_reference_scores(name):
    X, _ = load(name)
    expected = np.load(reference_dir() / f"{name}.npz")
    ranker = fit(X, variant="reference")
    assert_allclose(ranker.scores_, expected["scores"], rtol=0, atol=1e-9)


@needs_reference
@needs_shared
def test_the_two_definitions_differ():
    X, _ = load("lung_small")
    paper, reference = fit(X), fit(X, variant="reference")
    assert abs(paper.scores_ - reference.scores_).max() > 1e-4
