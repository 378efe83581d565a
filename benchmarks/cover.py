"""``Cover()``: its time, and its error on tables that it was not chosen on.

``python benchmarks/cover.py`` measures all; ``--only NAME`` one of them:

- *speed*: 64 features of 85 × 22,283 against ``FRANe()``, and of 100 × 100,000
  against fastcan. Both of a pair run in turn in one process.
- *rankers*: 16 and 64 features by ``FacilityLocation`` and ``ColumnSubset`` against
  fastcan with as many components, at the sizes of `SIZES`, on one core. All of a size
  run in turn in one process.
- *drawn*: which share of the coverage of exact picks ``FacilityLocation`` reaches on
  tables of which it draws the features that it estimates gains by.
- *general*: tables of scikit-learn, made ones and lung_small, against fastcan, CUR,
  random columns and others. It is the part *general* of ``reproduce/run.py``, and what
  that has stored is not measured again.

The table is printed and written to ``benchmarks/results/cover.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from child import peak_mb, seconds

import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
COLUMNS = ["part", "ranker", "table", "value", "unit", "bar", "note"]
K = 64
# A table, the yardstick, how many times its time is allowed, and how often.
SPEED = {
    "85 x 22,283": (22_283, 85, "classic", 2.0, 5),
    "100 x 100,000": (100_000, 100, "fastcan", 5.0, 3),
}
# Samples and features of tables on which greedy rankers are timed, and how often.
SIZES = {
    (60, 400): 9,
    (1_500, 600): 5,
    (1_200, 6_000): 3,
    (85, 22_283): 3,
    (100, 100_000): 1,
    (100_000, 100): 1,
}
GREEDY = ("facility-location", "column-subset")
# Data sets of more features than are all represented.
DRAWN = ("lymphoma", "PCMAC", "TOX-171", "Prostate-GE", "nci9")
# How many times fastcan's time is allowed; so many seconds are, at any size.
TIMES, SHORT = 2.0, 0.05
Rows = list[dict[str, Any]]


def speed() -> Rows:
    """Return times, and how many times that of the yardstick they are."""
    rows = []
    for shape, (n, m, yardstick, bar, repeats) in SPEED.items():
        found = _in_child(tables.factors(n, m=m), yardstick, repeats)
        ratio = found["cover"] / found[yardstick]
        note = f"{repeats} times in turn, medians"
        rows += [
            _row("speed", yardstick, shape, found[yardstick], "s", "", note),
            _row("speed", "cover", shape, found["cover"], "s", "", note),
            _row("speed", "cover", shape, found["memory_mb"], "MB", "", "both, peak"),
            _row("speed", f"cover / {yardstick}", shape, ratio, "times", bar),
        ]
    return rows


def rankers() -> Rows:
    """Return times of the other greedy rankers, and how many times fastcan's."""
    rows = []
    for (m, n), repeats in SIZES.items():
        X = tables.factors(n, m=m).astype(np.float64)
        for k in (16, K):
            found = _in_child(X, "fastcan", repeats, k)
            table = f"{m:,} x {n:,}, {k} features"
            note = f"{repeats} times in turn, medians" if repeats > 1 else "once"
            fastcan = found["fastcan"]
            rows.append(_row("rankers", "fastcan", table, fastcan, "s", "", note))
            for name in GREEDY:
                rows.append(_row("rankers", name, table, found[name], "s", "", note))
                bar = max(TIMES, SHORT / fastcan)
                cells = f"{name} / fastcan", table, found[name] / fastcan
                rows.append(_row("rankers", *cells, "times", bar))
    return rows


def drawn() -> Rows:
    """Return how much of the coverage of exact picks is reached by drawn features."""
    from franet.rankers import FacilityLocation, facility_location

    rows = []
    for table, X in _many_features():
        reached = FacilityLocation(K).fit(X).coverage_
        most, facility_location.EXACT = facility_location.EXACT, X.shape[1]
        exact = FacilityLocation(K).fit(X).coverage_
        facility_location.EXACT = most
        shape = " x ".join(f"{size:,}" for size in X.shape)
        for k in (4, 16, K):
            cells = f"{table}, {k} features", reached[k - 1] / exact[k - 1]
            note = f"{shape}, exact {exact[k - 1]:.3f}"
            rows.append(
                _row("drawn", "facility-location", *cells, "of exact", "", note)
            )
    return rows


