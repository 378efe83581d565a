"""The graphs of several thresholds on a torch device, solved many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine import device as _torch
from franet.engine.graphs import KeptGraphs, Solution, adjacency, unique_edges

# Looks without progress after which rounding is all that is left.
_PATIENCE = 4
_MOST_ROUNDS = 3000
# Steps between two looks at what they have reached: looking costs more than a step.
_STEPS = 3
# Graphs solved at a time, and numbers in a matrix that holds a vector of each.
_BATCH = 32
_NUMBERS = 1 << 26


def lexsort(*keys: Any) -> Any:
    """Return the order of elements by several keys, the last of which counts most."""
    order = keys[0].sort(stable=True).indices
    for key in keys[1:]:
        order = order[key[order].sort(stable=True).indices]
    return order


def strongest_edges(
    j: Any, k: Any, d: Any, n: int, per_feature: int
) -> tuple[Any, Any, Any]:
    """Return the edges with the smallest `d` of each feature `j`, ties by `k`."""
    torch = _torch.load()
    order = lexsort(k, d, j)
    j, k, d = j[order], k[order], d[order]
    size = torch.bincount(j, minlength=n)
    place = torch.arange(len(j), device=j.device) - (size.cumsum(0) - size)[j]
    kept = place < per_feature
    return j[kept], k[kept], d[kept]


def array(tensor: Any) -> Any:
    """Return a tensor as an array in memory."""
    return np.asarray(tensor.cpu())


class TorchGraphs(KeptGraphs):
    """The graphs of several thresholds; graph ``i`` holds the edges of ``i - 1``.

    Edges are sorted by their feature and, for each feature, by the graph in which
    they appear first: each graph has the first edges of each feature.

    Parameters
    ----------
    n : int
        Number of features.
    device : torch.device
        Where the edges lie.
    n_graphs : int
        Number of graphs.
    **edges : tensor
        Of each edge both ends (j and k), the first graph that has it (first), and its
        weight (weight).
    """

    def __init__(self, n: int, device: Any, n_graphs: int, **edges: Any) -> None:
        self.n = n
        # The methods of the class above are all replaced, and so is what they need.
        self._torch = torch = _torch.load()
        self._device = device
        self._n_graphs = int(n_graphs)
        j, k, first, weight = (
            torch.as_tensor(edges[x], device=device)
            for x in ("j", "k", "first", "weight")
        )
        key = torch.cat([j, k]).long() * self._n_graphs + torch.cat([first, first])
        # A stable order, so that sums are the same in every run.
        key, order = torch.sort(key, stable=True)
        self._column = torch.cat([k, j])[order]
        self._weight = torch.cat([weight, weight])[order]
        self._first = (key % self._n_graphs).to(torch.int16)
        size = torch.bincount(key, minlength=n * self._n_graphs)
        del key, order
        # Where the edges of each feature end, in each graph.
        self._end = size.cumsum(0).view(n, self._n_graphs).T.contiguous()
        self._start = torch.zeros(n, dtype=torch.int64, device=device)
        self._start[1:] = self._end[-1, :-1]
        self.batch = max(1, min(_BATCH, _NUMBERS // n))
        sums = []
        for which in torch.arange(self._n_graphs).split(self.batch):
            ones = weight.new_ones((n, len(which)))
            sums.append(self.products(self.choose(which.tolist()), ones))
        # A column for each graph.
        self.on_device = torch.cat(sums, dim=1)
        self.degrees = array(self.on_device.T.contiguous())

    def n_edges(self) -> NDArray[np.int64]:
        """Return the number of ordered pairs with an edge in each graph."""
        return np.asarray((self._end - self._start).sum(dim=1).cpu())

    def choose(self, graphs: list[int]) -> tuple[Any, Any]:
        """Return what :meth:`products` needs of some graphs."""
        which = self._torch.tensor(graphs, dtype=self._torch.int16, device=self._device)
        # Edges that none of them has are not looked at.
        return which, self._end[max(graphs)]

    def products(self, chosen: tuple[Any, Any], X: Any) -> Any:
        """Return the product of each chosen graph with a column of X."""
        torch, (which, end) = self._torch, chosen
        if X.is_cuda:
            from franet.engine import _triton

            edges = self._start, end, self._column, self._first, self._weight
            return _triton.graph_products(*edges, which, X)
        size = self._end[-1] - self._start
        Y = torch.empty_like(X)
        for at, i in enumerate(which):
            values = torch.where(self._first <= i, self._weight, 0.0)
            values = values * X[self._column.long(), at]
            Y[:, at] = torch.segment_reduce(values, "sum", lengths=size)
        return Y

    def product(self, i: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of graph `i` with a vector."""
        X = self._torch.as_tensor(x, device=self._device)[:, None].contiguous()
        return np.asarray(self.products(self.choose([i]), X)[:, 0].cpu())

    def solve(
        self, graphs: list[int], damping: float, best: float, rtol: float, runner: Any
    ) -> list[Solution]:
        """Solve PageRank on some graphs, or prove that their RQH is below `best`."""
        return _Iterations(self, graphs, damping, rtol).run(best)

    def _prefix(self, i: int) -> tuple[Any, Any, Any]:
        """Return the rows, columns and weights of the edges of a graph."""
        torch = self._torch
        inside = self._first <= i
        size = self._end[i] - self._start
        rows = torch.repeat_interleave(torch.arange(self.n, device=self._device), size)
        return rows, self._column[inside], self._weight[inside]

    def matrix(self, i: int) -> sparse.csr_array:
        """Return graph `i` as a sparse matrix, columns sorted."""
        rows, columns, weights = map(array, self._prefix(i))
        shape = self.n, self.n
        matrix = sparse.coo_array((weights, (rows, columns)), shape).tocsr()
        matrix.sort_indices()
        return matrix

    def strongest(self, i: int, per_feature: int) -> sparse.csr_array:
        """Return the edges of graph `i` that are strongest for one of their ends.

        For each feature so many, ties by the position of the other feature.
        """
        rows, columns, weights = self._prefix(i)
        kept = strongest_edges(rows, columns, -weights, self.n, per_feature)
        j, k, d = map(array, kept)
        j, k, d = unique_edges(j, k, d, self.n)
        return adjacency(j, k, -d, self.n)


