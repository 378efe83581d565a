"""Damage to files, and texts made up: all of it from the number of a case."""

from __future__ import annotations

import random
import struct

import numpy as np

from reliability.seeds import TEXTS, Files, packed, unpacked

_INTEGERS = (0, 1, -1, 127, 128, 255, 256, 65_535, 2**31 - 1, 2**31, 2**32 - 1, 2**40)
_INTEGERS += (2**62, 2**63 - 1, -(2**31), -(2**63))
_TOKENS = (
    b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"0x1p3", b"1_000", b"--1", b"1e",
    b"99999999999999999999999", b"9223372036854775808", b"2147483648", b"-1", b"0",
    b"1,5", b"1.5.2", b"NA", b"", b" ", b"TRUE", b"=1+1", b'"', b'""', b"'", b"\\",
    b"\0", b"\xff", b"\xef\xbb\xbf", "\N{ARABIC-INDIC DIGIT THREE}".encode(), b"\r",
    "\u2028".encode(), b"\x0b", b"\x1c", b"{", b"}", b"%", b"#", b"@data", b"@end",
    b"1:1", b"0:1", b"4294967296:1", b"-1:2", b"1:nan", b"%%MatrixMarket",
)  # fmt: skip
_ALPHABET = "0123456789.,;|\t\n\r \"'-+eE_:@#%{}()abNnaif\0\x85é√"


def _place(data: bytearray, rng: random.Random) -> int:
    """Return a place; the first bytes, which say how to read the rest, come often."""
    size = len(data) or 1
    return rng.randrange(min(size, 256) if rng.random() < 0.4 else size)


def _flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if data:
            data[_place(data, rng)] ^= 1 << rng.randrange(8)


def _bytes(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    data[at : at + rng.choice((1, 1, 2, 4))] = rng.choice(
        (b"\0", b"\xff", b"\x7f", b"\x80", rng.randbytes(4))
    )


def _cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _drop(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    del data[at : at + rng.choice((1, 2, 4, 8, rng.randrange(1, 200)))]


def _repeat(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    piece = bytes(data[at : at + rng.randrange(1, 65)])
    data[at:at] = piece * rng.choice((1, 1, 2, 50))


def _insert(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 8, 100)))


def _token(data: bytearray, rng: random.Random) -> None:
    at = _place(data, rng)
    data[at : at + rng.choice((0, 1, 1, 3))] = rng.choice(_TOKENS)


def _number(data: bytearray, rng: random.Random) -> None:
    """Change what may be a length or an offset."""
    width = rng.choice("bhiq")
    size = struct.calcsize(width)
    at = _place(data, rng)
    value = rng.choice((*_INTEGERS, len(data), len(data) - 1, len(data) + 1))
    wrapped = value % (1 << 8 * size)
    order = rng.choice(("little", "little", "big"))
    data[at : at + size] = wrapped.to_bytes(size, order)


def _digits(data: bytearray, rng: random.Random) -> None:
    """Put another number in the place of one, in headers that are text."""
    places = [i for i, byte in enumerate(data[:2000]) if 48 <= byte <= 57]
    if not places:
        return _number(data, rng)
    start = stop = rng.choice(places)
    while stop < len(data) and 48 <= data[stop] <= 57:
        stop += 1
    data[start:stop] = str(rng.choice(_INTEGERS)).encode()
    return None


_WAYS = (_flip, _bytes, _cut, _drop, _repeat, _insert, _token, _number, _digits)


def _damaged(data: bytes, other: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.08:  # the start of one file and the end of another
            cut = rng.randrange(len(changed) + 1)
            changed[cut:] = other[rng.randrange(len(other) + 1) :]
        else:
            rng.choice(_WAYS)(changed, rng)
    return bytes(changed)


def _one(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Damage a file, or what is packed in it."""
    inside = unpacked(data) if rng.random() < 0.7 else None
    if inside is None:
        return _damaged(data, other, rng)
    how, members = inside
    name = rng.choice(list(members))
    return packed(how, {**members, name: _damaged(members[name], other, rng)})


def _noise(rng: random.Random) -> bytes:
    """Return a text of what tables are made of, in no order."""
    text = "".join(rng.choices(_ALPHABET, k=rng.randrange(1, 300)))
    return text.encode()


def make_case(kind: str, seeds: list[Files], number: int) -> Files:
    """Return the files of a case; the same number gives the same files.

    Parameters
    ----------
    kind : str
        The format.
    seeds : list of mapping
        Valid files of the format.
    number : int
        The number of the case.
    """
    rng = random.Random(f"{kind} {number}")
    if kind in TEXTS and rng.random() < 0.1:
        return {"": _noise(rng)}
    files, others = rng.choice(seeds), rng.choice(seeds)
    name = rng.choice(list(files))
    if len(files) > 1 and rng.random() < 0.1:
        return {each: data for each, data in files.items() if each != name}
    other = rng.choice(list(others.values()))
    return {**files, name: _one(files[name], other, rng)}


def make_table(kind: str, number: int) -> tuple[bytes, np.ndarray]:
    """Return a text table of a dialect drawn at random, and what it holds."""
    rng = random.Random(f"table {kind} {number}")
    n_rows, n_columns = rng.randrange(2, 12), rng.randrange(2, 7)
    mark = {"csv": rng.choice(",;"), "tsv": "\t", "txt": rng.choice("\t|; ")}[kind]
    comma = mark in ";\t|" and rng.random() < 0.3
    values = np.array(
        [[_value(rng) for _ in range(n_columns)] for _ in range(n_rows)], float
    )
    if not comma and mark != " " and rng.random() < 0.3:
        values[rng.randrange(1, n_rows), rng.randrange(1, n_columns)] = np.nan
    gap = rng.choice(("", "NA", "NaN"))
    # At least one cell must show the decimal mark for it to be found out.
    values[0, 0] = 0.5
    cells = [[gap if v != v else repr(v) for v in row] for row in values.tolist()]
    if comma:
        cells = [[cell.replace(".", ",") for cell in row] for row in cells]
    lines = [[f"name{j}" for j in range(n_columns)]] * (rng.random() < 0.6) + cells
    if rng.random() < 0.2 and mark != " ":
        lines = [[f'"{cell}"' if cell else "" for cell in row] for row in lines]
    end = rng.choice(("\n", "\r\n"))
    blank = rng.choice(("", "", " ")) if mark != " " else ""
    text = end.join((mark + blank).join(row) for row in lines)
    text = rng.choice(("", "\ufeff")) + text + rng.choice(("", end, end + end))
    return text.encode(), values


def _value(rng: random.Random) -> float:
    kind = rng.randrange(4)
    if kind == 0:
        return float(rng.randrange(-100, 100))
    if kind == 1:
        return round(rng.uniform(-10, 10), 3)
    if kind == 2:
        return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)
    return struct.unpack("<d", rng.randbytes(7) + b"\x3f")[0]
