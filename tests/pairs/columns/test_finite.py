"""Errors for bad values: a remedy is named where it works, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from franet import Cover, FRANe
from franet.exceptions import DataError, UsageError
from tables import TABLES

GAPS = TABLES["random"][:, :6].copy()
GAPS[4, 2] = np.nan
PAIRS = ", or use missing='pairwise'."


def said_of(table, **parameters):
    with pytest.raises(DataError) as caught:
        FRANe(**parameters).fit(table)
    return str(caught.value)


@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation"])
def test_pairwise_is_named_where_it_works(similarity):
    said = said_of(GAPS, similarity=similarity)
    assert said == f"Column 2 holds NaN in row 4. Fill or drop it{PAIRS}"
    FRANe(similarity=similarity, missing="pairwise").fit(GAPS)


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (np.asarray, {"similarity": "spearman"}),
        (np.asarray, {"similarity": "euclidean"}),
        (np.asarray, {"similarity": "mixed"}),
        (np.asarray, {"similarity": lambda A, B: A.T @ B}),
        (np.asarray, {"search": "approximate"}),
        (np.asarray, {"backend": "torch"}),
        (np.asarray, {"backend": "torch:cpu"}),
        (sparse.csr_array, {}),
    ],
)
def test_pairwise_is_not_named_where_it_is_refused(make, given):
    if "backend" in given:
        pytest.importorskip("torch", reason="needs torch")
    assert said_of(make(GAPS), **given).endswith("in row 4. Fill or drop it.")
    with pytest.raises((DataError, UsageError)):
        FRANe(missing="pairwise", **given).fit(make(GAPS))


def test_cover_names_a_ranker_that_takes_gaps():
    with pytest.raises(
        DataError, match=r"drop it, or use FRANe\(missing='pairwise'\)\.$"
    ):
        Cover().fit(GAPS)
    with pytest.raises(DataError, match=r"Fill or drop it\.$"):
        Cover().fit(sparse.csr_array(GAPS))


@pytest.mark.parametrize("similarity", ["abs-correlation", "spearman"])
def test_tables_that_are_read_piece_by_piece(similarity, tmp_path):
    np.save(tmp_path / "x.npy", GAPS)
    table = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert said_of(table, similarity=similarity).endswith(PAIRS) == (
        similarity != "spearman"
    )
