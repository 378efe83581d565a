"""The folder of results: what survives, what is refused."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from evaluation.stored import change
from franet._common.version import __version__
from franet.evaluation.records import Record
from franet.evaluation.store import FILES, ResultsStore, merge
from franet.exceptions import DataError


def record(fold=0, ranker="a", dataset="set", **fields):
    fields.setdefault("values", {"rmae": {1: 0.5 + fold, 2: 0.25}})
    return Record(dataset, "paper", fold, ranker, top=[2, 0, 1], **fields)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "here"


def test_what_is_written_is_read(folder):
    written = [record(fold, name) for name in "ab" for fold in range(3)]
    with ResultsStore(folder) as store:
        assert store.records == {}
        store.append_run({"id": "1", "datasets": ["set"], "rankers": ["a", "b"]})
        for each in written:
            store.append(each)
    assert ResultsStore.read(folder) == written
    assert ResultsStore.read_runs(folder)[0]["id"] == "1"
    with ResultsStore(folder) as store:
        assert list(store.records.values()) == written
        assert [run["id"] for run in store.runs] == ["1"]
        assert store.unfinished == set()


def test_read_while_another_writes(folder):
    with ResultsStore(folder) as store:
        store.append(record(0))
        assert ResultsStore.read(folder) == [record(0)]
        store.append(record(1))
        assert ResultsStore.read(folder) == [record(0), record(1)]


def test_order_of_the_runs(folder):
    """Workers end in any order; tables should not depend on it."""
    with ResultsStore(folder) as store:
        store.append_run({"id": "1", "datasets": ["y", "x"], "rankers": ["b", "a"]})
        for dataset, ranker, fold in [
            ("x", "a", 1), ("x", "a", 0), ("y", "a", 0), ("y", "b", 1), ("y", "b", 0),
            ("z", "a", 0),
        ]:  # fmt: skip
            store.append(record(fold, ranker, dataset))
    found = [(r.dataset, r.ranker, r.fold) for r in ResultsStore.read(folder)]
    assert found == [
        ("y", "b", 0), ("y", "b", 1), ("y", "a", 0), ("x", "a", 0), ("x", "a", 1),
        ("z", "a", 0),
    ]  # fmt: skip


def test_names_that_are_not_ascii(folder):
    odd = record(dataset="Größe\n☃", warnings=["ä\r\nb\u2028c"])
    with ResultsStore(folder) as store:
        store.append(odd)
        store.append(record())
    assert ResultsStore.read(folder)[0] == odd


def test_cut_at_any_byte(folder):
    """A file that is not whole is refused, never read in part."""
    with ResultsStore(folder) as store:
        for fold in range(20):
            store.append(record(fold, warnings=["é" * 500]))
    file = folder / FILES[0]
    whole = file.read_bytes()
    for end in [*range(1, 200), *range(200, len(whole), 997)]:
        file.write_bytes(whole[:end])
        for use in (ResultsStore, ResultsStore.read):
            with pytest.raises(DataError, match=r"results\.sqlite: .*(not a|damaged)"):
                use(folder)
    file.write_bytes(whole)
    assert len(ResultsStore.read(folder)) == 20
    ResultsStore(folder).close()  # the failures left no lock


def test_damaged_bytes(folder):
    """Whatever byte is changed: an error in one line, or records as they were."""
    with ResultsStore(folder) as store:
        for fold in range(5):
            store.append(record(fold))
    file = folder / FILES[0]
    whole = bytearray(file.read_bytes())
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        damaged = whole.copy()
        for _ in range(rng.choice([1, 1, 8])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file.write_bytes(damaged)
        try:
            ResultsStore.read(folder)
        except DataError as err:
            refused += 1
            assert "\n" not in str(err)
    assert refused > 30


def test_killed_while_it_makes_the_file(folder):
    folder.mkdir(parents=True)
    (folder / FILES[0]).touch()
    assert ResultsStore.read(folder) == []
    with ResultsStore(folder) as store:
        store.append(record())
    assert ResultsStore.read(folder) == [record()]


@pytest.mark.parametrize(
    "cell", ["{", "", "[]", '{"dataset": "x"}', "\ufffd", '{"status": 1}', "[" * 10**5]
)
@pytest.mark.parametrize("table", ["franet_records", "franet_runs"])
def test_damaged_row(folder, cell, table):
    with ResultsStore(folder) as store:
        store.append(record(0))
        store.append_run({"id": "1"})
    change(folder, f"INSERT INTO {table} VALUES ('{cell}')")
    if table == "franet_runs" and cell.startswith('{"'):
        assert len(ResultsStore.read_runs(folder)) == 2
        return
    for use in (ResultsStore, ResultsStore.read, ResultsStore.read_runs):
        with pytest.raises(DataError, match=rf"a row of {table} is damaged"):
            use(folder)


@pytest.mark.parametrize(
    "field",
    [
        {"dataset": [1]}, {"fold": "x"}, {"top": 3}, {"seconds": "long"},
        {"values": {"rmae": {"1": "x"}}}, {"status": "fine"}, {"more": 1},
    ],
)  # fmt: skip
def test_field_of_another_kind(folder, field):
    ResultsStore(folder).close()
    content = json.dumps({**json.loads(record().to_json()), **field})
    change(folder, f"INSERT INTO franet_records VALUES ('{content}')")
    with pytest.raises(DataError, match="a row of franet_records is damaged"):
        ResultsStore.read(folder)


@pytest.mark.parametrize("field", ['"datasets": 3', '"rankers": {}', '"data": []'])
def test_run_of_another_kind(folder, field):
    ResultsStore(folder).close()
    change(folder, f"INSERT INTO franet_runs VALUES ('{{{field}}}')")
    with pytest.raises(DataError, match="a row of franet_runs is damaged"):
        ResultsStore.read(folder)


@pytest.mark.parametrize("value", ["x'ff00fe'", "CAST(x'ff' AS TEXT)", "5"])
def test_cells_that_are_no_text(folder, value):
    ResultsStore(folder).close()
    change(folder, f"INSERT INTO franet_records VALUES ({value})")
    with pytest.raises(DataError, match=r"results\.sqlite"):
        ResultsStore.read(folder)


def test_huge_cell(folder, monkeypatch):
    monkeypatch.setattr("franet.evaluation.store._LONGEST", 10_000)
    with ResultsStore(folder) as store:
        store.append(record(0))
        with pytest.raises(DataError, match=r"cannot be .* \(string or blob too big\)"):
            store.append(record(1, reason="x" * 20_000))
    change(folder, "INSERT INTO franet_records VALUES (printf('%.*c', 20000, 'x'))")
    with pytest.raises(DataError, match="string or blob too big"):
        ResultsStore.read(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON franet_records BEGIN DELETE FROM "
        "franet_runs; END",
        "CREATE VIEW v AS SELECT * FROM franet_runs",
        "CREATE TABLE other (x)",
        "ALTER TABLE franet_runs ADD COLUMN x",
        "DROP TABLE franet_runs",
    ],
)
def test_file_of_another(folder, statement):
    ResultsStore(folder).close()
    change(folder, statement)
    for use in (ResultsStore, ResultsStore.read):
        with pytest.raises(DataError, match=r"results\.sqlite: is not a franet store"):
            use(folder)


def test_no_database(folder):
    folder.mkdir(parents=True)
    (folder / FILES[0]).write_text("dataset,fold\n" * 100)
    for use in (ResultsStore, ResultsStore.read):
        with pytest.raises(DataError, match=r"results\.sqlite: is not a franet store"):
            use(folder)


def test_read_from_a_folder_that_cannot_be_written(folder):
    with ResultsStore(folder) as store:
        store.append(record())
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert ResultsStore.read(folder) == [record()]
    finally:
        folder.chmod(0o755)


def test_nothing_to_read(tmp_path):
    with pytest.raises(DataError, match="holds no results"):
        ResultsStore.read(tmp_path)


def test_one_writer_at_a_time(folder):
    code = (
        "import sys; from franet.evaluation.store import ResultsStore\n"
        "try: ResultsStore(sys.argv[1])\n"
        "except ValueError as err: print(err); sys.exit(3)"
    )
    with ResultsStore(folder):
        with pytest.raises(DataError, match="another run is writing to this folder"):
            ResultsStore(folder)
        other = subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True
        )
        assert other.returncode == 3
        assert "wait until it has ended, or give another folder" in other.stdout
    ResultsStore(folder).close()
    assert (folder / "lock").exists()


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be .* written \(file exists\)"):
        ResultsStore(tmp_path / "file")


def test_full_disk(folder):
    with ResultsStore(folder) as store:
        store.append(record(0))
        pages = store._file.execute("PRAGMA page_count").fetchone()[0]
        store._file.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DataError, match="the disk is full; free some space"):
            store.append(record(1, reason="x" * 10_000))
        assert len(store.records) == 1
        assert ResultsStore.read(folder) == [record(0)]
        store._file.execute("PRAGMA max_page_count = 1000")
        store.append(record(1))
    assert ResultsStore.read(folder) == [record(0), record(1)]


def test_more_values_of_one_key(folder):
    first = record(values={"rmae": {1: 0.5, 4: 0.1}}, seconds=2.0, warnings=["x"])
    more = record(values={"rmae": {2: 0.3}, "r2": {1: 0.7}}, seconds=3.0, run="2")
    with ResultsStore(folder) as store:
        store.append(first)
        store.append(more)
        kept = store.records
    (merged,) = ResultsStore.read(folder)
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
        with ResultsStore(folder) as store:
            for each in order:
                store.append(each)
            assert (fine.key in store.unfinished) == status
        with ResultsStore(folder) as store:
            assert (fine.key in store.unfinished) == status


def test_nan_and_infinity(folder):
    odd = record(values={"r2": {1: float("-inf"), 2: 1e-300}})
    with ResultsStore(folder) as store:
        store.append(odd)
    assert ResultsStore.read(folder) == [odd]


def test_another_version_replaces(folder):
    """Its values are not put together with those of this version, nor its failures."""
    old = record(values={"rmae": {1: 0.5}}, version="0.0.1")
    failed = record(values={}, status="failed", reason="E: 1")
    new = record(values={"rmae": {2: 0.3}})
    assert old.version != new.version == __version__
    assert merge([old, new])[new.key] == new
    assert merge([old, failed])[new.key] == failed
    with ResultsStore(folder) as store:
        store.append(old)
        store.append(new)
        assert store.records == {new.key: new}
    assert ResultsStore.read(folder) == [new]
