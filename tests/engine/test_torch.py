"""The engine on a torch device against the one on the cores."""

from __future__ import annotations

import numpy as np
import pytest

from franet import FRANe
from naive import naive_frane
from tables import TABLES, blocks
from test_agreement import assert_agrees, fit, power

torch = pytest.importorskip("torch", reason="torch is not installed")

from franet.engine import _torch_passes  # noqa: E402
from franet.engine._torch import TorchEngine, open_torch_source  # noqa: E402
from franet.engine._torch_graphs import TorchGraphs, lexsort  # noqa: E402
from franet.engine.graphs import KeptGraphs  # noqa: E402
from franet.engine.measure import Measure  # noqa: E402
from franet.pairs.similarity._distances import DistanceSource  # noqa: E402

NO_CUDA = not torch.cuda.is_available()
CUDA = pytest.param(
    "cuda",
    marks=[pytest.mark.cuda, pytest.mark.skipif(NO_CUDA, reason="no CUDA device")],
)
MEASURE = Measure(top=2.0, snap=1e-9, snap_to=0.0, floor=1e-12, weighted=True)


@pytest.fixture(autouse=True)
def one_thread():
    # Threads of torch wait for each other on a busy machine.
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["cpu", CUDA])
def device(request):
    return request.param


@pytest.fixture(params=[None, (0, 0), (60, 60), (60, 5000)], ids=str)
def stored(request, monkeypatch):
    """Pairs that are stored at first, and if denser graphs matter."""
    if request.param is not None:
        monkeypatch.setattr(TorchEngine, "KEPT_PAIRS", request.param[0])
        monkeypatch.setattr(TorchEngine, "DEEP_PAIRS", request.param[1])


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"variant": "reference"},
        {"weighted": False},
        {"similarity": "abs-correlation"},
        {"similarity": "spearman"},
        {"similarity": "manhattan", "thresholds": "linear"},
        {"similarity": "chebyshev"},
        {"similarity": "minkowski", "p": 3.0},
        {"similarity": "seuclidean"},
        {"similarity": "sqeuclidean", "variant": "reference"},
        {"thresholds": "quantile"},
        {"thresholds": "linear-mean"},
        {"thresholds": "linear-median", "variant": "reference"},
        {"centrality": "degree"},
        {"centrality": "eigenvector"},
        {"quality": "gini"},
        {"store_candidates": True},
    ],
    ids=str,
)
def test_agrees_with_the_oracle(device, choice, monkeypatch):
    # Some graphs are stored at first, some later, some never.
    monkeypatch.setattr(TorchEngine, "KEPT_PAIRS", 60)
    monkeypatch.setattr(TorchEngine, "DEEP_PAIRS", 1500)
    X = blocks(m=25, n=100)
    choice = {"n_thresholds": 12, **choice}
    ranker = fit(X, backend=f"torch:{device}", **choice)
    choice.pop("store_candidates", None)
    assert_agrees(ranker, naive_frane(X, **choice))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables_with_traps(device, name):
    X = TABLES[name]
    assert_agrees(fit(X, backend=f"torch:{device}"), naive_frane(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_as_on_the_cores(device, dtype, stored):
    # Three blocks, and more graphs than have their degrees summed at once.
    X = blocks(m=25, n=530).astype(dtype)
    choice = {"n_thresholds": 18}
    there = fit(X, backend=f"torch:{device}", **choice)
    here = fit(X, backend="numpy", **choice)
    assert there.winner_ == here.winner_
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-11)
    np.testing.assert_array_equal(there.ranking_, here.ranking_)
    np.testing.assert_array_equal(there.n_edges_, here.n_edges_)
    # The smallest gap is 7e-4 and known up to 1e-16; the grid is laid from it.
    np.testing.assert_allclose(there.thresholds_, here.thresholds_, rtol=1e-11)
    a, b = there.network_.adjacency, here.network_.adjacency
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.data, b.data, rtol=1e-12)


