"""Tasks on a Dask cluster whose workers come and go."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from franet._common.memory import available_bytes
from franet.engine._dask_tables import TableFile
from franet.engine._dask_tasks import Recipe, forget
from franet.exceptions import BackendError
from franet.pairs.columns import Columns

__all__ = ["Crew"]

# How often a task is sent out again after the scheduler has given it up. It does so
# when `allowed-failures` + 1 workers (4 by default) were lost while they had it.
_RESUBMITS = 4
# Seconds between two looks at the cluster, when nothing comes back.
_TICK = 0.5
# So many results may wait for an earlier one, besides two of each worker.
_AHEAD = 16


class Crew:
    """The workers of a cluster, who open one table and compute from it.

    Parameters
    ----------
    client : distributed.Client
        The connection to the scheduler.
    recipe : Recipe
        How workers make the similarities.
    table : ndarray, sparse array, CodedTable or Columns
        The table itself, for workers that do not see a file with it. It stays here,
        so that it can be handed over again when those who had it are lost.
    """

    # Seconds for which there may be no worker at all.
    PATIENCE = 300.0

    def __init__(self, client: Any, recipe: Recipe, table: Any) -> None:
        self._client = client
        self._recipe = recipe
        self._table = table
        self._hands_over = False
        self._handed: Any = None
        self._n_calls = 0
        self._alone_since: float | None = None

    def run(
        self, function: Callable[..., Any], jobs: list[Any], name: str
    ) -> Generator[Any, None, None]:
        """Yield what ``function(recipe, table, *job)`` returns, in the order of jobs.

        Parameters
        ----------
        function : callable
            Runs on a worker.
        jobs : list of tuple
            Arguments of each task; a function that returns them may stand for them.
        name : str
            What the tasks are called on the dashboard.
        """
        self._n_calls += 1
        work = _Work(self, function, jobs, f"franet_{'_'.join(name.split())}")
        try:
            yield from work.results(2 * len(self.workers()) + 1)
        finally:
            work.cancel()

    def submit(self, function: Callable[..., Any], job: Any, key: str) -> Any:
        """Send a task out; returns its future."""
        arguments = job() if callable(job) else job
        key = f"{key}-{self._recipe.token}-{self._n_calls}"
        table = self._on_workers()
        return self._client.submit(
            function, self._recipe, table, *arguments, key=key, pure=False
        )

    def wait_for_workers(self) -> None:
        """Wait until there is a worker; a cluster may start some for a task only."""
        if not self.workers():
            list(self.run(_nothing, [()], "start"))

    def all_see(self, path: Path) -> bool:
        """Return whether a path is there for all workers."""
        seen = self._client.run(os.path.exists, str(path), on_error="ignore")
        return all(seen.values())

    def see(self, file: TableFile) -> None:
        """Let workers open the table in a file, if all of them see it."""
        if self.all_see(Path(file.path)):
            self._recipe = replace(self._recipe, table=file)
        else:
            self.hand_over()

    def hand_over(self) -> None:
        """Send the table to the workers from now on."""
        self._recipe = replace(self._recipe, table=None)
        if isinstance(self._table, Columns):
            self._table = _load(self._table)
        self._hands_over = True

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

    def workers(self) -> list[str]:
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
                "The connection to the Dask scheduler at "
                f"{self._client.scheduler.address} was lost. Start the scheduler and "
                "its workers again, and fit again; with checkpoint='folder' a fit goes "
                "on where it was stopped."
            )

    def check_workers(self) -> None:
        """Raise if there has been no worker for a long time."""
        if self.workers():
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since > self.PATIENCE:
            raise BackendError(
                f"The Dask cluster at {self._client.scheduler.address} has had no "
                f"worker for {self.PATIENCE:g} seconds. Start workers, and fit again."
            )

    def close(self) -> None:
        """Let the workers forget the table."""
        if self._handed is not None:
            self._handed.release()
            self._handed = None
        if self._client.status == "running":
            # Who is gone has forgotten it already.
            with suppress(OSError):
                self._client.run(forget, self._recipe.token, on_error="ignore")


def _nothing(recipe: Recipe, handed: Any) -> None:
    """Do nothing, on a worker."""


def _load(table: Columns) -> Any:
    """Return a table that workers do not see, in memory."""
    if table.nbytes > available_bytes() // 2:
        raise BackendError(
            "Not all workers see the file of the table, and its "
            f"{table.nbytes / 1e9:.3g} GB are too much to be sent to them. Put it on "
            "storage that all of them see, under the same path."
        )
    return table.load()


class _Work:
    """Tasks that are under way; lost ones are sent out again."""

    def __init__(
        self, crew: Crew, function: Callable[..., Any], jobs: list[Any], name: str
    ) -> None:
        self._crew = crew
        self._function = function
        self._jobs = jobs
        self._name = name
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._places: dict[Any, int] = {}
        self._attempts = [0] * len(jobs)
        self._ready: dict[int, Any] = {}

    def results(self, room: int) -> Iterator[Any]:
        """Yield results in order; so many tasks are under way at a time."""
        sent = 0
        for place in range(len(self._jobs)):
            while place not in self._ready:
                while sent < min(len(self._jobs), place + room + _AHEAD) and (
                    len(self._places) < room
                ):
                    self._send(sent)
                    sent += 1
                self._take()
            yield self._ready.pop(place)

    def _send(self, place: int) -> None:
        key = f"{self._name}-{place}-{self._attempts[place]}"
        future = self._crew.submit(self._function, self._jobs[place], key)
        self._places[future] = place
        future.add_done_callback(self._done.put)

    def _take(self) -> None:
        """Wait for a task, for a moment, and take its result."""
        from distributed import KilledWorker

        try:
            future = self._done.get(timeout=_TICK)
        except Empty:
            self._crew.check_workers()
            return
        place = self._places.pop(future)
        try:
            self._ready[place] = future.result()
        except KilledWorker as err:
            self._again(place, err)
        except CancelledError as err:
            self._crew.check_connection()
            self._again(place, err)
        except FileNotFoundError as err:
            self._crew.hand_over()
            self._again(place, err)
        except OSError as err:
            self._crew.check_connection()
            self._again(place, err)
        finally:
            future.release()

    def _again(self, place: int, err: BaseException) -> None:
        self._attempts[place] += 1
        if self._attempts[place] > _RESUBMITS:
            raise BackendError(
                f"A task ({self._name}, part {place}) was lost with its worker again "
                "and again. The workers may run out of memory: start fewer of them on "
                "a machine, or with a larger memory_limit; their logs say more."
            ) from err
        self._send(place)

    def cancel(self) -> None:
        """Take back what is under way."""
        futures, self._places = list(self._places), {}
        if futures and futures[0].client.status == "running":
            with suppress(OSError, CancelledError):
                futures[0].client.cancel(futures)
        for future in futures:
            future.release()
