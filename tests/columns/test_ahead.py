"""Reading ahead: order, errors, and no reading after the end."""

from __future__ import annotations

import threading
import time

import pytest

from franet.columns import read_ahead

CUTS = [(at, at + 2) for at in range(0, 12, 2)]


def test_pieces_come_in_order():
    with read_ahead(lambda start, stop: list(range(start, stop)), CUTS) as pieces:
        assert list(pieces) == [(at, [at, at + 1]) for at, _ in CUTS]
    with read_ahead(lambda start, stop: 0, []) as pieces:
        assert list(pieces) == []


def test_the_next_piece_is_read_meanwhile():
    begun = threading.Event()

    def read(start, stop):
        if start == 2:
            begun.set()
        return start

    with read_ahead(read, CUTS) as pieces:
        assert next(pieces) == (0, 0)
        assert begun.wait(10)


def test_no_more_than_one_piece_is_read_ahead():
    read = []
    with read_ahead(lambda start, stop: read.append(start), CUTS) as pieces:
        next(pieces)
        time.sleep(0.05)
        assert read == [0, 2]
    time.sleep(0.05)
    assert read == [0, 2]


def test_errors_come_through():
    def read(start, stop):
        if start == 4:
            raise KeyError("own")
        return start

    with pytest.raises(KeyError, match="own"), read_ahead(read, CUTS) as pieces:
        list(pieces)


def test_leaving_waits_for_what_is_under_way():
    ended = []

    def read(start, stop):
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(ZeroDivisionError), read_ahead(read, CUTS) as pieces:
        next(pieces)
        raise ZeroDivisionError
    seen = len(ended)
    time.sleep(0.15)
    assert len(ended) == seen
