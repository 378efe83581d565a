"""Which tables ``similarity="mixed"`` takes, and what scikit-learn sees of it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from franet import Cover, DataError, FRANe
from franet.exceptions import UsageError
from franet.pairs.coded import CodedTable, code_table
from franet.pairs.similarity import open_source
from test_mixed import all_tiles, frame, naive_eta2, naive_similarity
from test_sklearn import same

PLAIN = frame(m=50, levels=(2, 3, 5)).assign(b=np.arange(50) % 3 > 0)
TEXT = ["c0", "c1", "c2"]
KINDS = {
    "string": PLAIN.astype(dict.fromkeys(TEXT, "string")),
    "arrow": PLAIN.astype(dict.fromkeys(TEXT, "string[pyarrow]")),
    "category": PLAIN.astype(dict.fromkeys(TEXT, "category")),
    "unused levels": PLAIN.astype(
        dict.fromkeys(
            TEXT, pd.CategoricalDtype([f"level {x}" for x in range(9, -1, -1)])
        )
    ),
    "nullable": PLAIN.convert_dtypes(),
    "index": PLAIN.set_axis(np.arange(50)[::-1]),
    "polars": pl.from_pandas(PLAIN),
    "polars categorical": pl.from_pandas(PLAIN).with_columns(
        pl.col(TEXT).cast(pl.Categorical)
    ),
    "polars enum": pl.from_pandas(PLAIN).with_columns(
        pl.col(TEXT).cast(pl.Enum([f"level {x}" for x in range(7)]))
    ),
    "objects": PLAIN.to_numpy(dtype=object),
    "lists": PLAIN.to_numpy(dtype=object).tolist(),
    "object column": PLAIN.astype(object),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tables(kind):
    table = KINDS[kind]
    expected = FRANe(similarity="mixed").fit(PLAIN)
    ranker = FRANe(similarity="mixed").fit(table)
    same(ranker, expected)
    assert ranker.n_features_in_ == 8
    named = hasattr(table, "columns")
    assert hasattr(ranker, "feature_names_in_") == named
    assert list(ranker.network_.names)[-1] == ("b" if named else "x7")


def test_text_alone():
    text = np.array(
        [["a", "1", "u"], ["b", "2", "u"], ["b", "2", "v"], ["a", "1", "u"]]
    )
    ranker = FRANe(similarity="mixed", min_mean_degree=0).fit(text)
    assert ranker.network_.adjacency[0, 1] == 1.0
    coded = code_table(text)
    assert coded.levels == (["a", "b"], ["1", "2"], ["u", "v"])
    np.testing.assert_array_equal(coded.values[:, 1], [0, 1, 1, 0])


def test_levels_are_in_order_of_appearance():
    column = pd.Series(pd.Categorical(["z", "y", "z", "x"], categories=list("wxyz")))
    coded = code_table(pd.DataFrame({"a": column, "b": [1, 2, 3, 4]}))
    assert coded.levels == (["z", "y", "x"], None)
    np.testing.assert_array_equal(coded.values.T, [[0, 1, 0, 2], [1, 2, 3, 4]])
    np.testing.assert_array_equal(coded.is_category, [True, False])


def test_slices_of_a_coded_table():
    coded = code_table(PLAIN)
    rows, columns = np.array([3, 1, 1, 7]), np.array([5, 0])
    for part in (coded[rows][:, columns], coded[np.ix_(rows, columns)]):
        assert isinstance(part, CodedTable)
        assert part.shape == (4, 2)
        np.testing.assert_array_equal(part.values, coded.values[rows][:, columns])
        assert part.levels == (coded.levels[5], None)
        np.testing.assert_array_equal(part.is_category, [True, False])
    # Levels that are gone do not count.
    few = coded[coded.values[:, 6] != 1]
    found, _ = open_source(few, "mixed")
    expected, _ = open_source(code_table(PLAIN[coded.values[:, 6] != 1]), "mixed")
    np.testing.assert_allclose(found.tile(0, 0), expected.tile(0, 0), atol=1e-14)
    same(
        FRANe(similarity="mixed").fit(coded),
        FRANe(similarity="mixed").fit(PLAIN.set_axis(range(8), axis=1)),
    )


def test_whole_numbers_are_numbers():
    table = frame().assign(score=np.arange(60) % 4)
    as_category = table.assign(score=pd.Categorical(table["score"]))
    assert not code_table(table).is_category[-1]
    assert code_table(as_category).is_category[-1]
    found = 1.0 - all_tiles(table)[0, -1]
    assert found == pytest.approx(abs(table["n0"].corr(table["score"])), abs=1e-12)
    eta2 = naive_eta2(table["n0"].to_numpy(), table["score"].to_numpy())
    expected = np.sqrt(max(0.0, 1 - (1 - eta2) * (58 / 56) ** 2))
    assert 1.0 - all_tiles(as_category)[0, -1] == pytest.approx(expected, abs=1e-12)


GAPS = {
    "None": [None, *["a", "b"] * 29, "c"],
    "NaN": [np.nan, *["a", "b"] * 29, "c"],
    "NA": [pd.NA, *["a", "b"] * 29, "c"],
    "string": pd.array([None, *["a", "b"] * 29, "c"], "string"),
    "category": pd.Categorical([None, *["a", "b"] * 29, "c"]),
}


def fails(table, message, error=DataError, **parameters):
    with pytest.raises(error, match=message) as caught:
        FRANe(similarity="mixed", **parameters).fit(table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", GAPS)
def test_missing_values(kind):
    message = r"^Column 'gap' \(8\) holds no value in row 0\. Drop the row, or fill it"
    table = frame().assign(gap=GAPS[kind])
    fails(table, message)
    if kind in ("None", "category"):
        fails(pl.from_pandas(table), message)
        fails(
            pl.from_pandas(table).with_columns(pl.col("gap").cast(pl.Categorical)),
            message,
        )


def test_missing_numbers():
    table = frame()
    table.loc[7, "n1"] = np.nan
    # pairwise is no remedy here.
    fails(table, r"^Column 'n1' \(1\) holds NaN in row 7\. Fill or drop it\.$")
    fails(table[["n0", "n1"]], r"holds NaN in row 7\. Fill or drop it\.$")
    fails(table, "missing='pairwise' does not support", UsageError, missing="pairwise")


@pytest.mark.parametrize(
    ("cells", "message", "error"),
    [
        (["a", 3] * 30, r"holds text, but 3 in row 1\. Make it all text", DataError),
        (
            [{}, 3] * 30,
            r"holds neither numbers nor text .*'dict'.* Drop or encode",
            TypeError,
        ),
        ([(1, 2)] * 60, r"holds neither numbers nor text .* Drop or encode", DataError),
        ([1j, 3] * 30, r"holds neither numbers nor text .*'complex'", TypeError),
        (pd.to_datetime(["2020-01-01"] * 60), "holds dates or times", DataError),
    ],
    ids=["mixture", "dict", "tuple", "complex", "dates"],
)
def test_other_cells(cells, message, error):
    table = frame().assign(bad=pd.Series(cells))
    fails(table, r"^Column 'bad' \(8\) " + message, error)


def test_shape():
    fails(frame(m=1), r"1 sample\(s\).* two rows and two columns")
    fails(frame()[["c1"]], r"1 feature\(s\).* two rows and two columns")
    fails([["a", "b"], ["c"]], "different lengths")
    fails(["a", "b"], "Pass samples in rows")
    fails(np.array("a"), "Pass samples in rows")
    fails([], "Pass samples in rows")
    fails(frame()["c1"], "Pass samples in rows")


def test_what_it_does_not_go_with():
    message = r"^variant='reference' does not support .*numbers only"
    fails(PLAIN, message, UsageError, variant="reference")
    with pytest.raises(ValueError, match=r"'similarity' parameter of Cover.*'mixed'"):
        Cover(similarity="mixed").fit(PLAIN)
    with pytest.raises(DataError, match=r"or use FRANe\(similarity='mixed'\)"):
        Cover().fit(PLAIN)
    with pytest.raises(DataError, match=r"Column 'c0' \(4\) does not hold numbers"):
        FRANe().fit(PLAIN)


# Among the tools of scikit-learn.


def test_transform_keeps_columns_as_they_are():
    table = PLAIN[PLAIN.columns[::-1]].astype({"c2": "category"})
    frames = {"pandas": table, "polars": pl.from_pandas(table)}
    for output, wanted in frames.items():
        for given in frames.values() if output == "polars" else (table,):
            ranker = FRANe(7, similarity="mixed").set_output(transform=output)
            out = ranker.fit_transform(given)
            chosen = list(table.columns[ranker.support_])
            assert {"b", "c2", "c0"} < set(chosen)  # or the test would show nothing
            assert wanted[chosen].equals(out)
            assert list(wanted[chosen].dtypes) == list(out.dtypes)
    ranker = FRANe(7, similarity="mixed").fit(table)
    out = ranker.transform(table)
    assert (out == table[chosen].to_numpy(dtype=object)).all()
    with pytest.raises(ValueError, match="feature names"):
        ranker.set_output(transform="polars").transform(frames["polars"].drop("n0"))


def test_tags():
    assert get_tags(FRANe(similarity="mixed")).input_tags.categorical
    assert not get_tags(FRANe()).input_tags.categorical


def test_fit_leaves_the_table_alone():
    for table in (PLAIN, PLAIN.to_numpy(dtype=object)):
        before = table.copy()
        FRANe(similarity="mixed").fit(table).transform(table)
        assert (before == table).all(axis=None)


def test_the_network():
    ranker = FRANe(similarity="mixed").fit(PLAIN)
    net = ranker.network_
    w = naive_similarity(PLAIN)
    j, k = net.adjacency.nonzero()
    np.testing.assert_allclose(net.adjacency[j, k], w[j, k], atol=1e-12)
    assert (w[j, k] >= ranker.threshold_ - 1e-12).all()
    assert "ranks 1" in str(net.explain(int(np.argmin(ranker.ranking_))))
    lower = net.at(ranker.threshold_ / 2, PLAIN)
    np.fill_diagonal(w, 0.0)
    assert lower.n_edges == (w >= ranker.threshold_ / 2).sum() // 2
    same(pickle.loads(pickle.dumps(ranker)), ranker)
    same(clone(ranker).fit(PLAIN), ranker)
