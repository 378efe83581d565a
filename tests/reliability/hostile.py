"""Names and files that are made to do harm."""

from __future__ import annotations

import csv
import gzip
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io

from franet.exceptions import DataError
from franet.io import read_table, write_table
from reliability.plan import Row, Sizes

SCRIPTS = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "]]>",
    "\"onmouseover='alert(1)'",
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
    "\u2028\u2029",
    "\ud83d",
    "a\x00b",
    "\x1b[31mred",
)
FORMULAS = (
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "=HYPERLINK('http://x')",
    "'=1+1", "''=1", "-", "=", "+", "@", "'", "'a", "-1.5", "+3", "1e5", "a=1",
    "-cmd|'",
)  # fmt: skip
BOMB = 1 << 28  # bytes that a small file unpacks to
PROGRAM = 200 << 20  # bytes of the program itself
# What the library takes for harmless; arrays that grow take twice as much.
HARMLESS, TIMES = 64 << 20, 500


def names() -> Row:
    """Rank features with hostile names, and write a page, pictures and a network."""
    from franet import FRANe
    from franet.report import summarize, write

    findings = []
    X = np.random.default_rng(0).normal(size=(30, len(SCRIPTS)))
    ranker = FRANe(n_thresholds=20).fit(X)
    with tempfile.TemporaryDirectory() as name:
        page = Path(name, "page.html")
        write(summarize(ranker, X, names=list(SCRIPTS)), page)
        text = page.read_text("utf-8")
        # Templates write only what was checked here; data go through one escape.
        findings += [
            f"{each!r} stands in the page as it is"
            for each in SCRIPTS[:3]
            if each in text
        ]
        if text.count("<script") != text.count("</script"):
            findings.append("a script is not closed")
    return Row(
        "hostile", "names in a page", len(SCRIPTS), len(findings), "all escaped",
        tuple(findings),
    )  # fmt: skip


def formulas() -> Row:
    """Write names that a spreadsheet would run; read the same names back."""
    findings = []
    with tempfile.TemporaryDirectory() as name:
        for kind, mark in (("csv", ","), ("tsv", "\t")):
            path = Path(name, f"names.{kind}")
            write_table({"feature": FORMULAS, "score": [-1.5] * len(FORMULAS)}, path)
            text = path.read_bytes().decode()
            rows = list(csv.reader(StringIO(text, newline=""), delimiter=mark))[1:]
            for (cell, score), each in zip(rows, FORMULAS, strict=True):
                number = each in ("-1.5", "+3", "1e5")
                if cell[:1] in tuple("=+-@\t\r") and not number:
                    findings.append(f"{each!r} is written as {cell!r}")
                if score != "-1.5":
                    findings.append(f"a number became {score!r}")
            # As the header of a table, such names come back as they were.
            path = Path(name, f"table.{kind}")
            write_table({each: [1.5, 2.5] for each in FORMULAS}, path)
            back = read_table(path, header=True, index=False).names
            # Text files know but one kind of line end.
            if back != [each.replace("\r", "\n") for each in FORMULAS]:
                findings.append(f"{kind}: came back as {back}")
    note = "text is quoted, numbers are not; read_table gives the names back"
    cases = 2 * 2 * len(FORMULAS)
    return Row("hostile", "formulas", cases, len(findings), note, tuple(findings))


