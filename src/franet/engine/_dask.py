"""Passes over tiles on a Dask cluster.

The parts of a pass go to the workers as tasks, and what they find is put together
here. Graphs are solved here, too: those that are stored fit into one memory.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import available_bytes
from franet._common.optional import require
from franet._common.progress import report
from franet._common.supports import Supports
from franet._common.version import __version__
from franet.engine._dask_tables import deposit, find_file
from franet.engine._dask_tasks import SourceRecipe, about, exact_tile, forget, run_part
from franet.engine._numpy import TileEngine
from franet.engine._windows import Window, windows
from franet.engine.device import EngineTask
from franet.engine.passes import Pass, State
from franet.engine.plan import planned_engine
from franet.exceptions import BackendError, Setting, UsageError
from franet.pairs.columns import Columns
from franet.pairs.similarity import CORRELATIONS
from franet.pairs.tiles import PairSource

# Seconds in which a scheduler must answer.
_ANSWER = 10
# How often the scheduler runs a task again that has failed on a worker.
_RETRIES = 2
# How often a task is sent out again after the scheduler has given it up. It does so
# when `allowed-failures` + 1 workers (4 by default) were lost while they had it.
_RESUBMITS = 4
# Seconds between two looks at the cluster, when nothing comes back.
_TICK = 0.5
# So many tasks are sent out before the first of them is back, besides two for each
# worker.
_AHEAD = 16

# Arguments of tasks that are under way, and their futures.
_Tasks = deque[tuple[tuple[Any, ...], Any]]


class DaskEngine(TileEngine):
    """Reductions over all pairs of features, by the workers of a cluster.

    Parameters are those of :class:`TileEngine`; `source` is a `RemoteSource`.
    """

    source: RemoteSource
    supports: ClassVar = Supports(Setting("backend", "dask"), stored=CORRELATIONS)

    def run_pass(self, what: Pass, chosen: NDArray[np.bool_] | None) -> State:
        """Make a pass over all tiles, or over some."""
        # Tiles are not listed here: of a million features there are millions.
        counts = [(part, part.count(chosen)) for part in windows(self.grid)]
        counts = [(part, count) for part, count in counts if count]
        total = sum(count for _, count in counts)
        jobs = ((what.narrow(part), part, part.crop(chosen)) for part, _ in counts)

        def parts(states: Iterable[State]) -> Iterator[tuple[Window, State]]:
            done = 0
            for (part, count), state in zip(counts, states, strict=True):
                yield part, state
                done += count
                report(what.stage, done, total)

        with closing(self.source.workers.run(run_part, jobs, what.stage)) as states:
            return what.assemble(self.grid, parts(states))


class RemoteSource(PairSource):
    """Similarities that the workers of a cluster have.

    Parameters
    ----------
    workers : DaskWorkers
        The workers.
    known : dict
        The attributes of the source that they have.
    """

    def __init__(self, workers: DaskWorkers, known: dict[str, Any]) -> None:
        self.workers = workers
        vars(self).update(known)

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`, in float64."""
        (tile,) = self.workers.run(exact_tile, [(i, j)], "tile")
        return np.asarray(tile)


@contextmanager
def open_dask(task: EngineTask) -> Iterator[tuple[DaskEngine, NDArray[np.bool_]]]:
    """Give the engine of a cluster, and which columns have no similarity.

    A table that lies in a file is opened there by the workers.
    """
    dask = require("dask", "backend='dask'", "dask")
    with (
        _connect(task.place.scheduler) as client,
        tempfile.TemporaryDirectory(
            prefix="franet-", ignore_cleanup_errors=True
        ) as folder,
        # Tasks carry the vectors of a product.
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}),
        closing(DaskWorkers(client, task)) as workers,
    ):
        workers.share_table(task.X, Path(folder))
        known = workers.open_table(task.names)
        source = RemoteSource(workers, known["source"])
        with planned_engine(DaskEngine, source, task) as engine:
            yield engine, known["constant"]


