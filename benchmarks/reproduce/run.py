"""Measure what docs/benchmark shows; to be stopped and resumed at will.

``python benchmarks/reproduce/run.py`` measures every part, ``--part NAME`` (several
times) some of them; ``--folds 0 1 2`` only some of the ten folds, ``--datasets`` only
some data sets, ``--rankers cover`` only some rankers. Results are stored in
``build/reproduce``; then ``collect.py`` makes the small tables in
``docs/benchmark/results`` of them, and ``document.py`` the pages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STORES = HERE.parents[1] / "build" / "reproduce"
# A ranker that needs more for one fold is written down as too slow.
TIMEOUT_S = 1800.0
# It needs the records of other parts.
LAST = "across"


def main() -> None:
    from parts import parts

    known = parts()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=[*known, LAST])
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--rankers", nargs="+")
    parser.add_argument("--folds", nargs="+", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--stores", type=Path, default=STORES)
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S)
    given = parser.parse_args()
    usual = [name for name, part in known.items() if not part.optional]
    for name in given.part or [*usual, LAST]:
        if name == LAST:
            _judge(given)
        else:
            measure(
                name,
                known[name],
                given.stores,
                datasets=given.datasets,
                rankers=given.rankers,
                fold_numbers=given.folds,
                n_jobs=given.jobs,
                timeout=given.timeout,
            )


def measure(
    name: str,
    part: Any,
    stores: Path,
    datasets: Sequence[str] | None = None,
    rankers: Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Run the rankers of a part; `options` are those of `franet.evaluation.run`."""
    from franet.evaluation import run

    known = part.rankers.items()
    chosen = {k: ranker for k, ranker in known if rankers is None or k in rankers}
    names = list(datasets or part.datasets) if chosen else []
    if part.load is not None:
        options["load"] = part.load
        names = [dataset for dataset in names if dataset in part.datasets]
    if not names:
        return
    summary = run(
        names,
        chosen,
        stores / name,
        folds=part.folds,
        n_features=part.n_features,
        measures=part.measures,
        listener=_Teller(),
        **options,
    )
    failed = len(summary.failed)
    _note_wall(stores / name, summary.run, summary.measured, failed, summary.seconds)
    print(
        f"{name}: {summary.measured} units in {summary.seconds:.0f} s, "
        f"{failed} failed, {summary.skipped} were there",
        flush=True,
    )


def _judge(given: Any) -> None:
    """Judge what the other parts stored by more measures."""
    from across import judge

    run, units, seconds = judge(
        given.stores, given.datasets, given.rankers, given.folds, given.jobs
    )
    _note_wall(given.stores / LAST, run, units, 0, seconds)
    print(f"{LAST}: {units} units in {seconds:.0f} s", flush=True)


def _note_wall(folder: Path, run: str, units: int, failed: int, wall: float) -> None:
    """Keep what a run took beside its records."""
    if run:
        line = {"run": run, "units": units, "failed": failed, "wall_s": round(wall, 1)}
        with (folder / "walls.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


class _Teller:
    """Prints how far the run is, a line every half minute."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, status: object) -> None:
        if time.monotonic() - self._last > 30:
            self._last = time.monotonic()
            print(status, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
