"""What a search will take, told before the work: tiles, memory, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from franet._common.memory import BYTES_PER_PAIR, ArrayStore
from franet.engine import kernels
from franet.engine._numpy import TileEngine
from franet.engine.checkpoint import open_checkpoint
from franet.engine.device import EngineTask
from franet.engine.measure import Tally
from franet.pairs.similarity._dense import Budget, too_little
from franet.pairs.tiles import PairSource

Engine = TypeVar("Engine", bound=TileEngine)

# Passes over all tiles for graphs that are not stored: as many as tables usually
# need to be done with them, and if the winner itself is one of them.
_USUAL_PRODUCTS = 3
_MOST_PRODUCTS = 40
# Seconds of a tile of which one look tells enough.
_LONG = 0.1
# Degrees are summed for so many dense graphs at a time, typically.
_DENSE_GRAPHS = 8
# Sorting a kept pair and solving the stored graphs, in seconds for each pair.
_SECONDS_PER_PAIR = 2e-7


@dataclass(frozen=True)
class Plan:
    """What a search will take.

    Attributes
    ----------
    n_features : int
        Number of features that take part.
    n_pairs : int
        Number of pairs of features.
    n_tiles, block : int
        Number of tiles, and features along a side of one.
    n_threads : int
        Number of threads.
    memory : int
        Bytes needed besides the table.
    max_memory : int
        Bytes that may be used.
    on_disk : bool
        Whether kept edges will lie in temporary files.
    """

    n_features: int
    n_pairs: int
    n_tiles: int
    block: int
    n_threads: int
    memory: int
    max_memory: int
    on_disk: bool

    def seconds(self, source: PairSource) -> tuple[float, float]:
        """Return the time that is expected, and that of a dense winner.

        A few tiles are computed and timed; the rest is arithmetic.
        """
        D = source.tile(0, 0)
        side = min(self.block, self.n_features)
        pairs, first = (side, side, False), (0, 0)
        limits = np.linspace(float(D[0, 0]), float(D.max()), _DENSE_GRAPHS)
        shape = (_DENSE_GRAPHS, 2 * self.block)
        sums = {"count": np.zeros(shape, np.int32), "weight": np.zeros(shape)}
        X, Y = np.ones((1, 2 * self.block)), np.zeros((1, 2 * self.block))
        numbers = 2.0, 0.0, 0.0, 0.0

        def survey() -> None:
            D = source.tile(0, 0)
            kernels.extrema(D, *pairs)
            kernels.tally(D, *pairs, counts=np.zeros(Tally.SIZE, np.int64))

        def harvest() -> None:
            D = source.tile(0, 0)
            kernels.collect(D, *pairs, float(limits[0]))
            kernels.degrees(D, *pairs, *first, limits, *numbers, **sums)

        def product() -> None:
            D = source.exact_tile(0, 0)
            rule = limits[:1], *numbers, True
            kernels.masked_product(D, *pairs, *first, *rule, X, Y=Y)

        tiles = self.n_tiles / self.n_threads
        kept = min(self.n_pairs, TileEngine.KEPT_PAIRS)
        base = tiles * (_timed(survey) + _timed(harvest)) + kept * _SECONDS_PER_PAIR
        if self.n_pairs <= TileEngine.KEPT_PAIRS:
            return base, base
        one = tiles * _timed(product)
        return base + _USUAL_PRODUCTS * one, base + _MOST_PRODUCTS * one


def _timed(function: Callable[[], None]) -> float:
    function()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
        if times[-1] > _LONG:  # as of a tall table; the clock is no worry then
            break
    return min(times)


def make_plan(source: PairSource, task: EngineTask) -> Plan:
    """Return what a search will take.

    Parameters
    ----------
    source : PairSource
        The similarity.
    task : EngineTask
        Says how many thresholds and threads there are, and what memory may be used;
        None is half of what is free.
    """
    n = source.n
    pairs = n * (n - 1) // 2
    asked = task.settings
    budget = Budget.of(asked.max_memory, asked.n_thresholds, task.n_threads)
    fixed = source.nbytes + budget.reserved(n, source.block)
    # As many as are stored if the dense graphs turn out to matter.
    kept = BYTES_PER_PAIR * min(pairs, TileEngine.DEEP_PAIRS)
    if fixed > budget.most:
        raise too_little(n, budget, fixed)
    on_disk = fixed + kept > budget.most
    return Plan(
        n_features=n,
        n_pairs=pairs,
        n_tiles=source.grid().n_tiles,
        block=source.block,
        n_threads=task.n_threads,
        memory=fixed + (0 if on_disk else kept),
        max_memory=budget.most,
        on_disk=on_disk,
    )


@contextmanager
def planned_engine(
    kind: type[Engine], source: PairSource, task: EngineTask
) -> Iterator[Engine]:
    """Give an engine of a kind, with what its plan and its checkpoint ask for."""
    plan = make_plan(source, task)
    with (
        ArrayStore(plan.on_disk) as store,
        open_checkpoint(task.checkpoint, source, task.settings) as checkpoint,
    ):
        yield kind(source, task.n_threads, store, checkpoint)
