"""MatrixMarket files, by scipy."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from franet.io._source import check_expansion, check_shape, open_binary, reading
from franet.io._table import Options, Raw

__all__ = ["read"]


_PIECE = 1 << 20
# Which bytes may follow which: digits, points, signs, exponents, letters of nan and
# infinity, blanks.
_GROUPS = {
    "0": b"0123456789", ".": b".", "-": b"+-", "e": b"eEdD", "n": b"nNaAiIfFtTyY",
    " ": b" \t", "\n": b"\n", "\r": b"\r",
}  # fmt: skip
_AFTER = {
    "0": "0.e \n\r", ".": "0e \n\r", "-": "0.n", "e": "0-", "n": "n \n\r",
    " ": "0.-n \n\r", "\n": "0.-n \n\r", "\r": "\n",
}  # fmt: skip
_PER_LINE = {"pattern": 2, "complex": 4}


class _Stream:
    """Only the reading side of a file, whose last line has an end.

    scipy goes back in a file that can seek when it meets an error, and the whole
    process ends if that fails. It also reads on behind a last line without an end.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._last = b""

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if not data and self._last not in (b"", b"\n"):
            data = b"\n"
        self._last = data[-1:]
        return data


def read(path: Path, options: Options) -> Raw:
    """Read a sparse or dense matrix."""
    from scipy.io import mmread

    with reading(path, "MatrixMarket"):
        with open_binary(path) as file:
            _check_body(path, file)
        with open_binary(path) as file:
            return Raw(mmread(_Stream(file), spmatrix=False))


def _check_body(path: Path, file: IO[bytes]) -> None:
    """Raise a ValueError where the lines do not hold the numbers that were announced.

    SciPy ends the process at a byte of zeros and at an exponent without digits, and
    passes over what follows a number, or the last number of a line.
    """
    import numpy as np

    # For each pair of bytes: 0 is wrong, 2 the start of a number.
    pairs = np.zeros((256, 256), np.uint8)
    for first, seconds in _AFTER.items():
        for second in seconds:
            starts = first in " \n" and second in "0.-n"
            at = np.ix_(list(_GROUPS[first]), list(_GROUPS[second]))
            pairs[at] = 2 if starts else 1
    expected, found, last = _announced(path, file), 0, b"\n"
    while piece := file.read(_PIECE):
        found += _count_numbers(pairs, last + piece)
        last = piece[-1:]
    _count_numbers(pairs, last.replace(b"\r", b"") + b"\n")
    if found != expected:
        raise ValueError(f"{found} numbers where {expected} are announced")


def _count_numbers(pairs: Any, piece: bytes) -> int:
    """Return how many numbers start after the first byte of a piece."""
    import numpy as np

    data = np.frombuffer(piece, np.uint8)
    kinds = pairs[data[:-1], data[1:]]
    if not kinds.all():
        at = int(kinds.argmin())
        raise ValueError(f"{piece[at : at + 2]!r} is part of no number")
    return int(np.count_nonzero(kinds == 2))


def _announced(path: Path, file: IO[bytes]) -> int:
    """Return how many numbers come after the line with the sizes, and check these."""
    words = file.readline(1000).lower().split()
    line = b"%"
    while line.startswith(b"%") or line.isspace():
        line = file.readline(_PIECE)
    if b"\0" in line or len(words) < 5:
        raise ValueError("the first lines are not those of a matrix")
    _, _, form, field, symmetry, *_ = (word.decode() for word in words)
    sizes = [int(size) for size in line.split()]
    if len(sizes) != {"coordinate": 3, "array": 2}.get(form) or min(sizes) < 0:
        raise ValueError("the line with the sizes is damaged")
    m, n = sizes[:2]
    check_shape(path, (m, n))
    if form == "coordinate":
        return sizes[2] * _PER_LINE.get(field, 3)
    check_expansion(path, 8 * m * n)
    # Of others only the lower half is stored, or what is below the diagonal.
    half = m * (m - 1 if symmetry == "skew-symmetric" else m + 1) // 2
    return (m * n if symmetry == "general" else half) * (2 if field == "complex" else 1)
