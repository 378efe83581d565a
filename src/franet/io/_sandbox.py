"""Binary files, which another process reads under limits of memory and time.

At some damaged files a library ends the process, never comes back or takes all of the
memory. Then that happens to the other process, which hands over plain arrays.

Each line of its stdin is a request as JSON. The answer to each is a line when libraries
are loaded, one with what was found, arrays in pieces, each after a line with its size,
and a line when the file is closed.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from franet import exceptions
from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io._source import (
    FORMATS,
    check_expansion,
    check_shape,
    most_bytes,
    reading,
    stored_bytes,
)
from franet.io._table import Options, Raw, check_matrix

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_START += "from franet.io._sandbox import serve; serve()"
_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",  # it multiplies nothing
    # Where memory lacks, a thread of polars' allocator would wait without end.
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
_SECONDS = 30.0  # that a file may take, and more for large ones:
_SPEED = 1e6  # bytes a second
_ROOM = 1 << 26  # bytes that reading may take beside the table
_PIECE = 1 << 24  # bytes that are read and sent at a time, unless chunks are larger
_IDLE = 60  # seconds after which nobody is likely to ask again


class _Told(Exception):
    """An error of the other process, which goes on."""


class _Reader:
    """The other process: it is started when it is needed, and serves many files."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: Any = None

    @contextmanager
    def ask(self, request: Any) -> Iterator[IO[bytes]]:
        """Give the stream with the answer, when the libraries are loaded.

        Raises
        ------
        OSError
            Where no process can be started.
        """
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            try:
                # It may have ended meanwhile, such as of nobody asking.
                if self._process is None or not self._is_ready(line):
                    self._start()
                    if not self._is_ready(line):
                        raise OSError("the other process does not start")
                yield self._process.stdout
            except _Told:
                raise
            except BaseException:
                # Also at Ctrl-C: its answer would be taken for that to the next one.
                self.stop()
                raise

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                with suppress(BrokenPipeError):
                    process.communicate()

    def leave(self) -> None:
        """Leave the process to the one that this one was forked from."""
        self._lock = threading.RLock()  # a thread that is not here may have held it
        self._left, self._process = self._process, None

    def _start(self) -> None:
        self.stop()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_SETTINGS},
        )

    def _is_ready(self, line: bytes) -> bool:
        """Send a request; return whether the libraries that it needs are loaded."""
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        import_module("scipy.sparse")  # which is needed here, meanwhile
        return bool(self._process.stdout.readline() == b"{}\n")


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
    found = ask(path, options)
    return FORMATS[options.format].read(path, options) if found is None else found


def ask(path: Path, options: Options) -> Raw | None:
    """Have the other process read a file; return the table if that is handed over.

    Raises
    ------
    DataError
        Where the file cannot be used, or would do harm.
    """
    size, start = stored_bytes(path), time.monotonic()
    seconds, room = _SECONDS + size / _SPEED, 2 * most_bytes(size)
    found = None
    try:
        request = {
            "folder": os.getcwd(),  # the other process was started in another one
            "path": str(path),
            "options": asdict(options),
            "room": room,
            "seconds": seconds,
        }
        with _reader.ask(request) as stream:
            head = _line(stream)
            if "arrays" in head:  # otherwise the file is to be opened here
                found = _table(path, options, head, stream)
            _line(stream)  # the file is closed
    except OSError:
        pass  # there can be no other process here
    except _Told as told:
        raise told.args[0] from None
    except EOFError as err:
        if time.monotonic() - start > seconds:
            raise DataError(
                f"{path}: reading it timed out after {seconds:.0f} s; it is damaged, "
                "or on a very slow disk: write it again, or copy it"
            ) from err
        raise DataError(
            f"{path}: reading it crashed, or took more than {room / 1e9:.1f} GB of "
            "memory; it is damaged or a possible decompression bomb. If it is neither, "
            "save it without compression"
        ) from err
    return found


def _table(
    path: Path, options: Options, head: dict[str, Any], stream: IO[bytes]
) -> Raw:
    import numpy as np
    from scipy import sparse

    check_shape(path, tuple(head["shape"]))
    made = [(tuple(a["shape"]), np.dtype(a["dtype"])) for a in head["arrays"]]
    nbytes = sum(int(np.prod(s, dtype=object)) * kind.itemsize for s, kind in made)
    check_expansion(path, nbytes)
    with reading(path, options.format):
        arrays: list[Any] = [np.empty(*about) for about in made]
    for array in arrays:
        _fill(array, stream)
    turned = (about["turned"] for about in head["arrays"])
    X, *parts = [a.T if t else a for a, t in zip(arrays, turned, strict=True)]
    with reading(path, options.format):
        if parts:
            kind = getattr(sparse, f"{head['format']}_array")
            X = kind((X, *parts), shape=tuple(head["shape"]))
        elif (levels := head["levels"]) is not None:
            from franet.pairs.coded import CodedTable

            is_category = np.array([each is not None for each in levels], bool)
            X = CodedTable(X, is_category, tuple(levels))
    return Raw(X, **head["names"])


