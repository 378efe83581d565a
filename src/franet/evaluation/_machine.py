"""On what a benchmark ran: versions and machine."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from joblib import cpu_count

__all__ = ["machine", "versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")


def versions() -> dict[str, str]:
    """Return the versions of franet, Python and the packages that compute."""
    from franet._common.version import __version__

    found = {"franet": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def machine() -> dict[str, Any]:
    """Return processor, cores, memory and system; None for what is not known."""
    return {
        "processor": _processor(),
        "cores": cpu_count(),
        "memory": _memory(),
        "platform": platform.platform(),
    }


def _processor() -> str | None:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine() or None


def _memory() -> int | None:
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
