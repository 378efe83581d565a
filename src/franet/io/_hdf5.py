"""HDF5 files, which another process looks through first.

At some damaged files the HDF5 library ends the process, never comes back or takes all
of the memory. Then that happens to the other process.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from franet.exceptions import DataError
from franet.io._source import most_bytes

__all__ = ["look_through", "start_looking"]

_SCRIPT = Path(__file__).with_name("_hdf5_child.py")
_SECONDS = 5.0  # that it may take, and more for large files:
_SPEED = 1e7  # bytes a second


class _Died(Exception):
    """The other process has ended before its answer."""


class _Looker:
    """The other process: it is started when it is needed, and serves many files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._ready = False

    def start(self) -> None:
        """Start the process if there is none; do not wait for it."""
        with self._lock:
            self._start()

    def ask(self, request: dict[str, object], seconds: float) -> dict[str, object]:
        """Return the answer to a request.

        Raises
        ------
        TimeoutError
            Where it takes more than so many seconds.
        _Died
            Where the process ends meanwhile.
        OSError
            Where no process can be started.
        """
        with self._lock:
            process = self._start()
            try:
                self._await_ready(process)
                return self._talk(process, json.dumps(request), seconds)
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

    def _start(self) -> subprocess.Popen[str]:
        process = self._process
        if process is None or process.poll() is not None:
            self._stop()
            if not sys.executable:
                raise OSError("no interpreter is known")
            process = self._process = subprocess.Popen(
                [sys.executable, "-P", str(_SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                # It multiplies nothing.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            self._ready = False
        return process

    def _await_ready(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        if not self._ready and process.stdout.readline() != "ready\n":
            raise OSError("the process did not start")
        self._ready = True

    def _talk(
        self, process: subprocess.Popen[str], line: str, seconds: float
    ) -> dict[str, object]:
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            timer.cancel()
        if answer:
            found: dict[str, object] = json.loads(answer)
            return found
        raise TimeoutError if late.is_set() else _Died

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()


_looker = _Looker()
atexit.register(_looker.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_looker.leave)


def start_looking() -> None:
    """Start the other process early: something else can be loaded meanwhile."""
    with suppress(OSError):
        _looker.start()


def look_through(path: Path, inside: str | None, without: str = "") -> int:
    """Return how many bytes datasets of a file say that they hold.

    Parameters
    ----------
    path : Path
        A HDF5 file.
    inside : str or None
        The dataset or group that will be read; "" is all of the file, and None only
        what is there, with its attributes.
    without : str, default=""
        A dataset or group that will not, and may hold what it likes.

    Raises
    ------
    DataError
        Where the file would do harm, or leads to other files.
    OSError
        Where it cannot be read for another reason.
    """
    size = path.stat().st_size
    # The other process stays in the folder in which it was started.
    request: dict[str, object] = {"path": os.path.abspath(path), "inside": inside}
    request |= {"without": without, "most": most_bytes(size)}
    seconds = _SECONDS + size / _SPEED
    try:
        try:
            answer = _looker.ask(request, seconds)
        except _Died:  # by the file, or by somebody else
            answer = _looker.ask(request, seconds)
    except _Died as err:
        raise DataError(
            f"{path}: is damaged: the HDF5 library breaks down at it; write it again"
        ) from err
    except TimeoutError as err:
        raise DataError(
            f"{path}: the HDF5 library comes to no end with it in {seconds:.0f} s; it "
            "is damaged, or on a very slow disk: write it again, or copy it"
        ) from err
    except OSError:  # there can be no other process here
        from franet.io._hdf5_child import Elsewhere, look

        try:
            return look(str(path), inside, without, most_bytes(size))
        except Elsewhere as elsewhere:
            answer = {"elsewhere": str(elsewhere)}
    if "elsewhere" in answer:
        raise DataError(
            f"{path}: {answer['elsewhere']}; save the values themselves in this file"
        )
    if "error" in answer:
        raise OSError(answer["error"])
    return int(str(answer["nbytes"]))
