"""What runs on the workers of a cluster: the parts of a pass.

A worker opens the table when the first part asks for it, and keeps its similarities
for the others. A worker that takes the place of a lost one does the same: nothing
that cannot be made again lies on a worker.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import Store
from franet._common.version import __version__
from franet.engine._dask_malloc import keeping_memory
from franet.engine._dask_tables import TableFile
from franet.engine._windows import Window, WindowSource
from franet.engine.passes import Pass, State
from franet.exceptions import BackendError, UsageError
from franet.pairs.columns import Columns
from franet.pairs.columns._finite import PAIRWISE
from franet.pairs.similarity import open_source
from franet.pairs.tiles import PairSource, TileRunner

__all__ = ["Part", "Recipe", "about", "forget", "run_part", "tile_of"]

# Tables that a worker holds at a time.
_MOST_SOURCES = 2
# Graphs whose degrees a part sums at a time: what it needs besides the features.
_GRAPHS = 16
# The share of a worker's memory that features may take; the rest is for tiles,
# results, and what the cluster itself needs.
_SHARE = 0.5

_Opened = tuple[PairSource, NDArray[np.bool_]]
_sources: OrderedDict[str, _Opened] = OrderedDict()
_opening = threading.Lock()
# One part at a time on a worker: it uses all of the worker's threads.
_turns: dict[str, threading.Lock] = {}


@dataclass(frozen=True)
class Recipe:
    """How a worker makes the similarities of a table.

    Parameters
    ----------
    token : str
        The name of the fit.
    table : TableFile or None
        Where the table lies; None: it is handed over with each task.
    options : dict
        What :func:`franet.pairs.similarity.open_source` is called with.
    """

    token: str
    table: TableFile | None
    options: dict[str, Any]


@dataclass(frozen=True)
class Part:
    """What one task computes: a pass over the tiles of a window."""

    what: Pass
    window: Window
    chosen: NDArray[np.bool_] | None


def run_part(recipe: Recipe, handed: Any, part: Part) -> State:
    """Return the state of a pass over the tiles of a window."""
    worker = _worker()
    with _turns.setdefault(worker.address, threading.Lock()), keeping_memory():
        source, _ = _open(recipe, handed)
        what, window = part.what, part.window
        view = WindowSource(source, window)
        state = what.start(window.grid, Store(on_disk=False))
        TileRunner(worker.state.nthreads).run(
            window.rounds(part.chosen),
            lambda tile: what.visit(view, tile, state),
            what.stage,
        )
        return what.close(state)


def about(recipe: Recipe, handed: Any, names: Any = None) -> dict[str, Any]:
    """Return what the client has to know of the similarities; opens the table.

    `names` are those of the columns, for the error about a bad value.
    """
    source, constant = _open(recipe, handed, names)
    known = ("n", "block", "error", "scale", "top", "has_zero", "identifiers")
    return {
        "version": __version__,
        "constant": constant,
        "source": {x: getattr(source, x) for x in known if hasattr(source, x)},
    }


def tile_of(
    recipe: Recipe, handed: Any, i: int, j: int, exact: bool
) -> NDArray[np.float64]:
    """Return one tile."""
    source, _ = _open(recipe, handed)
    return source.exact_tile(i, j) if exact else source.tile(i, j)


def forget(token: str) -> None:
    """Drop the similarities of a fit that is done."""
    # Where a table is just being opened nobody waits: the next ones push it out.
    if _opening.acquire(blocking=False):
        try:
            opened = _sources.pop(token, None)
        finally:
            _opening.release()
        if opened is not None:
            opened[0].close()


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _open(recipe: Recipe, handed: Any, names: Any = None) -> _Opened:
    """Return the similarities, and which columns have none."""
    with _opening:
        if recipe.token in _sources:
            _sources.move_to_end(recipe.token)
            return _sources[recipe.token]
        while len(_sources) >= _MOST_SOURCES:
            _, (old, _) = _sources.popitem(last=False)
            old.close()
        table = handed if recipe.table is None else recipe.table.open()
        if isinstance(table, Columns):
            by_ranks = recipe.options["similarity"] == "spearman"
            table.names = names
            if not (by_ranks or table.is_sparse):
                table.for_gaps = PAIRWISE
        _sources[recipe.token] = found = _similarities(table, recipe)
        return found


def _similarities(table: Any, recipe: Recipe) -> _Opened:
    """Return the similarities of a table, in the memory that the worker has."""
    worker = _worker()
    limit = worker.memory_manager.memory_limit
    most = None if limit is None else int(_SHARE * limit)
    try:
        return open_source(
            table,
            **recipe.options,
            max_memory=most,
            n_thresholds=_GRAPHS,
            n_threads=worker.state.nthreads,
        )
    except UsageError as err:
        if not str(err).startswith("max_memory="):
            raise
        raise BackendError(
            f"The worker {worker.address} has too little memory for the table: {err} "
            "Start workers with a larger memory_limit."
        ) from err
