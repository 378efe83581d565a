"""Reads damaged files one after another, in a process that may die of it.

    python -m reliability.fuzz_child FORMAT FIRST LAST FOLDER

What is wrong is a line of JSON on stdout, and so is the tally at the end. The number
of the case at hand stands in FOLDER/at, for the parent to see where it died.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import re
import resource
import shutil
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from franet.exceptions import DataError, UsageError
from franet.io import read_table
from reliability.damage import make_case, make_table
from reliability.oracle import explains
from reliability.seeds import Files, seeds_of

ALLOWANCE = 64 << 20  # bytes beside ten times the file: buffers of the libraries
TIMES = 10
ADDRESSES = 6 << 30  # a file that asks for more must be refused, not crash
CELLS = ("csv", "tsv", "txt")
OFTEN = 100
KNOWN = 20  # each so many cases a text whose numbers are known


# A message begins with the file, or with one in a folder.
_NAMES = re.compile(r"(case|table)\.\w+(/\S+)?: ")


class Wrong(Exception):
    """An outcome that is neither a table nor an error of franet."""


def options_for(kind: str, rng: random.Random) -> dict[str, Any]:
    """Return how a case is read: mostly as it comes."""
    choices: list[dict[str, Any]] = [{}, {}, {}, {"transpose": True}]
    if kind in ("npy", "arff", *CELLS, "parquet", "feather"):
        choices.append({"drop_non_numeric": True})
    if kind in (*CELLS, "parquet", "feather"):
        choices += [{"text": True}, {"index": True}, {"index": False}]
    if kind in CELLS:
        choices += [{"header": True}, {"header": False}]
    if kind in ("npy", "hdf5", "h5ad", "parquet", "zarr"):
        choices += [{"lazy": 0}, {"lazy": 0}]
    return rng.choice(choices)


def check(table: Any) -> None:
    """Raise where a table is not what every table is."""
    X = table.X
    if hasattr(X, "read_rows"):  # opened only
        X = X.load()
    if len(X.shape) != 2 or 0 in X.shape:
        raise Wrong(f"a table of shape {X.shape}")
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        if X.dtype.kind not in "uif" or not X.dtype.isnative:
            raise Wrong(f"a table of {X.dtype}")
        if sparse.issparse(X):
            X.check_format(full_check=True)
    names = table.names
    if names is not None:
        if len(names) != X.shape[1] or len(set(names)) != len(names):
            raise Wrong(f"{len(names)} names, {len(set(names))} of them different")
        if not all(type(name) is str and name for name in names):
            raise Wrong("names that are no words")


def check_error(err: BaseException) -> None:
    """Raise where an error is not one line of franet's own that names the file."""
    if not isinstance(err, DataError | UsageError):
        raise Wrong(f"{type(err).__name__}: {err}") from err
    message = str(err)
    if "\n" in message or not _NAMES.search(message) or len(message) > 5000:
        raise Wrong(f"a message of no use: {message[:300]!r}") from err


def put(files: Files, path: Path) -> int:
    """Write the files of a case, and return their size."""
    if list(files) == [""]:
        # A new file: HDF5 knows one that is still open by its number on the disk.
        path.unlink(missing_ok=True)
        path.write_bytes(files[""])
    else:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    return sum(map(len, files.values()))


def memory(what: str) -> int:
    """Return what the system says of this process's memory, in bytes."""
    with open("/proc/self/status") as file:
        text = file.read()
    return 1024 * int(text.partition(f"{what}:")[2].split(maxsplit=1)[0])


class Fuzzer:
    """Cases of one format, and what came of them.

    Parameters
    ----------
    kind : str
        The format.
    folder : Path
        Where cases are written to.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.seeds = seeds_of(kind)
        self.path = folder / f"case.{kind if kind != 'names' else 'txt'}"
        self.tally = {"read": 0, "refused": 0, "memory": 0, "slowest": 0}
        # The table that names are read for.
        self.table = folder / "table.npy"
        np.save(self.table, np.zeros((2, 4)))

    def read(self, options: dict[str, Any]) -> Any:
        """Read the file of the case."""
        if self.kind == "names":
            return read_table(self.table, feature_names=self.path)
        return read_table(self.path, format=self.kind, **options)

    def case(self, number: int) -> str | None:
        """Run a case; return what is wrong."""
        if self.kind in CELLS and number % KNOWN == 0:
            return self.known(number)
        files = make_case(self.kind, self.seeds, number)
        options = options_for(self.kind, random.Random(number))
        size = put(files, self.path)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        before, start = memory("VmRSS"), time.perf_counter()
        wrong = None
        try:
            table = self.read(options)
            check(table)
            self.tally["read"] += 1
        except Wrong as err:
            wrong = str(err)
        except BaseException as err:
            table = None
            try:
                check_error(err)
                self.tally["refused"] += 1
            except Wrong as found:
                wrong = str(found)
        seconds, grown = time.perf_counter() - start, memory("VmHWM") - before
        self.tally["slowest"] = max(self.tally["slowest"], round(seconds, 3))
        self.tally["memory"] = max(self.tally["memory"], grown)
        if grown > TIMES * size + ALLOWANCE:
            wrong = wrong or f"{grown >> 20} MiB for a file of {size} bytes"
        if wrong is None and table is not None and self.kind in CELLS:
            wrong = self.compare(files[""], table, options)
        return wrong and f"{options or ''} {wrong}"

    def compare(self, data: bytes, table: Any, options: dict[str, Any]) -> str | None:
        """Return whether the numbers are not those of the file."""
        if not isinstance(table.X, np.ndarray):
            return None
        X = table.X.T if options.get("transpose") else table.X
        return None if explains(data, X) else "numbers that are not in the file"

    def known(self, number: int) -> str | None:
        """Read a text whose numbers are known."""
        data, expected = make_table(self.kind, number)
        self.path.write_bytes(data)
        try:
            X = self.read({}).X
        except Exception as err:
            return f"a good table is refused: {err}"
        self.tally["read"] += 1
        if np.array_equal(X, expected, equal_nan=True):
            return None
        return "a good table is read wrongly"


def tell(what: dict[str, Any]) -> None:
    """Print a line for the parent."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(kind: str, first: int, last: int, folder: Path) -> None:
    """Run cases and print what is wrong."""
    warnings.simplefilter("error")  # a warning of a library is none of the user's
    fuzzer = Fuzzer(kind, folder)
    for files in fuzzer.seeds:  # undamaged: libraries load
        put(files, fuzzer.path)
        with suppress(DataError):  # such as a table with text
            check(fuzzer.read({}))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    with (folder / "at").open("r+b") as file, mmap.mmap(file.fileno(), 8) as at:
        for number in range(first, last):
            at[:] = number.to_bytes(8, "little")
            wrong = fuzzer.case(number)
            if wrong is not None:
                tell({"case": number, "wrong": wrong})
            # What is told by then is not lost where the process dies.
            if (number + 1) % OFTEN == 0 or number + 1 == last:
                tell(fuzzer.tally)
                fuzzer.tally = dict.fromkeys(fuzzer.tally, 0)
    tell({"end": True})
    os._exit(0)  # threads of libraries may not end where memory is short


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
