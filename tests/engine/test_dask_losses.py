"""Fits on a Dask cluster that loses workers, files, its scheduler, or is stopped."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys

import pytest

from engine.clusters import (
    MARKS,
    TABLE,
    assert_agrees,
    assert_nothing_left,
    assert_same_bits,
    distributed,
    fit,
    local,
    posix,
    started,
    wait_until,
)
from franet.engine import _dask
from franet.engine._dask import DaskWorkers
from franet.engine._numpy import TileEngine
from franet.exceptions import BackendError

pytestmark = MARKS


class Killer:
    """Kills workers when a stage is first heard of."""

    def __init__(self, client, *stages, each=1):
        self.client, self.stages, self.each = client, list(stages), each
        self.killed = []

    def ready(self):
        # A process that dies while it is started is not started again.
        nannies = self.client.cluster.workers.values()
        known = self.client.run(os.getpid, on_error="ignore").values()
        return [
            nanny.pid
            for nanny in nannies
            if nanny.status == nanny.process.status == distributed.Status.running
            and nanny.pid in known
        ]

    def __call__(self, stage, done, total):
        if stage in self.stages and done < total:
            self.stages.remove(stage)
            wait_until(lambda: len(self.ready()) >= self.each)
            for pid in self.ready()[: self.each]:
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)


@posix
def test_killed_workers_change_nothing(client, monkeypatch, scratch):
    monkeypatch.setattr(TileEngine, "KEPT_PAIRS", 1000)
    monkeypatch.setattr(TileEngine, "DEEP_PAIRS", 1000)
    choice = {"n_thresholds": 4, "max_edges": 3000}
    expected = fit(client, TABLE, **choice)
    stages = ("extremes", "edges", "products", "strongest edges")
    killer = Killer(client, *stages)
    ranker = fit(client, TABLE, killer, **choice)
    assert len(killer.killed) == 4
    assert_same_bits(ranker, expected)
    assert_nothing_left(client)


@posix
def test_table_survives_the_loss_of_all_workers(client, undisturbed, monkeypatch):
    # As if workers were on other machines: the table is sent to them.
    monkeypatch.setattr(DaskWorkers, "all_see", lambda self, path: False)
    assert_same_bits(fit(client, TABLE), undisturbed)
    killer = Killer(client, "edges", each=2)
    assert_same_bits(fit(client, TABLE, killer), undisturbed)
    assert len(killer.killed) == 2
    assert_nothing_left(client)


def test_worker_without_the_file_gets_the_table(client, monkeypatch):
    # The file is gone after the workers were asked.
    share = DaskWorkers.share_table

    def share_table(self, X, folder):
        share(self, X, folder)
        os.remove(self._recipe.table.path)

    monkeypatch.setattr(DaskWorkers, "share_table", share_table)
    assert_agrees(fit(client, TABLE), local(TABLE))


@posix
def test_task_that_the_scheduler_gives_up_is_sent_again(
    client, undisturbed, monkeypatch
):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    killer = Killer(client, "edges", each=2)
    assert_same_bits(fit(client, TABLE, killer), undisturbed)
    assert len(killer.killed) == 2


def _deadly(A, B):
    os.kill(os.getpid(), signal.SIGKILL)


@posix
def test_task_that_kills_every_worker(monkeypatch):
    monkeypatch.setattr(_dask, "_RESUBMITS", 0)
    # On a cluster of its own: a process that dies while it is started, as here it may,
    # is not started again.
    with started(1) as client:
        monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
        with pytest.raises(BackendError, match="memory_limit"):
            fit(client, TABLE, similarity=_deadly)
        assert_nothing_left(client)


@pytest.mark.parametrize("stage", ["extremes", "edges"])
def test_interrupt_leaves_nothing_behind(client, scratch, stage):
    def interrupt(heard, done, total):
        if heard == stage:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        fit(client, TABLE, interrupt)
    assert_nothing_left(client)


@posix
def test_lost_scheduler_is_reported(tmp_path):
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port=0"]
    command += [f"--scheduler-file={file}", "--no-dashboard", "--host=127.0.0.1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def kill(heard, done, total):
        if heard == "extremes":
            scheduler.kill()

    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
    worker += [f"--scheduler-file={file}", "--death-timeout=600", "--no-dashboard"]
    with (
        subprocess.Popen(command, **quiet) as scheduler,
        subprocess.Popen(worker, **quiet) as process,
    ):
        try:
            wait_until(lambda: file.exists() and file.stat().st_size)
            with distributed.Client(scheduler_file=str(file)) as client:
                address = client.scheduler.address
            with pytest.raises(BackendError, match=r"scheduler at tcp.* was lost"):
                fit(address, TABLE, kill)
        finally:
            scheduler.kill()
            process.kill()
