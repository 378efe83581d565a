"""Clusters for the tests of Dask, and short ways to fit on them."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager

import numpy as np
import pytest

from franet import FRANe
from franet._common import progress as _progress
from tables import blocks

dask = pytest.importorskip("dask", reason="needs franet[dask]")
distributed = pytest.importorskip("distributed", reason="needs franet[dask]")

MARKS = [
    pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning"),
    pytest.mark.usefixtures("many_parts"),
]
posix = pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")

# Five blocks in float64, three in float32.
TABLE = blocks(m=25, n=1100)


@contextmanager
def started(n_workers):
    options = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
        # After this time a cluster looks whether a lost worker is there again. If it
        # was, and has just been lost a second time, it would be given up for good.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, **options
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def fit(client, X, listener=None, **choice):
    choice = {"n_thresholds": 12, **choice}
    with _progress.listening(listener):
        return FRANe(backend=client, **choice).fit(X)


def local(X, **choice):
    return FRANe(backend="numpy", **{"n_thresholds": 12, **choice}).fit(X)


def assert_agrees(ranker, expected):
    assert ranker.winner_ == expected.winner_
    np.testing.assert_allclose(ranker.scores_, expected.scores_, rtol=1e-12)
    np.testing.assert_array_equal(ranker.n_edges_, expected.n_edges_)
    np.testing.assert_array_equal(ranker.constant_, expected.constant_)
    assert ranker.network_.n_edges == expected.network_.n_edges


def assert_same_bits(ranker, expected):
    for name in ("scores_", "thresholds_", "quality_bound_", "n_edges_"):
        found, wanted = getattr(ranker, name), getattr(expected, name)
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def wait_until(condition):
    """Wait for what comes, however busy the machine is."""
    while not condition():
        time.sleep(0.01)


def assert_nothing_left(client):
    assert not client.futures
    wait_until(lambda: not client.cluster.scheduler.tasks)
