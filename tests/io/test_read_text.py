"""Text tables: what is found out by itself, and what is said by the caller."""

import csv
import gzip
import sys

import numpy as np
import pytest

from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io import _text, read_table

VALUES = [[1.0, 2.5, -3e-7], [4.0, 0.1, 6.0]]


@pytest.fixture
def write(tmp_path):
    def _write(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        data = text.encode(encoding) if isinstance(text, str) else text
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b,c\n1,2.5,-3e-7\n4,0.1,6\n", "d.csv"),
        ("a;b;c\n1;2.5;-3e-7\n4;0.1;6\n", "d.csv"),
        ("a;b;c\n1;2,5;-3e-7\n4;0,1;6\n", "d.csv"),
        ("a\tb\tc\n1\t2.5\t-3e-7\n4\t0.1\t6\n", "d.tsv"),
        ("a\tb\tc\n1\t2.5\t-3e-7\n4\t0.1\t6\n", "d.txt"),
        ("a|b|c\n1|2.5|-3e-7\n4|0.1|6\n", "d.txt"),
        ("a  b c\n 1 2.5    -3e-7\n4 0.1 6\n", "d.txt"),
        ("a, b, c\n1, 2.5, -3e-7\n4, 0.1, 6\n", "d.csv"),
        ("a,b,c\n1,2.5,-3e-7\n4,0.1,6\n", "d.csv.gz"),
        ("a\tb\tc\n1\t2.5\t-3e-7\n4\t0.1\t6\n", "d.tsv.gz"),
        ("a,b,c\r\n1,2.5,-3e-7\r\n4,0.1,6\r\n", "d.csv"),
        ("a,b,c\n1,2.5,-3e-7\n4,0.1,6", "d.csv"),
        ("\ufeffa,b,c\n1,2.5,-3e-7\n4,0.1,6\n", "d.csv"),
        ('"a","b","c"\n"1","2.5","-3e-7"\n4,0.1,6\n', "d.csv"),
        ("\n\na,b,c\n\n1,2.5,-3e-7\n4,0.1,6\n\n  \n", "d.csv"),
        (",a,b,c\n0,1,2.5,-3e-7\n1,4,0.1,6\n", "d.csv"),
        ("Unnamed: 0,a,b,c\n0,1,2.5,-3e-7\n1,4,0.1,6\n", "d.csv"),
        ("a,b,c\n0,1,2.5,-3e-7\n1,4,0.1,6\n", "d.csv"),
        ("id,a,b,c\ns1,1,2.5,-3e-7\ns2,4,0.1,6\n", "d.csv"),
        ('"","a","b","c"\n"s,1",1,2.5,-3e-7\n"s ""2""",4,0.1,6\n', "d.csv"),
        ("a,b,c,\n1,2.5,-3e-7,\n4,0.1,6,\n", "d.csv"),
        ("a,b,c\n1,2.5,-3e-7,\n4,0.1,6,\n", "d.csv"),
    ],
)
def test_layouts_that_mean_the_same(write, text, name):
    table = read_table(write(text, name))
    np.testing.assert_array_equal(table.X, VALUES)
    assert table.X.dtype == np.float64
    assert table.names == ["a", "b", "c"]
    assert table.dropped == []
    assert table.path.name == name


@pytest.mark.parametrize(
    "text",
    ["1,2.5,-3e-7\n4,0.1,6\n", "1,2.5,-3e-7,\n4,0.1,6,\n", "x,1,2.5,-3e-7\ny,4,0.1,6"],
)
def test_no_header(write, text):
    table = read_table(write(text))
    np.testing.assert_array_equal(table.X, VALUES)
    assert table.names is None


def test_blank_and_missing_cells_are_nan(write):
    table = read_table(write("a,b,c\n1,,NA\n NaN ,2, NA\nnull,N/A,3\n"))
    nan = np.nan
    np.testing.assert_array_equal(
        table.X, [[1, nan, nan], [nan, 2, nan], [nan, nan, 3]]
    )
    assert table.names == ["a", "b", "c"]