@pytest.mark.parametrize("dense", [True, False])
def test_strongest_edges_of_large_networks(device, dense, monkeypatch):
    if dense:
        monkeypatch.setattr(TorchEngine, "KEPT_PAIRS", 0)
        monkeypatch.setattr(TorchEngine, "DEEP_PAIRS", 0)
    # Copies tie: which of them are kept is a matter of their position.
    X = np.repeat(blocks(m=25, n=120), 3, axis=1)
    choice = {"max_edges": 900, "n_thresholds": 20}
    there = fit(X, backend=f"torch:{device}", **choice).network_
    here = fit(X, backend="numpy", **choice).network_
    assert there.truncated_
    np.testing.assert_array_equal(there.adjacency.indices, here.adjacency.indices)
    np.testing.assert_allclose(there.adjacency.data, here.adjacency.data, rtol=1e-12)


@pytest.mark.parametrize("p", [1.5, 50.0, 1000.0])
@pytest.mark.parametrize("scale", [1e-7, 1e7])
def test_powers_neither_vanish_nor_overflow(device, p, scale):
    X = blocks(m=10, n=60) * scale
    X[:, 7] = X[:, 3]
    options = {"similarity": "minkowski", "p": p, "variant": "paper"}
    source, _ = open_torch_source(X, options, device, None)
    expected = DistanceSource(X, "minkowski", p).tile(0, 0)[:60, :60]
    np.testing.assert_allclose(source.tile(0, 0), expected, rtol=1e-12)
    j, k = (torch.tensor(ends, device=device) for ends in ([0, 3, 9], [1, 7, 4]))
    some = np.asarray(source.pairs(j, k).cpu())
    np.testing.assert_allclose(some, expected[[0, 3, 9], [1, 7, 4]], rtol=1e-12)


@pytest.mark.parametrize("similarity", ["euclidean", "chebyshev", "minkowski"])
def test_a_distance_that_overflows_is_an_error(device, similarity):
    X = blocks(m=10, n=30)
    X[:, 4], X[:, 9] = 1.7e308, -1.7e308
    ranker = FRANe(
        similarity=similarity, **power(similarity), backend=f"torch:{device}"
    )
    with pytest.raises(ValueError, match=r"distances overflow.*Scale them"):
        ranker.fit(X)


