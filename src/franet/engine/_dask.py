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
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet._common.memory import available_bytes
from franet._common.optional import require
from franet._common.progress import report
from franet._common.supports import Supports
from franet._common.version import __version__
from franet.engine._dask_tables import TableFile, deposit, find_file
from franet.engine._dask_tasks import SourceRecipe, about, forget, run_part, tile_of
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
        for name, value in known.items():
            setattr(self, name, value)

    def tile(self, i: int, j: int) -> NDArray[Any]:
        """Return the dissimilarities of block `i` against block `j`."""
        return self._tile(i, j, False)

    def exact_tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the same in float64."""
        return self._tile(i, j, True)

    def _tile(self, *job: Any) -> NDArray[Any]:
        (tile,) = self.workers.run(tile_of, [job], "tile")
        return np.asarray(tile)


@contextmanager
def open_dask(task: EngineTask) -> Iterator[tuple[DaskEngine, NDArray[np.bool_]]]:
    """Give the engine of a cluster, and which columns have no similarity.

    A table that lies in a file is opened there by the workers.
    """
    with (
        _connect(task.place.scheduler) as client,
        tempfile.TemporaryDirectory(
            prefix="franet-", ignore_cleanup_errors=True
        ) as folder,
        _large_tasks(),
        closing(DaskWorkers(client, task)) as workers,
    ):
        workers.share_table(task.X, Path(folder))
        known = workers.open_table(task.names)
        source = RemoteSource(workers, known["source"])
        with planned_engine(DaskEngine, source, task) as engine:
            yield engine, known["constant"]


@contextmanager
def _connect(scheduler: Any) -> Iterator[Any]:
    """Give the client of a cluster: that which is there, or one for an address."""
    distributed = require("distributed", "backend='dask'", "dask")
    if isinstance(scheduler, distributed.Client) or scheduler is None:
        yield _client(scheduler, distributed)
        return
    given = Setting("backend", scheduler)
    if not isinstance(scheduler, str):
        raise UsageError(
            "{} is not a client of Dask;",
            given,
            remedy="pass a distributed.Client or an address, such as "
            "'tcp://host:8786'.",
        )
    try:
        client = distributed.Client(
            scheduler, timeout=_ANSWER, set_as_default=False, name="franet"
        )
    except (OSError, TypeError, ValueError) as err:
        raise BackendError(
            "No Dask scheduler answers at {} ({}).",
            given,
            err,
            remedy="Check the address, such as 'tcp://host:8786', and that it runs.",
        ) from err
    with client:
        yield client


def _client(scheduler: Any, distributed: Any) -> Any:
    """Return the client that is given, or the current one."""
    try:
        client = distributed.get_client() if scheduler is None else scheduler
    except ValueError:
        raise UsageError(
            "{} needs a cluster:",
            Setting("backend", "dask"),
            Setting("backend", "tcp://host:8786"),
            remedy="pass {1} or a distributed.Client, or make one first, such as "
            "Client(LocalCluster()).",
        ) from None
    if client.asynchronous:
        raise UsageError(
            "{} is an asynchronous client;",
            Setting("backend"),
            remedy="pass its address, client.scheduler.address.",
        )
    return client


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Let tasks carry the vectors of a product without a warning."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        yield


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
        self._hands_over = False
        self._handed: Any = None
        self._n_sent = 0
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
        name = f"franet_{'_'.join(name.split())}"
        ahead = 2 * len(self._addresses()) + _AHEAD
        tasks: deque[_Task] = deque()
        try:
            for job in jobs:
                tasks.append(_Task(self, partial(self.submit, function, job, name)))
                if len(tasks) > ahead:
                    yield _first(tasks)
            while tasks:
                yield _first(tasks)
        finally:
            futures = [task.future for task in tasks]
            if futures and self._client.status == "running":
                with suppress(OSError, CancelledError):
                    self._client.cancel(futures)
            for future in futures:
                future.release()

    def submit(
        self, function: Callable[..., Any], job: tuple[Any, ...], name: str
    ) -> Any:
        """Send a task out; returns its future."""
        self._n_sent += 1
        table = self._on_workers()
        return self._client.submit(
            function,
            self._recipe,
            table,
            *job,
            key=f"{name}-{self._recipe.token}-{self._n_sent}",
            # What is wrong with a table is so on every worker.
            retries=0 if function is about else _RETRIES,
            pure=False,
        )

    def share_table(self, X: Any, folder: Path) -> None:
        """Find a way for all workers to open the table.

        Parameters
        ----------
        X : object
            The table as the user has given it: it may lie in a file.
        folder : Path
            Where it is put, if it does not and workers see the folder.
        """
        if not self._addresses():
            # A cluster may start workers for a task only.
            list(self.run(_nothing, [()], "start"))
        file = find_file(X, self._table)
        if file is None and self.all_see(folder):
            file = deposit(self._table, folder, self._client)
        self.see(file)

    def see(self, file: TableFile | None) -> None:
        """Let workers open the table in a file, if all of them see it."""
        if file is not None and self.all_see(Path(file.path)):
            self._recipe = replace(self._recipe, table=file)
        else:
            self.hand_over()

    def all_see(self, path: Path) -> bool:
        """Return whether a path is there for all workers."""
        seen = self._client.run(os.path.exists, str(path), on_error="ignore")
        return all(seen.values())

    def hand_over(self) -> None:
        """Send the table to the workers from now on."""
        self._recipe = replace(self._recipe, table=None)
        self._hands_over = True
        if not isinstance(self._table, Columns):
            return
        if self._table.nbytes > available_bytes() // 2:
            raise BackendError(
                "Not all workers see the file of the table, and its {:.3g} GB are too "
                "much to be sent to them.",
                self._table.nbytes / 1e9,
                remedy="Put it on storage that all of them see, under the same path.",
            )
        self._table = self._table.load()

    def _on_workers(self) -> Any:
        """Return the table on the workers, if they do not open a file."""
        if not self._hands_over:
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
        jobs = [(names,), *[(None,)] * (len(self._addresses()) - 1)]
        try:
            with closing(self.run(about, jobs, "open")) as answers:
                known: dict[str, Any] = next(answers)
        except ImportError as err:
            raise BackendError(
                "A worker cannot import what it needs ({}).",
                err,
                __version__,
                remedy="Install franet {1} for the scheduler and the workers.",
            ) from err
        if known["version"] != __version__:
            raise BackendError(
                "A worker has franet {}, here it is {}.",
                known["version"],
                __version__,
                remedy="Install the same version everywhere.",
            )
        return known

    def _addresses(self) -> list[str]:
        """Return the addresses of the workers."""
        self.check_connection()
        try:
            return sorted(self._client.nthreads())
        except OSError:
            self.check_connection()
            raise

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

    def check_workers(self) -> None:
        """Raise if there has been no worker for a long time."""
        now = time.monotonic()
        if self._addresses():
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > self.PATIENCE:
            raise BackendError(
                "The Dask cluster at {} has had no worker for {:g} seconds.",
                self._client.scheduler.address,
                self.PATIENCE,
                remedy="Start workers, and fit again.",
            )

    def close(self) -> None:
        """Let the workers forget the table."""
        if self._handed is not None:
            self._handed.release()
        if self._client.status == "running":
            # Who is gone has forgotten it already.
            with suppress(OSError):
                self._client.run(forget, self._recipe.token, on_error="ignore")


def _nothing(recipe: SourceRecipe, handed: Any) -> None:
    """Do nothing, on a worker."""


def _first(tasks: deque[_Task]) -> Any:
    """Return the result of the first task, which is then done with."""
    result = tasks[0].result()
    # Not left to the garbage: errors of distributed refer to themselves.
    tasks.popleft().future.release()
    return result


class _Task:
    """A task that is under way; sent out again where it is lost."""

    def __init__(self, workers: DaskWorkers, send: Callable[[], Any]) -> None:
        self._workers, self._send = workers, send
        self.future = send()

    def result(self) -> Any:
        """Wait for the result; where the task is lost, make sure that it is made."""
        from distributed import KilledWorker

        lost: BaseException | None = None
        for _ in range(_RESUBMITS + 1):
            if lost is not None:
                self.future.release()
                self.future = self._send()
            try:
                self._wait()
                return self.future.result()
            except FileNotFoundError as err:
                self._workers.hand_over()
                lost = err
            except (KilledWorker, CancelledError, OSError) as err:
                self._workers.check_connection()
                lost = err
        raise BackendError(
            "A task ({}) was lost with its worker again and again. The workers may run "
            "out of memory:",
            self.future.key,
            remedy="start fewer of them on a machine, or with a larger memory_limit; "
            "their logs say more.",
        ) from lost

    def _wait(self) -> None:
        """Wait until the task is done, and look at the cluster now and then."""
        while not self.future.done():
            try:
                self.future.exception(timeout=_TICK)
            except TimeoutError:
                self._workers.check_workers()
