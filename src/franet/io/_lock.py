"""Files that one owner at a time can lock."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

__all__ = ["lock_file"]

_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


def lock_file(path: Path) -> int:
    """Return an open file that is locked until it is closed, or the process ends.

    The system releases the lock, however the process ends. Within one process, too,
    a file is locked once only.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.

    Raises
    ------
    BlockingIOError
        Where the file is locked already.
    OSError
        Where it cannot be opened, or the file system has no locks.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        os.close(file)
        if err.errno not in _BUSY:
            raise
        raise BlockingIOError(err.errno, err.strerror, str(path)) from err
    return file