def test_runs_are_the_same_to_the_bit(device, stored):
    X, choice = blocks(m=25, n=270), {"n_thresholds": 18}
    one, two = (fit(X, backend=f"torch:{device}", **choice) for _ in range(2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.quality_bound_, two.quality_bound_)


def test_memory_decides_on_the_size_of_tiles(device):
    X = blocks(m=10, n=1100)
    options = {"similarity": "correlation", "p": 2.0, "variant": "paper"}
    small, _ = open_torch_source(X, options, device, 20_000_000)
    large, _ = open_torch_source(X, options, device, 10**9)
    assert small.block < large.block
    choice = {"backend": f"torch:{device}", "n_thresholds": 4}
    first = fit(X, **choice, max_memory="20 MB")
    np.testing.assert_allclose(first.scores_, fit(X, **choice).scores_, rtol=1e-11)


@pytest.mark.parametrize("weighted", [True, False])
def test_stored_graphs(device, weighted):
    rng = np.random.default_rng(0)
    n, n_graphs, size = 40, 5, 200
    pairs = rng.choice(n * (n - 1) // 2, size, replace=False)
    j, k = (ends[pairs].astype(np.int32) for ends in np.triu_indices(n, 1))
    first = rng.integers(0, n_graphs, size).astype(np.int16)
    weight = rng.random(size) if weighted else np.ones(size)
    edges = {"j": j, "k": k, "first": first, "weight": weight}
    graphs = TorchGraphs(n, torch.device(device), n_graphs, **edges)
    x = rng.random(n)
    for i in range(n_graphs):
        W = np.zeros((n, n))
        W[j, k] = np.where(first <= i, weight, 0.0)
        W += W.T
        np.testing.assert_array_equal(graphs.matrix(i).toarray(), W)
        np.testing.assert_allclose(graphs.product(i, x), W @ x, rtol=1e-12)
        np.testing.assert_allclose(graphs.degrees[i], W.sum(axis=0), rtol=1e-12)
        assert graphs.n_edges()[i] == np.count_nonzero(W)
    solved = graphs.solve(list(range(n_graphs)), 0.85, -np.inf, 1e-12, None)
    for i, solution in enumerate(solved):
        W = graphs.matrix(i).toarray()
        d = W.sum(axis=0)
        P = W / np.where(d > 0.0, d, 1.0)
        r = np.linalg.solve(np.eye(n) - 0.85 * P, np.full(n, 0.15 / n))
        np.testing.assert_allclose(solution.scores, r, rtol=1e-10)
        ordered = np.sort(r)
        rqh = ordered[-2] / ordered[1]
        assert solution.low <= rqh * (1 + 1e-9)
        assert solution.high >= rqh * (1 - 1e-9)
    assert isinstance(graphs, KeptGraphs)
    # A graph that provably cannot win is not solved.
    assert graphs.solve([4], 0.85, 1e9, 1e-12, None)[0].scores is None


def test_order_by_several_keys():
    keys = [torch.tensor([3, 1, 2, 1, 3, 2]), torch.tensor([1, 0, 1, 0, 0, 0])]
    expected = np.lexsort([key.numpy() for key in keys])
    np.testing.assert_array_equal(lexsort(*keys), expected)


@pytest.mark.cuda
@pytest.mark.skipif(NO_CUDA, reason="no CUDA device")
@pytest.mark.parametrize("shape", [(300, 170), (64, 64), (1, 33)])
@pytest.mark.parametrize("weighted", [True, False])
def test_kernels_against_plain_torch(shape, weighted):
    rng = torch.Generator().manual_seed(0)
    D = torch.rand(shape, generator=rng, dtype=torch.float64) * 2
    D[0, : shape[1] // 2] = float("inf")
    D[-1, -1] = 0.0
    edges = torch.tensor([0.0, 0.3, 0.9, 1.7], dtype=torch.float64)
    measure = Measure(2.0, 1e-9, 0.0, 1e-12, weighted)
    x = [torch.rand((4, size), generator=rng, dtype=torch.float64) for size in shape]

    def everything(device):
        D_, edges_ = D.to(device), edges.to(device)
        counts = torch.zeros(4, dtype=torch.int64, device=device)
        _torch_passes.count_pairs(D_, edges_, counts=counts)
        found = [*_torch_passes.survey(D_, 1e-9), counts]
        for vectors in (None, tuple(v.to(device) for v in x)):
            out = [torch.zeros_like(v, device=device) for v in x]
            _torch_passes.masked_sums(D_, edges_, measure, vectors, out=out)
            found += out
        return [np.asarray(values.cpu()) for values in found]

    for here, there in zip(everything("cpu"), everything("cuda"), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-13)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"similarity": "canberra"}, r"^backend='torch' does not support similarity="),
        ({"similarity": lambda A, B: A.T @ B}, "not support a function as similarity"),
        ({"missing": "pairwise"}, "^backend='torch' does not support missing="),
        ({"backend": "torch:nowhere"}, "The torch device 'nowhere' cannot be used"),
    ],
)
def test_what_it_does_not_have_is_said(choice, message):
    with pytest.raises(ValueError, match=message):
        FRANe(**{"backend": "torch", **choice}).fit(blocks(m=10, n=30))


def test_a_device_needs_a_word_before_it_unless_only_torch_has_it():
    with pytest.raises(ValueError, match=r"backend='cpu' cannot be used here"):
        FRANe(backend="cpu").fit(blocks(m=10, n=30))
    with pytest.raises(ValueError, match=r"device 'cuda:99' cannot be used"):
        FRANe(backend="cuda:99").fit(blocks(m=10, n=30))


def test_tensors_are_tables(device):
    X = blocks(m=20, n=60)
    ranker = fit(torch.tensor(X, device=device), backend=f"torch:{device}")
    np.testing.assert_allclose(ranker.scores_, fit(X).scores_, rtol=1e-11)
