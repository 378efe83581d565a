"""Passes over tiles on a Dask cluster.

The parts of a pass go to the workers as tasks, and what they find is put together
here. Graphs are solved here, too: those that are stored fit into one memory.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import Store
from franet._common.optional import require
from franet._common.progress import report
from franet._common.version import __version__
from franet.engine._dask_crew import Crew
from franet.engine._dask_tables import deposit, find_file
from franet.engine._dask_tasks import Part, Recipe, about, run_part, tile_of
from franet.engine._numpy import TileEngine
from franet.engine._windows import Window, assemble, narrow, windows
from franet.engine.checkpoint import open_checkpoint
from franet.engine.passes import Pass, State
from franet.engine.plan import make_plan
from franet.estimators._validation import check_table, number_to_select
from franet.exceptions import BackendError, UsageError
from franet.pairs.tiles import PairSource

if TYPE_CHECKING:
    from franet.estimators._frane import FRANe
    from franet.search.exact import Settings

__all__ = ["DaskEngine", "open_dask"]

# Seconds in which a scheduler must answer.
_ANSWER = 10


class DaskEngine(TileEngine):
    """Reductions over all pairs of features, by the workers of a cluster.

    Parameters
    ----------
    source : RemoteSource
        The similarity.
    n_threads : int
        Number of threads for what is done here; no result depends on it.
    store : Store, optional
        Where pairs are kept; no result depends on it.
    checkpoint : Checkpoint, optional
        Remembers the passes that are done.
    """

    source: RemoteSource

    def run_pass(self, what: Pass, chosen: NDArray[np.bool_] | None) -> State:
        """Make a pass over all tiles, or over some."""
        # Tiles are not listed here: of a million features there are millions.
        whole = assemble(what, self.grid)
        counts = [(part, part.count(chosen)) for part in windows(self.grid)]
        counts = [(part, count) for part, count in counts if count]
        jobs = [partial(_job, what, part, chosen) for part, _ in counts]
        done, total = 0, sum(count for _, count in counts)
        with closing(self.source.crew.run(run_part, jobs, what.stage)) as states:
            for (part, count), state in zip(counts, states, strict=True):
                whole.add(part, state)
                done += count
                report(what.stage, done, total)
        return whole.state()


def _job(what: Pass, window: Window, chosen: NDArray[np.bool_] | None) -> tuple[Part]:
    return (Part(narrow(what, window), window, window.crop(chosen)),)


class RemoteSource(PairSource):
    """Similarities that the workers of a cluster have.

    Parameters
    ----------
    crew : Crew
        The workers.
    known : dict
        The attributes of the source that they have.
    """

    def __init__(self, crew: Crew, known: dict[str, Any]) -> None:
        self.crew = crew
        for name, value in known.items():
            setattr(self, name, value)

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        return self._tile(i, j, False)

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        return self._tile(i, j, True)

    def _tile(self, *job: Any) -> NDArray[Any]:
        (tile,) = self.crew.run(tile_of, [job], "tile")
        return np.asarray(tile)


@contextmanager
def open_dask(
    ranker: FRANe, X: Any, settings: Settings, n_threads: int
) -> Iterator[tuple[DaskEngine, NDArray[np.bool_]]]:
    """Give the engine of a cluster on which a table's features are compared.

    Parameters
    ----------
    ranker : FRANe
        Its `backend` names the cluster.
    X : array-like
        The table. One that lies in a file is opened there by the workers.
    settings : Settings
        What is asked for.
    n_threads : int
        Number of threads for what is done here.

    Yields
    ------
    engine : DaskEngine
        Open until the end of the context.
    constant : ndarray of bool
        Columns without a similarity.
    """
    pairwise = ranker.missing == "pairwise"
    with (
        _connect(ranker._place().scheduler) as client,
        _folder() as folder,
        _large_tasks(),
    ):
        table = check_table(ranker, X, allow_missing=pairwise, lazy=True)
        # Before the work, not after it.
        number_to_select(ranker.n_features_to_select, ranker.n_features_in_)
        crew = _call_crew(client, ranker, X, table, folder)
        try:
            names = getattr(ranker, "feature_names_in_", None)
            known = _ask(crew, names)
            source = RemoteSource(crew, known["source"])
            plan = make_plan(
                source, settings.n_thresholds, n_threads, settings.max_memory
            )
            with (
                Store(plan.on_disk) as store,
                open_checkpoint(ranker.checkpoint, source, settings) as checkpoint,
            ):
                engine = DaskEngine(source, n_threads, store, checkpoint)
                yield engine, known["constant"]
        finally:
            crew.close()


@contextmanager
def _connect(scheduler: Any) -> Iterator[Any]:
    """Give the client of a cluster: that which is there, or one for an address."""
    distributed = require("distributed", "backend='dask'", "dask")
    if isinstance(scheduler, distributed.Client) or scheduler is None:
        yield _client(scheduler, distributed)
        return
    if not isinstance(scheduler, str):
        raise UsageError(
            f"backend={scheduler!r} is not a client of Dask; pass a distributed.Client "
            "or an address, such as 'tcp://host:8786'."
        )
    try:
        client = distributed.Client(
            scheduler, timeout=_ANSWER, set_as_default=False, name="franet"
        )
    except (OSError, TypeError, ValueError) as err:
        raise BackendError(
            f"No Dask scheduler answers at backend={scheduler!r} ({err}). Check the "
            "address, such as 'tcp://host:8786', and that it runs."
        ) from err
    with client:
        yield client


def _client(scheduler: Any, distributed: Any) -> Any:
    """Return the client that is given, or the current one."""
    try:
        client = distributed.get_client() if scheduler is None else scheduler
    except ValueError:
        raise UsageError(
            "backend='dask' needs a cluster: pass backend='tcp://host:8786' or a "
            "distributed.Client, or make one first, such as Client(LocalCluster())."
        ) from None
    if client.asynchronous:
        raise UsageError(
            "backend is an asynchronous client; pass its address, client.scheduler."
            "address."
        )
    return client


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Let tasks carry the vectors of a product without a warning."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        yield


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="franet-", ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def _call_crew(client: Any, ranker: FRANe, X: Any, table: Any, folder: Path) -> Crew:
    """Return the workers, with a way for each of them to open the table."""
    options = {
        "similarity": ranker.similarity,
        "p": ranker.p,
        "variant": ranker.variant,
        "pairwise": ranker.missing == "pairwise",
    }
    recipe = Recipe(secrets.token_hex(4), find_file(X, table), options)
    crew = Crew(client, recipe, table)
    crew.wait_for_workers()
    if recipe.table is not None:
        crew.see(recipe.table)
    elif crew.all_see(folder):
        crew.see(deposit(table, folder, client))
    else:
        crew.hand_over()
    return crew


def _ask(crew: Crew, names: Any) -> dict[str, Any]:
    """Return what is to be known of the similarities; all workers open the table."""
    jobs = [(names,), *[(None,)] * (len(crew.workers()) - 1)]
    try:
        with closing(crew.run(about, jobs, "open")) as answers:
            known: dict[str, Any] = next(answers)
    except ImportError as err:
        raise BackendError(
            f"A worker cannot import what it needs ({err}). Install franet "
            f"{__version__} for the scheduler and the workers."
        ) from err
    if known["version"] != __version__:
        raise BackendError(
            f"A worker has franet {known['version']}, here it is {__version__}. "
            "Install the same version everywhere."
        )
    return known
