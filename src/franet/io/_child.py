"""Reads binary files for another process, which must not die of a damaged one.

Each line of stdin is a request as JSON. The answer to each is a line when libraries
are loaded, one with what was found, arrays in pieces, each after a line with its size,
and a line when the file is closed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from franet.exceptions import DataError, MissingExtraError, UsageError
from franet.io._formats import FORMATS
from franet.io._source import reading
from franet.io._table import Options, Raw, check_numbers

_ROOM = 1 << 26  # bytes that reading may take beside the table
_PIECE = 1 << 24  # bytes that are read and sent at a time, unless chunks are larger
_IDLE = 60  # seconds after which nobody is likely to ask again


def main() -> None:
    """Answer until nobody asks any more."""
    # What libraries print is no part of an answer.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks will end this process
    alarm: Callable[[int], Any] = getattr(signal, "alarm", lambda _: None)
    alarm(_IDLE)
    for line in sys.stdin.buffer:
        alarm(0)
        request = json.loads(line)
        os.chdir(request["folder"])
        _answer(out, Path(request["path"]), request)
        os.chdir(os.sep)  # a folder in use could not be removed everywhere
        alarm(_IDLE)


def _answer(out: IO[bytes], path: Path, request: dict[str, Any]) -> None:
    options = Options(**request["options"])
    kind = FORMATS[options.format]
    for library in kind.libraries:
        with suppress(ImportError):  # the reader says what is missing
            import_module(library)
    _send(out, {})
    _limit(request["room"], request["seconds"])
    try:
        with reading(path, options.format):
            raw = kind.read(path, options)
            with raw.held:
                _send_table(out, path, raw)
        _send(out, {})
    except MissingExtraError as err:
        _send(out, {"error": "MissingExtraError", "arguments": [err.what, err.extra]})
    except (DataError, UsageError) as err:
        is_memory = isinstance(err.__cause__, MemoryError)
        name = "MemoryError" if is_memory else type(err).__name__
        _send(out, {"error": name, "arguments": [str(err)]})


def _limit(room: int, seconds: float) -> None:
    """Limit what the process may take from now on, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        limits = {resource.RLIMIT_CPU: used.ru_utime + used.ru_stime + seconds}
        with suppress(OSError), open("/proc/self/statm") as file:
            # Not the address space, of which threads reserve far more than they use.
            data = int(file.read().split()[5]) * resource.getpagesize()
            limits[resource.RLIMIT_DATA] = data + room + _ROOM
        for what, limit in limits.items():
            hard = resource.getrlimit(what)[1]
            soft = int(limit) if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(what, (int(soft), hard))


def _send(out: IO[bytes], head: dict[str, Any]) -> None:
    out.write(json.dumps(head).encode() + b"\n")
    out.flush()


def _send_table(out: IO[bytes], path: Path, raw: Raw) -> None:
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
    for part in parts:
        check_numbers(path, part.dtype)
    # As they lie in memory; what lies in a file is never turned.
    flags = [getattr(part, "flags", None) for part in parts]
    turned = [f is not None and f.f_contiguous and not f.c_contiguous for f in flags]
    head = {
        "format": getattr(X, "format", None),
        "shape": [int(n) for n in X.shape],
        "levels": getattr(X, "levels", None),
        "columns": _words(raw.columns),
        "rows": _words(raw.rows),
        "dropped": raw.dropped,
        "labels": raw.labels,
        "arrays": [
            {"shape": part.shape, "dtype": part.dtype.str, "order": "CF"[is_turned]}
            for part, is_turned in zip(parts, turned, strict=True)
        ],
    }
    _send(out, head)
    for part, is_turned in zip(parts, turned, strict=True):
        for piece in _pieces(part.T if is_turned else part):
            data = memoryview(piece.reshape(-1).view("u1"))
            _send(out, {"piece": len(data)})
            out.write(data)
    out.flush()


def _words(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _pieces(array: Any) -> Iterator[Any]:
    """Yield all of an array, whole chunks of one in a file at a time."""
    import numpy as np

    if not array.shape:
        yield np.ascontiguousarray(array[()])
        return
    n, chunks = array.shape[0], getattr(array, "chunks", None)
    row = max(1, array.dtype.itemsize * int(np.prod(array.shape[1:])))
    together = chunks[0] if chunks else 1
    step = together * max(1, _PIECE // (row * together))
    for at in range(0, n, step):
        yield np.ascontiguousarray(array[at : at + step])
