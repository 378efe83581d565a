"""The results of a benchmark: a SQLite file to which finished work is added."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from franet._common.files import lock_file
from franet.evaluation.records import Record, plain
from franet.exceptions import DataError

# What a folder of results holds: the file, what SQLite keeps beside it, and a lock.
FILES = ("results.sqlite", "results.sqlite-journal", "lock")
_FILE, _, _LOCK = FILES
_RECORDS, _RUNS = "franet_records", "franet_runs"
_TABLES = [f"{name} (content TEXT NOT NULL)" for name in (_RECORDS, _RUNS)]
_PAGE = 512  # bytes of the smallest file of SQLite
_LONGEST = 2**26  # bytes of a cell
_PATIENCE = 60.0  # seconds to wait for another process that reads or writes
_REASONS = {
    "SQLITE_FULL": "the disk is full; free some space and run again",
    "SQLITE_NOTADB": "is not a franet store; give another folder",
    "SQLITE_CORRUPT": "is damaged; restore it, or give another folder",
}

Key = tuple[str, str, int, str, str]


class ResultsStore:
    """A folder of results, open for writing by one process at a time.

    ``results.sqlite`` has a table of records (`Record.to_json`) and one of runs: their
    settings, versions and machine. A record is on the disk when `append` returns, and
    a process may be killed at any moment. The folder is locked while it is open; the
    system frees the lock when the process ends, however it ends.

    Parameters
    ----------
    folder : path-like
        The folder; made if it is not there.

    Attributes
    ----------
    folder : Path
        The folder.
    runs : list of dict
        What the runs were, the first first.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._path = self.folder / _FILE
        with ExitStack() as stack:
            with _explained(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                stack.callback(os.close, lock_file(self.folder / _LOCK))
            with _explained(self._path):
                self._file = stack.enter_context(closing(_connect(self._path, "rwc")))
                self._attempts, self.runs = _content(self._file, self._path)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def records(self) -> dict[Key, Record]:
        """What is known, by `Record.key`; see `merge`."""
        return merge(self._attempts)

    @property
    def unfinished(self) -> set[Key]:
        """The keys of which the last attempt failed."""
        last = {record.key: record.status for record in self._attempts}
        return {key for key, status in last.items() if status != "ok"}

    def append(self, record: Record) -> None:
        """Add a record. When this returns, it is on the disk.

        Parameters
        ----------
        record : Record
            What was measured; of a known key it is put together with what is there.

        Raises
        ------
        DataError
            Where it cannot be written, such as on a full disk. The file is then as
            it was.
        """
        self._insert(_RECORDS, record.to_json())
        self._attempts.append(record)

    def append_run(self, run: dict[str, Any]) -> None:
        """Add what a run is.

        Parameters
        ----------
        run : dict
            Fit for JSON, with an ``"id"`` that the records of the run name.
        """
        self._insert(_RUNS, json.dumps(run, default=plain))
        self.runs.append(run)

    def close(self) -> None:
        """Close the file and free the folder for others."""
        self._open.close()

    @staticmethod
    def read(folder: str | os.PathLike[str]) -> list[Record]:
        """Return what a folder holds, also while a run is writing to it.

        Parameters
        ----------
        folder : path-like
            The folder.

        Returns
        -------
        records : list of Record
            One of each key, see `merge`; in the order in which data sets and rankers
            were given to the runs, then by fold.

        Raises
        ------
        DataError
            Where there are no results, or the file is not what it should be.
        """
        records, runs = _read(folder)
        datasets = [str(name) for run in runs for name in run["datasets"]]
        datasets += [record.dataset for record in records]  # those of no run
        rankers = [str(name) for run in runs for name in run["rankers"]]
        rankers += [record.ranker for record in records]

        def place(r: Record) -> tuple[int, int, int]:
            return datasets.index(r.dataset), rankers.index(r.ranker), r.fold

        return sorted(merge(records).values(), key=place)

    @staticmethod
    def read_runs(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
        """Return what the runs were that wrote to a folder.

        Parameters
        ----------
        folder : path-like
            The same as for `read`.

        Returns
        -------
        runs : list of dict
            Settings, versions and machine, the first run first.
        """
        return _read(folder)[1]

    def _insert(self, table: str, content: str) -> None:
        with _explained(self._path):
            self._file.execute(f"INSERT INTO {table} VALUES (?)", (content,))  # nosec B608


def merge(records: Iterable[Record]) -> dict[Key, Record]:
    """Return one record of each key.

    A later run may have measured more of the same unit: values are put together, and
    the first of two equal ones counts. A record that failed says nothing where
    another one of its key did not; of failures the last one stays. A record replaces
    those of another version of franet.

    Parameters
    ----------
    records : iterable of Record
        In the order in which they were written.

    Returns
    -------
    merged : dict of Record
        By `Record.key`.
    """
    merged: dict[Key, Record] = {}
    for record in records:
        known = merged.get(record.key)
        if known is None or known.status != "ok" or known.version != record.version:
            merged[record.key] = record
        elif record.status == "ok":
            values = {
                name: {**record.values.get(name, {}), **known.values.get(name, {})}
                for name in known.values | record.values
            }
            values = {name: dict(sorted(at.items())) for name, at in values.items()}
            warnings = list(dict.fromkeys(known.warnings + record.warnings))
            merged[record.key] = replace(known, values=values, warnings=warnings)
    return merged


def _read(folder: str | os.PathLike[str]) -> tuple[list[Record], list[dict[str, Any]]]:
    path = Path(folder) / _FILE
    if not path.is_file():
        raise DataError(
            f"{folder}: holds no results (no {_FILE}); give the folder that was given "
            "to 'franet bench run --out'"
        )
    with _explained(path), closing(_connect(path, "rw")) as file:
        return _content(file, path)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file of results, or make it.

    With a rollback journal, not a write-ahead log: that one needs memory that
    processes share, which network file systems do not have, and a folder that can be
    written to, even for reading.
    """
    # SQLite would take less than a page for a new file, and write over it.
    if path.exists() and 0 < path.stat().st_size < _PAGE:
        raise DataError(f"{path}: {_REASONS['SQLITE_NOTADB']}")
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, _PATIENCE, isolation_level=None, uri=True, check_same_thread=False
    )


def _content(
    file: sqlite3.Connection, path: Path
) -> tuple[list[Record], list[dict[str, Any]]]:
    """Return records and runs; refuse a file of another program before it is used."""
    file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    file.execute("PRAGMA synchronous = EXTRA")
    made = file.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
    if not made:
        orders = [f"CREATE TABLE IF NOT EXISTS {table};" for table in _TABLES]
        file.executescript(f"BEGIN IMMEDIATE; {' '.join(orders)} COMMIT")
    # The very same statements: with triggers or views a file could run code here.
    elif made != [(f"CREATE TABLE {table}",) for table in _TABLES]:
        raise DataError(f"{path}: {_REASONS['SQLITE_NOTADB']}")
    if file.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise DataError(f"{path}: {_REASONS['SQLITE_CORRUPT']}")
    found: list[list[Any]] = []
    for table, parse in ((_RECORDS, Record.from_json), (_RUNS, _run)):
        try:
            rows = file.execute(f"SELECT content FROM {table} ORDER BY rowid")  # nosec B608
            found.append([parse(content) for (content,) in rows])
        except (DataError, RecursionError, TypeError, ValueError) as err:
            raise DataError(
                f"{path}: a row of {table} is damaged ({err}); restore the file, or "
                "give another folder"
            ) from err
    return found[0], found[1]


def _run(content: str) -> dict[str, Any]:
    run = {"id": "", "datasets": [], "rankers": [], "data": {}, **json.loads(content)}
    kinds = {"datasets": list, "rankers": list, "data": dict}
    if not all(isinstance(run[name], kind) for name, kind in kinds.items()):
        raise ValueError(f"not a run of a benchmark: {content[:60]!r}")
    return run


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system into one line that says what to do."""
    try:
        yield
    except BlockingIOError as err:
        raise DataError(
            f"{path}: another run is writing to this folder; wait until it has ended, "
            "or give another folder"
        ) from err
    except UnicodeError as err:  # Python cannot say what SQLite says of the file
        raise DataError(f"{path}: {_REASONS['SQLITE_CORRUPT']}") from err
    except (sqlite3.Error, OSError) as err:
        # Extended names have a third word, such as SQLITE_CORRUPT_INDEX.
        name = "_".join(getattr(err, "sqlite_errorname", "").split("_")[:2])
        said = str(getattr(err, "strerror", err)).lower()
        reason = f"cannot be read or written ({said}); give another folder"
        raise DataError(f"{path}: {_REASONS.get(name, reason)}") from err
