"""Judge rankings that other parts stored by more measures, without ranking again.

``run.py`` calls this as its part *across*. Records keep the first 256 features of each
ranking: here they are judged by linear reconstruction and by clusters. fastcan is run
anew for every number of features, because what it chooses depends on that; that takes
minutes at 256 features, so that it is judged on one fold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from parts import CURVE, DATASETS, ERRORS

from franet import __version__
from franet.datasets import load
from franet.evaluation import Record, ResultsStore, paper_folds
from franet.evaluation._unit import machine, versions
from franet.evaluation.measures import FoldScorer

sys.path.append(str(Path(__file__).resolve().parents[1]))

# The part in which each ranking is stored.
STORED = {
    "cover": "cover",
    "column-subset": "table",
    "facility-location": "table",
    "frane-paper": "table",
    "random": "table",
}
MORE = ("r2", "nmi")
PEER = "fastcan"
PEER_FOLDS = (0,)


def judge(
    stores: Path,
    datasets: Sequence[str] | None = None,
    rankers: Sequence[str] | None = None,
    folds: Sequence[int] | None = None,
    jobs: int | None = None,
) -> tuple[str, int, float]:
    """Judge what is not judged yet; return the run, the units and the seconds."""
    start = time.monotonic()
    jobs = jobs or cpu_count()
    with ResultsStore(stores / "across") as store:
        names = rankers or [*STORED, PEER]
        tasks = list(_tasks(stores, store, datasets or DATASETS, names, folds))
        run = token_hex(8) if tasks else ""
        if tasks:
            store.append_run(_about(run, jobs))
        work = Parallel(jobs, return_as="generator_unordered", batch_size=1)
        for records in work(delayed(_judge)(*task, run) for task in tasks):
            for record in records:
                store.append(record)
    return run, len(tasks), time.monotonic() - start


def _about(run: str, jobs: int) -> dict[str, Any]:
    return {
        "id": run,
        "start": datetime.now(UTC).isoformat(timespec="seconds"),
        "folds": "paper",
        "n_jobs": jobs,
        "threads": max(1, cpu_count() // jobs),
        "versions": versions(),
        "machine": machine(),
    }


def _tasks(
    stores: Path,
    store: ResultsStore,
    datasets: Iterable[str],
    rankers: Sequence[str],
    folds: Sequence[int] | None,
) -> Iterator[tuple[str, int, list[Record], bool]]:
    """Yield a data set, a fold, the records to judge there, and whether the peer."""
    known = [
        record
        for part in {STORED[name]: None for name in rankers if name in STORED}
        for record in ResultsStore.read(stores / part)
        if STORED.get(record.ranker) == part and record.status == "ok"
    ]
    there = {
        (r.dataset, r.fold, r.ranker)
        for r in store.records.values()
        if r.version == __version__
    }
    for dataset in datasets:
        for fold in range(10) if folds is None else folds:
            missing = [
                record
                for record in known
                if (record.dataset, record.fold) == (dataset, fold)
                and (dataset, fold, record.ranker) not in there
            ]
            peer = PEER in rankers and fold in PEER_FOLDS
            peer = peer and (dataset, fold, PEER) not in there
            if missing or peer:
                yield dataset, fold, missing, peer


def _judge(
    dataset: str, number: int, stored: list[Record], peer: bool, run: str
) -> list[Record]:
    """Return the records of one fold; one worker judges it."""
    data = _table(dataset)
    fold = next(f for f in paper_folds(len(data.X)) if f.number == number)
    scorer = FoldScorer(data.X, fold, data.y)
    found = []
    for record in stored:
        values = scorer.score(np.array(record.top), CURVE, MORE)
        found.append(_record(dataset, number, record.ranker, values, run))
    if peer:
        values = _judge_peer(scorer)
        found.append(_record(dataset, number, PEER, values, run))
    return found


def _judge_peer(scorer: FoldScorer) -> dict[str, dict[int, float]]:
    from peers import fastcan

    measures = (*ERRORS, *MORE)
    values: dict[str, dict[int, float]] = {name: {} for name in measures}
    for k in CURVE:
        for name, each in scorer.score(fastcan(scorer.train, k), [k], measures).items():
            values[name] |= each
    return values


def _record(
    dataset: str, fold: int, ranker: str, values: dict[str, dict[int, float]], run: str
) -> Record:
    return Record(dataset, "paper", fold, ranker, values=values, run=run)


@lru_cache(maxsize=1)
def _table(name: str) -> Any:
    return load(name)
