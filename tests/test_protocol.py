"""The protocol of the paper against its published figures, and against loops."""

from __future__ import annotations

import random

import numpy as np
import pytest

from data import load, needs_shared
from franet import FRANe
from protocol import folds, predict, rmae
from tables import tied


def test_folds():
    rows = list(range(23))
    random.seed(123)
    random.shuffle(rows)
    at = 0
    for f, (train, test) in enumerate(folds(23)):
        size = 3 if f < 3 else 2
        assert test.tolist() == rows[at : at + size]
        assert train.tolist() == rows[:at] + rows[at + size :]
        at += size
    assert (at, f) == (23, 9)


def test_neighbours_tie_by_position():
    X = tied(30, 8)
    train, test, chosen = X[:24], X[24:], np.array([5, 0])
    found = predict(train, test, chosen)
    for row, guess in zip(test, found, strict=True):
        distance = [sum((t[j] - row[j]) ** 2 for j in chosen) for t in train]
        near = sorted(range(24), key=lambda i: (distance[i], i))[:5]
        np.testing.assert_allclose(guess, train[near].mean(axis=0))


def test_constant_features_are_left_out():
    X = tied(30, 8)
    with_constant = np.column_stack([X, np.full(30, 7.0)])
    ranks = np.arange(1, 9)
    plain = rmae(X, lambda T: ranks, 3)
    assert rmae(with_constant, lambda T: np.append(ranks, 9), 3) == plain


@needs_shared
@pytest.mark.parametrize(
    ("variant", "published"), [("reference", 0.608), ("paper", 0.601)]
)
@pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning")
def test_published_figure(variant, published):
    X, _ = load("Yale")
    found = rmae(X, lambda T: FRANe(variant=variant).fit(T).ranking_)
    assert found == pytest.approx(published, abs=0.001)
