"""Frames of other libraries: taken with their names, or refused with a remedy."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from franet import DataError, FRANe
from franet.evaluation import evaluate
from franet.rankers import Variance
from tables import TABLES

X = TABLES["random"][:, :6]
NAMES = list("abcdef")
FRAME = pd.DataFrame(X, columns=NAMES)
# Their fill value is NaN, which is no zero of a sparse matrix.
UNUSUAL = FRAME.astype(pd.SparseDtype(float))


@pytest.mark.parametrize(
    "table",
    [pa.table(FRAME), pa.RecordBatch.from_pandas(FRAME), UNUSUAL],
    ids=["table", "batch", "sparse"],
)
def test_frames_that_are_taken(table, tmp_path):
    expected = FRANe(2).fit(FRAME)
    found = FRANe(2).fit(table)
    assert list(found.feature_names_in_) == NAMES
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.transform(table), expected.transform(FRAME))
    assert found.score(table) == expected.score(FRAME)
    found.report(tmp_path / "report.json", table)
    evaluate(table, rankers=[Variance()], folds=2)


@pytest.mark.parametrize("similarity", ["correlation", "mixed"])
def test_lazy_frames_are_to_be_collected(similarity):
    lazy = pl.DataFrame(X, schema=NAMES).lazy()
    message = r"^A LazyFrame of polars holds no values yet\. Pass X\.collect\(\)"
    with pytest.raises(DataError, match=message):
        FRANe(similarity=similarity).fit(lazy)
    with pytest.raises(DataError, match=message):
        FRANe().fit(X).transform(lazy)
    FRANe(similarity=similarity).fit(lazy.collect())


def test_tables_of_pyarrow_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^A pyarrow\.Table .*'franet\[pandas\]'$"):
        FRANe().fit(pa.table(dict(zip(NAMES, X.T, strict=True))))


def test_text_in_tables_of_pyarrow():
    words = np.where(X[:, 0] > 0, "high", "low")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "word": words})
    with pytest.raises(DataError, match=r"^Column 'word' \(2\) does not hold numbers"):
        FRANe().fit(table)
    assert FRANe(similarity="mixed").fit(table).n_features_in_ == 3


def test_gaps_in_sparse_frames():
    gaps = UNUSUAL.copy()
    gaps["c"] = pd.arrays.SparseArray(np.where(np.arange(30) == 4, np.nan, X[:, 2]))
    with pytest.raises(DataError, match=r"^Column 'c' \(2\) holds NaN in row 4\."):
        FRANe().fit(gaps)
    found = FRANe(missing="pairwise").fit(gaps)
    expected = FRANe(missing="pairwise").fit(gaps.sparse.to_dense())
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def test_a_column_that_is_called_sparse():
    frame = FRAME.rename(columns={"a": "sparse"})
    np.testing.assert_array_equal(FRANe().fit(frame).scores_, FRANe().fit(X).scores_)


@pytest.mark.parametrize("similarity", ["correlation", "mixed"])
def test_whole_numbers_beyond_floats(similarity):
    cells = X.astype(object)
    cells[4, 3] = 10**400
    for table, name in (
        (cells, "3"),
        (cells.tolist(), "3"),
        (pd.DataFrame(cells, columns=NAMES), r"'d' \(3\)"),
    ):
        message = rf"^Column {name} holds too large a number \(.*\)\. Scale or drop it"
        with pytest.raises(DataError, match=message) as caught:
            FRANe(similarity=similarity).fit(table)
        assert "\n" not in str(caught.value)
