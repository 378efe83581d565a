"""The passes over tiles, on a torch device.

Each class does what the :class:`~franet.engine.passes.Pass` of the same name does, and
leaves the same state. Of a tile on the diagonal, what does not count is infinite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from franet.engine import device as _torch
from franet.engine import pairs, passes
from franet.engine._torch_graphs import array, strongest_edges
from franet.engine.measure import Measure, Tally
from franet.engine.passes import Pass, State
from franet.pairs.tiles import Tile

if TYPE_CHECKING:
    from franet.engine._torch import TorchEngine

# Pairs drawn to learn how many there are below a value.
_DRAWN = 1 << 20
_SEED = 20_211


def weigh(D: Any, measure: Measure) -> Any:
    """Return the weights of edges with these dissimilarities."""
    torch = _torch.load()
    if not measure.weighted:
        return torch.ones_like(D)
    top, snap, snap_to, floor = measure.arguments
    W = top - torch.where(D <= snap, snap_to, D)
    return torch.where(W <= floor, 0.0, W)


class _Work(ABC):
    """One pass under way; `state` holds what its layout names, on the device."""

    def __init__(self, what: Any, engine: TorchEngine) -> None:
        self.what = what
        self.engine = engine
        self.torch = _torch.load()
        blank = what.blank(engine.grid) if what.layout else {}
        self.state = {name: self.tensor(values) for name, values in blank.items()}

    @abstractmethod
    def visit(self, tile: Tile, D: Any) -> None:
        """Add a tile, which may be overwritten."""

    def close(self) -> State:
        """Return the state, in memory."""
        return {name: array(values) for name, values in self.state.items()}

    def tensor(self, values: Any) -> Any:
        values = np.ascontiguousarray(values)
        return self.torch.as_tensor(values, device=self.engine.source.device)


class _TileExtremes(_Work):
    what: passes.TileExtremes

    def visit(self, tile: Tile, D: Any) -> None:
        noise = -np.inf if self.what.noise is None else self.what.noise
        found = survey(D, noise)
        for name, value in zip(("low", "high", "above"), found, strict=True):
            self.state[name][tile.i, tile.j] = value

    def close(self) -> State:
        return {**super().close(), "counts": self._draw()}

    def _draw(self) -> Any:
        """Return about how many pairs lie where, from some of them."""
        torch, n = self.torch, self.engine.n
        source = self.engine.source
        n_pairs = n * (n - 1) // 2
        size = max(1, min(_DRAWN, 2**31 // (16 * source.rows.shape[1])))
        random = torch.Generator(source.device).manual_seed(_SEED)
        ends = {"generator": random, "device": source.device}
        j = torch.randint(n, (size,), **ends)
        k = torch.randint(n - 1, (size,), **ends)
        d = source.pairs(j, k + (k >= j)).float()
        cells = d.view(torch.int32).long() & 0xFFFFFFFF
        counts = torch.bincount(cells >> Tally.SHIFT, minlength=Tally.SIZE)
        return np.ceil(array(counts) * (n_pairs / size)).astype(np.int64)


class _LeastAbove(_Work):
    what: passes.LeastAbove

    def visit(self, tile: Tile, D: Any) -> None:
        D.masked_fill_(D <= self.what.floor, np.inf)
        self.state["least"][tile.i, tile.j] = D.amin()


class _Total(_Work):
    def visit(self, tile: Tile, D: Any) -> None:
        if tile.is_diagonal:
            D.masked_fill_(D == np.inf, 0.0)
        self.state["sums"][tile.i, tile.j] = D.sum()


class _CountCells(_Work):
    what: passes.CountCells

    def __init__(self, what: passes.CountCells, engine: TorchEngine) -> None:
        super().__init__(what, engine)
        self.lo, self.hi = self.tensor(what.lo), self.tensor(what.hi)

    def visit(self, tile: Tile, D: Any) -> None:
        torch, n = self.torch, self.what.n_cells
        counts, low, high = (self.state[x].view(-1) for x in ("counts", "low", "high"))
        # Few rows at a time: positions take as much room as values.
        for rows in D.split(max(1, (1 << 24) // D.shape[1])):
            d = rows.flatten()
            c = torch.searchsorted(self.hi, d)
            inside = c < len(self.lo)
            d, c = d[inside], c[inside]
            inside = d >= self.lo[c]
            d, c = d[inside], c[inside]
            width = (self.hi[c] - self.lo[c]) / n
            cell = ((d - self.lo[c]) / width).nan_to_num_(0.0).clamp_(0, n - 1).long()
            at = c * n + cell
            counts += torch.bincount(at, minlength=len(counts))
            low.scatter_reduce_(0, at, d, "amin")
            high.scatter_reduce_(0, at, d, "amax")


class _Product(_Work):
    """Products of graphs with vectors; degrees are those with ones.

    Edges are counted for the sake of rough tiles, and these are not.
    """

    what: passes.Product | passes.Degrees

    def __init__(
        self, what: passes.Product | passes.Degrees, engine: TorchEngine
    ) -> None:
        super().__init__(what, engine)
        self.edges = self.tensor(what.edges)
        self.X = self.tensor(what.X) if isinstance(what, passes.Product) else None
        self.Y = self.state["weight" if self.X is None else "Y"]

    def visit(self, tile: Tile, D: Any) -> None:
        rows, cols = np.s_[:, tile.rows], np.s_[:, tile.cols]
        x = None if self.X is None else (self.X[rows], self.X[cols])
        out = self.Y[rows], self.Y[cols]
        masked_sums(D, self.edges, self.what.measure, x, out=out)


class _Gather(_Work):
    what: pairs.Gather

    def __init__(self, what: pairs.Gather, engine: TorchEngine) -> None:
        super().__init__(what, engine)
        self.degrees = _Product(what.degrees, engine)
        self.kept = self.tensor(what.edges[: what.n_kept])
        self.dense = self.tensor(what.edges[what.n_kept :])
        self.n_pairs = self.tensor(np.zeros(len(self.dense), np.int64))
        self.found: list[tuple[Any, ...]] = []

    def visit(self, tile: Tile, D: Any) -> None:
        torch = self.torch
        if len(self.kept):
            j, k = torch.nonzero(D <= self.kept[-1], as_tuple=True)
            d = D[j, k]
            first = torch.searchsorted(self.kept, d).to(torch.int16)
            ends = (j + tile.rows.start).int(), (k + tile.cols.start).int()
            self.found.append((*ends, first, weigh(d, self.what.measure)))
        if len(self.dense):
            count_pairs(D, self.dense, counts=self.n_pairs)
            if len(self.what.sampled):
                self.degrees.visit(tile, D)

    def close(self) -> State:
        edges = None
        if len(self.kept):
            joined = map(self.torch.cat, zip(*self.found, strict=True))
            edges = dict(zip(("j", "k", "first", "weight"), joined, strict=True))
            edges["n_graphs"] = len(self.kept)
        self.found.clear()
        return {
            "edges": edges,
            "n_pairs": array(self.n_pairs),
            "degrees": self.degrees.close(),
            "near": pairs.Pairs.joined({})._asdict(),
        }


class _Strongest(_Work):
    what: passes.Strongest

    def __init__(self, what: passes.Strongest, engine: TorchEngine) -> None:
        super().__init__(what, engine)
        # Both ends and the value of what may still be among the strongest.
        self.best: list[tuple[Any, Any, Any]] = []

    def visit(self, tile: Tile, D: Any) -> None:
        D.masked_fill_(D > self.what.limit, np.inf)
        self._offer(D, tile.rows.start, tile.cols.start)
        self._offer(D.T, tile.cols.start, tile.rows.start)
        if len(self.best) > 64:
            self.best = [self._cut()]

    def _offer(self, D: Any, first_row: int, first_col: int) -> None:
        per_feature = min(self.what.per_feature, D.shape[1])
        # The value alone: torch does not say which of several equal ones come first.
        last = D.topk(per_feature, dim=1, largest=False).values[:, -1:]
        j, k = self.torch.nonzero((D <= last) & (D < np.inf), as_tuple=True)
        self.best.append((j + first_row, k + first_col, D[j, k]))

    def _cut(self) -> tuple[Any, Any, Any]:
        j, k, d = map(self.torch.cat, zip(*self.best, strict=True))
        return strongest_edges(j, k, d, self.engine.n, self.what.per_feature)

    def close(self) -> State:
        j, k, d = map(array, self._cut())
        heaps = passes.empty_heaps(self.engine.n, self.what.per_feature)
        heaps["size"][:] = np.bincount(j, minlength=self.engine.n)
        place = np.arange(len(j)) - (np.cumsum(heaps["size"]) - heaps["size"])[j]
        heaps["values"][j, place] = d
        heaps["features"][j, place] = k
        return heaps


PASSES: dict[type[Pass], type[_Work]] = {
    pairs.Gather: _Gather,
    passes.CountCells: _CountCells,
    passes.Degrees: _Product,
    passes.LeastAbove: _LeastAbove,
    passes.Product: _Product,
    passes.Strongest: _Strongest,
    passes.TileExtremes: _TileExtremes,
    passes.Total: _Total,
}


def survey(D: Any, noise: float) -> tuple[Any, Any, Any]:
    """Return the smallest, the largest finite, and the smallest value above noise."""
    if D.is_cuda:
        from franet.engine import _triton

        return _triton.survey(D, noise)
    finite = D.masked_fill(D == np.inf, -np.inf)
    return D.amin(), finite.amax(), D.masked_fill(D <= noise, np.inf).amin()


def count_pairs(D: Any, edges: Any, *, counts: Any) -> None:
    """Add to ``counts[i]`` the number of pairs with ``d ≤ edges[i]``."""
    if D.is_cuda:
        from franet.engine import _triton

        _triton.count_pairs(D, edges, counts=counts)
        return
    for i, limit in enumerate(edges):
        counts[i] += (D <= limit).sum()


def masked_sums(
    D: Any, edges: Any, measure: Measure, x: tuple[Any, Any] | None, *, out: Any
) -> None:
    """Add the products of a tile's part of each graph with vectors, both ways.

    Graph ``i`` has the edges ``d ≤ edges[i]``. Of `x` and `out`, the first belongs to
    the features of the tile's rows, the second to those of its columns; without `x`,
    all vectors are ones.
    """
    if D.is_cuda:
        from franet.engine import _triton

        _triton.masked_sums(D, edges, measure, x, out=out)
        return
    W = weigh(D, measure)
    for i, limit in enumerate(edges):
        part = W.where(limit >= D, 0.0)
        out[0][i] += part.sum(dim=1) if x is None else part @ x[1][i]
        out[1][i] += part.sum(dim=0) if x is None else x[0][i] @ part
