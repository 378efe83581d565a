"""Rankings of samples: which examples, on how many threads, and how they end."""

from __future__ import annotations

import _thread
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from franet import Cover, FRANe
from franet._common import progress as _progress
from franet._common.features import FeatureIndex
from franet.estimators import _draws
from franet.estimators._draws import Draws
from franet.estimators._validation import names_of
from franet.exceptions import DataError
from franet.pairs.coded import code_table
from franet.rankers import (
    NDFS,
    ColumnSubset,
    FacilityLocation,
    RandomRanking,
    Variance,
)
from franet.rankers._base import Ranker
from tables import duplicated, random

FIELDS = ["median_rank", "rank_low", "rank_high", "selected", "kuncheva", "jaccard"]
FIELDS += ["interchangeable", "n_degenerate"]


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS
    ) and np.array_equal(one.held, other.held, equal_nan=True)


def test_draws_are_fits_of_the_drawn_samples():
    X = random(30, 9)
    draws = Draws(Variance(), X, 6, 0)
    draws.run(1)
    for number, ranks in enumerate(draws.ranks):
        rows = draws._order[draws._rows(number)]
        assert len(set(rows.tolist())) == 15
        assert np.array_equal(ranks, Variance().fit(X[rows]).ranking_)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_permuted_columns_hold_the_same_values(form):
    X = np.where(random(30, 9) > 0, random(30, 9), 0.0)
    draws = Draws(Variance(), form(X), 4, 0, permuted=True)
    dense = Draws(Variance(), X, 4, 0, permuted=True)
    tables = []
    for draw in range(4):
        table = draws.table(draw)
        table = table.toarray() if sparse.issparse(table) else table
        np.testing.assert_array_equal(np.sort(table, axis=0), np.sort(X, axis=0))
        np.testing.assert_array_equal(table, dense.table(draw))
        tables.append(table)
    # Both halves are those of one table.
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])
    # No two columns in the same way.
    places = [[X[:, j].tolist().index(v) for v in tables[0][:, j]] for j in (0, 1)]
    assert places[0] != places[1]


