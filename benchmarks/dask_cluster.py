"""A Dask cluster on this machine against one process, and what its passes cost.

``python benchmarks/dask_cluster.py`` measures everything, in some minutes;
``--only NAME`` (several times) measures some parts: ratio, kills, tasks, passes,
passes64, limits. The table is printed and written to ``benchmarks/results/dask.csv``;
rows of parts that were not measured again stay there. ``benchmarks/scaling_model.py``
reads it.

Both sides of a ratio are measured in one run, in turn, and the best of five counts:
others may use the machine at the same time. Processor seconds are those of all
processes that take part, and depend less on them.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster

import tables
from franet import DegenerateRankingWarning, FRANe
from franet._common import progress as _progress
from franet._common.memory import ArrayStore
from franet.engine import _dask
from franet.engine._dask import DaskWorkers
from franet.engine._numpy import TileEngine
from franet.engine._windows import windows
from franet.engine.device import EngineTask
from franet.engine.levels import SAMPLED, Levels
from franet.engine.measure import Measure
from franet.engine.passes import Degrees
from franet.estimators._backend import open_engine, settings_of
from franet.pairs.similarity import open_source
from franet.pairs.tiles import TileGrid
from franet.search.exact import Settings, lay_out, search

RESULTS = Path(__file__).resolve().parent / "results" / "dask.csv"
COLUMNS = [
    "part", "what", "n", "m", "tiles", "parts", "seconds", "cpu_seconds", "ratio",
    "bytes_in", "bytes_out", "memory", "load", "note",
]  # fmt: skip
REPEATS = 5
SWEEP = [(n, m) for n in (4096, 8192, 16_384) for m in (50, 100, 200)]
SWEEP_64 = [(4096, 100), (8192, 50), (8192, 200), (16_384, 50), (16_384, 100)]
# Not used to fit the model, only to see how far off it is.
HELD_OUT = [(12_288, 150), (24_576, 100), (32_768, 100)]


@contextmanager
def start() -> Iterator[Client]:
    """Give the client of a cluster of two workers with a thread each."""
    options = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
        # A worker that is lost twice within this time would be given up.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def row(part: str, what: str, **values: Any) -> dict[str, Any]:
    found = {"part": part, "what": what, **values, "load": os.getloadavg()[0]}
    shown = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in found.items()}
    print("  ".join(f"{k}={v}" for k, v in shown.items()), flush=True)
    return found


def cpu_seconds(pids: list[int]) -> float:
    """Return the processor seconds of some processes up to now."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(client: Client, work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds, processor seconds, and what was returned."""
    pids = [os.getpid(), *client.run(os.getpid).values()]
    before, start = cpu_seconds(pids), time.perf_counter()
    found = work()
    return time.perf_counter() - start, cpu_seconds(pids) - before, found


def ratio(client: Client) -> Iterator[dict[str, Any]]:
    """Compare the cluster with one process of as many threads."""
    X = tables.factors(22_283)
    times: dict[str, list[tuple[float, float]]] = {"one process": [], "cluster": []}
    scores: dict[str, list[Any]] = {"one process": [], "cluster": []}
    for _ in range(1 + REPEATS):
        for name in times:
            backend = client if name == "cluster" else "numpy"
            ranker = FRANe(backend=backend, n_jobs=2)
            wall, cpu, _ = measured(client, lambda r=ranker: r.fit(X))
            times[name].append((wall, cpu))
            scores[name].append((ranker.winner_, ranker.scores_))
    ours, theirs = scores["cluster"], scores["one process"]
    same = all(np.array_equal(s, ours[0][1]) for _, s in ours)
    off = np.abs(ours[0][1] - theirs[0][1]).max() / theirs[0][1].max()
    note = f"winner {'equal' if ours[0][0] == theirs[0][0] else 'NOT EQUAL'}, "
    note += (
        f"scores off by {off:.0e}, {'same bits' if same else 'OTHER BITS'} each time"
    )
    # The first of each compiles, or warms caches.
    best = {name: min(wall for wall, _ in found[1:]) for name, found in times.items()}
    least = {name: min(cpu for _, cpu in found[1:]) for name, found in times.items()}
    for name in times:
        yield row(
            "ratio",
            name,
            n=X.shape[1],
            m=X.shape[0],
            seconds=best[name],
            cpu_seconds=least[name],
            ratio=best[name] / best["one process"],
            note=note if name == "cluster" else "2 threads",
        )


