"""A full disk, a folder that cannot be written to, too little memory.

Each gives one line that says what to do, and leaves what was there as it was.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from reliability.plan import Row, Sizes

COMMAND = (sys.executable, "-m", "franet")
FULL = 4096  # bytes of a disk that is full with one small file
LIMITS = (300, 500, 700, 900)  # MB of address space


@contextmanager
def disk(folder: Path, options: str) -> Iterator[bool]:
    """Put a small file system of its own into a folder; tell whether that went."""
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
            capture_output=True,
        ).returncode
        == 0
        if os.name == "posix" and os.path.exists("/bin/mount")
        else False
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def outputs(source: Path, folder: Path) -> list[list[str]]:
    """Return commands that write into a folder."""
    rank = ["rank", str(source), "--quiet", "--force"]
    judge = ["evaluate", str(source), "--folds", "2", "--rankers", "variance"]
    return [
        [*rank, "--output", str(folder / "out.csv")],
        [*rank, "--output", str(folder / "out.json")],
        [*rank, "--output", str(folder / "out.parquet")],
        [*rank, "--report", str(folder / "out.html")],
        [*rank, "--ranker", "frane", "--checkpoint", str(folder / "passes")],
        [*judge, "--quiet", "--force", "--output", str(folder / "values.csv")],
        [*judge, "--quiet", "--force", "--plot", str(folder / "curves.png")],
    ]


def told(
    command: list[str], limit: Callable[[], None] | None = None, **variables: str
) -> tuple[int, str]:
    """Run a command; return its exit code and what it said."""
    done = subprocess.run(
        [*COMMAND, *command],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limit,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
    )
    return done.returncode, done.stderr


def is_clean(code: int, said: str, word: str) -> bool:
    """Tell whether a command failed with one line that holds a word."""
    lines = [line for line in said.splitlines() if not line.startswith("warning: ")]
    return (
        code == 1
        and len(lines) == 1
        and lines[0].startswith("error: ")
        and (word in lines[0])
    )


def _table(folder: Path, shape: tuple[int, int] = (30, 1500)) -> Path:
    path = folder / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=shape))
    return path


def full_disk(count: int | None = None) -> Row:
    """Write to a disk with less room than any of the files needs."""
    findings, cases = [], 0
    with tempfile.TemporaryDirectory() as name:
        source, folder = _table(Path(name)), Path(name, "disk")
        folder.mkdir()
        with disk(folder, f"size={FULL}") as mounted:
            limit = None if mounted else _small_files
            for command in outputs(source, folder)[:count]:
                target = Path(command[-1])
                if target.suffix:
                    target.write_text("before")
                code, said = told(command, limit)
                cases += 1
                word = "the disk is full" if mounted else "cannot be written"
                if not is_clean(code, said, word):
                    findings.append(f"{command[0]} {target.name}: {code} {said[-300:]}")
                if target.suffix and target.read_bytes() != b"before":
                    findings.append(f"{target.name} was changed")
                if list(folder.glob(".franet-*")):
                    findings.append(f"{target.name}: a draft is left")
                shutil.rmtree(target, ignore_errors=True)
                target.unlink(missing_ok=True)
    how = "a tmpfs of 4 KiB" if mounted else "RLIMIT_FSIZE, as mounting is not allowed"
    return Row("limits", "full disk", cases, len(findings), how, tuple(findings))


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def read_only() -> Row:
    """Write to a file system that is read-only; run with caches there."""
    findings, cases = [], 0
    with tempfile.TemporaryDirectory() as name:
        source, folder = _table(Path(name), (30, 40)), Path(name, "disk")
        folder.mkdir()
        with disk(folder, "ro") as mounted:
            if not mounted:
                return Row("limits", "read-only folder", 0, 0, "not run: needs mount")
            for command in outputs(source, folder):
                code, said = told(command)
                cases += 1
                if not is_clean(code, said, "disk"):
                    findings.append(f"{command[0]} {command[-1]}: {code} {said[-300:]}")
            code, said = told(
                ["rank", str(source), "--quiet"],
                NUMBA_CACHE_DIR=str(folder),
                FRANET_CACHE=str(folder / "cache"),
                HOME=str(folder),
            )
            cases += 1
            if code or said:
                findings.append(f"caches there: {code} {said[-300:]}")
    note = "a read-only tmpfs; caches there, too"
    return Row(
        "limits", "read-only folder", cases, len(findings), note, tuple(findings)
    )


def little_memory() -> Row:
    """Rank a table that needs more than ``ulimit -v`` allows."""
    findings, cases = [], 0
    with tempfile.TemporaryDirectory() as name:
        source = _table(Path(name), (2000, 12_000))  # 192 MB
        for megabytes in LIMITS:
            for options in (["--ranker", "frane"], []):
                code, said = told(
                    ["rank", str(source), "--quiet", *options, "--n-jobs", "1"],
                    lambda size=megabytes << 20: resource.setrlimit(
                        resource.RLIMIT_AS, (size, size)
                    ),
                )
                cases += 1
                if not is_clean(code, said, "memory"):
                    findings.append(f"{megabytes} MB {options}: {code} {said[-300:]}")
    note = f"{LIMITS[0]} to {LIMITS[-1]} MB for a table of 192 MB"
    return Row("limits", "little memory", cases, len(findings), note, tuple(findings))


PARTS = {"disk": full_disk, "read-only": read_only, "memory": little_memory}


def run(sizes: Sizes, chosen: list[str] | None = None) -> Iterator[Row]:
    """Yield a row for each limit."""
    for name in chosen or PARTS:
        yield PARTS[name]()