def test_levels_are_drawn_by_what_they_are_called():
    frame = pd.DataFrame({"a": list("xyzxyzzx"), "b": np.arange(8.0) % 3})
    rows = np.random.default_rng(0).permutation(8)
    orders = [_draws._content_order(code_table(t)) for t in (frame, frame.iloc[rows])]
    found = [
        t.iloc[o].to_numpy().tolist()
        for t, o in zip((frame, frame.iloc[rows]), orders, strict=True)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("m", [10, 11])
def test_halves_complement_each_other(m):
    draws = Draws(Variance(), random(m, 4), 6, 0)
    for number in (0, 2, 4):
        one, other = draws._rows(number), draws._rows(number + 1)
        assert len(one) == len(other) == m // 2
        assert len({*one.tolist(), *other.tolist()}) == 2 * (m // 2)
    assert set(draws._rows(0).tolist()) != set(draws._rows(2).tolist())


RANKINGS = [
    FRANe(5, n_thresholds=10, store_candidates=True),
    FacilityLocation(5),
    ColumnSubset(5),
    NDFS(5, n_clusters=3, max_iter=3),
]


@pytest.mark.parametrize("ranker", RANKINGS, ids=lambda r: type(r).__name__)
def test_threads_do_not_matter(ranker):
    X = duplicated(40, 300, seed=4)
    ranker.fit(X)
    before = threadpool_info()
    one, two, three = (ranker.stability(X, 8, n_jobs=jobs) for jobs in (1, 2, 3))
    assert same(one, two)
    assert same(one, three)
    assert threadpool_info() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_libraries_have_one_thread(n_jobs):
    seen = []

    class Spy(Variance):
        def fit(self, X, y=None):
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            return super().fit(X, y)

    X = random(30, 20)
    ranker = Spy(3).fit(X)
    seen.clear()
    FRANe().fit(X)  # threadpoolctl remembers who has set a number of threads
    ranker.stability(X, 4, n_jobs=n_jobs)
    # Libraries of OpenMP that have not begun may say 0.
    assert max(seen) == 1


def test_memory_decides_on_fits_at_once(monkeypatch):
    seen = []

    class Spy(FRANe):
        def fit(self, X, y=None):
            seen.append(self.n_jobs)
            return super().fit(X, y)

    def threads_of(ranker):
        ranker.fit(X)
        seen.clear()
        return ranker.stability(X, 6, n_jobs=4), set(seen)

    X = random(30, 20)
    many, threads = threads_of(Spy(3))
    assert threads == {1}
    # What a user allows is for one fit.
    one, threads = threads_of(Spy(3, max_memory="1 GB"))
    assert threads == {4}
    assert same(many, one)
    monkeypatch.setattr(_draws, "available_bytes", lambda: 0)
    one, threads = threads_of(Spy(3))
    assert threads == {4}
    assert same(many, one)


def test_seeds():
    X = random(30, 20)
    ranker = ColumnSubset(5).fit(X)
    assert same(ranker.stability(X, 10), ranker.stability(X, 10, random_state=0))
    assert not same(ranker.stability(X, 10), ranker.stability(X, 10, random_state=1))
    new = [ranker.stability(X, 10, random_state=None) for _ in range(2)]
    assert not same(*new)
    # More draws go on where fewer end.
    few, many = (Draws(ranker, X, n_halves, 7) for n_halves in (5, 9))
    few.run(1)
    many.run(2)
    assert np.array_equal(few.ranks, many.ranks[:5])


@pytest.mark.parametrize("ranker", [FRANe(5), ColumnSubset(5), RandomRanking(5)])
def test_the_fitted_ranker_stays_as_it_is(ranker):
    frame = pd.DataFrame(random()).add_prefix("gene ")
    ranker.fit(frame)
    before = pickle.dumps(ranker)
    ranker.stability(frame, 3, n_jobs=1)
    ranker.stability(frame.to_numpy(), 3)
    assert pickle.dumps(ranker) == before


def test_progress():
    X = random(30, 20)
    ranker = ColumnSubset(5).fit(X)
    for jobs in (1, 2):
        heard = []
        with _progress.listening(lambda *said, heard=heard: heard.append(said)):
            ranker.stability(X, 4, n_jobs=jobs)
        stages = [("draws", 4), ("draws of permuted columns", 10)]
        wanted = [(s, done, n) for s, n in stages for done in range(1, n + 1)]
        assert heard == wanted


class Picky(Ranker):
    """By variance, but some features come first, some last, and some cost more."""

    def __init__(
        self,
        n_features_to_select=None,
        include=None,
        exclude=None,
        cost=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.include = include
        self.exclude = exclude
        self.cost = cost

    def _score(self, X):
        find = FeatureIndex(names_of(self)).find
        scores = X.var(axis=0)
        if isinstance(self.cost, dict):
            for feature, cost in self.cost.items():
                scores[find(feature)] /= cost
        elif self.cost is not None:
            scores /= np.asarray(self.cost, float)
        scores[[find(feature) for feature in self.include or []]] += 1e6
        scores[[find(feature) for feature in self.exclude or []]] -= 1e6
        return scores


@pytest.mark.parametrize("kind", ["names", "positions"])
def test_parameters_that_speak_of_features(kind):
    frame = pd.DataFrame(random(40, 10)).add_prefix("gene ")
    if kind == "names":
        X, last, dear = frame, ["gene 5"], {"gene 7": 1e12}
    else:
        X, last, dear = frame.to_numpy(), [5], [1.0] * 7 + [1e12] + [1.0] * 2
    ranker = Picky(4, include=[3], exclude=last, cost=dear).fit(X)
    found = ranker.stability(X, 20)
    assert found.rank_low[3] == found.rank_high[3] == 1
    assert found.rank_low[5] == found.rank_high[5] == 10
    assert found.rank_low[7] == found.rank_high[7] == 9


class Moody(Ranker):
    """Fails on halves."""

    def __init__(self, n_features_to_select=None, error=ValueError):
        self.n_features_to_select = n_features_to_select
        self.error = error

    def _score(self, X):
        if len(X) < 20:
            raise self.error("That is half a table.")
        return X.var(axis=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_draw_that_fails(n_jobs):
    X, before = random(20, 8), _thread._count()
    message = r"Draw [12] of 9 cannot be .*: That is half a table\. Another"
    with pytest.raises(DataError, match=message):
        Moody(3).fit(X).stability(X, 9, n_jobs=n_jobs)
    with pytest.raises(ZeroDivisionError, match="That is half a table"):
        Moody(3, error=ZeroDivisionError).fit(X).stability(X, 9, n_jobs=n_jobs)
    while _thread._count() > before:  # the last of them are about to end
        time.sleep(0.01)


def test_permuted_columns_that_cannot_be_ranked():
    class Particular(Moody):
        def _score(self, X):
            if np.abs(np.corrcoef(X.T) - np.eye(8)).max() < 0.9:
                raise ValueError("No two columns are related.")
            return X.var(axis=0)

    X = random(20, 8)
    X[:, 1] = X[:, 0]
    found = Particular(3).fit(X).stability(X, 4)
    assert len(found.permuted) == 0


class Slow(Ranker):
    """Waits but for the first draw, says nothing and changes what is global."""

    calls = iter(())
    go_on, turn = threading.Event(), threading.Condition()
    came = left = 0

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def _score(self, X):
        if (first := next(self.calls, None)) is False:
            with ExitStack() as stack:
                with self.turn:
                    stack.enter_context(warnings.catch_warnings())
                    stack.enter_context(threadpool_limits(1, user_api="blas"))
                    warnings.simplefilter("error")
                    place, Slow.came = Slow.came, Slow.came + 1
                    self.turn.notify_all()
                self.go_on.wait()
                # Who comes later leaves later, and finds what was set.
                with self.turn:
                    self.turn.wait_for(lambda: Slow.left == place)
                    stack.close()
                    Slow.left += 1
                    self.turn.notify_all()
        elif first:
            with self.turn:
                self.turn.wait_for(lambda: Slow.came >= 2)
        return X.var(axis=0)


def test_fits_that_outlast_the_call_leave_nothing_behind():
    def stop(*said):
        raise KeyboardInterrupt

    X = random(20, 8)
    ranker = Slow(3).fit(X)
    filters, show, pools = warnings.filters, warnings.showwarning, threadpool_info()
    n_threads = _thread._count()
    Slow.calls = iter([True] + [False] * 9)
    Slow.go_on.clear()
    Slow.came = Slow.left = 0
    with pytest.raises(KeyboardInterrupt), _progress.listening(stop):
        ranker.stability(X, 9, n_jobs=3)
    assert _thread._count() > n_threads
    Slow.go_on.set()
    while _thread._count() > n_threads:
        time.sleep(0.01)
    assert warnings.filters is filters
    assert warnings.showwarning is show
    assert threadpool_info() == pools


INTERRUPTED = """
import os, sys, threading
import numpy as np
from franet import Cover, FRANe
from franet.rankers._base import Ranker


class Silent(Ranker):
    # Reports nothing and never ends.
    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def _score(self, X):
        os.write(1, b"ready\\n")
        threading.Event().wait()


class Told(FRANe):
    def fit(self, X, y=None):
        os.write(1, b"ready\\n")
        return super().fit(X)


X = np.random.default_rng(0).normal(size=(300, 9_000))
ranker = {"silent": Silent, "told": Told}[sys.argv[1]]()
ranker.n_features_in_, ranker.n_features_ = 9_000, 5  # as if it were fitted
try:
    ranker.stability(X, n_jobs=2)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("ranker", ["silent", "told"])
def test_interrupt_stops_the_draws(ranker):
    command = [sys.executable, "-c", INTERRUPTED, ranker]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().split()
    assert rest[-1] == "stopped"
    assert rest.count("ready") < 25, "of 50 draws most are left"
    assert process.returncode == 0


def test_columns_that_are_constant_in_a_draw():
    X = np.random.default_rng(0).normal(size=(30, 10))
    X[:, 9] = 0.0
    X[4, 9] = 1.0
    ranker = Cover(10).fit(X)
    stability = ranker.stability(X, n_halves=10)
    assert stability.selected.tolist() == [1.0] * 10
    assert stability.rank_high[9] == 10


def test_costs_of_a_series_move_with_their_features():
    frame = pd.DataFrame(random(30, 8, seed=1), columns=list("abcdefgh"))
    cost = pd.Series(np.arange(1.0, 9.0), index=frame.columns)
    found = [
        Cover(3, cost=given).fit(frame).stability(frame, n_halves=4).selected
        for given in (cost, cost[::-1], cost.to_dict())
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
