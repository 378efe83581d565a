"""MATLAB files of version 5: arrays of numbers, dense and sparse.

SciPy ends the process at many a damaged file of this version.
"""

from __future__ import annotations

import math
import mmap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from franet.io._source import check_expansion

__all__ = ["Variable", "read_variable", "variables"]

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_COMPLEX, _LOGICAL = 0x0800, 0x0200
_SPARSE, _OPAQUE = 5, 17
# What numbers are stored as: MATLAB takes the smallest type that holds them.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_STORED |= {12: "i8", 13: "u8"}
# What they are.
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"}
_CLASSES |= {14: "i8", 15: "u8"}
_WORDS = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function"}
_HEAD = 1 << 12  # bytes that hold type, shape and name
_PIECE = 1 << 20

Element = tuple[int, Any]


class Variable(NamedTuple):
    """A variable of a file: what is known of it before it is read."""

    name: str
    shape: tuple[int, ...]
    flags: int
    body: Any
    packed: bool

    @property
    def kind(self) -> str:
        """What it holds: numbers, sparse numbers, or the word for what else."""
        number = self.flags & 0xFF
        if number == _SPARSE or number in _CLASSES:
            return "sparse" if number == _SPARSE else "numbers"
        return _WORDS.get(number, "opaque")


def variables(path: Path) -> tuple[str, list[Variable]]:
    """Return the byte order of a file and its variables.

    Raises
    ------
    ValueError
        Where the file is damaged.
    """
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    order = "<" if bytes(data[_HEADER - 2 : _HEADER]) == b"IM" else ">"
    found = []
    for kind, body in _elements(data[_HEADER:], order):
        packed, head = kind == _COMPRESSED, body
        if packed:
            head = zlib.decompressobj().decompress(body, _HEAD)
            kind, head = int.from_bytes(head[:4], _ENDS[order]), memoryview(head)[8:]
        if kind != _MATRIX:
            raise ValueError(f"an element of an unknown kind ({kind})")
        each = _described(_elements(head, order), order, body, packed)
        if each.name:  # what has none belongs to MATLAB
            found.append(each)
    return order, found


_ENDS: dict[str, Any] = {"<": "little", ">": "big"}


def _described(
    parts: Iterator[Element], order: str, body: Any, packed: bool
) -> Variable:
    try:
        flags = int(_numbers(next(parts), order)[0])
        shape: tuple[int, ...] = ()
        if flags & 0xFF != _OPAQUE:
            shape = tuple(map(int, _numbers(next(parts), order)))
        name = bytes(next(parts)[1]).decode("latin-1")
    except (IndexError, StopIteration) as err:
        raise ValueError("the header of a variable is cut off") from err
    if len(name) > _HEAD or min(shape, default=0) < 0:
        raise ValueError("the header of a variable is damaged")
    return Variable(name, shape, flags, body, packed)


def read_variable(path: Path, order: str, variable: Variable) -> Any:
    """Return an array of numbers; the indices of a sparse one are to be checked.

    Raises
    ------
    ValueError
        Where the variable is damaged.
    """
    import numpy as np
    from scipy import sparse

    body = variable.body
    if variable.packed:
        body = memoryview(_unpacked(path, body))[8:]
    parts = [_numbers(part, order) for part in list(_elements(body, order))[3:]]
    has_two = bool(variable.flags & _COMPLEX)
    is_sparse = variable.kind == "sparse"
    if len(parts) < 1 + has_two + 2 * is_sparse:
        raise ValueError("the numbers are cut off")
    values = parts[-2] + 1j * parts[-1] if has_two else parts[-1]
    if not is_sparse:
        if len(values) != math.prod(variable.shape):
            raise ValueError(f"{len(values)} numbers for a shape of {variable.shape}")
        kind = np.dtype(_CLASSES[variable.flags & 0xFF])
        array = values if has_two else values.astype(kind, copy=False)
        return array.reshape(variable.shape, order="F")
    rows, starts = parts[:2]
    count = int(starts[-1]) if len(starts) else 0
    values = values.astype(bool) if variable.flags & _LOGICAL else values
    # Room that is not used is stored as well.
    held = values[:count], rows[:count], starts
    return sparse.csc_array(held, shape=variable.shape)


def _elements(data: Any, order: str) -> Iterator[Element]:
    """Yield the type and the bytes of one element after another."""
    at, end = 0, _ENDS[order]
    while at + 8 <= len(data):
        kind = int.from_bytes(data[at : at + 4], end)
        size = int.from_bytes(data[at + 4 : at + 8], end)
        start = at + 8
        if kind >> 16:  # a small one, with its size in the upper half of the type
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        if start + size > len(data):
            raise ValueError("an element is cut off")
        yield kind, data[start : start + size]
        # Compressed elements follow each other closely, others at steps of 8.
        at = start + size + (-(start + size) % 8 if kind != _COMPRESSED else 0)


def _unpacked(path: Path, body: Any) -> bytes:
    engine, rest = zlib.decompressobj(), bytes(body)
    pieces, size = [], 0
    while not engine.eof:
        pieces.append(engine.decompress(rest, _PIECE))
        rest = engine.unconsumed_tail
        if not pieces[-1] and not engine.eof:
            raise ValueError("an element is cut off")
        size += len(pieces[-1])
        check_expansion(path, size)
    return b"".join(pieces)


def _numbers(part: Element, order: str) -> Any:
    import numpy as np

    kind, data = part
    if kind not in _STORED:
        raise ValueError(f"numbers of an unknown kind ({kind})")
    dtype = np.dtype(_STORED[kind])
    whole = data[: len(data) - len(data) % dtype.itemsize]
    return np.frombuffer(whole, order + _STORED[kind]).astype(dtype)
