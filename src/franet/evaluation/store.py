"""A folder of results to which finished work is added and never changed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from franet._common.files import lock_file
from franet.evaluation.records import Record
from franet.exceptions import DataError

__all__ = ["Store", "merge"]

RECORDS = "records.jsonl"
RUNS = "runs.jsonl"
LOCK = "lock"

Key = tuple[str, str, int, str, str]
T = TypeVar("T")


class Store:
    """A folder of results, open for writing by one process at a time.

    ``records.jsonl`` holds a `Record` a line, ``runs.jsonl`` what each run was: its
    settings, the versions and the machine. A line is written by one call and is on
    the disk when `append` returns. A process may be killed at any moment: at most the
    line that it was writing is cut short, and the next one to open the folder removes
    that piece. ``lock`` is locked while the folder is open; the system frees it when
    the process ends, however it ends.

    Parameters
    ----------
    folder : path-like
        The folder; made if it is not there.

    Attributes
    ----------
    folder : Path
        The folder.
    records : dict of Record
        What is known, by `Record.key`; see `merge`.
    unfinished : set of tuple
        The keys of which the last attempt failed.
    runs : list of dict
        What the runs were, the first first.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock: int | None = lock_file(self.folder / LOCK)
        except BlockingIOError as err:
            raise DataError(
                f"{self.folder}: another run is writing to this folder; wait until it "
                "has ended, or give another folder"
            ) from err
        except OSError as err:
            raise _failed(self.folder, err) from err
        self._files: dict[str, _Lines] = {}
        try:
            self._files[RECORDS] = _Lines(self.folder / RECORDS, Record.from_json)
            self._files[RUNS] = _Lines(self.folder / RUNS, _run)
        except BaseException:
            self.close()
            raise
        found: list[Record] = self._files[RECORDS].found
        self.runs: list[dict[str, Any]] = self._files[RUNS].found
        self.records = merge(found)
        last = {record.key: record.status for record in found}
        self.unfinished = {key for key, status in last.items() if status != "ok"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def append(self, record: Record) -> None:
        """Add a record. When this returns, it is on the disk.

        Parameters
        ----------
        record : Record
            Of new work; of a known key only values that are not there yet.

        Raises
        ------
        DataError
            Where it cannot be written, such as on a full disk. The file is then as
            it was.
        """
        known = self.records.get(record.key)
        self._files[RECORDS].append(record.to_json())
        self.records[record.key] = record if known is None else _merged(known, record)
        if record.status == "ok":
            self.unfinished.discard(record.key)
        else:
            self.unfinished.add(record.key)

    def append_run(self, run: dict[str, Any]) -> None:
        """Add what a run is.

        Parameters
        ----------
        run : dict
            Fit for JSON, with an ``"id"`` that the records of the run name.
        """
        self._files[RUNS].append(json.dumps(run, ensure_ascii=False))
        self.runs.append(run)

    def close(self) -> None:
        """Close the files and free the folder for others."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
            Where there are no results, or a line is not what it should be.
        """
        path = Path(folder) / RECORDS
        if not path.is_file():
            raise DataError(
                f"{folder}: holds no results (no {RECORDS}); give the folder that was "
                "given to 'franet bench run --out'"
            )
        found = merge(_read(path, Record.from_json)[0]).values()
        runs = Store.read_runs(folder)
        datasets, rankers = (
            {name: at for at, name in enumerate(dict.fromkeys(given))}
            for given in (
                [name for run in runs for name in run.get("datasets", ())],
                [name for run in runs for name in run.get("rankers", ())],
            )
        )
        return sorted(
            found,
            key=lambda r: (
                datasets.get(r.dataset, len(datasets)),
                rankers.get(r.ranker, len(rankers)),
                r.fold,
            ),
        )

    @staticmethod
    def read_runs(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
        """Return what the runs were that wrote to a folder.

        Parameters
        ----------
        folder : path-like
            The folder.

        Returns
        -------
        runs : list of dict
            Settings, versions and machine, the first run first; empty if unknown.
        """
        path = Path(folder) / RUNS
        return _read(path, _run)[0] if path.is_file() else []


def merge(records: Iterable[Record]) -> dict[Key, Record]:
    """Return one record of each key.

    A later run may have measured more of the same unit: values are put together, and
    the first of two equal ones counts. A record that failed says nothing where
    another one of its key did not; of failures the last one stays.

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
        merged[record.key] = record if known is None else _merged(known, record)
    return merged


def _merged(known: Record, more: Record) -> Record:
    if known.status != "ok":
        return more
    if more.status != "ok":
        return known
    names = dict.fromkeys([*known.values, *more.values])
    values = {
        name: dict(
            sorted({**more.values.get(name, {}), **known.values.get(name, {})}.items())
        )
        for name in names
    }
    warnings = list(dict.fromkeys([*known.warnings, *more.warnings]))
    return replace(known, values=values, warnings=warnings)


class _Lines:
    """A file to which whole lines are added."""

    def __init__(self, path: Path, parse: Callable[[str], T]) -> None:
        self.found: list[Any] = []
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags, 0o666)
        except OSError as err:
            raise _failed(path, err) from err
        try:
            self.found, whole, ended = _read(path, parse)
            self._repair(whole, ended)
            _sync_folder(path.parent)
        except BaseException:
            self.close()
            raise

    def append(self, line: str) -> None:
        """Write a line at the end, and wait until it is on the disk."""
        content = line.encode() + b"\n"
        before = os.fstat(self._file).st_size
        try:
            if os.write(self._file, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError as err:
            # If even this fails, the next one to open the file removes the piece.
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise _failed(self._path, err) from err

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _repair(self, whole: int, ended: bool) -> None:
        """Remove a piece of a line after the first `whole` bytes; end a whole line."""
        try:
            os.ftruncate(self._file, whole)
            if not ended:
                os.write(self._file, b"\n")
            os.fsync(self._file)
        except OSError as err:
            raise _failed(self._path, err) from err


def _read(path: Path, parse: Callable[[str], T]) -> tuple[list[T], int, bool]:
    """Return what the lines hold, their bytes, and whether the last one has an end."""
    try:
        content = path.read_bytes()
    except OSError as err:
        raise DataError(f"{path}: cannot be read ({_reason(err)})") from err
    *lines, tail = content.split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(parse(line.decode()))
        except ValueError as err:
            raise DataError(
                f"{path}: line {number} is damaged ({err}); restore the file, or "
                "delete this line and run again"
            ) from err
    if tail:
        # A piece of an object is never one: what can be read lacks the line end only.
        with suppress(ValueError):
            return [*found, parse(tail.decode())], len(content), False
    return found, len(content) - len(tail), True


def _run(line: str) -> dict[str, Any]:
    run = json.loads(line)
    if not isinstance(run, dict) or "id" not in run:
        raise ValueError(f"not a run of a benchmark: {line[:60]!r}")
    return run


def _sync_folder(folder: Path) -> None:
    """Put the names of new files on the disk, where the system can do that."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _failed(path: Path, err: OSError) -> DataError:
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return DataError(f"{path}: the disk is full; free some space and run again")
    return DataError(f"{path}: cannot be written ({_reason(err)}); give another folder")


def _reason(err: OSError) -> str:
    return (err.strerror or str(err)).lower()