def _connect(scheduler: Any) -> Any:
    """Return a context that gives the client of a cluster.

    It ends the connection where one is made, for an address.
    """
    distributed = require("distributed", "backend='dask'", "dask")
    given = Setting("backend", scheduler)
    if isinstance(scheduler, str):
        try:
            return distributed.Client(
                scheduler, timeout=_ANSWER, set_as_default=False, name="franet"
            )
        except (OSError, TypeError, ValueError) as err:
            raise BackendError(
                "No Dask scheduler answers at {} ({}).",
                given,
                err,
                remedy="Check the address, such as 'tcp://host:8786', and that it "
                "runs.",
            ) from err
    if scheduler is None:
        try:
            scheduler = distributed.get_client()
        except ValueError:
            raise UsageError(
                "{} needs a cluster:",
                Setting("backend", "dask"),
                Setting("backend", "tcp://host:8786"),
                remedy="pass {1} or a distributed.Client, or make one first, such as "
                "Client(LocalCluster()).",
            ) from None
    if not isinstance(scheduler, distributed.Client):
        raise UsageError(
            "{} is not a client of Dask;",
            given,
            remedy="pass a distributed.Client or an address, such as "
            "'tcp://host:8786'.",
        )
    if scheduler.asynchronous:
        raise UsageError(
            "{} is an asynchronous client;",
            Setting("backend"),
            remedy="pass its address, client.scheduler.address.",
        )
    return nullcontext(scheduler)


