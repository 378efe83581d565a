"""The folder of results: what survives, what is refused."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest

from franet.evaluation.records import Record
from franet.evaluation.store import LOCK, RECORDS, RUNS, Store, merge
from franet.exceptions import DataError


def record(fold=0, ranker="a", dataset="set", **fields):
    fields.setdefault("values", {"rmae": {1: 0.5 + fold, 2: 0.25}})
    return Record(dataset, "paper", fold, ranker, top=[2, 0, 1], **fields)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "here"


def test_what_is_written_is_read(folder):
    written = [record(fold, name) for name in "ab" for fold in range(3)]
    with Store(folder) as store:
        assert store.records == {}
        store.append_run({"id": "1", "datasets": ["set"], "rankers": ["a", "b"]})
        for each in written:
            store.append(each)
    assert Store.read(folder) == written
    assert Store.read_runs(folder)[0]["id"] == "1"
    with Store(folder) as store:
        assert list(store.records.values()) == written
        assert [run["id"] for run in store.runs] == ["1"]
        assert store.unfinished == set()


def test_read_while_another_writes(folder):
    with Store(folder) as store:
        store.append(record(0))
        assert Store.read(folder) == [record(0)]
        store.append(record(1))
        assert Store.read(folder) == [record(0), record(1)]


def test_order_of_the_runs(folder):
    """Workers end in any order; tables should not depend on it."""
    with Store(folder) as store:
        store.append_run({"id": "1", "datasets": ["y", "x"], "rankers": ["b", "a"]})
        for dataset, ranker, fold in [
            ("x", "a", 1), ("x", "a", 0), ("y", "a", 0), ("y", "b", 1), ("y", "b", 0),
            ("z", "a", 0),
        ]:  # fmt: skip
            store.append(record(fold, ranker, dataset))
    found = [(r.dataset, r.ranker, r.fold) for r in Store.read(folder)]
    assert found == [
        ("y", "b", 0), ("y", "b", 1), ("y", "a", 0), ("x", "a", 0), ("x", "a", 1),
        ("z", "a", 0),
    ]  # fmt: skip


def test_names_that_are_not_ascii(folder):
    odd = record(dataset="Größe\n☃", warnings=["ä\r\nb\u2028c"])
    with Store(folder) as store:
        store.append(odd)
        store.append(record())
    assert Store.read(folder)[0] == odd


def test_torn_at_every_byte(folder):
    """Whatever part of the last line is there, the lines before it stay."""
    with Store(folder) as store:
        store.append(record(0))
        store.append(record(1))
        store.append(record(2, warnings=["é"]))
    file = folder / RECORDS
    whole = file.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(whole) + 1):
        file.write_bytes(whole[:end])
        complete = end >= len(whole) - 1  # only the line end is missing
        expected = [record(0), record(1)]
        expected += [record(2, warnings=["é"])] * complete
        assert Store.read(folder) == expected
        assert file.read_bytes() == whole[:end], "reading changes nothing"
        with Store(folder) as store:
            assert list(store.records.values()) == expected
            assert file.read_bytes() == (whole if complete else whole[:start])
            store.append(record(3))
        assert Store.read(folder) == [*expected, record(3)]


def test_torn_run(folder):
    with Store(folder) as store:
        store.append_run({"id": "1"})
    with (folder / RUNS).open("a") as file:
        file.write('{"id": "2", "da')
    assert Store.read_runs(folder) == [{"id": "1"}]
    with Store(folder) as store:
        store.append_run({"id": "3"})
    assert Store.read_runs(folder) == [{"id": "1"}, {"id": "3"}]


@pytest.mark.parametrize(
    "line", ["{", "", "[]", '{"dataset": "x"}', "\ufffd", '{"status": 1}']
)
def test_damaged_line(folder, line):
    with Store(folder) as store:
        store.append(record(0))
        store.append(record(1))
    file = folder / RECORDS
    first, second = file.read_text().splitlines()
    file.write_text("\n".join([first, line, second, ""]))
    for use in (Store, Store.read):
        with pytest.raises(DataError, match=r"records\.jsonl: line 2 is damaged"):
            use(folder)
    file.write_text(f"{first}\n{second}\n")
    Store(folder).close()  # the failure left no lock


def test_bytes_that_are_no_text(folder):
    with Store(folder) as store:
        store.append(record(0))
    with (folder / RECORDS).open("ab") as file:
        file.write(b"\xff\xfe\n")
    with pytest.raises(DataError, match="line 2 is damaged"):
        Store.read(folder)


def test_damaged_run(folder):
    with Store(folder):
        pass
    (folder / RUNS).write_text("[1]\n")
    with pytest.raises(DataError, match=r"runs\.jsonl: line 1 is damaged"):
        Store.read_runs(folder)


def test_nothing_to_read(tmp_path):
    with pytest.raises(DataError, match="holds no results"):
        Store.read(tmp_path)


def test_one_writer_at_a_time(folder):
    code = (
        "import sys; from franet.evaluation.store import Store\n"
        "try: Store(sys.argv[1])\n"
        "except ValueError as err: print(err); sys.exit(3)"
    )
    with Store(folder):
        with pytest.raises(DataError, match="another run is writing to this folder"):
            Store(folder)
        other = subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True
        )
        assert other.returncode == 3
        assert "wait until it has ended, or give another folder" in other.stdout
    Store(folder).close()
    assert (folder / LOCK).exists()


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        Store(tmp_path / "file")


@pytest.mark.parametrize("accepted", [0, 7, None])
def test_full_disk(folder, monkeypatch, accepted):
    with Store(folder) as store:
        store.append(record(0))
        before = (folder / RECORDS).read_bytes()
        write = os.write

        def short(file, content):
            if accepted is None:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(file, content[:accepted]) if accepted else 0

        monkeypatch.setattr(os, "write", short)
        with pytest.raises(DataError, match="the disk is full; free some space"):
            store.append(record(1))
        assert (folder / RECORDS).read_bytes() == before
        assert len(store.records) == 1
        monkeypatch.setattr(os, "write", write)
        store.append(record(1))
    assert Store.read(folder) == [record(0), record(1)]


def test_line_is_one_write_then_on_disk(folder, monkeypatch):
    calls = []
    write, fsync = os.write, os.fsync
    with Store(folder) as store:
        monkeypatch.setattr(
            os, "write", lambda f, b: calls.append(bytes(b)) or write(f, b)
        )
        monkeypatch.setattr(os, "fsync", lambda f: calls.append("sync") or fsync(f))
        store.append(record(0))
        monkeypatch.undo()
    assert calls == [record(0).to_json().encode() + b"\n", "sync"]


def test_more_values_of_one_key(folder):
    first = record(values={"rmae": {1: 0.5, 4: 0.1}}, seconds=2.0, warnings=["x"])
    more = record(values={"rmae": {2: 0.3}, "r2": {1: 0.7}}, seconds=3.0, run="2")
    with Store(folder) as store:
        store.append(first)
        store.append(more)
        kept = store.records
    (merged,) = Store.read(folder)
    assert merged == kept[first.key]
    assert merged.values == {"rmae": {1: 0.5, 2: 0.3, 4: 0.1}, "r2": {1: 0.7}}
    assert list(merged.values["rmae"]) == [1, 2, 4]
    assert merged.seconds == 2.0
    assert merged.warnings == ["x"]


def test_failures(folder):
    failed = record(values={}, status="failed", reason="E: 1")
    later = record(values={}, status="timeout", reason="slow")
    fine = record()
    assert merge([failed, later])[fine.key] == later
    assert merge([failed, fine])[fine.key] == fine
    assert merge([fine, failed])[fine.key] == fine
    for status, order in [(True, [fine, failed]), (False, [failed, fine])]:
        with Store(folder) as store:
            for each in order:
                store.append(each)
            assert (fine.key in store.unfinished) == status
        with Store(folder) as store:
            assert (fine.key in store.unfinished) == status


def test_nan_and_infinity(folder):
    odd = record(values={"r2": {1: float("-inf"), 2: 1e-300}})
    with Store(folder) as store:
        store.append(odd)
    assert Store.read(folder) == [odd]
    json.loads((folder / RECORDS).read_text())
