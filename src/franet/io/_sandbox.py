"""Binary files, which another process reads under limits of memory and time.

At some damaged files a library ends the process, never comes back or takes all of the
memory. Then that happens to the other process, which hands over plain arrays.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io._formats import FORMATS
from franet.io._source import (
    check_expansion,
    check_shape,
    most_bytes,
    reading,
    stored_bytes,
)
from franet.io._table import Options, Raw

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_START += "from franet.io._child import main; main()"
_SECONDS = 60.0  # that it may take, and more for large files:
_SPEED = 1e6  # bytes a second
_ERRORS: dict[str, Callable[..., Exception]] = {
    each.__name__: each
    for each in (DataError, UsageError, MissingExtraError, MemoryError)
}


class _Died(Exception):
    """The other process has ended before its answer."""


class _Told(Exception):
    """An error of the other process, which goes on."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class _NoProcess(Exception):
    """There can be no other process here."""


class _Reader:
    """The other process: it is started when it is needed, and serves many files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self, request: Any, seconds: float, receive: Callable[[IO[bytes]], Any]
    ) -> Any:
        """Return what `receive` makes of the answer to a request.

        Raises
        ------
        TimeoutError
            Where it takes more than so many seconds.
        _Died
            Where the process ends meanwhile.
        _NoProcess
            Where no process can be started.
        """
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            try:
                process = self._process
                # It may have ended meanwhile, such as of nobody asking.
                if process is None or not _is_ready(process, line):
                    self._stop()
                    process = self._start()
                    if not _is_ready(process, line):
                        raise _NoProcess
                return _answer(process, seconds, receive)
            except BaseException:
                # Also at Ctrl-C: its answer would be taken for that to the next one.
                self._stop()
                raise

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def leave(self) -> None:
        """Leave the process to the one that this one was forked from."""
        self._lock = threading.Lock()  # a thread that is not here may have held it
        self._left, self._process = self._process, None

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise _NoProcess
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # It multiplies nothing.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        except OSError as err:
            raise _NoProcess from err
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()


def _is_ready(process: subprocess.Popen[bytes], line: bytes) -> bool:
    """Send a request; return whether the libraries that it needs are loaded."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        return False
    import_module("scipy.sparse")  # which is needed here, meanwhile
    return process.stdout.readline() == b"{}\n"


def _answer(
    process: subprocess.Popen[bytes],
    seconds: float,
    receive: Callable[[IO[bytes]], Any],
) -> Any:
    assert process.stdout is not None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        return receive(process.stdout)
    except EOFError as err:
        raise (TimeoutError if late.is_set() else _Died) from err
    finally:
        timer.cancel()


_reader = _Reader()
atexit.register(_reader.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reader.leave)


def read(path: Path, options: Options) -> Raw:
    """Return the table of a binary file, or open it where that is wanted.

    Raises
    ------
    DataError
        Where the file cannot be used, or would do harm.
    """
    size = stored_bytes(path)
    seconds, room = _SECONDS + size / _SPEED, 2 * most_bytes(size)
    try:
        found = _reader.ask(
            # The other process stays in the folder in which it was started.
            {
                "folder": os.getcwd(),
                "path": str(path),
                "options": asdict(options),
                "room": room,
                "seconds": seconds / 6,  # of a processor
            },
            seconds,
            lambda stream: _receive(path, options, stream),
        )
    except (_NoProcess, FileNotFoundError):
        return FORMATS[options.format].read(path, options)
    except _Died as err:
        found = MemoryError(err)
    except TimeoutError as err:
        raise DataError(
            f"{path}: reading it timed out after {seconds:.0f} s; it is damaged, or on "
            "a very slow disk: write it again, or copy it"
        ) from err
    if isinstance(found, MemoryError):
        raise DataError(
            f"{path}: reading it crashed, or took more than {room / 1e9:.1f} GB of "
            "memory; it is damaged or a possible decompression bomb. If it is neither, "
            "save it without compression"
        ) from found
    if isinstance(found, Exception):
        raise found
    if found is None:
        options = replace(options, looked_through=True)
        return FORMATS[options.format].read(path, options)
    return found


def _receive(path: Path, options: Options, stream: IO[bytes]) -> Raw | Exception | None:
    """Return a table or an error of the other process; None for one to be opened."""
    try:
        head = _line(stream)
        table = _table(path, options, head, stream) if "arrays" in head else None
        _line(stream)  # the file is closed
    except _Told as told:
        return told.error
    return table


def _table(
    path: Path, options: Options, head: dict[str, Any], stream: IO[bytes]
) -> Raw:
    import numpy as np
    from scipy import sparse

    shape = tuple(head.pop("shape"))
    check_shape(path, shape)
    made = [(a["shape"], np.dtype(a["dtype"]), a["order"]) for a in head.pop("arrays")]
    nbytes = sum(int(np.prod(s, dtype=object)) * kind.itemsize for s, kind, _ in made)
    check_expansion(path, nbytes)
    levels, form = head.pop("levels"), head.pop("format")
    with reading(path, options.format):
        arrays = [np.empty(*about) for about in made]
    X, *parts = [_filled(array, stream) for array in arrays]
    with reading(path, options.format):
        if parts:
            X = getattr(sparse, f"{form}_array")((X, *parts), shape=shape)
        elif levels is not None:
            from franet.pairs.coded import CodedTable

            is_category = np.array([each is not None for each in levels], bool)
            X = CodedTable(X, is_category, tuple(levels))
    return Raw(X, **head)


def _filled(array: Any, stream: IO[bytes]) -> Any:
    """Return an array with the numbers that are sent, in pieces."""
    import numpy as np

    flat = array.reshape(-1, order="A").view(np.uint8)
    at = 0
    while at < len(flat):
        piece = memoryview(flat[at : at + _line(stream)["piece"]])
        at += len(piece)
        while len(piece):
            count = stream.readinto(piece)  # type: ignore[attr-defined]
            if not count:
                raise EOFError
            piece = piece[count:]
    return array


def _line(stream: IO[bytes]) -> dict[str, Any]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    found: dict[str, Any] = json.loads(line)
    if "error" in found:
        raise _Told(_ERRORS[found["error"]](*found["arguments"]))
    return found
