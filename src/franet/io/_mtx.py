"""MatrixMarket files, by scipy."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from franet.io._source import open_binary, reading
from franet.io._table import Options, Raw

__all__ = ["read"]


class _Stream:
    """Only the reading side of a file.

    scipy goes back in a file that can seek when it meets an error, and the whole
    process ends if that fails.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


def read(path: Path, options: Options) -> Raw:
    """Read a sparse or dense matrix."""
    from scipy.io import mmread

    with reading(path, "MatrixMarket"), open_binary(path) as file:
        return Raw(mmread(_Stream(file), spmatrix=False))
