"""Rankers that misbehave, and small tables: importable from worker processes.

They need no scikit-learn, so that a process that names them starts quickly.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import time

import numpy as np

from franet.exceptions import DataError

N_FEATURES = 6


def load(name):
    """Return a small table that depends on its name only; "plain" has no classes."""
    if name.startswith("missing"):
        raise DataError(f"{name}: is not here; fetch it")
    rng = np.random.default_rng(sum(name.encode()))
    X = rng.normal(size=(20, N_FEATURES))
    return X, None if name == "plain" else np.arange(20) % 2


def load_other(name):
    X, y = load(name)
    return X + 1, y


def stand_in_for_sklearn(folder):
    """Make a folder for the path of a process: scikit-learn there is next to nothing.

    Nearly all of its start is for parts that are not needed here: with the one function
    that is, a process starts in a third of the time.
    """
    package = folder / "sklearn"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "base.py").write_text(
        "def clone(ranker):\n    return type(ranker)(**ranker.get_params())\n"
    )
    return str(folder)


class Ranker:
    """The part of an estimator that is needed here."""

    def get_params(self, deep=True):
        if type(self).__init__ is object.__init__:
            return {}
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **parameters):
        vars(self).update(parameters)
        return self


class Noisy(Ranker):
    """Ranks at random, after a nap."""

    def __init__(self, nap=0.0, random_state=None):
        self.nap = nap
        self.random_state = random_state

    def fit(self, X, y=None):
        time.sleep(self.nap)
        generator = np.random.default_rng(self.random_state)
        self.ranking_ = generator.permutation(X.shape[1]) + 1
        return self


class ByColumn(Ranker):
    def fit(self, X, y=None):
        self.ranking_ = np.arange(X.shape[1]) + 1
        return self


class Sleeping(ByColumn):
    """Makes a file named by its process in a folder, if there is one; never ends."""

    def __init__(self, folder=""):
        self.folder = folder

    def fit(self, X, y=None):
        if self.folder:
            open(os.path.join(self.folder, str(os.getpid())), "w").close()
        self.wait()
        return super().fit(X)

    def wait(self):
        while True:
            time.sleep(600)


class Stubborn(Sleeping):
    """Holds the interpreter lock for hours."""

    def wait(self):
        re.match(r"(a+)+$", "a" * 60 + "b")


class Hungry(ByColumn):
    """Takes memory bit by bit, for ever."""

    def fit(self, X, y=None):
        held = []
        while True:
            held.append(np.ones(1_000_000))
            time.sleep(0.01)


class Raising(ByColumn):
    def __init__(self, error="ValueError"):
        self.error = error

    def fit(self, X, y=None):
        kinds = {
            "ValueError": ValueError("no good\nat all"),
            "MemoryError": MemoryError("too much"),
            "SystemExit": SystemExit(3),
            "EOFError": EOFError("end"),
        }
        raise kinds[self.error]


class Dying(ByColumn):
    def __init__(self, how="exit"):
        self.how = how

    def fit(self, X, y=None):
        if self.how == "exit":
            os._exit(7)
        if self.how == "fork":  # leaves a child that holds all files open
            if os.fork() == 0:
                time.sleep(3)
            os._exit(7)
        if self.how == "abort":
            os.kill(os.getpid(), signal.SIGABRT)
        os.kill(os.getpid(), signal.SIGKILL)


class FailsUntil(ByColumn):
    """Fails while a file is there."""

    def __init__(self, path=""):
        self.path = path

    def fit(self, X, y=None):
        if os.path.exists(self.path):
            raise RuntimeError("not yet")
        return super().fit(X)


class Counting(ByColumn):
    """Tells how many threads it may use."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        import numba
        from threadpoolctl import threadpool_info

        from franet._common.threads import count_threads

        pools = {pool["num_threads"] for pool in threadpool_info()}
        threads = {count_threads(self.n_jobs), numba.config.NUMBA_NUM_THREADS, *pools}
        raise RuntimeError(f"threads: {sorted(threads)}")
