"""The engine on a torch device: a GPU, or the CPU where there is none.

All of it is float64, on the device too: nothing has to be decided twice, and results
equal those of the other engines up to the order of sums. Tiles are large, because a
GPU is slow on small ones, and never leave the device. The reductions are in
:mod:`franet.engine._torch_passes`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet._common.supports import Supports
from franet.engine import device as _torch
from franet.engine._numpy import TileEngine
from franet.engine._torch_graphs import TorchGraphs
from franet.engine._torch_passes import PASSES
from franet.engine.checkpoint import Checkpoint, open_checkpoint
from franet.engine.device import EngineTask
from franet.engine.graphs import KeptGraphs
from franet.engine.passes import Pass, State
from franet.exceptions import DataError, Setting
from franet.pairs.similarity import CORRELATIONS
from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._dense import check_not_all
from franet.pairs.similarity._distances import DistanceSource, length_of_rows
from franet.pairs.similarity._standardize import constant_columns
from franet.pairs.similarity.kernels import HUGE, TINY
from franet.pairs.tiles import PairSource, Tile

# Exponents of the distances that torch computes; infinity is the largest difference.
_EXPONENTS = {
    "chebyshev": np.inf,
    "euclidean": 2.0,
    "manhattan": 1.0,
    "minkowski": None,
    "seuclidean": 2.0,
    "sqeuclidean": 2.0,
}
# Other powers leave the range of doubles long before the distances do.
_SAFE = (1.0, 2.0, np.inf)
SIMILARITIES = (*CORRELATIONS, *_EXPONENTS)

# A tile, and what a reduction makes of it, in bytes for each of its pairs.
_BYTES_PER_PAIR = 40
# A stored edge while it is sorted, in bytes; and how many pairs of a tile a device goes
# through while it goes through one stored edge: few pairs need not be stored.
_BYTES_PER_EDGE = 120
_STORED_IS_SLOWER = 20
_FEW_PAIRS = 5_000_000
_BLOCKS = (16_384, 8192, 4096, 2048, 1024, 512, 256)


class TorchSource(PairSource):
    """Features as rows on a device."""

    def __init__(self, rows: Any, max_memory: int | None) -> None:
        self.rows = rows
        self.n = len(rows)
        self.device = rows.device
        self.nbytes = rows.element_size() * rows.numel()
        self.block = _block(self.n, rows.device, max_memory)
        self.max_memory = max_memory

    @abstractmethod
    def on_device(self, i: int, j: int) -> Any:
        """Return the dissimilarities of block `i` against block `j`, on the device."""

    @abstractmethod
    def pairs(self, j: Any, k: Any) -> Any:
        """Return the dissimilarities of some pairs, on the device."""

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in memory."""
        return np.asarray(self.on_device(i, j).cpu())


def _block(n: int, device: Any, max_memory: int | None) -> int:
    """Return how many features a side of a tile has."""
    room = _torch.free_bytes(device) // 2 if max_memory is None else max_memory // 2
    # Without a GPU, tiles that stay near the cache.
    large = _BLOCKS if device.type != "cpu" else _BLOCKS[4:]
    for block in large:
        # At least a few tiles, and room for what becomes of one.
        if _BYTES_PER_PAIR * block**2 <= room and 2 * block <= max(n, 2 * large[-1]):
            return block
    return large[-1]