def kills(client: Client) -> Iterator[dict[str, Any]]:
    """Kill workers during a fit; the result must have the same bits."""
    X = tables.factors(22_283)
    expected = FRANe(backend=client).fit(X)
    killed: list[int] = []

    def kill(stage: str, done: int, total: int) -> None:
        wanted = {"extremes": 1, "edges": 3}.get(stage, 0)
        if len(killed) < wanted and done < total:
            client.wait_for_workers(2)
            pids = client.run(os.getpid, on_error="ignore").values()
            killed.append(next(pid for pid in pids if pid not in killed))
            os.kill(killed[-1], signal.SIGKILL)

    ranker = FRANe(backend=client)
    start = time.perf_counter()
    with _progress.listening(kill):
        ranker.fit(X)
    same = np.array_equal(ranker.scores_, expected.scores_)
    yield row(
        "kills",
        f"{len(killed)} workers killed",
        n=X.shape[1],
        m=X.shape[0],
        seconds=time.perf_counter() - start,
        note="same bits" if same else "OTHER BITS",
    )


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float, int, int]:
    """Return a result, its processor seconds, and bytes on the way to and fro."""
    import pickle
    import time

    from franet.engine._dask_tasks import _open, about

    if function is not about:  # which is there to open the table
        _open(*arguments[:2])
    start = time.thread_time()
    state = function(*arguments)
    seconds = time.thread_time() - start
    sizes = [len(pickle.dumps(x, protocol=5)) for x in (arguments[2:], state)]
    return state, seconds, *sizes


class MeasuredWorkers(DaskWorkers):
    """Remembers what the tasks of the last pass took."""

    parts: list[tuple[float, int, int]]

    def run(self, function: Any, jobs: Any, name: str) -> Any:
        """Yield results, as the workers do."""
        self.parts = []
        jobs = ((function, job) for job in jobs)
        for state, *costs in super().run(_unpacked, jobs, name):
            self.parts.append(tuple(costs))
            yield state


def _unpacked(recipe: Any, handed: Any, function: Any, job: Any) -> Any:
    return timed(function, recipe, handed, *job)


def passes(client: Client) -> Iterator[dict[str, Any]]:
    """Measure each kind of pass on float32 tables of several sizes."""
    for n, m in [*SWEEP, *HELD_OUT]:
        yield from _passes("passes", tables.factors(n, m=m))


def passes64(client: Client) -> Iterator[dict[str, Any]]:
    """Measure the same in float64."""
    for n, m in [*SWEEP_64, *HELD_OUT]:
        yield from _passes("passes64", tables.factors(n, m=m).astype(np.float64))


def _passes(part: str, X: Any) -> Iterator[dict[str, Any]]:
    # New processes, whose peak of memory is that of this table.
    with start() as client:
        _dask.DaskWorkers = MeasuredWorkers
        try:
            yield from _each(part, X, client)
        finally:
            _dask.DaskWorkers = DaskWorkers


def _each(part: str, X: Any, client: Client) -> Iterator[dict[str, Any]]:
    m, n = X.shape
    FRANe(backend=client).fit(X[:, :600])
    before = max(client.run(_forget_peak).values())
    ranker = FRANe(backend=client)
    settings = settings_of(ranker)
    note = "held out" if (n, m) in HELD_OUT else ""
    with open_engine(ranker, X) as (engine, _):
        workers = engine.source.workers
        size = {"n": n, "m": m, "note": note}
        yield row(part, "open", parts=1, cpu_seconds=workers.parts[0][0], **size)
        for what, work in _kinds(engine, settings):
            begin = time.perf_counter()
            work()
            seconds = time.perf_counter() - begin
            costs = np.array(workers.parts)
            yield row(
                part,
                what,
                tiles=engine.grid.n_tiles,
                parts=len(costs),
                seconds=seconds,
                cpu_seconds=float(costs[:, 0].sum()),
                bytes_in=int(costs[:, 1].sum()),
                bytes_out=int(costs[:, 2].sum()),
                **size,
            )
            if what == "extremes":
                peak = max(client.run(_peak).values()) - before
                yield row(part, "memory", memory=peak, **size)


