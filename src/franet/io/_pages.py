"""Whether the headers of a parquet file make sense.

Libraries that read parquet believe what the header of a page says, and end the whole
process where a damaged one asks for more memory than there is.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from franet.io._source import check_expansion
from franet.io._thrift import Reader, Struct

__all__ = ["check_pages"]

_MAGIC = b"PAR1"
# Numbers of fields in parquet.thrift: FileMetaData, RowGroup, ColumnMetaData,
# PageHeader and the headers of pages of data (version 1, 2) and of dictionaries.
_GROUPS, _ROWS = 4, 3
_CHUNKS = 1
_META = 3
_TYPE, _BYTES = 1, {0: 1, 1: 4, 4: 4}  # truth values, integers and floats of 32 bits
_VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT = 5, 7, 9, 11
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
_HEADERS = (5, 7, 8)
_DICTIONARY = 7
_LARGEST_PAGE = 1 << 31
_HEADER_SIZE = 1 << 16  # writers cut the statistics in a header to some bytes


def check_pages(path: Path) -> None:
    """Raise a ValueError where a header is damaged.

    Raises
    ------
    DataError
        Where the table is far larger than the file can be expected to hold.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            footer = int.from_bytes(data[size - 8 : size - 4], "little")
            if size < 12 or data[size - 4 :] != _MAGIC or footer > size - 12:
                raise ValueError("the end of the file is missing")
            meta = Reader(data[size - 8 - footer : size - 8]).struct()
            groups = [_fields(group) for group in _items(meta.get(_GROUPS))]
            nbytes = 0
            for group in groups:
                rows = _count(group.get(_ROWS))
                for chunk in _items(group.get(_CHUNKS)):
                    column = _fields(_fields(chunk).get(_META))
                    values = rows * _BYTES.get(_count(column.get(_TYPE)), 8)
                    nbytes += max(values, _check_chunk(data, column))
            check_expansion(path, nbytes)


def _check_chunk(data: mmap.mmap, meta: Struct) -> int:
    """Check the pages of one column of a group of rows; return their unpacked size."""
    nbytes = 0
    values, at = _count(meta.get(_VALUES)), _count(meta.get(_DATA_AT))
    if _DICTIONARY_AT in meta and 0 < _count(meta[_DICTIONARY_AT]) < at:
        at = _count(meta[_DICTIONARY_AT])
    end = at + _count(meta.get(_PACKED))
    if not 4 <= at <= end <= len(data) - 8:
        raise ValueError("a column lies outside of the file")
    while at < end:
        reader = Reader(data[at : min(end, at + _HEADER_SIZE)])
        page = reader.struct()
        at += reader.at + _count(page.get(_PACKED_SIZE))
        nbytes += (unpacked := _count(page.get(_UNPACKED_SIZE)))
        if at > end or unpacked >= _LARGEST_PAGE:
            raise ValueError("a page lies outside of its column")
        for header in set(_HEADERS) & set(page):
            held = _count(_fields(page[header]).get(1))
            # A dictionary may hold values that no row has.
            if held > (_LARGEST_PAGE if header == _DICTIONARY else values):
                raise ValueError("a page holds more values than its column")
    return nbytes


def _fields(value: Any) -> Struct:
    if not isinstance(value, dict):
        raise ValueError("a part of the header is missing")
    return value


def _items(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        raise ValueError("a part of the header is missing")
    return iter(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("a count in a header is missing or negative")
    return value
