"""Bad input: each a message of one line that names the thing and the remedy."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from franet import DataError, FRANe
from franet.exceptions import UsageError
from tables import TABLES

X = TABLES["random"][:, :6]
NAMES = list("abcdef")


def fails(table, message, error=ValueError, **parameters):
    with pytest.raises(error, match=message) as caught:
        FRANe(**parameters).fit(table)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X[:, :1], r"1 feature\(s\) \(shape=\(30, 1\)\).* two rows and two columns"),
        (X[:1], r"1 sample\(s\) \(shape=\(1, 6\)\).* two rows and two columns"),
        (X[:0], r"0 sample\(s\) \(shape=\(0, 6\)\).* two rows and two columns"),
        (X[:, :0], r"0 feature\(s\) \(shape=\(30, 0\)\).* two rows and two columns"),
        (X[0], r"got 1 dimension\(s\) \(shape \(6,\)\)\. Pass samples in rows"),
        (X[None], r"got 3 dimension\(s\) \(shape \(1, 30, 6\)\)\. Pass samples"),
        (3.0, r"got 0 dimension\(s\) \(shape \(\)\)\. Pass samples in rows"),
        (None, r"got 0 dimension\(s\)"),
        (pd.Series(X[0]), r"got 1 dimension\(s\) \(shape \(6,\)\)"),
        (sparse.coo_array(X[0]), r"got 1 dimension\(s\) \(shape \(6,\)\)"),
        ([[1, 2, 3], [4, 5]], "different lengths. Pass one value for each feature"),
        (pd.DataFrame(columns=NAMES, dtype=float), r"0 sample\(s\)"),
    ],
    ids=range(12),
)
def test_shape(table, message):
    assert isinstance(fails(table, message), DataError)


FRAME = {"a": X[:, 0], "b": X[:, 1], "s": [f"patient {i}" for i in range(30)]}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame(FRAME), r"Column 's' \(2\) does not hold numbers .*'patient 0'"),
        (pl.DataFrame(FRAME), r"Column 's' \(2\) does not hold numbers .*'patient 0'"),
        (pd.DataFrame(FRAME).astype({"s": "category"}), r"Column 's' \(2\)"),
        (pd.DataFrame(FRAME).astype({"s": "string"}), r"Column 's' \(2\)"),
        (np.array([["1", "x"], ["3", "4"]]), "Column 1 does not hold numbers .*'x'"),
        ([["1", "2"], ["y", "4"]], "Column 0 does not hold numbers .*'y'"),
        ("a string", "Expected a table of numbers, got text"),
        (["a", "b"], "Expected a table of numbers, got text"),
        (np.array([[1, 2], [3, "z"]], dtype=object), "Column 1 .*'z'"),
        (np.array([[1, 2], [3, b"z"]], dtype=object), "Column 1 "),
    ],
    ids=lambda value: type(value).__name__,
)
def test_text(table, message):
    said = str(fails(table, message))
    assert re.search(
        r"(Drop or encode it first|Pass samples in rows.*)(, or.*)?\.$", said
    )
    text = "does not hold numbers" in said and "b'z'" not in said
    assert said.endswith("first, or use similarity='mixed'.") == text


def test_objects_that_are_no_numbers():
    table = X.astype(object)
    table[4, 3] = {"a": 1}
    # scikit-learn wants a TypeError here.
    fails(table, "Column 3 does not hold numbers .*'dict'.* Drop or encode", TypeError)


def test_objects_that_are_numbers_are_welcome():
    np.testing.assert_array_equal(
        FRANe().fit(X.astype(object)).scores_, FRANe().fit(X).scores_
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_dates(library):
    days = np.arange("2024-01-01", "2024-01-31", dtype="datetime64[D]")
    for values in (days.astype("datetime64[ns]"), days - days[0]):
        values = values.astype(values.dtype.str.replace("[D]", "[ns]"))
        table = library.DataFrame({"a": X[:, 0], "when": values, "b": X[:, 1]})
        message = r"Column 'when' \(1\) holds dates or times .* Drop or encode"
        fails(table, message)
    fails(days.reshape(10, 3), "Column 0 holds dates or times")


@pytest.mark.parametrize(
    "table", [X + 1j, pd.DataFrame(X + 1j), sparse.csr_array(X + 1j)], ids=type
)
def test_complex(table):
    fails(table, r"^Complex data not supported\. Pass the real part.*numpy\.abs\(X\)")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_features_to_select": 7}, "=7, but the table has 6 .* at most 6"),
        ({"n_features_to_select": 0}, r"'n_features_to_select'.*\[1, inf\).*Got 0"),
        ({"n_features_to_select": -1}, r"'n_features_to_select'.*Got -1"),
        ({"n_features_to_select": 1.5}, r"'n_features_to_select'.*Got 1\.5"),
        ({"n_features_to_select": "all"}, r"'n_features_to_select'.*Got 'all'"),
        ({"n_thresholds": 1}, r"'n_thresholds'.*\[2, inf\)\. Got 1"),
        ({"n_thresholds": 10.0}, r"'n_thresholds'.*must be an int.*Got 10\.0"),
        ({"damping": 0}, r"'damping'.*\(0\.0, 1\.0\)\. Got 0"),
        ({"damping": 1.0}, r"'damping'.*\(0\.0, 1\.0\)\. Got 1\.0"),
        ({"damping": float("nan")}, r"'damping'.*\(0\.0, 1\.0\)\. Got nan"),
        ({"similarity": "cosine"}, "'similarity'.*'correlation'.*Got 'cosine'"),
        ({"similarity": 3}, "'similarity'.*callable. Got 3"),
        ({"thresholds": "cubic"}, "'thresholds'.*'geometric'.*Got 'cubic'"),
        ({"centrality": "fame"}, "'centrality'.*'pagerank'.*Got 'fame'"),
        ({"quality": "best"}, "'quality'.*'rqh'.*Got 'best'"),
        ({"variant": "other"}, "'variant'.*'reference'.*Got 'other'"),
        ({"missing": "drop"}, "'missing'.*'pairwise'.*Got 'drop'"),
        ({"tie_break": "random"}, "'tie_break'.*'denser'.*Got 'random'"),
        ({"min_mean_degree": -1}, r"'min_mean_degree'.*\[0\.0, inf\)\. Got -1"),
        ({"max_edges": 0}, r"'max_edges'.*\[1, inf\)\. Got 0"),
        ({"p": 0.5}, r"'p'.*\[1\.0, inf\)\. Got 0\.5"),
        ({"weighted": "yes"}, "'weighted'.*Got 'yes'"),
        ({"n_jobs": 0}, "n_jobs=0: give a number of threads, or -1"),
    ],
    ids=str,
)
def test_parameters(given, message):
    fails(X, message, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"similarity": "precomputed"}, "precomputed.*set variant='paper'"),
        ({"similarity": "mixed"}, "mixed.*numbers only.*set variant='paper'"),
        ({"similarity": "seuclidean"}, "seuclidean.*set variant='paper'"),
        pytest.param(
            {"similarity": np.dot}, "a function as.*set variant='paper'", id="function"
        ),
        ({"thresholds": "quantile"}, "quantile.*Use variant='paper'"),
    ],
    ids=str,
)
def test_no_reference_definition(given, message):
    fails(np.abs(np.corrcoef(X.T)), message, variant="reference", **given)


@pytest.mark.parametrize("backend", ["cpu", "gpu", "dask:cpu", "h:8786", ""])
def test_a_backend_that_is_not_one(backend):
    message = f"backend='{backend}' cannot be used here; choose 'auto', 'numpy'.*'dask'"
    fails(X, message, UsageError, backend=backend)


@pytest.mark.parametrize("similarity", ["spearman", "euclidean", "precomputed"])
def test_missing_values_are_for_correlations(similarity):
    message = f"missing='pairwise' does not support similarity='{similarity}'. Set "
    fails(np.abs(np.corrcoef(X.T)), message, missing="pairwise", similarity=similarity)


def test_missing_values_are_for_dense_tables():
    message = r"missing='pairwise' does not support sparse tables\. Pass X\.toarray\(\)"
    fails(sparse.csr_array(X), message, missing="pairwise")


SIMILARITY = "The similarity function must return "
WRONG = {
    "similarity": [
        (lambda A, B: np.ones((2, 2)), SIMILARITY + r".*\(6, 6\).* shape \(2, 2\)"),
        (lambda A, B: np.full((6, 6), np.nan), SIMILARITY + ".*got nan for columns 0"),
        (lambda A, B: np.full((6, 6), -1.0), SIMILARITY + ".*negative, got -1.0 for"),
        (lambda A, B: np.full((6, 6), "a"), SIMILARITY + "numbers .*type <U1"),
        (lambda A, B: A.T @ B + 1j, SIMILARITY + "numbers .*type complex128"),
        (lambda A, B: [[1.0], [1.0, 2.0]], SIMILARITY),
        (lambda A, B: None, SIMILARITY + "numbers .*object"),
    ],
    "thresholds": [
        (lambda low, high, n: [1.0], r"return 9 finite numbers, got .* \(1,\)"),
        (lambda low, high, n: [np.nan] * n, "return 9 finite numbers, got nan at pos"),
        (lambda low, high, n: ["a"] * n, "return 9 finite numbers, got a list of ty"),
        (lambda low, high, n: np.full(n, 1j), "return 9 finite numbers, got .*complex"),
        (lambda low, high, n: [[1], [1, 2]], "return 9 finite .* different lengths"),
        (lambda low, high, n: None, "return 9 finite numbers, got a NoneType"),
    ],
    "centrality": [
        (lambda W: np.ones(2), r"return 6 finite numbers, got .* \(2,\)"),
        (lambda W: np.ones((6, 1)), r"return 6 finite numbers, got .* \(6, 1\)"),
        (lambda W: [0, 1, 2, 3, 4, np.inf], "6 finite numbers, got inf at position 5"),
        (lambda W: list("abcdef"), "return 6 finite numbers, got a list of type <U1"),
        (lambda W: np.full(6, 1j), "return 6 finite numbers, got .*complex128"),
        (lambda W: W, "return 6 finite numbers, got a csr_array of type object"),
    ],
    "quality": [
        (lambda s: np.nan, "quality function must return .*finite number.*got nan"),
        (lambda s: np.inf, "quality function must return .*finite number.*got inf"),
        (lambda s: s, "quality function must return .*finite number"),
        (lambda s: "good", "quality function must return .*finite number"),
        (lambda s: None, "quality function must return .*finite number"),
        (lambda s: 1j, "quality function must return .*finite number"),
    ],
}
CASES = [(name, *case) for name, cases in WRONG.items() for case in cases]


@pytest.mark.parametrize(("name", "function", "message"), CASES)
def test_functions_that_return_nonsense(name, function, message):
    error = fails(X, message, n_thresholds=9, **{name: function})
    assert isinstance(error, DataError)
    assert name in str(error)


class OwnError(ValueError):
    pass


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", WRONG)
def test_what_a_function_raises_passes_through(name, n_jobs):
    own = OwnError("could not convert this")

    def raises(*arguments):
        raise own

    with pytest.raises(OwnError) as caught:
        FRANe(n_jobs=n_jobs, **{name: raises}).fit(np.tile(X, 50))
    assert caught.value is own
    with pytest.raises(TypeError, match="positional argument"):
        FRANe(**{name: lambda: 1}).fit(X)


def test_repeated_names():
    frame = pd.DataFrame(X, columns=list("abacad"))
    fails(frame, r"^Column names must be unique; repeated: 'a'\. Rename or drop")
    wide = pd.DataFrame(np.tile(X, 2), columns=NAMES * 2)
    fails(wide, r"repeated: 'a', 'b', 'c', 'd', 'e' …\. Rename")


def test_bad_values_are_named_by_column_and_row():
    table = X.copy()
    table[20, 2], table[4, 2], table[0, 4] = np.nan, np.nan, np.inf
    remedy = r" Fill or drop it, or use missing='pairwise'\.$"
    fails(table, r"^Column 2 holds NaN in row 4\." + remedy)
    fails(table.astype(np.float32), r"^Column 2 holds NaN in row 4\." + remedy)
    named = r"^Column 'c' \(2\) holds NaN in row 4\." + remedy
    fails(pd.DataFrame(table, columns=NAMES), named)
    fails(pl.DataFrame(table, schema=NAMES), named)
    for make in (sparse.csr_array, sparse.csc_matrix):
        fails(make(table), r"^Column 2 holds NaN in row 4\.")
    table[4, 2], table[20, 2] = -np.inf, 0.0
    fails(table, r"^Column 2 holds infinity \(inf\) in row 4\. Clip or drop it\.$")


def test_large_values_are_not_infinite():
    # Their sum is; the check must not be fooled.
    FRANe().fit(X / np.abs(X).max() * 1e308)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("similarity", ["correlation", "abs-correlation", "spearman"])
def test_all_columns_constant(similarity, make):
    table = make(np.tile([0.0, 1.0, 0.1], (7, 1)))
    message = "^All columns are constant: .* Drop them, or use a distance"
    fails(table, message, similarity=similarity)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (X, "must be square, got 30 rows and 6 columns. Pass the n × n matrix"),
        (np.corrcoef(X.T), r"Negative values.*row 0, column \d.* Shift or clip"),
        (np.triu(np.ones((4, 4))), r"symmetric: row 0, column 1 .*\(W \+ W\.T\) / 2"),
    ],
)
def test_precomputed(W, message):
    fails(W, message, similarity="precomputed")