def test_missing_cells_below_the_first_lines(write):
    lines = ["a,b"] + ["1,2"] * 50 + ["3,"]
    table = read_table(write("\n".join(lines)))
    assert table.X.shape == (51, 2)
    assert np.isnan(table.X[50, 1])
    assert np.isfinite(table.X[:50]).all()


def test_last_column_blank_at_first_only(write):
    lines = ["a,b,"] + ["1,2,"] * 30 + ["1,2,3"]
    table = read_table(write("\n".join(lines)), header=True)
    assert table.names == ["a", "b", "x2"]
    assert table.X[30, 2] == 3


def test_truth_values_are_numbers(write):
    table = read_table(write("a,b\nTrue,1\nFalse,2\n"))
    np.testing.assert_array_equal(table.X, [[1, 1], [0, 2]])
    gaps = read_table(write("a,b\nTrue,1\n,2\n"))
    np.testing.assert_array_equal(gaps.X, [[1, 1], [np.nan, 2]])


def test_huge_integers_beside_blanks(write):
    table = read_table(write(f"a,b\n{10**30},1\n2,\n"))
    assert table.X[0, 0] == 1e30


def test_numbers_come_back_exactly(write):
    X = np.random.default_rng(0).normal(size=(50, 7)) * 10.0 ** np.arange(-150, 200, 50)
    body = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    np.testing.assert_array_equal(read_table(write(body)).X, X)
    by_pandas = read_table(write(body + "\n" + "," * 6)).X
    np.testing.assert_array_equal(by_pandas[:-1], X)
    assert np.isnan(by_pandas[-1]).all()


def test_header_as_stated(write):
    path = write("1,2\n3,4\n5,6\n")
    assert read_table(path).X.shape == (3, 2)
    named = read_table(path, header=True)
    assert named.X.shape == (2, 2)
    assert named.names == ["1", "2"]
    with pytest.raises(DataError, match="2 columns are not numeric: 'column 1', 'col"):
        read_table(write("a,b\n1,2\n"), header=False)


def test_header_that_counts_the_columns(write):
    table = read_table(write("0,1,2\n0.5,1.5,2\n4,5,6\n"))
    assert table.names == ["0", "1", "2"]
    assert read_table(write("0,1,2\n3,4,5\n6,7,8\n")).X.shape == (3, 3)
    assert read_table(write(",0,1,2\n0,5,1,2\n1,4,5,6\n")).names == ["0", "1", "2"]


def test_index_as_stated(write):
    path = write("a,b,c\n1,2,3\n4,5,6\n")
    table = read_table(path, index=True)
    assert table.names == ["b", "c"]
    np.testing.assert_array_equal(table.X, [[2, 3], [5, 6]])
    table = read_table(write(",b,c\n1,2,3\n4,5,6\n"), index=False)
    assert table.names == ["x0", "b", "c"]
    with pytest.raises(DataError, match="1 column is not numeric: 'id'"):
        read_table(write("id,b\nx,2\ny,5\n"), index=False)


def test_labels_that_were_guessed_are_told(write):
    assert read_table(write("id,b,c\nx,2,3\ny,5,6\n")).labels == "id"
    assert read_table(write("id,b,c\nx,2,\ny,5,6\n")).labels == "id"
    assert read_table(write("x,2,3\ny,5,6\n")).labels == "column 1"
    assert read_table(write(",b,c\nx,2,3\ny,5,6\n")).labels is None
    assert read_table(write("id,b\nx,2\ny,5\n"), index=True).labels is None


def test_labels_that_look_missing(write):
    table = read_table(write("g,s1,s2\nTP53,1,2\nNA,3,4\n"), transpose=True)
    assert table.names == ["TP53", "NA"]


def test_repeated_words_in_front_are_a_column_not_labels(write):
    path = write("kind,b\nx,2\nx,5\ny,6\n")
    with pytest.raises(DataError, match="not numeric: 'kind'"):
        read_table(path)


