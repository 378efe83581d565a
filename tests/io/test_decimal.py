"""Decimal signs and separated thousands in text tables."""

import numpy as np
import pytest

from cli.commands import fails, run
from franet.exceptions import DataError, UsageError
from franet.io import read_table
from reliability.oracle import explains

STATE = r"state the decimal sign by --decimal \. or --decimal , \(decimal="


@pytest.fixture
def write(tmp_path):
    def _write(rows, delimiter="\t", header="a b c", name="data.txt"):
        lines = [*([header.split()] if header else []), *(row.split() for row in rows)]
        path = tmp_path / name
        path.write_text("".join(delimiter.join(line) + "\n" for line in lines))
        return path

    return _write


DELIMITERS = ["\t", ";", "|", "  "]


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("cell", ["1,234", "-12,345", "+999,000"])
def test_thousands_or_decimals_are_refused(write, delimiter, cell):
    for other in ("999", "0.5", "NA", ""):
        if not other and delimiter == "  ":
            continue
        rows = [f"999 2 {other or chr(0)}", f"{cell} 3 4"]
        path = write([row.replace("\0", '""') for row in rows], delimiter)
        with pytest.raises(DataError, match=rf"line 3, column 'a': .*{STATE}") as err:
            read_table(path)
        assert cell in str(err.value)


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_decimal_sign_as_stated(write, delimiter):
    path = write(["999 2 3", "1,234 3 4"], delimiter)
    assert read_table(path, decimal=".").X[1, 0] == 1234
    assert read_table(path, decimal=",").X[1, 0] == 1.234
    dots = write(["999 2 3", "1.234 3 4"], delimiter)
    assert read_table(dots).X[1, 0] == 1.234
    assert read_table(dots, decimal=".").X[1, 0] == 1.234
    assert read_table(dots, decimal=",").X[1, 0] == 1234


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("proof", ["3,14", "0,5", "0,123", "1234,567", "1,5e3", "1,2"])
def test_one_decimal_comma_decides(write, delimiter, proof):
    path = write(["1,234 2 3", f"7 {proof} 12,345"], delimiter)
    expected = float(proof.replace(",", "."))
    np.testing.assert_array_equal(
        read_table(path).X, [[1.234, 2, 3], [7, expected, 12.345]]
    )


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("proof", ["1,234,567", "1,234.5", "12,345,678.25", "-1,234.0"])
def test_one_number_with_thousands_decides(write, delimiter, proof):
    path = write(["1,234 0.5 3", f"7 {proof} 12,345"], delimiter)
    expected = float(proof.replace(",", ""))
    np.testing.assert_array_equal(
        read_table(path).X, [[1234, 0.5, 3], [7, expected, 12345]]
    )


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("proof", ["1.234.567", "1.234,5", "-1.234.567,25"])
def test_thousands_with_dots(write, delimiter, proof):
    path = write(["1,234 2 1.250", f"7 {proof} 12,345"], delimiter)
    expected = float(proof.replace(".", "").replace(",", "."))
    np.testing.assert_array_equal(
        read_table(path).X, [[1.234, 2, 1250], [7, expected, 12.345]]
    )


@pytest.mark.parametrize(
    "rows",
    [
        ["3,14 2.5 1", "7 8 9"],
        ["0,5 1.234 1", "7 8 9"],
        ["1.234,5 2.5 1", "7 8 9"],
        ["1.234.567 0.25 1", "7 8 9"],
        ["1,234.5 3,14 1", "7 8 9"],
        ["3,14 1 1", "2.5 8 9"],
    ],
)
def test_both_decimal_signs_are_refused(write, rows):
    path = write(rows)
    for options in ({}, {"drop_non_numeric": True}, {"text": True}):
        with pytest.raises(DataError, match=rf"decimal comma, but .*{STATE}"):
            read_table(path, **options)


@pytest.mark.parametrize("where", ["below", "beside"])
def test_all_cells_decide(write, where):
    """Not only the first lines, and the first cells of a line."""
    n = 300
    header = " ".join(f"x{j}" for j in range(n)) if where == "beside" else "a b c"
    start = ["1,234 2 3"] * 40 if where == "below" else []

    def table(cell):
        if where == "below":
            return write([*start, f"7 8 {cell}"], header=header)
        return write([f"1,234 {'2 ' * (n - 2)}{cell}"] * 3, header=header)

    assert read_table(table("3,14")).X[0, 0] == 1.234
    assert read_table(table("1,234.5")).X[0, 0] == 1234
    with pytest.raises(DataError, match=STATE):
        read_table(table("5"))
    late = write(["1 2 3"] * 40 + ["1 2 4,567"])
    with pytest.raises(DataError, match=rf"line 42, column 'c': '4,567'.*{STATE}"):
        read_table(late)


def test_numbers_beyond_the_first_cells_are_no_header(write):
    rows = [" ".join(["1"] * 250 + ["3,14"])] * 4
    table = read_table(write(rows, header=""))
    assert table.names is None
    assert table.X.shape == (4, 251)
    assert table.X[0, 250] == 3.14


