"""`Cover()` on torch: the picks of NumPy, and where it runs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from franet import Cover
from franet.cover._arrays import kernels_of
from franet.datasets import make_groups
from franet.engine import device as _torch
from franet.engine.device import parse_place
from franet.estimators import _cover
from franet.estimators._cover import choose_device_for
from franet.exceptions import MissingExtraError, UsageError
from naive_cover import cover_order
from tables import TABLES


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    torch = pytest.importorskip("torch", reason="torch is not installed: franet[torch]")
    if request.param == "cuda" and not _torch.cuda_ready():
        pytest.skip("torch sees no CUDA device here")
    # The tables are small: threads would wait for each other longer than they work.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield request.param
    torch.set_num_threads(threads)


def cover(n_features_to_select=None, backend="numpy", **parameters):
    return Cover(n_features_to_select, backend=backend, **parameters)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def words():
    """Return counts with many ties, among neighbors too."""
    rng = np.random.default_rng(3)
    rates = np.geomspace(0.05, 0.6, 30)
    return (rng.random((60, 30)) < rates).astype(float) * rng.integers(1, 4, (60, 30))


def wide():
    """Return more columns than are drawn to stand for all."""
    X = normal(40, 2500)
    X[:, :900] += 2.0 * np.repeat(normal(40, 9, seed=1), 100, axis=1)
    return X


CASES = {
    **TABLES,
    "words": words(),
    "groups": make_groups(60, 6, 5, n_noise=10, duplicates=4, random_state=1).X,
    "wide": wide(),
    "tall": normal(1100, 12),
}
# Sums are taken in another order, of shares that are at most 1.
CLOSE = {"rtol": 1e-9, "atol": 1e-12}
# Of features that are not picked the shares are in float32.
ROUGH = {"rtol": 0.0, "atol": 1e-6}


@pytest.mark.parametrize("similarity", ["correlation", "spearman"])
@pytest.mark.parametrize("name", CASES)
def test_as_in_numpy(name, similarity, device):
    X = CASES[name]
    options = {"similarity": similarity, "n_ranked": 24}
    ours = cover(**options).fit(X)
    theirs = cover(backend=f"torch:{device}", **options).fit(X)
    picks = ours.order_[: ours.n_ranked_]
    np.testing.assert_array_equal(theirs.order_[: theirs.n_ranked_], picks)
    np.testing.assert_array_equal(theirs.representative_, ours.representative_)
    np.testing.assert_allclose(theirs.scores_[picks], ours.scores_[picks], **CLOSE)
    np.testing.assert_allclose(theirs.scores_, ours.scores_, **ROUGH)
    for what in ("gains_", "explained_", "representative_corr_"):
        there, here = getattr(theirs, what), getattr(ours, what)
        assert isinstance(there, np.ndarray)
        np.testing.assert_allclose(there, here, **CLOSE)
    np.testing.assert_allclose(
        theirs.reconstruction_error_, ours.reconstruction_error_, rtol=1e-6, atol=1e-9
    )
    assert theirs.sentences() == ours.sentences()


def test_definition(device):
    X = CASES["groups"]
    order, gains = cover_order(X, 8)
    ranker = cover(backend=f"torch:{device}").fit(X)
    assert ranker.order_[:8].tolist() == order.tolist()
    np.testing.assert_allclose(ranker.gains_[:8], gains, rtol=1e-7, atol=1e-10)


def test_constraints(device):
    X = CASES["groups"]
    n = X.shape[1]
    options = {
        "include": [7, 3],
        "exclude": [0, 11],
        "cost": np.random.default_rng(0).uniform(0.2, 5.0, n),
        "groups": np.arange(n) // 3,
    }
    ours = cover(6, **options).fit(X)
    theirs = cover(6, backend=f"torch:{device}", **options).fit(X)
    assert theirs.order_[:2].tolist() == [7, 3]
    np.testing.assert_array_equal(theirs.order_, ours.order_)
    np.testing.assert_array_equal(theirs.ranking_, ours.ranking_)


def test_auto_goes_on_until_it_is_settled(device):
    X = make_groups(60, 30, 4, random_state=0).X
    ours = cover("auto", n_ranked=8).fit(X)
    theirs = cover("auto", n_ranked=8, backend=f"torch:{device}").fit(X)
    assert ours.n_ranked_ > 8
    np.testing.assert_array_equal(theirs.order_, ours.order_)
    assert theirs.n_features_suggested_ == ours.n_features_suggested_


def test_same_in_every_run(device):
    fits = [cover(backend=f"torch:{device}").fit(CASES["wide"]) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].scores_, fits[1].scores_)
    np.testing.assert_array_equal(fits[0].order_, fits[1].order_)


def on(device, array):
    return _torch.load().as_tensor(array, device=device)


@pytest.mark.parametrize("m", [6, 7, 40])
def test_neighbors_that_tie(device, m):
    X = np.random.default_rng(m).integers(0, 3, (9, m)).astype(float)
    rows = np.arange(0, m, 2)
    D, U = np.zeros((len(rows), m)), normal(m, 4)
    D[np.arange(len(rows)), rows] = np.inf
    for x in X[:2]:
        D += (x[rows, None] - x) ** 2
    arrays = [D, X, rows, U]
    there = [on(device, array) for array in arrays]
    ours, theirs = np.empty(9), np.empty(9)
    for (d, *others), out in ((arrays, ours), (there, theirs)):
        kernels = kernels_of(d)
        kernels.neighbor_errors(d, kernels.in_order(d), *others, 5, out=out)
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)


def test_where_it_runs(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed: franet[torch]")
    large = (1000, _cover.LARGE // 1000)

    def choose_place(backend, shape):
        return choose_device_for(parse_place(backend, ("numpy", "torch")), shape)

    monkeypatch.setattr(_torch, "cuda_ready", lambda: False)
    assert choose_place("auto", large) is None
    monkeypatch.setattr(_torch, "cuda_ready", lambda: True)
    # As if a device were there.
    cpu = torch.device("cpu")
    monkeypatch.setattr(_cover, "choose_device", lambda device: cpu)
    monkeypatch.setattr(_cover, "free_bytes", lambda place: 10**10)
    assert choose_place("auto", large) is cpu
    assert choose_place("auto", (large[0], large[1] - 1)) is None
    assert choose_place("cuda", (5, 5)) is cpu
    assert choose_place("torch", (5, 5)) is cpu
    assert choose_place("numpy", large) is None
    assert choose_place("torch", (10**6, 40)) is cpu
    # 10 GB do not hold it three times.
    huge = (1000, 10**6)
    assert choose_place("auto", huge) is None
    for backend in ("torch", "torch:cpu"):
        message = rf"^backend='{backend}': .*has 10.0 GB left.*needs 22.3 GB there"
        with pytest.raises(UsageError, match=message):
            choose_place(backend, huge)


def test_bad_places():
    X = CASES["words"]
    with pytest.raises(
        UsageError, match=r"backend='dask' cannot.*choose 'auto', 'numpy'"
    ):
        cover(backend="dask").fit(X)
    with pytest.raises(UsageError, match=r"backend='cpu' cannot be used here"):
        cover(backend="cpu").fit(X)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'franet\[torch\]'"):
        cover(backend="torch").fit(CASES["words"])
    monkeypatch.setattr(_cover, "LARGE", 0)
    assert cover(backend="auto").fit(CASES["words"]).n_ranked_ == 30