def _kinds(engine: Any, settings: Settings) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each kind of pass, after those that it depends on."""
    from franet.engine import passes

    noise = 1e-9 + 2 * engine.source.error
    yield "extremes", lambda: engine.reduce(passes.TileExtremes(noise))
    extrema = engine.extrema()
    _, measure, edges = lay_out(engine, engine.source.top, extrema, settings)
    found: list[Levels] = []
    yield "edges", lambda: found.append(Levels(engine, extrema, edges, measure))
    levels = found[0]
    deep = [i for i in range(len(edges)) if levels.n_edges[i] // 2 <= engine.DEEP_PAIRS]
    if max(deep) >= levels.n_kept:
        yield "edges, deeper", lambda: levels.deepen(deep)
    vector = np.ones((1, engine.n))
    product = passes.Product(edges[-1:], measure, vector, exact=True)
    yield "product, rough", lambda: engine.reduce(replace(product, exact=False))
    yield "product", lambda: engine.reduce(product)


def _forget_peak() -> int:
    """Return the memory that this process has now; the peak begins anew."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the most memory that this process has had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


def tasks(client: Client) -> Iterator[dict[str, Any]]:
    """Measure what a task costs that computes nothing, by the size of its result."""
    nothing = [None] * len(fields(EngineTask))
    workers = DaskWorkers(client, EngineTask(*nothing))
    for size in (0, 1 << 20, 1 << 22, 1 << 24):
        count = 100 if size < 1 << 22 else 20
        best = np.inf
        for _ in range(REPEATS):
            start = time.perf_counter()
            for state in workers.run(_zeros, [(size,)] * count, "measure"):
                assert len(state) == size // 8
            best = min(best, time.perf_counter() - start)
        yield row("tasks", "result", parts=count, seconds=best, bytes_out=count * size)
    yield row("tasks", "put together", **_put_together())


def _put_together() -> dict[str, Any]:
    """Return what it takes to add degrees of windows to those of all features."""
    what = Degrees(np.zeros(SAMPLED), Measure(2.0, 0.0, 0.0, 0.0, True))
    grid = TileGrid(100_000, 512)
    best, size = np.inf, 0
    for _ in range(REPEATS):
        whole, states = what.start(grid, ArrayStore(on_disk=False)), []
        for window in windows(grid)[:20]:
            shape = SAMPLED, len(window.features)
            states.append((window, {"count": np.ones(shape, np.int32)}))
            states[-1][1]["weight"] = np.ones(shape)
        size = sum(array.nbytes for _, s in states for array in s.values())
        start = time.perf_counter()
        for window, state in states:
            what.put(whole, state, window)
        best = min(best, time.perf_counter() - start)
    return {"parts": 20, "seconds": best, "bytes_out": size}


def _zeros(recipe: Any, handed: Any, size: int) -> Any:
    import numpy as np

    return np.zeros(size // 8)


def limits(client: Client) -> Iterator[dict[str, Any]]:
    """Count the limits whose graphs are dense, and the pairs near to them.

    Rough tiles leave open on which side of a limit such pairs are.
    """
    X = tables.factors(16_384, m=100)
    pairs = X.shape[1] * (X.shape[1] - 1) / 2
    ranker = FRANe(backend="numpy").fit(X)
    size = {"n": X.shape[1], "m": X.shape[0]}
    for k in range(3, 9):
        dense = int((ranker.n_edges_ > 10.0**-k * pairs).sum())
        yield row("limits", f"more than 1e-{k} of the pairs", parts=dense, **size)
    source, _ = open_source(X, "correlation")
    engine = TileEngine(source, 2)
    near: list[int] = []
    harvest = engine.harvest

    def spy(*arguments: Any, **more: Any) -> Any:
        found = harvest(*arguments, **more)
        near.append(len(found.near.j))
        return found

    engine.harvest = spy  # type: ignore[method-assign]
    outcome = search(engine, settings_of(ranker))
    kept = (2 * outcome.n_edges // 2 <= TileEngine.KEPT_PAIRS).sum()
    dense = len(outcome.n_edges) - int(kept)
    yield row("limits", "near", parts=dense, ratio=near[0] / pairs / dense, **size)


PARTS = {
    "ratio": ratio, "kills": kills, "tasks": tasks, "passes": passes,
    "passes64": passes64, "limits": limits,
}  # fmt: skip


def write(rows: list[dict[str, Any]]) -> None:
    new = {r["part"] for r in rows}
    old: list[dict[str, Any]] = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            old = [r for r in csv.DictReader(file) if r["part"] not in new]
    order = list(PARTS)
    both = sorted(old + rows, key=lambda r: order.index(r["part"]))
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for r in both:
            texts = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in r.items()}
            writer.writerow(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    wanted = parser.parse_args().only or list(PARTS)
    warnings.simplefilter("ignore", DegenerateRankingWarning)
    with start() as client:
        FRANe(backend=client).fit(tables.factors(1200))
        write([r for name in wanted for r in PARTS[name](client)])


if __name__ == "__main__":
    main()
