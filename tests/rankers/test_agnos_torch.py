"""AgnoS on torch: the same numbers as in NumPy, and clear words where torch is not."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from franet.engine.device import Place, cuda_ready
from franet.exceptions import MissingExtraError, UsageError
from franet.rankers import AgnoS
from franet.rankers._agnos import Network, initial, train
from franet.rankers.agnos import standardize

VARIANTS = ["slack", "weights"]
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: franet[torch]"
)


@pytest.fixture
def one_thread():
    """Let torch use one thread: on small tables several wait for each other."""
    torch = pytest.importorskip("torch", reason="torch is not installed: franet[torch]")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def planted(seed=0):
    """Return 36 columns of three kinds, and 40 of noise; the kind of each column."""
    kinds = np.r_[np.repeat([0, 1, 2], [20, 10, 6]), np.full(40, 3)]
    X = normal(120, 76, seed=seed)
    hidden = normal(120, 3, seed=seed + 1)
    X[:, :36] = hidden[:, kinds[:36]] + 0.4 * X[:, :36]
    order = np.random.default_rng(seed).permutation(76)
    return X[:, order], kinds[order]


def start(n, d, variant, seed=0):
    return initial(n, d, variant, np.random.RandomState(seed), np.dtype(np.float64))


def settings(variant, **other):
    given = {"penalty": 1.3, "learning_rate": 0.01, "max_iter": 25, "tol": 0.0}
    return AgnoS(variant=variant, **(given | {"patience": 100} | other))


def test_torch_is_not_imported():
    code = (
        "import sys, franet.rankers; franet.rankers.AgnoS(backend='numpy');"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"AgnoS on torch .*franet\[torch\]"):
        AgnoS(backend="torch").fit(normal(10, 4))
    with pytest.raises(MissingExtraError):
        AgnoS(backend="torch:cpu").fit(normal(10, 4))


def test_auto_without_a_cuda_device_is_numpy(monkeypatch):
    monkeypatch.setattr("franet.engine.device.cuda_ready", lambda: False)
    X, _ = planted()
    assert AgnoS(n_hidden=1, random_state=0).fit(X).backend_ == "numpy"


@needs_torch
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("variant", VARIANTS)
def test_torch_and_numpy_agree(variant):
    X, _ = planted()
    Z = standardize(X)
    begin = start(Z.shape[1], 3, variant)
    options = settings(variant, max_iter=40)
    ours, by_hand = train(Z, begin, options)
    theirs, by_torch = train(Z, begin, options, Place("torch", "cpu"))
    np.testing.assert_allclose(by_torch.losses, by_hand.losses, rtol=1e-9)
    for name in Network._fields:
        np.testing.assert_allclose(
            getattr(theirs, name), getattr(ours, name), rtol=1e-5, atol=1e-7
        )
    assert isinstance(theirs, Network)
    np.testing.assert_array_equal(begin.decoder, start(76, 3, variant).decoder)


@needs_torch
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("variant", VARIANTS)
def test_ranking_on_torch(variant):
    X, kinds = planted()
    options = {"variant": variant, "n_hidden": 3, "random_state": 0}
    ranker = AgnoS(10, backend="torch:cpu", **options).fit(X)
    assert ranker.backend_ == "torch"
    assert (kinds[ranker.support_] < 3).all()
    narrow = AgnoS(10, backend="torch:cpu", **options).fit(X.astype(np.float32))
    assert narrow.backend_ == "torch"
    assert narrow.scores_.dtype == np.float64


@needs_torch
def test_a_device_that_is_not_there():
    with pytest.raises(UsageError, match=r"device 'cuda:99' cannot be used.*'numpy'"):
        AgnoS(backend="cuda:99").fit(normal(10, 4))
    with pytest.raises(UsageError, match=r"device 'gpu' cannot be used"):
        AgnoS(backend="torch:gpu").fit(normal(10, 4))


@pytest.mark.cuda
def test_on_cuda():
    if not cuda_ready():
        pytest.skip("torch sees no CUDA device here")
    X, _ = planted()
    options = {"n_hidden": 3, "random_state": 0, "max_iter": 20, "patience": 20}
    with pytest.warns(ConvergenceWarning):
        there = AgnoS(**options).fit(X)
    assert there.backend_ == "torch"
    with pytest.warns(ConvergenceWarning):
        here = AgnoS(backend="numpy", **options).fit(X)
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-5, atol=1e-7)
