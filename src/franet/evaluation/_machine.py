"""On what a benchmark runs: versions, the machine, and the memory of processes."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from joblib import cpu_count

from franet._common.version import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")


def versions() -> dict[str, str]:
    """Return the versions of franet, Python and the packages that compute."""
    found = {"franet": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Return processor, cores, memory and system; None for what is not known."""
    memory = None
    with suppress(AttributeError, OSError, ValueError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    named = _entry("/proc/cpuinfo", "model name")
    return {
        "processor": named or platform.processor() or platform.machine() or None,
        "cores": cpu_count(),
        "memory": memory,
        "platform": platform.platform(),
    }


class PeakMemory:
    """Measures the memory of what runs inside the block, on Linux.

    Attributes
    ----------
    bytes : int or None
        The peak above what was in use at the start; None where the system does not
        report it. Threads that work beside the block count as well.
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> Self:
        # 5 sets the high-water mark back to what is in use now.
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
            self._before = _memory_of("self", "VmHWM")
        return self

    def __exit__(self, *error: object) -> None:
        after = _memory_of("self", "VmHWM")
        if self._before is not None and after is not None:
            self.bytes = max(0, after - self._before)


def resident(pid: int | None) -> int | None:
    """Return the bytes of memory that a process has in use; None where unknown."""
    return _memory_of(str(pid), "VmRSS")


def _memory_of(pid: str, key: str) -> int | None:
    found = _entry(f"/proc/{pid}/status", key)
    return int(found.split()[0]) * 1024 if found else None


def _entry(path: str, key: str) -> str:
    """Return what a file of the system says of a key; "" where it says nothing."""
    with suppress(OSError):
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return ""
