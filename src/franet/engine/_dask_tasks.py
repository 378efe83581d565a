"""What runs on the workers of a cluster: the parts of a pass.

A worker opens the table when the first part asks for it, and keeps its similarities
for the others. A worker that takes the place of a lost one does the same: nothing
that cannot be made again lies on a worker.
"""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.version import __version__
from franet.engine._dask_tables import TableFile
from franet.engine._numpy import TileEngine
from franet.engine._windows import Window, WindowSource
from franet.engine.passes import Pass, State
from franet.exceptions import BackendError, Setting, UsageError
from franet.pairs.columns import Columns
from franet.pairs.similarity import open_source
from franet.pairs.tiles import PairSource

# Tables that a worker holds at a time.
_MOST_SOURCES = 2
# Graphs whose degrees a part sums at a time: what it needs besides the features.
_GRAPHS = 16
# The share of a worker's memory that features may take; the rest is for tiles,
# results, and what the cluster itself needs.
_SHARE = 0.5
# Numbers of glibc's mallopt, and what they are set to by default.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_DEFAULT = 128 * 1024
# Freed arrays up to this size are kept, and so much memory in all.
_LARGEST = 32 * 1024 * 1024
_KEPT = 256 * 1024 * 1024

_Opened = tuple[PairSource, NDArray[np.bool_]]
_sources: dict[str, _Opened] = {}
_opening = threading.Lock()
# One part at a time on a worker: it uses all of the worker's threads.
_turns: dict[str, threading.Lock] = {}


@dataclass(frozen=True)
class SourceRecipe:
    """How a worker makes the similarities of a table.

    Parameters
    ----------
    token : str
        The name of the fit.
    table : TableFile or None
        Where the table lies; None: it is handed over with each task.
    options : dict
        What :func:`franet.pairs.similarity.open_source` is called with.
    for_gaps : Setting or None
        What else can be done about missing values.
    """

    token: str
    table: TableFile | None
    options: dict[str, Any]
    for_gaps: Setting | None = None


def run_part(
    recipe: SourceRecipe,
    handed: Any,
    what: Pass,
    window: Window,
    chosen: NDArray[np.bool_] | None,
) -> State:
    """Return the state of a pass over the tiles of a window."""
    worker = _worker()
    with _turns.setdefault(worker.address, threading.Lock()):
        source = WindowSource(_open(recipe, handed)[0], window)
        engine = TileEngine(source, worker.state.nthreads)
        return engine.visit_tiles(what, window.rounds(chosen))


def about(recipe: SourceRecipe, handed: Any, names: Any) -> dict[str, Any]:
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


def exact_tile(
    recipe: SourceRecipe, handed: Any, i: int, j: int
) -> NDArray[np.float64]:
    """Return one tile in float64."""
    return _open(recipe, handed)[0].exact_tile(i, j)


def forget(token: str) -> None:
    """Drop the similarities of a fit that is done."""
    # Without the lock: where a table is just being opened nobody waits for it.
    opened = _sources.pop(token, None)
    if opened is not None:
        opened[0].close()
    if not _sources:
        keep_freed_memory(False)


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _open(recipe: SourceRecipe, handed: Any, names: Any = None) -> _Opened:
    """Return the similarities, and which columns have none."""
    with _opening:
        opened = _sources.get(recipe.token)
        if opened is None:
            for old in list(_sources)[: 1 - _MOST_SOURCES]:
                forget(old)
            table = handed if recipe.table is None else recipe.table.open()
            if isinstance(table, Columns):
                table.names, table.for_gaps = names, recipe.for_gaps
            opened = _sources[recipe.token] = _similarities(table, recipe)
            keep_freed_memory(True)
        return opened


def _similarities(table: Any, recipe: SourceRecipe) -> _Opened:
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
        if err.parameter != "max_memory":
            raise
        raise BackendError(
            f"The worker {worker.address} has too little memory for the table: {err}",
            remedy="Start workers with a larger memory_limit.",
        ) from err


def keep_freed_memory(keep: bool) -> None:
    """Keep freed arrays for the next ones, or give them back as before.

    Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that memory goes back to
    the system early. Then every tile would be fetched from there and given back, page
    by page, which takes as long as computing it. Without that variable, or without
    glibc, nothing is done: the allocator finds out by itself.
    """
    trim = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return
    if not trim.isdigit() or not hasattr(library, "gnu_get_libc_version"):
        return
    library.mallopt(_TRIM_THRESHOLD, _KEPT if keep else int(trim))
    library.mallopt(_MMAP_THRESHOLD, _LARGEST if keep else _DEFAULT)
    if not keep:
        library.malloc_trim(0)
