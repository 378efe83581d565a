"""What the batches of a feather or arrow file take in memory, from their headers.

Libraries that read such files believe what a batch says of its size, and unpack it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from franet.io._source import check_expansion

__all__ = ["check_batches"]

_MAGIC = b"ARROW1"
_MARK = 0xFFFFFFFF  # before each message, but in files of old versions
_U16, _U32, _I32, _I64 = map(Struct, ("<H", "<I", "<i", "<q"))
_PAIR, _BLOCK = Struct("<qq"), Struct("<qi4xq")
# Numbers of fields in File.fbs and Message.fbs: Footer, Message, DictionaryBatch,
# RecordBatch.
_DICTIONARIES, _RECORDS = 2, 3
_KIND, _HEADER, _BODY = 1, 2, 3
_DATA = 1
_NODES, _BUFFERS, _COMPRESSION = 1, 2, 3
_DICTIONARY, _RECORD = 2, 3  # kinds of messages
_PER_VALUE = 8  # bytes


class _Table(NamedTuple):
    """A table of a flatbuffer: a place in the file."""

    data: mmap.mmap
    at: int

    def place(self, field: int) -> int | None:
        """Return where a field lies; None where it has its default."""
        known = self.at - _I32.unpack_from(self.data, self.at)[0]
        at = 4 + 2 * field
        if known < 0 or at >= _U16.unpack_from(self.data, known)[0]:
            return None
        offset = int(_U16.unpack_from(self.data, known + at)[0])
        return self.at + offset if offset else None

    def below(self, field: int) -> int | None:
        """Return where that lies which a field points to."""
        at = self.place(field)
        return None if at is None else at + int(_U32.unpack_from(self.data, at)[0])

    def items(self, field: int, kind: Struct) -> Iterator[tuple[int, ...]]:
        """Yield the records of a field."""
        at = self.below(field)
        if at is not None:
            for i in range(_U32.unpack_from(self.data, at)[0]):
                yield kind.unpack_from(self.data, at + 4 + i * kind.size)


def check_batches(path: Path) -> None:
    """Check how much memory the batches of a file would take.

    Raises
    ------
    DataError
        Where it is far more than the file can be expected to hold.
    ValueError
        Where a header is damaged.
    """
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        nbytes = seen = 0
        for message, body in _messages(data):
            for held, count in _batches(message, body):
                nbytes, seen = nbytes + held, seen + count
                # Each buffer has a record of its own, unless batches lie in others.
                if seen * _PAIR.size > len(data):
                    raise ValueError("batches lie in one another")
        check_expansion(path, nbytes)


def _messages(data: mmap.mmap) -> Iterator[tuple[_Table, int]]:
    """Yield the messages, and where the body of each begins."""
    if data[: len(_MAGIC)] != _MAGIC:
        yield from _stream(data)
        return
    end = len(data) - len(_MAGIC) - 4
    root = end - _I32.unpack_from(data, end)[0]
    footer = _Table(data, root + _U32.unpack_from(data, root)[0])
    for field in (_DICTIONARIES, _RECORDS):
        for at, size, _ in footer.items(field, _BLOCK):
            yield _message(data, at)[0], at + size


def _stream(data: mmap.mmap) -> Iterator[tuple[_Table, int]]:
    """Yield the messages of a file without a footer."""
    at = 0
    while at + 8 <= len(data):
        message, end = _message(data, at)
        if end == at + 8:  # the end of the stream
            return
        yield message, end
        place = message.place(_BODY)
        length = 0 if place is None else _I64.unpack_from(data, place)[0]
        if length < 0:
            raise ValueError("a message has a negative length")
        at = end + length


def _message(data: mmap.mmap, at: int) -> tuple[_Table, int]:
    """Return a message, and where it ends."""
    start = at + 4 if _U32.unpack_from(data, at)[0] != _MARK else at + 8
    size = _I32.unpack_from(data, start - 4)[0]
    if at < 0 or size < 0:
        raise ValueError("a message has a negative length")
    if not size:
        return _Table(data, start), start
    return _Table(data, start + _U32.unpack_from(data, start)[0]), start + size


def _batches(message: _Table, body: int) -> Iterator[tuple[int, int]]:
    """Yield what a batch of a message takes, and how many buffers it has."""
    kind, header = message.place(_KIND), message.below(_HEADER)
    if kind is None or header is None:
        return
    batch = _Table(message.data, header)
    if message.data[kind] == _DICTIONARY:
        inner = batch.below(_DATA)
        if inner is None:
            return
        batch = _Table(message.data, inner)
    elif message.data[kind] != _RECORD:
        return
    packed = batch.place(_COMPRESSION) is not None
    held = count = 0
    for at, length in batch.items(_BUFFERS, _PAIR):
        count += 1
        if packed and length:  # its size comes first, or -1 where it is not packed
            length = max(length, _I64.unpack_from(batch.data, body + at)[0])
        held += max(0, length)
    values = _PER_VALUE * sum(max(0, n) for n, _ in batch.items(_NODES, _PAIR))
    yield max(held, values), count
