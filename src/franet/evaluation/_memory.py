"""The largest memory that a piece of work took, where the system tells it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["PeakMemory", "resident"]


class PeakMemory:
    """Measures the memory of what runs inside the block, on Linux.

    Attributes
    ----------
    bytes : int or None
        The peak above what was in use at the start; None where the system does not
        tell. Threads that work beside the block count as well.
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> Self:
        # 5 sets the high-water mark back to what is in use now.
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
            self._before = _status("self", "VmHWM")
        return self

    def __exit__(self, *error: object) -> None:
        after = _status("self", "VmHWM")
        if self._before is not None and after is not None:
            self.bytes = max(0, after - self._before)


def resident(pid: int) -> int | None:
    """Return the bytes of memory that a process has in use; None where unknown."""
    return _status(str(pid), "VmRSS")


def _status(pid: str, key: str) -> int | None:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return None
