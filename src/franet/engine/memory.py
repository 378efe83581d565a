"""Room for the kept edges: in memory, or in temporary files where it is scarce."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import UsageError

__all__ = ["BYTES_PER_PAIR", "Store", "available_bytes", "parse_bytes"]

# A kept pair: where it stands in its tile, and its weight.
BYTES_PER_PAIR = 12

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def available_bytes() -> int:
    """Return the memory that is free, within the limit of a control group."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        if limit != "max":
            free = min(free, int(limit) - int(used))
    except (OSError, ValueError):
        pass  # not Linux, or no control group: the first figure stands
    return max(free, 0)


def parse_bytes(value: float | str) -> int:
    """Return a number of bytes, given as a number or as text such as ``"2 GB"``."""
    if not isinstance(value, str):
        return int(value)
    text = value.strip().upper().removesuffix("B").strip()
    unit = text[-1:] if text[-1:].isalpha() else ""
    try:
        size = int(float(text.removesuffix(unit)) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise UsageError(f"max_memory={value!r} is no size. Write it like '2 GB'.")
    return size


class Store:
    """Gives out arrays, in memory or in a temporary folder that goes with the store.

    Parameters
    ----------
    on_disk : bool
        Whether arrays lie in files.
    """

    def __init__(self, on_disk: bool) -> None:
        self.on_disk = on_disk
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._count = 0

    def __enter__(self) -> Self:
        if self.on_disk:
            self._folder = tempfile.TemporaryDirectory(
                prefix="franet-", ignore_cleanup_errors=True
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return a new array."""
        size = np.prod(shape, dtype=np.int64)
        if self._folder is None or size == 0:
            return np.empty(shape, dtype)
        with self._lock:
            self._count += 1
            name = Path(self._folder.name) / f"{self._count}.bin"
        array = np.memmap(name, dtype=dtype, mode="w+", shape=shape)
        # The kernels are compiled for plain arrays; the file stays mapped by the base.
        return array.view(np.ndarray)