class DaskWorkers:
    """The workers of a cluster, who open one table and compute from it.

    Parameters
    ----------
    client : distributed.Client
        The connection to the scheduler.
    task : EngineTask
        What is compared. The table stays here, so that it can be handed over again
        when those who had it are lost.
    """

    # Seconds for which there may be no worker at all.
    PATIENCE = 300.0

    def __init__(self, client: Any, task: EngineTask) -> None:
        for_gaps = getattr(task.table, "for_gaps", None)
        self._client = client
        self._recipe = SourceRecipe(secrets.token_hex(4), None, task.options, for_gaps)
        self._table = task.table
        self._handed: Any = None
        self._alone_since: float | None = None

    def run(
        self, function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], name: str
    ) -> Generator[Any, None, None]:
        """Yield what ``function(recipe, table, *job)`` returns, in the order of jobs.

        Parameters
        ----------
        function : callable
            Runs on a worker.
        jobs : iterable of tuple
            Arguments of each task, asked for when it is sent out.
        name : str
            What the tasks are called on the dashboard.
        """

        def send(job: tuple[Any, ...]) -> Any:
            return self._client.submit(
                function,
                self._recipe,
                self._on_workers(),
                *job,
                key=f"franet_{'_'.join(name.split())}-{secrets.token_hex(8)}",
                # What is wrong with a table is so on every worker.
                retries=0 if function is about else _RETRIES,
            )

        ahead = 2 * self.check_workers() + _AHEAD
        tasks: _Tasks = deque()
        try:
            for job in jobs:
                tasks.append((job, send(job)))
                if len(tasks) > ahead:
                    yield self._first(tasks, send)
            while tasks:
                yield self._first(tasks, send)
        finally:
            # The scheduler drops tasks that nobody waits for.
            for _, future in tasks:
                future.release()

    def _first(self, tasks: _Tasks, send: Callable[..., Any]) -> Any:
        """Return the result of the first task; where it is lost, send it out again."""
        from distributed import KilledWorker

        lost: BaseException | None = None
        for _ in range(_RESUBMITS + 1):
            job, future = tasks[0]
            if lost is not None:
                future.release()
                future = send(job)
                tasks[0] = job, future
            try:
                self._wait(future)
                result = future.result()
            except FileNotFoundError as err:
                self.hand_over()
                lost = err
            except (KilledWorker, CancelledError, OSError) as err:
                self.check_connection()
                lost = err
            else:
                # Not left to the garbage: errors of distributed refer to themselves.
                tasks.popleft()[1].release()
                return result
        raise BackendError(
            f"A task ({future.key}) was lost with its worker again and again. The "
            "workers may run out of memory:",
            remedy="start fewer of them on a machine, or with a larger memory_limit; "
            "their logs say more.",
        ) from lost

    def _wait(self, future: Any) -> None:
        """Wait until a task is done, and look at the cluster now and then."""
        while not future.done():
            try:
                future.exception(timeout=_TICK)
            except TimeoutError:
                self.check_workers()

    def share_table(self, X: Any, folder: Path) -> None:
        """Find a way for all workers to open the table.

        Parameters
        ----------
        X : object
            The table as the user has given it: it may lie in a file.
        folder : Path
            Where it is put, if it does not and workers see the folder.
        """
        if not self.check_workers():
            # A cluster may start workers for a task only.
            self._wait(self._client.submit(int, pure=False))
        file = find_file(X, self._table)
        if file is None and self.all_see(folder):
            file = deposit(self._table, folder, self._client)
        if file is not None and self.all_see(file.path):
            self._recipe = replace(self._recipe, table=file)
        else:
            self.hand_over()

    def all_see(self, path: str | Path) -> bool:
        """Return whether a path is there for all workers."""
        seen = self._client.run(os.path.exists, str(path), on_error="ignore")
        return all(seen.values())

    def hand_over(self) -> None:
        """Send the table to the workers from now on."""
        self._recipe = replace(self._recipe, table=None)
        if not isinstance(self._table, Columns):
            return
        if self._table.nbytes > available_bytes() // 2:
            raise BackendError(
                "Not all workers see the file of the table, and its "
                f"{self._table.nbytes / 1e9:.3g} GB are too much to be sent to them.",
                remedy="Put it on storage that all of them see, under the same path.",
            )
        self._table = self._table.load()

    def _on_workers(self) -> Any:
        """Return the table on the workers, if they do not open a file."""
        if self._recipe.table is not None:
            return None
        for _ in range(_RESUBMITS):
            if self._handed is not None and self._handed.status == "finished":
                break
            self.check_workers()
            # A copy on each worker; lost ones are no loss as long as this one is here.
            with suppress(OSError):
                self._handed = self._client.scatter(
                    self._table, broadcast=True, hash=False
                )
        return self._handed

    def open_table(self, names: Any) -> dict[str, Any]:
        """Return what is to be known of the similarities; all open the table."""
        jobs = [(names,), *[(None,)] * (self.check_workers() - 1)]
        try:
            with closing(self.run(about, jobs, "open")) as answers:
                known: dict[str, Any] = next(answers)
        except ImportError as err:
            raise BackendError(
                f"A worker cannot import what it needs ({err}).",
                remedy=f"Install franet {__version__} for scheduler and workers.",
            ) from err
        if known["version"] != __version__:
            raise BackendError(
                f"A worker has franet {known['version']}, here it is {__version__}.",
                remedy="Install the same version everywhere.",
            )
        return known

    def check_connection(self) -> None:
        """Raise if the scheduler is gone."""
        if self._client.status != "running":
            raise BackendError(
                "The connection to the Dask scheduler at {} was lost.",
                self._client.scheduler.address,
                Setting("checkpoint", "folder"),
                remedy="Start the scheduler and its workers again, and fit again; with "
                "{1} a fit goes on where it was stopped.",
            )

    def check_workers(self) -> int:
        """Return the number of workers; raise if there has been none for long."""
        self.check_connection()
        try:
            n_workers = len(self._client.nthreads())
        except OSError:
            self.check_connection()
            raise
        now = time.monotonic()
        if n_workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > self.PATIENCE:
            raise BackendError(
                f"The Dask cluster at {self._client.scheduler.address} has had no "
                f"worker for {self.PATIENCE:g} seconds.",
                remedy="Start workers, and fit again.",
            )
        return n_workers

    def close(self) -> None:
        """Let the workers forget the table."""
        if self._handed is not None:
            self._handed.release()
        if self._client.status == "running":
            # Who is gone has forgotten it already.
            with suppress(OSError):
                self._client.run(forget, self._recipe.token, on_error="ignore")
