"""Where a fit runs: what `backend` may be, and what becomes of a Dask client."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from franet import Cover, FRANe
from franet.engine.device import Place, parse_place, portable
from franet.exceptions import Setting, UsageError
from tables import random

X = random(20, 8, seed=3)
ALL = ("numpy", "torch", "dask")


class Client:
    """What is seen of a Dask client: it submits, and knows its scheduler."""

    class scheduler:
        address = "tcp://127.0.0.1:8786"

    def submit(self):
        raise AssertionError("nothing is computed here")

    def __reduce__(self):
        raise TypeError("a live connection cannot be copied")


@pytest.mark.parametrize(
    ("backend", "kind", "device", "scheduler"),
    [
        ("auto", "auto", None, None),
        ("numpy", "numpy", None, None),
        ("torch", "torch", None, None),
        ("cuda", "torch", "cuda", None),
        ("cuda:1", "torch", "cuda:1", None),
        ("mps", "torch", "mps", None),
        ("xpu:0", "torch", "xpu:0", None),
        ("torch:cpu", "torch", "cpu", None),
        ("torch:cuda:2", "torch", "cuda:2", None),
        ("dask", "dask", None, None),
        ("tcp://host:8786", "dask", None, "tcp://host:8786"),
        ("tls://host:8786", "dask", None, "tls://host:8786"),
    ],
)
def test_places(backend, kind, device, scheduler):
    found = parse_place(backend, ALL)
    assert found == Place(kind, device, scheduler, given=Setting("backend", backend))


def test_a_client_is_a_place():
    client = Client()
    found = parse_place(client, ALL)
    assert (found.kind, found.device) == ("dask", None)
    assert found.scheduler is client


@pytest.mark.parametrize("backend", ["cpu", "CUDA", "cuda:x", "cuda:", "", "h:8786"])
def test_what_is_not_a_place(backend):
    with pytest.raises(UsageError) as caught:
        parse_place(backend, ALL)
    assert str(caught.value) == (
        f"backend={backend!r} cannot be used here; choose 'auto', 'numpy' (the cores "
        "of this machine), 'torch', a torch device such as 'cuda:1', 'dask', a Dask "
        "client or the address of its scheduler."
    )


@pytest.mark.parametrize("backend", ["dask", "tcp://host:8786", Client()])
def test_places_that_an_estimator_does_not_have(backend):
    with pytest.raises(UsageError, match=r"cannot be used here; choose 'auto'") as w:
        parse_place(backend, ("numpy", "torch"))
    assert "dask'," not in str(w.value)
    with pytest.raises(ValueError, match="backend"):
        Cover(backend=backend).fit(X)
    with pytest.raises(UsageError, match="backend='cuda' cannot be used here"):
        parse_place("cuda", ("numpy",))


@pytest.mark.parametrize("method", ["fit", "plan"])
def test_checked_before_any_work(method):
    with pytest.raises(UsageError, match="backend='gpu' cannot be used here"):
        getattr(FRANe(backend="gpu"), method)(None)


def test_clones_share_a_client():
    client = Client()
    ranker = FRANe(3, backend=client, n_thresholds=7)
    twin = clone(ranker)
    assert twin.backend is client is ranker.backend
    assert twin.get_params() == ranker.get_params()


def test_pickles_hold_the_address_of_a_client():
    ranker = FRANe(3, backend=Client(), n_thresholds=7)
    loaded = pickle.loads(pickle.dumps(ranker))
    assert loaded.backend == Client.scheduler.address
    assert isinstance(ranker.backend, Client)
    assert loaded.get_params() == {**ranker.get_params(), "backend": loaded.backend}
    assert portable({"backend": "numpy", "n": 1}) == {"backend": "numpy", "n": 1}


@pytest.mark.parametrize(
    "ranker",
    [
        FRANe(3, n_thresholds=7, store_candidates=True),
        FRANe(3, similarity="spearman", backend="numpy"),
        Cover(3, include=[2], exclude=[5], cost={1: 2.0}, groups={0: "a", 3: "a"}),
        Cover(),
    ],
)
def test_fitted_rankers_survive_clone_and_pickle(ranker):
    fitted = clone(ranker).fit(X)
    for other in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X)):
        assert other.get_params() == fitted.get_params()
        assert vars(other).keys() == vars(fitted).keys()
        for name in ("scores_", "ranking_", "order_", "support_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(fitted, name))
        np.testing.assert_array_equal(other.transform(X), fitted.transform(X))
        assert other.to_frame().equals(fitted.to_frame())
        ours, theirs = fitted.network_.adjacency, other.network_.adjacency
        assert (ours != theirs).nnz == 0
    assert not hasattr(clone(fitted), "scores_")
