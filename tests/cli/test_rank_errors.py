"""``franet rank``: how it fails."""

import errno
import os
import sys

import pytest

from cli.commands import fails, run
from franet.cli import main


@pytest.mark.parametrize(
    "options",
    [
        ["--top", "0"],
        ["--top", "x"],
        ["--top", "11"],
        ["--damping", "0"],
        ["--damping", "1"],
        ["--n-thresholds", "1"],
        ["--min-mean-degree", "-1"],
        ["--p", "0.5"],
        ["--similarity", "cosine"],
        ["--format", "xlsx"],
        ["--nonsense"],
        ["--variable", "X"],
        ["--n-jobs", "0"],
        ["--output", "ranking.xlsx"],
        ["--similarity", "euclidean", "--missing", "pairwise"],
    ],
)
def test_usage_errors(data, options):
    fails("rank", data, *options, code=2)


def test_parameters_refused_by_the_estimator_are_usage(data, monkeypatch):
    from franet.estimators import _cover

    class Strict(_cover.Cover):
        def fit(self, X, y=None):
            self.n_ranked = 0
            return super().fit(X, y)

    monkeypatch.setattr("franet.estimators._cover.Cover", Strict)
    assert "'--set n_ranked' parameter" in fails("rank", data, code=2)


def test_top_larger_than_the_table(data):
    line = fails("rank", data, "--top", 11, code=2)
    assert line == (
        "error: --top 11, but the table has 10 features. Ask for at most 10."
    )


def test_usage_errors_point_to_help():
    assert "(see 'franet rank --help')" in fails("rank", code=2)
    assert "(see 'franet --help')" in fails("nonsense", code=2)


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("a,b\n1,2\n3,\n5,6\n", "Column 'b' (1) holds NaN in row 1"),
        ("a,b\n1,2\n3,inf\n5,6\n", "Column 'b' (1) holds inf"),
        ("a,b\n1,2\n1,2\n1,2\n", "constant"),
        ("a\n1\n2\n", "1 feature"),
        ("a,b\n1,2\n", "1 sample"),
        ("a,b\n", "no rows"),
        ("", "empty"),
        ("a,a\n1,2\n2,1\n", "more than once: 'a'"),
        ("a,b,c\nx,y,1\nx,w,2\n", "2 columns are not numeric: 'a', 'b'"),
    ],
)
def test_tables_that_cannot_be_ranked(tmp_path, table, part):
    path = tmp_path / "d.csv"
    path.write_text(table)
    assert part in fails("rank", path, code=1)


def test_remedies_are_options(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n3,\n5,6\n")
    assert "--missing pairwise" in fails("rank", path, code=1)


def test_files_that_cannot_be_read(tmp_path):
    assert "no such file" in fails("rank", tmp_path / "absent.csv", code=1)
    assert "is a directory" in fails("rank", tmp_path, code=1)
    (tmp_path / "x.xlsx").write_text("x")
    assert "--format" in fails("rank", tmp_path / "x.xlsx", code=1)
    strange = tmp_path / "a\nb\x1b.csv"
    assert r"\x1b" in fails("rank", strange, code=1)


def test_missing_extra(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    line = fails("rank", tmp_path / "x.csv", code=1)
    assert "pip install 'franet[pandas]'" in line


@pytest.fixture
def no_work(monkeypatch):
    """Make reading an error: what is tested must come before it."""

    def read_table(*args, **kwargs):
        raise AssertionError("the file was read")

    monkeypatch.setattr("franet.io.read_table", read_table)


@pytest.mark.usefixtures("no_work")
def test_output_is_checked_before_any_work(data, tmp_path):
    there = tmp_path / "there.csv"
    there.write_text("precious")
    assert "--force" in fails("rank", data, "--output", there, code=1)
    assert there.read_text() == "precious"
    assert "no folder" in fails("rank", data, "--output", "absent/r.csv", code=1)
    (tmp_path / "d.csv").mkdir()
    assert "directory" in fails("rank", data, "--output", tmp_path / "d.csv", code=1)
    args = ["rank", data, "--force", "--output", data]
    assert f"is the same file as FILE ({data})" in fails(*args, code=2)


def test_force(data, tmp_path):
    output = tmp_path / "r.csv"
    output.write_text("old")
    assert run("rank", data, "--output", output, "--force").exit_code == 0
    assert output.read_text().startswith("rank,feature,index,selected,explained,")


def test_full_disk(data, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    line = fails("rank", data, "--output", tmp_path / "r.csv", code=1)
    assert "the disk is full" in line
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(
    ("error", "code", "part"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted"),
        (
            RuntimeError("odd\nthing"),
            1,
            "error: unexpected RuntimeError: odd thing (FR",
        ),
        (MemoryError(), 1, "error: not enough memory"),
        (OSError(5, "Input/output error"), 1, "Input/output error"),
        (ValueError("plain"), 1, "error: plain"),
    ],
)
def test_whatever_happens_is_one_line(data, monkeypatch, error, code, part):
    def read_table(*args, **kwargs):
        raise error

    monkeypatch.setattr("franet.io.read_table", read_table)
    result = run("rank", data)
    assert result.exit_code == code
    assert part in result.stderr.strip()
    assert len(result.stderr.strip().splitlines()) == 1
    monkeypatch.setenv("FRANET_DEBUG", "1")
    assert "Traceback" in run("rank", data).stderr


def test_pipe_that_breaks_at_the_end(data, monkeypatch):
    import click

    from franet.cli import _errors

    def broken(*args, **kwargs):
        raise BrokenPipeError

    calls = []
    monkeypatch.setattr(click.Group, "main", broken)
    monkeypatch.setattr(_errors.os, "dup2", lambda *args: calls.append(args))
    with open(os.devnull, "w") as out, pytest.raises(SystemExit) as caught:
        monkeypatch.setattr(_errors.sys, "stdout", out)
        main(["rank", str(data)])
    assert caught.value.code == 1
    assert len(calls) == 1


def test_click_errors_that_are_no_usage(data, monkeypatch):
    import click

    def read_table(*args, **kwargs):
        raise click.ClickException("told by click")

    monkeypatch.setattr("franet.io.read_table", read_table)
    assert fails("rank", data, code=1) == "error: told by click"


def test_other_commands_name_parameters_without_an_option(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n3,\n5,6\n2,2\n")
    line = fails("evaluate", path, "--rankers", "cover", "--folds", 2, code=1)
    assert "Column 'b' (1) holds NaN in row 1" in line
    assert "--missing" not in line