class _Iterations:
    """Conjugate gradients on several graphs, a column of each matrix for one.

    The same mathematics as :func:`franet.engine.graph_kernels.pagerank`.
    """

    def __init__(
        self, graphs: TorchGraphs, which: list[int], damping: float, rtol: float
    ) -> None:
        self.torch = torch = graphs._torch
        self.graphs = graphs
        self.damping, self.rtol = damping, rtol
        # Conjugate gradients pause for some √κ steps, and κ < 2 / (1 − damping).
        self.patience = max(_PATIENCE, 8.0 / np.sqrt(1.0 - damping) / _STEPS)
        self.d = graphs.on_device[:, which]
        self.connected = self.d > 0.0
        self.base = (1.0 - damping) / graphs.n
        self.root = torch.where(self.connected, self.d.rsqrt(), 0.0)
        # Start where a fast-mixing graph ends: the score is base + δ d / volume.
        volume = self.d.sum(dim=0).clamp_(min=1e-300)
        self.y = (self.base + damping * self.d / volume) * self.root
        self.chosen = graphs.choose(which)
        product = graphs.products(self.chosen, self.y * self.root)
        self.residual = self.root * (self.base + damping * product) - self.y
        self.direction = self.residual.clone()
        self.square = self.residual.square().sum(dim=0)
        shape = (len(which),)
        self.low, self.high = self.d.new_zeros(shape), self.d.new_full(shape, np.inf)
        self.smallest = self.d.new_full(shape, np.inf)
        self.idle = self.d.new_zeros(shape)
        self.discarded = torch.zeros(shape, dtype=torch.bool, device=self.d.device)

    def run(self, best: float) -> list[Solution]:
        """Step until each graph is solved, discarded, or no longer gets better."""
        torch = self.torch
        active = torch.ones_like(self.discarded)
        for _ in range(_MOST_ROUNDS):
            done = self._judge(best, active)
            active = active & ~done
            if not bool(active.any()):
                break
            for _ in range(_STEPS):
                self._step(active)
        # What a graph that is done had last stays as it is.
        scores = torch.where(self.connected, self.d * self.y * self.root, self.base)
        rows = array(scores.T.contiguous())
        known = (x.tolist() for x in (self.discarded, self.low, self.high))
        found = zip(rows, *known, strict=True)
        return [Solution(None if gone else r, lo, hi) for r, gone, lo, hi in found]

    def _judge(self, best: float, active: Any) -> Any:
        """Bound the errors and RQH; return which graphs are done."""
        torch = self.torch
        z = self.y * self.root
        # The recurrence loses sight of the true residual at rounding level.
        rest = (self.residual * self.root).abs_() + 1e-15 * z.abs()
        ε = rest.amax(dim=0) / (1.0 - self.damping)
        η = (rest * self.d).amax(dim=0) / self.base
        η = torch.where(η < 1.0, η / (1.0 - η), np.inf)
        least = z.masked_fill(~self.connected, np.inf).amin(dim=0)
        error = torch.where(least > 0.0, torch.minimum(η, ε / least), np.inf)
        low, high = self._rqh(z, ε, η)
        self.low = torch.where(active, low, self.low)
        self.high = torch.where(active, high, self.high)
        gone = active & (high < best)
        self.discarded |= gone
        better = ε < 0.9 * self.smallest
        self.idle = torch.where(better, 0.0, self.idle + 1.0)
        self.smallest = torch.minimum(ε, self.smallest)
        return gone | (error <= self.rtol) | (self.idle >= self.patience)

    def _rqh(self, z: Any, ε: Any, η: Any) -> tuple[Any, Any]:
        """Return bounds on RQH from bounds ``|z* − z| ≤ min(ε, η z)``."""
        torch, base = self.torch, self.base
        e = torch.where(z > 0.0, torch.minimum(ε, η * z), ε)
        up = torch.where(self.connected, self.d * (z + e), base)
        low = torch.where(self.connected, self.d * (z - e), base).clamp_(min=base)
        most, least = self._second(up, True), self._second(low, False)
        return self._second(low, True) / self._second(up, False), most / least

    def _second(self, x: Any, largest: bool) -> Any:
        """Return the second largest, or smallest, of each column; not sorted."""
        find = x.max if largest else x.min
        found = find(dim=0)
        if self.graphs.n <= 2:
            return found.values
        rest = x.scatter(0, found.indices[None], -np.inf if largest else np.inf)
        return rest.amax(dim=0) if largest else rest.amin(dim=0)

    def _step(self, active: Any) -> None:
        torch, p = self.torch, self.direction
        product = self.graphs.products(self.chosen, p * self.root)
        image = torch.addcmul(p, self.root, product, value=-self.damping)
        curve = (p * image).sum(dim=0)
        # A graph that is done, or solved exactly, stays as it is.
        moving = active & (curve > 0.0)
        step = torch.where(moving, self.square / curve, 0.0)
        self.y.addcmul_(step, p)
        self.residual.addcmul_(step, image, value=-1.0)
        square = self.residual.square().sum(dim=0)
        ratio = torch.where(moving & (self.square > 0.0), square / self.square, 0.0)
        self.direction = torch.addcmul(self.residual, ratio, p)
        self.square = square
