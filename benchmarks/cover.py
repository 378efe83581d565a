"""``Cover()``: its time, and its error on tables that it was not chosen on.

``python benchmarks/cover.py`` measures both; ``--only NAME`` one of them:

- *speed*: 64 features of 85 × 22,283 against ``FRANe()``, and of 100 × 100,000
  against fastcan. Both of a pair run in turn in one process.
- *general*: tables of scikit-learn, made ones and lung_small, against fastcan, CUR,
  random columns and others. It is the part *general* of ``reproduce/run.py``, and what
  that has stored is not measured again.

The table is printed and written to ``benchmarks/results/cover.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
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


def _in_child(X: np.ndarray, yardstick: str, repeats: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        command = [sys.executable, __file__, "--child", str(path), yardstick]
        done = subprocess.run(
            [*command, str(repeats)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(path: str, yardstick: str, repeats: int) -> None:
    """Fit both on a small table, so that all is compiled, then measure in turn."""
    warnings.simplefilter("ignore")
    X = np.load(path)
    times: dict[str, list[float]] = {name: [] for name in (yardstick, "cover")}
    for name in times:
        _work(name, np.ascontiguousarray(X[:, :1200]))()
    for _ in range(repeats):
        for name, found in times.items():
            found.append(seconds(_work(name, X)))
    medians = {name: float(np.median(found)) for name, found in times.items()}
    print(json.dumps({**medians, "memory_mb": peak_mb()}))


def _work(name: str, X: np.ndarray) -> Callable[[], Any]:
    from franet import Cover, FRANe

    if name == "fastcan":
        from peers import fastcan

        return lambda: fastcan(X, K)
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


PARTS = {"speed": speed, "general": general}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        path, yardstick, repeats = given.child
        child(path, yardstick, int(repeats))
        return
    for name, part in PARTS.items():
        if given.only is None or name in given.only:
            rows = part()
            write(rows)
            show(rows)


if __name__ == "__main__":
    main()
