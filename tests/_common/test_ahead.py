"""Reading ahead: order, errors, and no reading after the end."""

from __future__ import annotations

import threading

import pytest

from franet._common.threads import read_ahead

HANG = 600.0  # seconds
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
        assert begun.wait(HANG)


def test_no_more_than_one_piece_is_read_ahead():
    read, begun = [], []

    def cuts():
        for cut in CUTS:
            begun.append(cut[0])  # a piece is read once its cut is asked for
            yield cut

    with read_ahead(lambda start, stop: read.append(start), cuts()) as pieces:
        for at, (start, _) in enumerate(pieces):
            assert begun == [cut[0] for cut in CUTS[: at + 2]]
            if start == 4:
                break
    assert read in ([0, 2, 4], [0, 2, 4, 6])


def test_errors_come_through():
    def read(start, stop):
        if start == 4:
            raise KeyError("own")
        return start

    with pytest.raises(KeyError, match="own"), read_ahead(read, CUTS) as pieces:
        list(pieces)


def test_leaving_waits_for_what_is_under_way():
    begun, go_on, ended = threading.Event(), threading.Event(), []

    def read(start, stop):
        if start == 2:
            begun.set()
            assert go_on.wait(HANG)
        ended.append(start)

    # Who does not wait for it leaves before.
    later = threading.Timer(0.1, go_on.set)
    with pytest.raises(ZeroDivisionError), read_ahead(read, CUTS) as pieces:
        next(pieces)
        assert begun.wait(HANG)
        later.start()
        raise ZeroDivisionError
    assert go_on.is_set()
    assert ended == [0, 2]
    later.join()
