"""Writing: whole files or none, and never over another by accident."""

import errno
import json
import os
import stat
import sys

import numpy as np
import pytest

from franet._common.files import unguard
from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io import atomic_write, check_target, read_table, write_table

COLUMNS = {
    "rank": [1, 2, 3],
    "feature": ["a,b", '"q"', "=1+1\n"],
    "score": np.array([0.1, 1 / 3, np.nan]),
    "selected": np.array([True, False, False]),
}


@pytest.mark.parametrize("name", ["r.csv", "r.tsv"])
def test_text_round_trip(tmp_path, name):
    pd = pytest.importorskip("pandas")
    write_table(COLUMNS, tmp_path / name)
    frame = pd.read_csv(
        tmp_path / name,
        sep="," if name.endswith("csv") else "\t",
        float_precision="round_trip",
    )
    assert list(frame) == list(COLUMNS)
    frame["feature"] = frame["feature"].map(unguard)
    for column, values in COLUMNS.items():
        np.testing.assert_array_equal(frame[column], values)
    assert b"\r" not in (tmp_path / name).read_bytes()


def test_floats_come_back_exactly(tmp_path):
    values = np.random.default_rng(0).normal(size=1000) ** 9
    path = tmp_path / "r.csv"
    write_table({"a": values, "b": values.astype("f4"), "c": list(values)}, path)
    X = read_table(path).X
    np.testing.assert_array_equal(X[:, 0], values)
    np.testing.assert_array_equal(X[:, 1].astype("f4"), values.astype("f4"))
    np.testing.assert_array_equal(X[:, 2], values)
    assert "float64" not in path.read_text()


def test_json(tmp_path):
    write_table(COLUMNS, tmp_path / "r.json")
    rows = json.loads((tmp_path / "r.json").read_text())["features"]
    assert rows[1] == {"rank": 2, "feature": '"q"', "score": 1 / 3, "selected": False}
    assert rows[2]["score"] is None


def test_parquet(tmp_path):
    pl = pytest.importorskip("polars")
    write_table(COLUMNS, tmp_path / "r.parquet")
    frame = pl.read_parquet(tmp_path / "r.parquet")
    assert frame["feature"].to_list() == COLUMNS["feature"]
    assert frame["score"].to_list()[:2] == [0.1, 1 / 3]
    assert frame["selected"].dtype == pl.Boolean


def test_parquet_needs_polars(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[polars\]'"):
        write_table(COLUMNS, tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_format_of_the_output(tmp_path):
    write_table({"a": [1]}, tmp_path / "r.out", format="csv")
    assert (tmp_path / "r.out").read_text() == "a\n1\n"
    with pytest.raises(
        UsageError, match=r"end the name in \.csv, \.tsv, \.json, \.par"
    ):
        write_table({"a": [1]}, tmp_path / "r.xlsx")
    with pytest.raises(UsageError, match="same length"):
        write_table({"a": [1], "b": [1, 2]}, tmp_path / "r.csv")


def test_existing_file_is_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("precious")
    with pytest.raises(DataError, match="exists already; use --force"):
        write_table({"a": [1]}, path)
    assert path.read_text() == "precious"
    write_table({"a": [1]}, path, force=True)
    assert path.read_text() == "a\n1\n"
    assert os.listdir(tmp_path) == ["r.csv"]


def test_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "r.csv"
    with pytest.raises(DataError, match="exists already"), atomic_write(path) as file:
        file.write("mine")
        path.write_text("theirs")
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["r.csv"]


def test_targets_that_are_no_files(tmp_path):
    with pytest.raises(DataError, match="is a directory"):
        check_target(tmp_path, force=True)
    with pytest.raises(DataError, match="there is no folder"):
        check_target(tmp_path / "absent" / "r.csv")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is not a regular file"):
        check_target(tmp_path / "pipe", force=True)
    with pytest.raises(DataError, match=r"cannot be written \(file name too long\)"):
        check_target(tmp_path / ("a" * 400))


def test_folder_without_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *args, **kwargs: False)
    with pytest.raises(DataError, match="cannot be written to"):
        check_target(tmp_path / "r.csv")


def test_nothing_is_seen_before_the_end(tmp_path):
    path = tmp_path / "r.txt"
    with atomic_write(path) as file:
        file.write("half")
        file.flush()
        assert not path.exists()
        file.write(", whole\r\n")
    assert path.read_bytes() == b"half, whole\r\n"


def test_bytes(tmp_path):
    with atomic_write(tmp_path / "r.bin", mode="wb") as file:
        file.write(b"\0\xff")
    assert (tmp_path / "r.bin").read_bytes() == b"\0\xff"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
@pytest.mark.parametrize("there", [False, True])
def test_stopped_in_the_middle(tmp_path, error, there):
    path = tmp_path / "r.txt"
    if there:
        path.write_text("before")
    with pytest.raises(error), atomic_write(path, force=True) as file:
        file.write("half")
        raise error
    assert os.listdir(tmp_path) == ["r.txt"] * there
    if there:
        assert path.read_text() == "before"


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("there", [False, True])
def test_full_disk(tmp_path, monkeypatch, call, there):
    path = tmp_path / "r.csv"
    if there:
        path.write_text("before")

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DataError) as caught:
        write_table(COLUMNS, path, force=True)
    assert str(caught.value) == (
        f"{path}: the disk is full; free some space or write elsewhere"
    )
    assert os.listdir(tmp_path) == ["r.csv"] * there
    if there:
        assert path.read_text() == "before"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_while_writing(tmp_path):
    with (
        pytest.raises(DataError, match="the disk is full"),
        atomic_write(tmp_path / "r.csv") as file,
        open("/dev/full", "w") as full,
    ):
        os.dup2(full.fileno(), file.fileno())
        file.write("x" * 100_000)
    assert os.listdir(tmp_path) == []


def test_other_failures_of_the_disk(tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(DataError, match=r"cannot be written \(input/output error\)"):
        write_table(COLUMNS, tmp_path / "r.csv")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_umask_is_honoured(tmp_path, mask, mode):
    old = os.umask(mask)
    try:
        write_table({"a": [1]}, tmp_path / "r.csv")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "r.csv").stat().st_mode) == mode


def test_permissions_of_a_replaced_file_stay(tmp_path):
    path = tmp_path / "r.csv"
    path.touch()
    path.chmod(0o640)
    write_table({"a": [1]}, path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_links_are_followed(tmp_path):
    real = tmp_path / "real.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write_table({"a": [1]}, link)
    assert link.is_symlink()
    assert real.read_text() == "a\n1\n"