def _many_features() -> Iterator[tuple[str, np.ndarray]]:
    """Yield a made table, and data sets if they are here."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from data import load

    yield "factors", tables.factors(6_000, m=100).astype(np.float64)
    for name in DRAWN:
        try:
            yield name, np.asarray(load(name)[0], np.float64)
        except FileNotFoundError as err:
            print(f"skipped {name}: {err}")


def general() -> Rows:
    """Return errors on other tables, from the records of the reproduction."""
    sys.path.insert(0, str(HERE / "reproduce"))
    from collect import general_rows
    from parts import parts
    from run import STORES, measure

    measure("general", parts()["general"], STORES)
    columns, found = general_rows([STORES])
    rows = []
    for cells in found:
        row = dict(zip(columns, cells, strict=True))
        note = f"{row['m']} x {row['n']}, {row['n_features']} features"
        value, unit = float(row["mean"]), row["measure"]
        rows.append(
            _row("general", row["ranker"], row["dataset"], value, unit, "", note)
        )
    return rows


def _row(*cells: Any) -> dict[str, Any]:
    """Return a row; tell whether it reaches its bar."""
    row = dict(zip(COLUMNS, (*cells, "")[: len(COLUMNS)], strict=True))
    if isinstance(row["bar"], float):
        row["note"] = "reached" if row["value"] <= row["bar"] else "MISSED"
    return row


def _in_child(
    X: np.ndarray, yardstick: str, repeats: int, k: int | None = None
) -> dict[str, float]:
    """Return times of the yardstick and of `Cover`, or on one core of other rankers.

    With `k` these pick as many; without, `K` are picked.
    """
    cores = {} if k is None else {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        command = [sys.executable, __file__, "--child", str(path), yardstick]
        done = subprocess.run(
            [*command, str(repeats), str(k or 0)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **cores},
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(path: str, yardstick: str, repeats: int, k: int) -> None:
    """Fit all on a small table, so that all is compiled, then measure in turn."""
    warnings.simplefilter("ignore")
    X = np.load(path)
    names = (yardstick, *(GREEDY if k else ["cover"]))
    times: dict[str, list[float]] = {name: [] for name in names}
    for few in (X[:200, :1200], X[:60, :3000]):
        for name in times:
            _work(name, np.ascontiguousarray(few), k)()
    for _ in range(repeats):
        for name, found in times.items():
            found.append(seconds(_work(name, X, k)))
    medians = {name: float(np.median(found)) for name, found in times.items()}
    print(json.dumps({**medians, "memory_mb": peak_mb()}))


def _work(name: str, X: np.ndarray, k: int) -> Callable[[], Any]:
    from franet import Cover, FRANe
    from franet.rankers import get

    if name == "fastcan":
        from peers import fastcan

        return lambda: fastcan(X, k or K)
    if k:
        given = {"n_jobs": 1} if name == "facility-location" else {}
        return lambda: get(name)(n_features_to_select=k, **given).fit(X)
    ranker = (Cover if name == "cover" else FRANe)(n_features_to_select=K)
    return lambda: ranker.fit(X)


def write(rows: Rows) -> None:
    """Write the rows; parts of an earlier run stay if they were not measured again."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "cover.csv"
    earlier = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    new = {row["part"] for row in rows}
    rows = [row for row in earlier if row["part"] not in new] + rows
    rows.sort(key=lambda row: list(PARTS).index(row["part"]))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _text(v) for k, v in row.items()} for row in rows)


def show(rows: Rows) -> None:
    """Print the rows as a table."""
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for row in rows:
        print("| " + " | ".join(_text(row[name]) for name in COLUMNS) + " |")


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


PARTS = {"speed": speed, "rankers": rankers, "drawn": drawn, "general": general}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        path, yardstick, repeats, k = given.child
        child(path, yardstick, int(repeats), int(k))
        return
    for name, part in PARTS.items():
        if given.only is None or name in given.only:
            rows = part()
            write(rows)
            show(rows)


if __name__ == "__main__":
    main()
