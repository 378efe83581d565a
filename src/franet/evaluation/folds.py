"""Which examples a ranking may see, and which judge it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import SEED, WHOLE, check_value, checked
from franet.exceptions import Setting, UsageError

PAPER_SEED = 123
PAPER_FOLDS = 10


@dataclass(frozen=True)
class Fold:
    """One division of the examples.

    Attributes
    ----------
    number : int
        Counted from 0.
    train : ndarray of int
        The examples that the ranking sees. Their order counts: neighbours at the
        same distance are taken in it.
    test : ndarray of int
        The examples that are rebuilt.
    """

    number: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@checked(n_examples=WHOLE)
def paper_folds(n_examples: int) -> list[Fold]:
    """Return the ten folds of the paper.

    Python's generator with seed 123 shuffles the examples, ten consecutive blocks are
    the test parts (the first ones are longer), and a training part is the other nine
    in shuffled order.

    Parameters
    ----------
    n_examples : int
        Number of examples, at least 20.

    Returns
    -------
    folds : list of Fold
        Ten of them.
    """
    rows = list(range(_enough(n_examples, PAPER_FOLDS)))
    random.Random(PAPER_SEED).shuffle(rows)
    return _blocks(np.array(rows, np.intp), PAPER_FOLDS, 0)


@checked(n_examples=WHOLE, n_folds=WHOLE, repeats=WHOLE, seed=SEED)
def shuffled_folds(
    n_examples: int, n_folds: int = 10, repeats: int = 1, seed: int = 0
) -> list[Fold]:
    """Return folds of examples shuffled anew for each repetition.

    Parameters
    ----------
    n_examples : int
        Number of examples, at least twice the folds.
    n_folds : int, default=10
        Number of folds of one repetition.
    repeats : int, default=1
        Number of repetitions.
    seed : int, default=0
        Seed of the shuffles.

    Returns
    -------
    folds : list of Fold
        ``n_folds * repeats`` of them.
    """
    _enough(n_examples, n_folds)
    check_value("repeats", repeats, repeats >= 1, "give a number of at least 1")
    generator = np.random.default_rng(seed)
    folds: list[Fold] = []
    for _ in range(repeats):
        folds += _blocks(generator.permutation(n_examples), n_folds, len(folds))
    return folds


@checked(n_examples=WHOLE, repeats=WHOLE, seed=SEED)
def make_folds(
    folds: Any, n_examples: int, *, repeats: int = 1, seed: int = 0
) -> list[Fold]:
    """Return the folds that a parameter `folds` stands for.

    Parameters
    ----------
    folds : "paper", int, splitter or iterable
        ``"paper"`` for the partition of the paper, a number for shuffled folds, an
        object with ``split(X)`` as scikit-learn has them, or pairs of arrays
        (training rows, test rows).
    n_examples : int
        Number of examples.
    repeats : int, default=1
        Repetitions, where `folds` is a number.
    seed : int, default=0
        Seed of the shuffles, where `folds` is a number.

    Returns
    -------
    folds : list of Fold
        The folds, numbered from 0.
    """
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        return shuffled_folds(n_examples, int(folds), repeats, seed)
    if repeats != 1:
        raise UsageError(
            "{} applies where {} is a number, not with {}.",
            Setting("repeats", repeats),
            Setting("folds"),
            Setting("folds", folds),
            remedy="Leave out {0}.",
        )
    if isinstance(folds, str) and folds == "paper":
        return paper_folds(n_examples)
    if hasattr(folds, "split") and not isinstance(folds, str):
        folds = folds.split(np.zeros((n_examples, 1)))
    is_fine = isinstance(folds, Iterable) and not isinstance(folds, str)
    check_value("folds", folds, is_fine, "give 'paper', a number, or a splitter")
    return _given(folds, n_examples)


def name_folds(folds: Any, repeats: int = 1, seed: int = 0) -> str:
    """Return a short name under which results of these folds are filed."""
    if isinstance(folds, str):
        return folds
    if isinstance(folds, int | np.integer):
        return f"{folds} folds x {repeats}, seed {seed}"
    return "given"


def _enough(n_examples: int, n_folds: int) -> int:
    check_value("folds", n_folds, n_folds >= 2, "give at least 2")
    if n_examples < 2 * n_folds:
        raise UsageError(
            f"{n_examples} examples are too few for {n_folds} folds of at least 2; "
            "use {}",
            Setting("folds", max(2, n_examples // 2)),
        )
    return n_examples


def _blocks(rows: NDArray[np.intp], n_folds: int, first: int) -> list[Fold]:
    parts = np.array_split(rows, n_folds)  # the first ones are longer
    return [
        Fold(first + f, np.concatenate(parts[:f] + parts[f + 1 :]), parts[f])
        for f in range(n_folds)
    ]


def _given(pairs: Iterable[Any], n_examples: int) -> list[Fold]:
    def check(is_fine: Any, problem: str) -> None:
        check_value("folds", ..., bool(is_fine), problem)

    folds = []
    for number, pair in enumerate(pairs):
        try:
            train, test = (np.asarray(part, np.intp) for part in pair)
        except (TypeError, ValueError):
            check(False, f"item {number} is not a pair of arrays of row numbers")
        for name, part in (("training", train), ("test", test)):
            which = f"the {name} part of fold {number}"
            check(part.ndim == 1 and len(part), f"{which} is empty")
            there = part.min() >= 0 and part.max() < n_examples
            check(there, f"{which} names rows that are not in 0..{n_examples - 1}")
        shared = np.intersect1d(train, test)
        check(not len(shared), f"the parts of fold {number} share rows")
        folds.append(Fold(number, train, test))
    check(folds, "there are none; give at least one")
    return folds
