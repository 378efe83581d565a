"""Twenty tables of different kinds, for what the program says about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

from data import _find, load
from franet.datasets import make_groups


def normal(m, n, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


def one_factor():
    return normal(100, 1) + 0.5 * normal(100, 20, seed=1)


def groups(**given):
    given = {"n_examples": 100, "n_groups": 8, "group_size": 6, **given}
    return make_groups(**given, random_state=0).X


def words():
    """Return counts in which few words are frequent, and two topics have their own."""
    rng = np.random.default_rng(0)
    rates = np.tile(rng.gamma(0.3, 1.0, 120), (90, 1))
    rates[:45, :20] += 1.5
    rates[45:, 20:40] += 1.5
    return rng.poisson(rates).astype(float)


def chain():
    """Return columns of which each resembles its neighbors only."""
    walk = normal(120, 44).cumsum(axis=1)
    return walk[:, 4:] - walk[:, :-4]


def constants():
    X = groups(n_groups=3)
    return np.column_stack([X, np.ones((100, 5))])


def duplicates():
    X = normal(60, 6)
    return np.column_stack([X, -X, 3.0 * X + 1.0])


def field(name):
    path = _find(f"field/{name}.npz")
    if path is None:
        pytest.skip(f"no {name}.npz here: set FRANET_DATA")
    return np.load(Path(path), allow_pickle=True)["X"]


def stored(name):
    try:
        return load(name)[0]
    except FileNotFoundError as err:
        pytest.skip(str(err))


TABLES_SAID: dict[str, Callable[[], np.ndarray]] = {
    "noise": lambda: normal(60, 40),
    "one factor": one_factor,
    "8 groups of 6": groups,
    "8 groups of 6, with noise": lambda: groups(n_noise=60),
    "each column three times": duplicates,
    "copies of one column": lambda: normal(30, 1) * np.arange(1.0, 7.0),
    "constants": constants,
    "counts of words": words,
    "neighbors in a row": chain,
    "2 columns alike": lambda: normal(50, 1) + 0.3 * normal(50, 2, seed=1),
    "3 columns": lambda: normal(40, 3),
    "2 rows": lambda: normal(2, 8),
    "3 rows": lambda: normal(3, 8),
    "more columns than rows": lambda: groups(n_examples=15, n_groups=4, group_size=40),
    "5,000 rows": lambda: groups(n_examples=5000, n_groups=3, exact=False),
    "wine": lambda: datasets.load_wine().data,
    "tumours": lambda: datasets.load_breast_cancer().data,
    "digits": lambda: datasets.load_digits().data,
    "colon": lambda: stored("colon"),
    "pbmc": lambda: field("sc_pbmc68k_reduced"),
}