class TorchCorrelationSource(TorchSource):
    """Tiles of ``1 - pearson`` between standardized columns.

    Parameters
    ----------
    rows : tensor of shape (n, m)
        The standardized features.
    absolute : bool
        Whether the sign of the correlation is dropped.
    max_memory : int or None
        Bytes that may be used on the device.
    """

    scale = 1.0

    def __init__(self, rows: Any, absolute: bool, max_memory: int | None) -> None:
        # One more example, in which the product is 1: ``1 - r`` is a product too, and
        # no tile has to be gone through to get it. Sizes that suit the device.
        m = rows.shape[1]
        across = rows.new_zeros((len(rows), -(-(m + 1) // 8) * 8))
        across[:, :m] = rows
        down = across.neg()
        across[:, m] = down[:, m] = 1.0
        super().__init__(across[:, :m], max_memory)
        self.nbytes = 2 * across.element_size() * across.numel()
        self._down, self._across = down, across
        self.absolute = absolute
        self.top = 1.0 if absolute else 2.0

    def _dissimilar(self, d: Any) -> Any:
        """Return ``1 - |r|``, in place, if it is asked for."""
        return d.sub_(1.0).abs_().neg_().add_(1.0) if self.absolute else d

    def on_device(self, i: int, j: int) -> Any:
        """Return the dissimilarities of block `i` against block `j`, on the device."""
        D = self._down[self._rows(i)] @ self._across[self._rows(j)].T
        return self._dissimilar(D)

    def pairs(self, j: Any, k: Any) -> Any:
        """Return the dissimilarities of some pairs, on the device."""
        d = (self._down[j] * self._across[k]).sum(dim=1)
        return self._dissimilar(d)


class TorchDistanceSource(TorchSource):
    """Tiles of a distance between columns.

    Parameters
    ----------
    rows : tensor of shape (n, m)
        The features.
    exponent : float
        That of the sums of differences.
    squared : bool
        Whether the distance is the square of the sum's root.
    max_memory : int or None
        Bytes that may be used on the device.
    """

    def __init__(
        self, rows: Any, exponent: float, squared: bool, max_memory: int | None
    ) -> None:
        super().__init__(rows, max_memory)
        self._exponent = exponent
        self._squared = squared

    def on_device(self, i: int, j: int) -> Any:
        """Return the dissimilarities of block `i` against block `j`, on the device."""
        # Not by way of a product, which would lose the small ones.
        mode = "donot_use_mm_for_euclid_dist"
        cdist = _torch.load().cdist
        A, B = self.rows[self._rows(i)], self.rows[self._rows(j)]
        if self._exponent not in _SAFE:
            return self._by_powers(A, B, cdist(A, B, p=np.inf))
        D = cdist(A, B, p=self._exponent, compute_mode=mode)
        return D.square_() if self._squared else D

    def _by_powers(self, A: Any, B: Any, top: Any) -> Any:
        """Return distances, given the largest difference of each pair.

        As the kernel `minkowski` of `franet.pairs.similarity` does: powers of what
        differences are of the largest neither overflow nor vanish.
        """
        top.clamp_(TINY, HUGE)
        sums = top.new_zeros(top.shape)
        for a, b in zip(A.T, B.T, strict=True):
            sums += (a[:, None] - b).abs_().div_(top).pow_(self._exponent)
        return sums.pow_(1.0 / self._exponent).mul_(top)

    def pairs(self, j: Any, k: Any) -> Any:
        """Return the dissimilarities of some pairs, on the device."""
        gaps = self.rows[j] - self.rows[k]
        norm = _torch.load().linalg.vector_norm
        if self._exponent not in _SAFE:
            top = gaps.abs().amax(dim=1).clamp_(TINY, HUGE)
            return norm(gaps / top[:, None], ord=self._exponent, dim=1) * top
        d = norm(gaps, ord=self._exponent, dim=1)
        return d.square_() if self._squared else d


@contextmanager
def open_torch(task: EngineTask) -> Iterator[tuple[TorchEngine, NDArray[np.bool_]]]:
    """Give the engine of a torch device, and which columns have no similarity."""
    where = task.place.device, task.settings.max_memory
    source, constant = open_torch_source(task.table, task.options, *where)
    with open_checkpoint(task.checkpoint, source, task.settings) as checkpoint:
        yield TorchEngine(source, checkpoint), constant


def open_torch_source(
    X: NDArray[Any], options: Mapping[str, Any], device: Any, max_memory: int | None
) -> tuple[TorchSource, NDArray[np.bool_]]:
    """Return the source of a table's similarities on a device.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table, checked.
    options : mapping
        How features are compared: `similarity`, one of `SIMILARITIES`, `p` and
        `variant`, as :func:`franet.pairs.similarity.open_source` takes them.
    device : str or None
        The device.
    max_memory : int or None
        Bytes that may be used on the device.
    """
    torch, device = _torch.load(), _torch.choose_device(device)
    similarity, p = options["similarity"], options["p"]
    if similarity in _EXPONENTS:
        is_reference = options["variant"] == "reference"
        given = DistanceSource(X, similarity, p, is_reference).features()
        _check_range(given, similarity, p)
        rows = torch.as_tensor(given, device=device)
        exponent = _EXPONENTS[similarity] or p
        squared = similarity == "sqeuclidean"
        source = TorchDistanceSource(rows, exponent, squared, max_memory)
        return source, np.zeros(X.shape[1], bool)
    constant = constant_columns(X)
    check_not_all(constant)
    if similarity == "spearman":
        X = rank_columns(X)
    if constant.any():
        X = X[:, ~constant]
    rows = _standardized(torch, torch.as_tensor(X, device=device))
    return TorchCorrelationSource(
        rows, similarity == "abs-correlation", max_memory
    ), constant


def _check_range(rows: NDArray[np.float64], similarity: str, p: float) -> None:
    """Raise where a distance may be infinite, as what is no pair is in a tile."""
    with np.errstate(over="ignore"):
        farthest = rows.max(axis=0) - rows.min(axis=0)
        d = length_of_rows(farthest[None], similarity, p)
    if not np.isfinite(d).all():
        raise DataError("The distances overflow: the values are too large. Scale them.")


def _standardized(torch: Any, X: Any) -> Any:
    """Return the columns of a table as centred rows of unit length, in float64.

    As :func:`franet.pairs.similarity._standardize.standardize` does, on the device.
    """
    rows = X.T.to(torch.float64, copy=True).contiguous()
    largest = rows.abs().amax(dim=1, keepdim=True)
    exponent = torch.frexp(largest).exponent.clamp(-1022, 1022)
    rows = torch.ldexp(rows, -exponent)
    for _ in range(2):
        rows -= rows.mean(dim=1, keepdim=True)
    rows /= rows.abs().amax(dim=1, keepdim=True)
    rows /= rows.square().sum(dim=1, keepdim=True).sqrt_()
    return rows


class TorchEngine(TileEngine):
    """Reductions over all pairs of features on a torch device.

    Parameters are those of :class:`TileEngine`; `source` is one of this module.
    """

    source: TorchSource
    supports: ClassVar = Supports(
        Setting("backend", "torch"),
        Setting("backend", "numpy"),
        {"similarity": SIMILARITIES, "missing": ("error",)},
        tables=("dense",),
        because={"missing": "it needs a table without gaps"},
    )
    KEPT_PAIRS = 20_000_000
    DEEP_PAIRS = 250_000_000
    streams_together = True

    def __init__(
        self, source: TorchSource, checkpoint: Checkpoint | None = None
    ) -> None:
        super().__init__(source, checkpoint=checkpoint)
        room = source.max_memory
        if room is None:
            room = _torch.free_bytes(source.device)
        worth = self.n * (self.n - 1) // 2 // _STORED_IS_SLOWER
        fits = min(max(worth, _FEW_PAIRS), room // _BYTES_PER_EDGE)
        if checkpoint is not None:
            fits = checkpoint.least("pairs", fits)
        self.deep_pairs = min(self.deep_pairs, fits)
        self.kept_pairs = min(self.kept_pairs, fits)

    def visit_tiles(self, what: Pass, rounds: list[list[Tile]]) -> State:
        """Return the state of a pass over some tiles."""
        torch = _torch.load()
        tiles = [tile for round_ in rounds for tile in round_]
        work = PASSES[type(what)](what, self)
        for done, tile in enumerate(tiles):
            D = self.source.on_device(tile.i, tile.j)
            if tile.is_diagonal:
                D.masked_fill_(torch.ones_like(D, dtype=torch.bool).tril_(), np.inf)
            work.visit(tile, D)
            report(what.stage, done + 1, len(tiles))
        return work.close()

    def graphs(self, edges: State) -> KeptGraphs:
        """Return the graphs that a pass has stored."""
        return TorchGraphs(self.n, self.source.device, **edges)