def _fill(array: Any, stream: IO[bytes]) -> None:
    """Put the numbers that are sent, in pieces, into an array."""
    flat = array.reshape(-1).view("u1")
    at = 0
    while at < len(flat):
        piece = memoryview(flat[at : at + _line(stream)["piece"]])
        at += len(piece)
        if stream.readinto(piece) < len(piece):  # type: ignore[attr-defined]
            raise EOFError


def _line(stream: IO[bytes]) -> dict[str, Any]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    found: dict[str, Any] = json.loads(line)
    if "error" in found:
        raise _Told(getattr(exceptions, found["error"])(*found["arguments"]))
    return found


def serve() -> None:
    """Be the other process: answer until nobody asks any more."""
    # What libraries print is no part of an answer.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks will end this process
    faulthandler.dump_traceback_later(_IDLE, exit=True)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        os.chdir(request["folder"])
        _answer(out, Path(request["path"]), request)
        os.chdir(os.sep)  # a folder in use could not be removed everywhere
        faulthandler.dump_traceback_later(_IDLE, exit=True)


def _answer(out: IO[bytes], path: Path, request: dict[str, Any]) -> None:
    options = Options(**request["options"])
    kind = FORMATS[options.format]
    for library in kind.libraries:
        with suppress(ImportError):  # the reader says what is missing
            import_module(library)
    faulthandler.dump_traceback_later(request["seconds"], exit=True)
    _limit(request["room"])
    _send(out, {})
    try:
        if options.annotations:
            from franet.io._arrays import annotations_of

            annotations_of(path, options.variable == "raw")
            _send(out, {})
        else:
            with reading(path, options.format):
                raw = kind.read(path, options)
                with raw.held:
                    _send_table(out, path, raw)
        _send(out, {})
    except MissingExtraError as err:
        _send(out, {"error": "MissingExtraError", "arguments": [err.what, err.extra]})
    except (DataError, UsageError) as err:
        if isinstance(err.__cause__, MemoryError):
            os._exit(1)
        _send(out, {"error": type(err).__name__, "arguments": [str(err)]})


def _limit(room: int) -> None:
    """Limit the memory that the process may take from now on, where Linux is."""
    with suppress(ImportError, OSError, ValueError), open("/proc/self/statm") as file:
        import resource

        # Not the address space, of which threads reserve far more than they use.
        data = int(file.read().split()[5]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (data + room + _ROOM, hard))


def _send(out: IO[bytes], head: dict[str, Any]) -> None:
    out.write(json.dumps(head).encode() + b"\n")
    out.flush()


def _send_table(out: IO[bytes], path: Path, raw: Raw) -> None:
    import numpy as np

    X: Any = raw.X
    if hasattr(X, "read_rows"):
        _send(out, {"opened": True})
        return
    if hasattr(X, "indptr"):
        parts = [X.data, X.indices, X.indptr]
    elif hasattr(X, "group"):  # a sparse matrix in a file
        parts = [X.group[name] for name in ("data", "indices", "indptr")]
    else:
        parts = [getattr(X, "values", X)]
    check_matrix(path, X.shape, parts[0].dtype)
    # As they lie in memory; what lies in a file is never turned.
    turned = [isinstance(part, np.ndarray) and part.flags.fnc for part in parts]
    parts = [part.T if t else part for part, t in zip(parts, turned, strict=True)]
    names = {name: x for name, x in vars(raw).items() if name not in ("X", "held")}
    head = {
        "format": getattr(X, "format", None),
        "shape": [int(n) for n in X.shape],
        "levels": getattr(X, "levels", None),
        "names": names,
        "arrays": [
            {"shape": part.shape, "dtype": part.dtype.str, "turned": t}
            for part, t in zip(parts, turned, strict=True)
        ],
    }
    _send(out, head)
    for part in parts:
        for piece in _pieces(part):
            data = memoryview(piece.reshape(-1).view("u1"))
            _send(out, {"piece": len(data)})
            out.write(data)
    out.flush()


def _pieces(array: Any) -> Iterator[Any]:
    """Yield all of an array, whole chunks of one in a file at a time."""
    import numpy as np

    chunks = getattr(array, "chunks", None)
    row = max(1, array.dtype.itemsize * int(np.prod(array.shape[1:])))
    together = chunks[0] if chunks else 1
    step = together * max(1, _PIECE // (row * together))
    for at in range(0, array.shape[0], step):
        yield np.ascontiguousarray(array[at : at + step])
