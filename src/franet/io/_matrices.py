"""Arrays of NumPy, MatrixMarket, libsvm and ARFF files, read in this process."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from franet._common.global_state import restored_state
from franet.exceptions import DataError
from franet.io._source import (
    check_expansion,
    check_shape,
    expect,
    open_binary,
    open_text,
    opened,
    reading,
)
from franet.io._table import Options, Raw, choose, from_structured

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


def read(path: Path, options: Options) -> Raw:
    """Read an array, or a sparse matrix, without its targets."""
    return _READERS[options.format](path, options)


def _read_npy(path: Path, options: Options) -> Raw:
    import numpy as np

    expect(path, "a npy file", b"\x93NUMPY")
    lazy = options.only_opens(path.stat().st_size)
    with reading(path, "npy"), path.open("rb") as file:
        source: Any = path if lazy else file
        mode: Any = "r" if lazy else None
        array = _array(path, lambda: np.load(source, mode, allow_pickle=False))
    return Raw(opened(path, array)) if lazy else _found(path, array, options)


def _found(path: Path, array: Any, options: Options) -> Raw:
    if array.dtype.names is not None and array.ndim == 1:
        return from_structured(path, array, options)
    return Raw(array)


def _array(path: Path, load: Any) -> Any:
    try:
        return load()
    except ValueError as err:
        if not str(err).startswith(("Object arrays", "Array can't be memory-mapped")):
            raise
        raise DataError(
            f"{path}: the array holds Python objects, which are never loaded; "
            "save it with a numeric dtype"
        ) from err


def _read_npz(path: Path, options: Options) -> Raw:
    import numpy as np
    from scipy import sparse

    expect(path, "a npz file", b"PK\x03\x04", b"PK\x05\x06")
    # Files are opened here, because NumPy leaves a damaged archive open.
    with reading(path, "npz"), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        check_expansion(path, sum(each.file_size for each in archive.zip.infolist()))
        if "format" in archive.files and "shape" in archive.files:
            file.seek(0)
            return Raw(sparse.load_npz(file))
        shapes = {name: _shape(archive, name) for name in archive.files}
        name = choose(path, shapes, options.variable)
        array = _array(path, lambda: archive[name])
    return _found(path, array, options)


def _shape(archive: Any, name: str) -> tuple[int, ...]:
    """Return the shape of an array of an archive without reading its numbers."""
    import numpy as np

    with archive.zip.open(f"{name}.npy") as member:
        if np.lib.format.read_magic(member) == (1, 0):
            return np.lib.format.read_array_header_1_0(member)[0]
    return tuple(archive[name].shape)


def _read_arff(path: Path, options: Options) -> Raw:
    """Read the numeric attributes; nominal ones and dates are not numeric."""
    from scipy.io import arff

    with reading(path, "arff"), open_text(path) as file:
        records, _ = arff.loadarff(file)
    return from_structured(path, records, options)


def _read_libsvm(path: Path, options: Options) -> Raw:
    """Read the features as a sparse matrix; the targets are not used."""
    with restored_state():  # scikit-learn loads rich, which draws from `random`
        from sklearn.datasets import load_svmlight_file
    with reading(path, "libsvm"), open_binary(path) as file:
        return Raw(load_svmlight_file(file)[0])


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


def _read_mtx(path: Path, options: Options) -> Raw:
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


_READERS = {
    "npy": _read_npy,
    "npz": _read_npz,
    "mtx": _read_mtx,
    "libsvm": _read_libsvm,
    "arff": _read_arff,
}
