"""The compact protocol of Thrift, as far as the headers of parquet files use it."""

from __future__ import annotations

from typing import Any

__all__ = ["Reader", "Struct"]

Struct = dict[int, Any]
_DEPTH = 32
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = (
    0, 1, 2, 3, 7, 8, 9, 10, 12,
)  # fmt: skip
_INTEGERS = (4, 5, 6)


class Reader:
    """Reads structs from bytes; anything damaged is a ValueError.

    Parameters
    ----------
    data : bytes
        What is read.
    at : int, default=0
        Where the first struct begins.

    Attributes
    ----------
    at : int
        Where the next one would begin.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> Struct:
        """Return the fields of a struct by their numbers."""
        if depth > _DEPTH:
            raise ValueError("a header is nested too deeply")
        fields: Struct = {}
        number = 0
        while (head := self._byte()) & 15 != _STOP:
            step = head >> 4
            number = number + step if step else self._integer()
            kind = head & 15
            is_truth = kind in (_TRUE, _FALSE)
            fields[number] = kind == _TRUE if is_truth else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind == _DOUBLE:
            return self._take(8)
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a header holds values of an unknown kind ({kind})")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self._varint() if size == 15 else size
        if size > len(self._data) - self.at:  # each item takes a byte or more
            raise ValueError("a header is cut off")
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        taken = self._data[self.at : self.at + size]
        if len(taken) < size:
            raise ValueError("a header is cut off")
        self.at += size
        return taken

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a header holds a number that is too long")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