@pytest.mark.parametrize("gap", ["", "NA"])
def test_transpose_takes_row_labels_as_names(write, gap):
    text = f"gene\ts1\ts2\ts3\ng1\t1\t2\t3\ng2\t4\t5\t6{gap and chr(10)}" + (
        f"g3\t{gap}\t1\t2" if gap else ""
    )
    table = read_table(write(text, "d.tsv"), transpose=True)
    assert table.names == ["g1", "g2", "g3"][: len(table.names)]
    np.testing.assert_array_equal(table.X[:, :2], [[1, 4], [2, 5], [3, 6]])
    assert table.X.shape == (3, 3 if gap else 2)


def test_transpose_with_descriptions(write):
    text = "gene,about,s1,s2\ng1,words,1,2\ng2,more,3,4\n"
    table = read_table(write(text), transpose=True, drop_non_numeric=True)
    assert table.names == ["g1", "g2"]
    assert table.dropped == ["about"]
    np.testing.assert_array_equal(table.X, [[1, 3], [2, 4]])


def test_transpose_without_labels(write):
    table = read_table(write("1,2,3\n4,5,6\n"), transpose=True)
    assert table.names is None
    assert table.X.shape == (3, 2)


def test_non_numeric_columns(write):
    path = write("a,when,b,kind\n1,2020-01-01,2,x\n3,2020-01-02,4,y\n")
    with pytest.raises(DataError) as caught:
        read_table(path)
    message = str(caught.value)
    assert "2 columns are not numeric: 'when', 'kind'" in message
    assert "--drop-non-numeric" in message
    assert "drop_non_numeric=True" in message
    table = read_table(path, drop_non_numeric=True)
    assert table.names == ["a", "b"]
    assert table.dropped == ["when", "kind"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_many_non_numeric_columns_are_counted(write):
    path = write(",".join(f"c{j}" for j in range(15)) + "\n" + ",".join("z" * 15))
    with pytest.raises(DataError, match=r"15 columns .* 'c9' and 5 more;"):
        read_table(path, index=False)


def test_no_numeric_column(write):
    with pytest.raises(DataError, match="no numeric column is left"):
        read_table(write("a,b\nx,y\nx,w\n"), drop_non_numeric=True)


def test_duplicate_names(write):
    with pytest.raises(DataError, match="more than once: 'a', 'b'; rename"):
        read_table(write("a,b,a,b,c\n1,2,3,4,5\n"))
    with pytest.raises(DataError, match="more than once: 'g1'"):
        read_table(write("gene,s1,s2\ng1,1,2\ng1,3,4\n"), transpose=True)


def test_duplicate_labels_of_examples_do_no_harm(write):
    table = read_table(write(",a,b\nx,1,2\nx,3,4\n"))
    assert table.names == ["a", "b"]


def test_given_names_replace_duplicates(write):
    path = write("a,a\n1,2\n3,4\n")
    assert read_table(path, feature_names=["u", "v"]).names == ["u", "v"]


@pytest.mark.parametrize("tail", ["7,8\n", "7,8,9,10\n", '7,"8\n'])
def test_ragged_lines_name_the_line(write, tail):
    text = "a,b,c\n" + "1,2,3\n" * 40 + tail + "1,2,3\n"
    with pytest.raises(DataError, match=r"line 4\d has \d fields where others have 3"):
        read_table(write(text))


def test_ragged_among_the_first_lines(write):
    with pytest.raises(DataError, match="line 3 has 2 fields where others have 3"):
        read_table(write("a,b,c\n1,2,3\n4,5\n7,8,9\n1,2,3\n"))


def test_header_of_another_length(write):
    for cell in ("1", ""):
        with pytest.raises(DataError, match="line 1 has 4 names for 2 columns"):
            read_table(write(f"a,b,c,d\n{cell},2\n4,5\n"))


def test_unnamed_last_column(write):
    text = "a,b\n" + "1,2,\n" * 30 + "1,2,3\n"
    with pytest.raises(DataError, match="line 1 has 2 names for 3 columns"):
        read_table(write(text))


def test_quotes_that_do_not_match(write):
    with pytest.raises(DataError, match=r"d\.csv: "):
        read_table(write('a,b\n1,2\n"3,4\n5,6\n', "d.csv"))


def test_quoted_cell_beyond_the_sample(write):
    lines = ["a,b"] + ["1,2"] * 18 + ['3,"4\n"', "5,6"]
    table = read_table(write("\n".join(lines)))
    assert table.X.shape == (20, 2)
    assert table.X[18, 1] == 4


def test_wrong_encoding_and_binary(write):
    with pytest.raises(DataError, match="not UTF-8 text; save it as UTF-8"):
        read_table(write("größe,b\n1,2\n", encoding="latin-1"))
    with pytest.raises(DataError, match="is not text; give its true kind by --format"):
        read_table(write(b"ab\0\0\n\0"))
    late = b"1,2\n" * 100_000 + "ö,2\n".encode("latin-1")
    with pytest.raises(DataError, match="not UTF-8 text"):
        read_table(write(late))


def test_gzip_troubles(write, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"ends in \.gz but is not gzipped"):
        read_table(path)
    whole = gzip.compress(b"a,b\n" + b"1.5,2\n" * 10_000)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cut off"):
        read_table(path)
    plain = tmp_path / "b.csv"
    plain.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_table(plain).names == ["a", "b"]


def test_nothing_in_the_file(write):
    with pytest.raises(DataError, match="the file is empty"):
        read_table(write(""))
    with pytest.raises(DataError, match="only blank lines"):
        read_table(write("\n\n  \n"))
    with pytest.raises(DataError, match="a header line but no rows"):
        read_table(write("a,b,c\n"))


def test_small_tables(write):
    assert read_table(write("1,2,3\n")).X.shape == (1, 3)
    one = read_table(write("a\n1\n2\n"))
    assert one.X.shape == (2, 1)
    assert one.names == ["a"]


def test_python_spelling_of_numbers_is_no_number(write):
    with pytest.raises(DataError, match="not numeric"):
        read_table(write("a,b\n1_000,2\n1_000,3\n"))


def test_dtype(write):
    assert read_table(write("a,b\n1,2\n"), dtype="float32").X.dtype == np.float32


def test_options_that_mean_nothing(write):
    path = write("a,b\n1,2\n")
    with pytest.raises(UsageError, match=r"--variable .* means nothing for csv"):
        read_table(path, variable="X")
    with pytest.raises(UsageError, match="header must be True, False or 'auto'"):
        read_table(path, header="yes")


def test_pandas_is_asked_for_only_where_needed(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert read_table(write("a,b\n1,2\n")).X.shape == (1, 2)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[pandas\]'"):
        read_table(write("a,b\n1,\n"))


@pytest.mark.parametrize("gap", [False, True])
def test_numbers_are_read_by_libraries(tmp_path, monkeypatch, gap):
    """By NumPy, and by pandas where one is missing: not cell by cell."""
    X = np.random.default_rng(0).normal(size=(20, 10_000)).round(6)
    path = tmp_path / "wide.csv"
    with path.open("w") as file:
        file.write("id," + ",".join(f"g{j}" for j in range(X.shape[1])) + "\n")
        for i, row in enumerate(X.tolist()):
            file.write(f"s{i}," + ",".join(map(repr, row)) + "\n")
    if gap:
        path.write_text(path.read_text().replace(f",{X[19, 7].item()!r},", ",,", 1))
        monkeypatch.setattr(_text, "to_number", None)
    else:
        monkeypatch.setitem(sys.modules, "pandas", None)
    table = read_table(path)
    assert table.names[9_999] == "g9999"
    if gap:
        assert np.isnan(table.X).sum() == 1
        X = np.where(np.isnan(table.X), np.nan, X)
    np.testing.assert_array_equal(table.X, X)


def test_cell_longer_than_any_sensible_one(write):
    path = write('a,b\n"' + "x;" * 100_000 + '",1\n')
    before = csv.field_size_limit(131_072)  # other libraries raise it
    try:
        with pytest.raises(DataError, match="field larger than field limit"):
            read_table(path)
    finally:
        csv.field_size_limit(before)