def _npz() -> bytes:
    file, head = BytesIO(), BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (BOMB // 64, 8)}
    np.lib.format.write_array_header_1_0(head, shape)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.npy", "w", force_zip64=True) as member:
            member.write(head.getvalue())
            for _ in range(BOMB >> 20):
                member.write(bytes(1 << 20))
    return file.getvalue()


def _gzipped() -> bytes:
    file = BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb") as packed:
        for _ in range(BOMB >> 20):
            packed.write(b"0,0,0,0,0,0,0,0\n" * (1 << 16))
    return file.getvalue()


def _mtx() -> bytes:
    return b"%%MatrixMarket matrix coordinate real general\n2000000000 3 1\n1 1 1.5\n"


def _wide_mtx() -> bytes:
    return b"%%MatrixMarket matrix coordinate real general\n3 2000000000 1\n1 1 1.5\n"


def _libsvm() -> bytes:
    return b"1 1:2 2000000000:4\n"


def _hdf5() -> bytes:
    import h5py

    file = BytesIO()
    with h5py.File(file, "w") as made:
        made.create_dataset("X", (BOMB // 64, 8), "f8", chunks=(1000, 8))
    return file.getvalue()


def _zeros() -> Any:
    import polars as pl

    zeros = pl.Series("a", [0.0]).new_from_index(0, BOMB // 64)
    return pl.DataFrame({f"c{j}": zeros for j in range(8)})


def _parquet() -> bytes:
    file = BytesIO()
    _zeros().write_parquet(file)
    return file.getvalue()


def _feather() -> bytes:
    file = BytesIO()
    _zeros().write_ipc(file, compression="zstd")
    return file.getvalue()


def _mat() -> bytes:
    file = BytesIO()
    scipy_io.savemat(file, {"X": np.zeros((BOMB // 64, 8))}, do_compression=True)
    return file.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "npz": _npz, "csv.gz": _gzipped, "mtx": _mtx, "h5": _hdf5, "parquet": _parquet,
    "feather": _feather, "mat": _mat, "wide.mtx": _wide_mtx, "libsvm": _libsvm,
}  # fmt: skip
READ = """
import resource, sys
from franet.exceptions import DataError
from franet.io import _sandbox, read_table

try:
    read_table(sys.argv[1])
except DataError as err:
    print("refused", "bomb" in str(err))
with open("/proc/self/status") as file:
    own = int(file.read().partition("VmHWM:")[2].split()[0])
_sandbox._reader.stop()
print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


def bombs(kinds: tuple[str, ...] = tuple(BOMBS)) -> Row:
    """Read small files that unpack to a quarter of a gigabyte."""
    findings, most = [], 0
    with tempfile.TemporaryDirectory() as name:
        for kind in kinds:
            path = Path(name, f"bomb.{kind}")
            path.write_bytes(BOMBS[kind]())
            done = subprocess.run(
                [sys.executable, "-c", READ, str(path)],
                capture_output=True,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            if done.stdout.split()[:2] != ["refused", "True"]:
                findings.append(f"{kind}: {done.stdout} {done.stderr[-300:]}")
                continue
            memory = 1024 * int(done.stdout.split()[-1])
            most = max(most, memory)
            if memory > PROGRAM + 2 * max(HARMLESS, TIMES * path.stat().st_size):
                findings.append(f"{kind}: {memory >> 20} MiB")
    note = f"refused with at most {most / 1e6:.0f} MB, the program included"
    return Row("hostile", "bombs", len(kinds), len(findings), note, tuple(findings))


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.mark,)


def pickles() -> Row:
    """Read files with pickles in them under every name."""
    findings, cases = [], 0
    with tempfile.TemporaryDirectory() as name:
        mark = Path(name, "sprung")
        trap = np.array([[Trap(str(mark))]], object)
        whole = pickle.dumps(trap)
        files = {f"x.{kind}": whole for kind in ("npy", "npz", "mat", "csv", "h5")}
        for kind, save in (("npy", np.save), ("npz", np.savez)):
            file = BytesIO()
            save(file, trap)  # type: ignore[operator]
            files[f"trap.{kind}"] = file.getvalue()
        for each, data in files.items():
            cases += 1
            path = Path(name, each)
            path.write_bytes(data)
            try:
                read_table(path)
                findings.append(f"{each} is read")
            except DataError:
                pass
            if mark.exists():
                findings.append(f"{each} was unpickled")
                mark.rmdir()
    note = "refused, never loaded"
    return Row("hostile", "pickles", cases, len(findings), note, tuple(findings))


PARTS: dict[str, Callable[[], Row]] = {
    "names": names, "formulas": formulas, "bombs": bombs, "pickles": pickles
}  # fmt: skip


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield a row for each kind of harm."""
    for name in chosen or PARTS:
        yield PARTS[name]()
