"""Fuzzing of the readers: many damaged files, in processes that are watched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reliability.plan import Row, Sizes
from reliability.seeds import SEEDS

TESTS = Path(__file__).parents[1]
CHILD = ("-m", "reliability.fuzz_child")
HANG = 10.0  # seconds of processor time that a case may take
START = 60.0  # as many more until the first case
STUCK = 600.0  # seconds that it may wait


@dataclass
class Outcome:
    """What came of the cases of one format."""

    kind: str
    cases: int = 0
    read: int = 0
    refused: int = 0
    crashes: int = 0
    hangs: int = 0
    wrong: int = 0
    memory: int = 0
    slowest: float = 0.0
    seconds: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def bad(self) -> int:
        """How many cases ended as none should."""
        return self.crashes + self.hangs + self.wrong


def fuzz(kind: str, cases: int, first: int = 0) -> Outcome:
    """Read damaged files of a format; go on after the death of a process.

    Parameters
    ----------
    kind : str
        The format.
    cases : int
        How many files.
    first : int, default=0
        The number of the first case.
    """
    found, start = Outcome(kind), time.monotonic()
    at, last = first, first + cases
    with tempfile.TemporaryDirectory(dir=_quick_folder()) as folder:
        while at < last:
            at = _one_process(found, at, last, Path(folder))
    found.cases = cases
    found.seconds = round(time.monotonic() - start, 1)
    return found


def _quick_folder() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def _one_process(found: Outcome, at: int, last: int, folder: Path) -> int:
    """Run cases until all are done or the process dies; return the next case."""
    mark = folder / "at"
    mark.write_bytes(at.to_bytes(8, "little"))
    arguments = [found.kind, str(at), str(last), str(folder)]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, *CHILD, *arguments],
            stdout=out,
            stderr=err,
            env={**os.environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        )
        hung = _watch(process, mark, at)
    stopped = int.from_bytes(mark.read_bytes(), "little")
    done = _take(found, (folder / "out").read_text("utf-8"))
    if done:
        return last
    said = (folder / "err").read_text("utf-8", "replace")
    if hung:
        found.hangs += 1
        found.findings.append((stopped, f"more than {HANG:.0f} s, or stuck"))
        return stopped + 1
    if process.returncode > 0 and "Traceback" in said:
        raise RuntimeError(
            f"the fuzzer itself failed at case {stopped}: {said[-2000:]}"
        )
    found.crashes += 1
    name = signal.Signals(-process.returncode).name if process.returncode < 0 else ""
    why = said.strip().splitlines()[:1]
    found.findings.append((stopped, f"crash: {name} {' '.join(why)}"))
    return stopped + 1


def _watch(process: subprocess.Popen[bytes], mark: Path, first: int) -> bool:
    """Wait for the end of a process; kill it where a case takes too long."""
    seen, since, used = -1, time.monotonic(), 0.0
    while True:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            now = int.from_bytes(mark.read_bytes(), "little")
            if now != seen:
                seen, since, used = now, time.monotonic(), _processor_time(process)
            elif (
                _processor_time(process) - used > HANG + START * (now == first)
                or time.monotonic() - since > STUCK
            ):
                process.kill()
                process.wait()
                return True
        else:
            return False


def _processor_time(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds that a process has kept processors busy."""
    about = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(about[11]) + int(about[12])) / os.sysconf("SC_CLK_TCK")


def _take(found: Outcome, lines: str) -> bool:
    """Add what a process printed; return whether it came to its end."""
    for line in lines.splitlines():
        told = json.loads(line)
        if "case" in told:
            found.wrong += 1
            found.findings.append((told["case"], told["wrong"]))
            continue
        if "end" in told:
            return True
        found.read += told["read"]
        found.refused += told["refused"]
        found.memory = max(found.memory, told["memory"])
        found.slowest = max(found.slowest, told["slowest"])
    return False


def run(sizes: Sizes, kinds: Iterable[str] = ()) -> Iterator[Row]:
    """Yield a row for each format."""
    for kind in kinds or SEEDS:
        found = fuzz(kind, sizes.fuzz)
        note = (
            f"{found.read:,} read, {found.refused:,} refused; at most "
            f"{found.slowest:.1f} s and {found.memory / 1e6:.0f} MB"
        )
        if found.bad:
            parts = ("crashes", "hangs", "wrong")
            said = (f"{getattr(found, name)} {name}" for name in parts)
            note += f"; {', '.join(said)}"
        told = tuple(f"{kind} case {case}: {what}" for case, what in found.findings)
        yield Row("fuzz", kind, found.cases, found.bad, note, told)
