from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.model_selection import KFold

from franet.evaluation.folds import (
    make_folds,
    name_folds,
    paper_folds,
    shuffled_folds,
)
from franet.exceptions import UsageError


@pytest.mark.parametrize("m", [20, 62, 103])
def test_paper_folds_are_blocks_of_one_shuffle(m):
    rows = list(range(m))
    random.seed(123)
    random.shuffle(rows)
    folds = paper_folds(m)
    assert np.concatenate([fold.test for fold in folds]).tolist() == rows
    sizes = [len(fold.test) for fold in folds]
    assert sizes == [m // 10 + 1] * (m % 10) + [m // 10] * (10 - m % 10)
    for fold in folds:
        held = set(fold.test.tolist())
        assert fold.train.tolist() == [row for row in rows if row not in held]


def test_the_global_generator_is_left_alone():
    random.seed(7)
    before = random.getstate()
    paper_folds(30)
    assert random.getstate() == before


def test_shuffled_folds_cover_every_row_once_a_repetition():
    folds = shuffled_folds(23, 4, repeats=3, seed=5)
    assert [fold.number for fold in folds] == list(range(12))
    for at in range(0, 12, 4):
        tested = np.concatenate([fold.test for fold in folds[at : at + 4]])
        assert sorted(tested.tolist()) == list(range(23))
    assert not np.array_equal(folds[0].test, folds[4].test)
    again = shuffled_folds(23, 4, repeats=3, seed=5)
    assert all(
        np.array_equal(a.train, b.train) for a, b in zip(folds, again, strict=True)
    )
    assert not np.array_equal(shuffled_folds(23, 4, seed=6)[0].test, folds[0].test)


def test_a_splitter_and_pairs_of_rows_are_taken():
    splitter = KFold(3)
    folds = make_folds(splitter, 9)
    assert [fold.test.tolist() for fold in folds] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    pairs = [([0, 1], [2]), (np.array([2, 1]), np.array([0]))]
    assert make_folds(pairs, 3)[1].train.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        ("papers", "'paper'"),
        (1, "at least 2"),
        (8, "use folds=7"),
        (None, "splitter"),
        ([], "none"),
        ([([0, 1], [1])], "share rows"),
        ([([0, 1], [99])], r"not in 0\.\.14"),
        ([([0, 1], [])], "test part of fold 0 is empty"),
        ([3], "item 0"),
    ],
)
def test_bad_folds_are_named(folds, words):
    with pytest.raises(UsageError, match=words):
        make_folds(folds, 15)


def test_names_tell_partitions_apart():
    names = {
        name_folds("paper"),
        name_folds(10),
        name_folds(10, 2),
        name_folds(10, 1, 3),
    }
    assert len(names) == 4
    assert name_folds(KFold(3)) == "given"


def test_no_repetition_is_an_error():
    with pytest.raises(UsageError, match="repeats=0"):
        shuffled_folds(20, 2, repeats=0)