def test_quoted_cells_of_comma_separated_files(tmp_path):
    path = tmp_path / "data.csv"
    for cell in ("1,234", "3,14"):
        path.write_text(f'a,b\n"{cell}",2\n999,3\n')
        for options in ({}, {"drop_non_numeric": True}, {"text": True}):
            with pytest.raises(DataError, match=rf"line 2, column 'a': .*{STATE}"):
                read_table(path, **options)
        assert read_table(path, decimal=",").X[0, 0] == float(cell.replace(",", "."))
    path.write_text('a,b\n"1,234",2\n"1,234,567",0.5\n')
    assert read_table(path).X.tolist() == [[1234, 2], [1234567, 0.5]]
    # Two numbers in a cell are text where the dot is the decimal sign.
    path.write_text('a,b\n"48,2",2\n"3,14",3\n')
    assert read_table(path, decimal=".", drop_non_numeric=True).dropped == ["a"]
    assert read_table(path, decimal=".", text=True, index=False).names == ["a", "b"]


def test_dots_alone_are_decimals(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1.234,2\n5.678,\n")
    assert read_table(path).X[0, 0] == 1.234
    # Dots between thousands of another column make that wrong.
    path.write_text("a,b\n1.234,1.234.567\n5.678,2.345.678\n")
    for options in ({}, {"drop_non_numeric": True}, {"text": True}):
        found = read_table(path, **options)
        assert found.X.tolist() == [[1234, 1234567], [5678, 2345678]]


@pytest.mark.parametrize(
    "words", ["10,5 ml", "192.168.1.20", "a,b", "1,23,4", "1,234x"]
)
def test_words_say_nothing_about_numbers(write, words):
    path = write([f"1.5 2 {words.replace(' ', '_')}", "3 4 1,234"])
    with pytest.raises(DataError, match="1 column is not numeric: 'c'"):
        read_table(path)
    table = read_table(path, drop_non_numeric=True)
    assert table.X.tolist() == [[1.5, 2], [3, 4]]


def test_labels_say_nothing_about_numbers(write):
    path = write(["1,234 1.5", "1,235 2.5"], header="a")
    table = read_table(path)
    assert table.X.tolist() == [[1.5], [2.5]]


def test_transposed(write):
    path = write(["g1 1,234 2", "g2 3 4"], header="gene s1 s2")
    with pytest.raises(DataError, match=rf"line 2, column 's1': '1,234'.*{STATE}"):
        read_table(path, transpose=True)
    table = read_table(path, transpose=True, decimal=".")
    assert table.X.tolist() == [[1234, 3], [2, 4]]


def test_stated_sign_against_the_cells(write):
    path = write(["1,5 2.5 3", "1 2 3"])
    with pytest.raises(DataError, match="1 column is not numeric: 'a'"):
        read_table(path, decimal=".")
    with pytest.raises(DataError, match="1 column is not numeric: 'b'"):
        read_table(path, decimal=",")


def test_truth_values_and_gaps_beside_decimal_commas(write):
    path = write(["1,5 True NA", "NA False 3", "2 True 4,5"])
    nan = np.nan
    for decimal in ("auto", ","):
        np.testing.assert_array_equal(
            read_table(path, decimal=decimal).X,
            [[1.5, 1, nan], [nan, 0, 3], [2, 1, 4.5]],
        )


def test_a_sign_that_means_nothing(write, tmp_path):
    with pytest.raises(UsageError, match=r"decimal must be '\.', ',' or 'auto'"):
        read_table(write(["1 2 3"]), decimal=";")
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(UsageError, match=r"--decimal .* means nothing for npy"):
        read_table(tmp_path / "x.npy", decimal=",")


def test_the_plain_reader_agrees(write):
    for rows in (["3,14 1,234 5"], ["1,234,567 1,234 0.5"], ["1.234,5 1.234 5"]):
        path = write(rows, header="")
        found = read_table(path).X
        assert explains(path.read_bytes(), found)
        # Not as the other sign reads it.
        assert not explains(path.read_bytes(), found / [[1, 1000, 1]])
        assert not explains(path.read_bytes(), found * [[1, 1000, 1]])


@pytest.mark.parametrize("command", ["rank", "evaluate"])
def test_on_the_command_line(write, command):
    rng = np.random.default_rng(0)
    rows = [" ".join(f"{x:,}" for x in row) for row in rng.integers(1, 9999, (30, 3))]
    path = write(rows)
    said = fails(command, path, code=1)
    assert "--decimal . or --decimal ," in said
    for sign in ".,":
        assert run(command, path, "--decimal", sign).exit_code == 0
    assert "is not one of" in fails(command, path, "--decimal", "x", code=2)


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "'"])
@pytest.mark.parametrize("mark", ["\t", ";", "|"])
def test_thousands_between_blanks_are_not_cut(tmp_path, mark, space):
    """They are neither two cells nor the labels of the rows."""
    path = tmp_path / "x.tsv"
    rows = [["a", "b"], [f"1{space}234", "5"], [f"2{space}345", "6"]]
    path.write_text("".join(mark.join(row) + "\n" for row in rows), "utf-8")
    with pytest.raises(DataError, match="1 column is not numeric: 'a'"):
        read_table(path)
