"""Measure what docs/benchmark shows; to be stopped and resumed at will.

``python benchmarks/reproduce/run.py`` measures every part, ``--part NAME`` (several
times) some of them; ``--folds 0 1 2`` only some of the ten folds, ``--datasets`` only
some data sets. Results are stored in ``build/reproduce``; then ``collect.py`` makes
the small tables in ``docs/benchmark/results`` of them, and ``document.py`` the pages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STORES = HERE.parents[1] / "build" / "reproduce"
# A ranker that needs more for one fold is written down as too slow.
TIMEOUT_S = 1800.0


def main() -> None:
    from parts import DATASETS, parts

    from franet.evaluation import run

    known = parts()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=list(known))
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--folds", nargs="+", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--stores", type=Path, default=STORES)
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S)
    given = parser.parse_args()
    for name in given.part or list(known):
        part = known[name]
        summary = run(
            given.datasets,
            part.rankers,
            given.stores / name,
            n_features=part.n_features,
            measures=part.measures,
            fold_numbers=given.folds,
            n_jobs=given.jobs,
            timeout=given.timeout,
            listener=_Teller(),
        )
        _note_wall(given.stores / name, summary)
        print(
            f"{name}: {summary.measured} units in {summary.seconds:.0f} s, "
            f"{len(summary.failed)} failed, {summary.skipped} were there",
            flush=True,
        )


def _note_wall(folder: Path, summary: Any) -> None:
    """Keep what a run took beside its records."""
    if summary.run:
        wall = {
            "run": summary.run,
            "units": summary.measured,
            "failed": len(summary.failed),
            "wall_s": round(summary.seconds, 1),
        }
        with (folder / "walls.jsonl").open("a") as file:
            file.write(json.dumps(wall) + "\n")


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
