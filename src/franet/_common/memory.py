"""Room for edges and features: in memory, or in temporary files where it is scarce."""

from __future__ import annotations

import errno
import mmap
import os
import secrets
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import Setting, UsageError

# A kept pair: where it stands in its tile, and its weight.
BYTES_PER_PAIR = 12

_POSIX = os.name == "posix"
# Arrays that are large enough for pages of their own.
_LARGE = 1 << 18

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def available_bytes() -> int:
    """Return the memory that is free, within the limit of a control group."""
    free = _free_bytes()
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


def _free_bytes() -> int:
    """Return the memory that the system calls free."""
    if sys.platform == "win32":
        import ctypes

        # The length, the load, then sizes: of all memory, of what is free, and more.
        status = (ctypes.c_uint64 * 8)()
        ctypes.cast(status, ctypes.POINTER(ctypes.c_uint32))[0] = ctypes.sizeof(status)
        ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status[2])
    page = os.sysconf("SC_PAGE_SIZE")
    try:
        return page * os.sysconf("SC_AVPHYS_PAGES")
    except ValueError:
        # macOS does not tell; what it keeps of files can be had back.
        return page * os.sysconf("SC_PHYS_PAGES") // 2


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
        raise UsageError(
            "{} is not a size;",
            Setting("max_memory", value),
            remedy="use a number of bytes or text such as '2 GB'.",
        )
    return size


def own_pages(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return a new array of zeros whose memory goes back to the system with it.

    That of other large arrays may stay with the process, for those to come.
    """
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size < _LARGE:
        return np.zeros(shape, dtype)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if _POSIX else {}
    return np.frombuffer(mmap.mmap(-1, size, **private), dtype).reshape(shape)


def give_pages_back(mapped: Any) -> None:
    """Let pages of a mapped file no longer count as memory of the process.

    The mapping is shared with the file: no value is lost. Other arrays stay as they
    are, and so do all where the system cannot do it.
    """
    pages = getattr(mapped, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


class _Folder:
    """A temporary folder that an interrupt at any moment does not leave behind."""

    def __init__(self) -> None:
        # Named, and bound to go with the object, before it is there.
        name = f"franet-{secrets.token_hex(8)}"
        self.name = str(Path(tempfile.gettempdir()) / name)
        self._removal = weakref.finalize(self, _remove, self.name)
        os.mkdir(self.name, 0o700)

    def cleanup(self) -> None:
        """Remove the folder with all that is in it."""
        _remove(self.name)
        self._removal.detach()


def _remove(folder: str) -> None:
    """Remove a folder of files as far as that is possible."""
    # shutil.rmtree opens folders by a number, which an interrupt can lose.
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


class ArrayStore:
    """Gives out arrays, in memory or in a temporary folder that goes with the store.

    Parameters
    ----------
    on_disk : bool
        Whether arrays lie in files.
    """

    def __init__(self, on_disk: bool) -> None:
        self.on_disk = on_disk
        self._folder: _Folder | None = None
        self._lock = threading.Lock()
        self._count = 0

    def __enter__(self) -> Self:
        if self.on_disk:
            self._folder = _Folder()
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


def _nameless() -> Any:
    """Return a new file that has no name, or loses it when it is closed."""
    if not _POSIX:
        return tempfile.TemporaryFile(prefix="franet-", buffering=0)
    # That opens by a number, which an interrupt can lose: nobody would close the file.
    folder = _Folder()
    try:
        return open(Path(folder.name) / "rows", "x+b", buffering=0)
    finally:
        folder.cleanup()


class RowFile:
    """Rows of float64 numbers in a temporary file, read and written piece by piece.

    Not a mapped array, whose pages count as memory of the process until the system
    wants them back. The file has no name: it goes with the object, whatever happens.

    Parameters
    ----------
    width : int
        Numbers in a row.
    """

    def __init__(self, width: int) -> None:
        self._bytes = 8 * width
        self._width = width
        self._lock = threading.Lock()
        self._file = _nameless()
        self._closing = weakref.finalize(self, self._file.close)

    def close(self) -> None:
        """Give the file back; nothing can be read any more."""
        self._file.close()
        self._closing.detach()

    def write(self, start: int, rows: NDArray[np.float64]) -> None:
        """Write whole rows, which lie one after the other."""
        self._put(start * self._bytes, rows)

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return whole rows; those that were never written are zero."""
        rows = own_pages((stop - start, self._width), np.float64)
        self._get(start * self._bytes, rows)
        return rows

    def write_columns(self, start: int, part: NDArray[np.float64]) -> None:
        """Write a part of all rows, from column `start` on."""
        for j, values in enumerate(part):
            self._put(j * self._bytes + 8 * start, values)

    def read_columns(self, n_rows: int, start: int, stop: int) -> NDArray[np.float64]:
        """Return a part of the first rows, from column `start` to `stop`."""
        part = np.empty((n_rows, stop - start))
        for j, values in enumerate(part):
            self._get(j * self._bytes + 8 * start, values)
        return part

    def _put(self, at: int, values: NDArray[np.float64]) -> None:
        data = memoryview(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
        while len(data):
            try:
                with self._lock:
                    self._file.seek(at)
                    done = self._file.write(data)
            except OSError as err:
                if err.errno != errno.ENOSPC:
                    raise
                raise UsageError(
                    "No space is left in the temporary folder "
                    f"{tempfile.gettempdir()}. Set TMPDIR to a larger one, or raise "
                    "max_memory."
                ) from err
            at, data = at + done, data[done:]

    def _get(self, at: int, values: NDArray[np.float64]) -> None:
        data = memoryview(values.reshape(-1).view(np.uint8).data)
        while len(data):
            if hasattr(os, "preadv"):  # several threads at a time
                done = os.preadv(self._file.fileno(), [data], at)
            else:
                with self._lock:
                    self._file.seek(at)
                    done = self._file.readinto(data)
            if not done:
                data[:] = bytes(len(data))
                return
            at, data = at + done, data[done:]
