"""Memory that a worker keeps from one tile to the next."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["keeping_memory"]

# Numbers of glibc's mallopt, and what they are set to by default.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_DEFAULT = 128 * 1024
# Arrays up to this size are kept, and so much memory in all.
_LARGEST = 32 * 1024 * 1024
_KEPT = 256 * 1024 * 1024

_lock = threading.Lock()
_users = 0


@contextmanager
def keeping_memory() -> Iterator[None]:
    """Keep freed arrays for the next ones while parts are computed.

    Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that memory goes back to
    the system early. Then every tile would be fetched from there and given back, page
    by page, which takes as long as computing it. Without that variable, or without
    glibc, nothing is done: the allocator finds out by itself.
    """
    library = _glibc()
    trim = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    if library is None or not trim.isdigit():
        yield
        return
    _change(library, 1, _KEPT, _LARGEST)
    try:
        yield
    finally:
        _change(library, -1, int(trim), _DEFAULT)


def _change(library: Any, users: int, trim: int, largest: int) -> None:
    """Count a user, and set the allocator if it is the first, or the last."""
    global _users
    with _lock:
        _users += users
        if _users == (1 if users > 0 else 0):
            library.mallopt(_TRIM_THRESHOLD, trim)
            library.mallopt(_MMAP_THRESHOLD, largest)
            if users < 0:
                library.malloc_trim(0)


def _glibc() -> Any:
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (AttributeError elsewhere)
        return library
    except (AttributeError, OSError, TypeError):
        return None
