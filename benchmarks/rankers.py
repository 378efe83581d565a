"""All rankers in one run: error at 16 features, time at 100,000, time and memory.

``python benchmarks/rankers.py`` measures everything; ``--only NAME`` (several times)
measures some parts: error, wide, nci9. ``--ranker NAME`` (several times) measures some
rankers. The table is printed and written to ``benchmarks/results/rankers.csv``.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from child import seconds
from peers import PEERS

import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
sys.path.insert(0, str(HERE.parent / "tests"))

COLUMNS = ["part", "ranker", "table", "value", "unit", "bar", "note"]
# Error at 16 features that greedy selection must reach.
BARS = {"ORL": 0.480, "Isolet": 0.475, "Yale": 0.575, "colon": 0.620}
GREEDY = ("column-subset", "facility-location")
# Rankers that take no longer than three times fastcan on 100 × 100,000.
WIDE = ("variance", "laplacian", "spec", *GREEDY)
TIMES = 3.0
LIMIT_S, LIMIT_AGNOS_S, LIMIT_MB = 60.0, 300.0, 2000.0


def names() -> list[str]:
    from franet.rankers import RANKERS

    return [name for name, (module, _) in RANKERS.items() if find_spec(module)]


def make(name: str, k: int, seed: int = 0) -> Any:
    from franet.rankers import get

    cls = get(name)
    known = inspect.signature(cls).parameters
    given = {"n_features_to_select": k, "random_state": seed}
    return cls(**{key: value for key, value in given.items() if key in known})


def ranks(name: str, k: int, seed: int = 0) -> Any:
    """Return a function from a table to the ranks of its columns."""

    def ours(X: np.ndarray) -> np.ndarray:
        return make(name, k, seed).fit(X).ranking_

    def peer(X: np.ndarray) -> np.ndarray:
        found = np.full(X.shape[1], k + 1)
        found[PEERS[name](X, k)] = np.arange(1, k + 1)
        return found

    return peer if name in PEERS else ours


class Rows:
    """The rows of the table, printed as they come."""

    def __init__(self, wanted: list[str] | None) -> None:
        self.wanted = wanted
        self.rows: list[dict[str, Any]] = []

    def chosen(self, among: list[str]) -> list[str]:
        """Return those among some rankers that are asked for."""
        return [n for n in among if self.wanted is None or n in self.wanted]

    def add(self, *cells: Any) -> None:
        """Keep a row, and tell whether it reaches its bar."""
        row = dict(zip(COLUMNS, cells, strict=False))
        bar = row.get("bar")
        if isinstance(bar, float) and not row.get("note"):
            row["note"] = "reached" if row["value"] <= bar else "MISSED"
        self.rows.append(row)
        texts = [f"{c:.4g}" if isinstance(c, float) else str(c) for c in row.values()]
        print("  ".join(texts), flush=True)


def error(rows: Rows) -> None:
    """Measure the error of 5-NN at 16 features under the paper's protocol."""
    from data import load
    from protocol import rmae

    slow = {"agnos", "ndfs", "udfs"}  # minutes for ten folds: only if asked for
    for table, bar in BARS.items():
        try:
            X = load(table)[0]
        except FileNotFoundError as err:
            print(f"skipped {table}: {err}")
            continue
        known = [n for n in names() if n not in slow or n in (rows.wanted or ())]
        for name in rows.chosen([*known, *PEERS]):
            start = time.perf_counter()
            try:
                seeds = range(10 if name == "random" else 1)
                value = np.mean([rmae(X, ranks(name, 16, seed)) for seed in seeds])
            except Exception as err:  # a peer or a ranker that fails is a result
                rows.add("error", name, table, np.nan, "RMAE", "", f"failed: {err}")
                continue
            seconds = time.perf_counter() - start
            reach = bar if name in GREEDY else ""
            note = "" if name in GREEDY else f"{seconds:.1f} s for ten folds"
            note += ", mean of ten seeds" if len(seeds) > 1 else ""
            rows.add("error", name, table, float(value), "RMAE", reach, note)


def wide(rows: Rows) -> None:
    """Measure the time for 64 features of 100 × 100,000 against fastcan's."""
    X = tables.factors(100_000, m=100)
    shape = "100 x 100,000"
    peer = measure("fastcan on components", X, 64)
    floor = peer["seconds"]
    rows.add("wide", "fastcan on components", shape, floor, "s", "", "the yardstick")
    for name in rows.chosen([n for n in WIDE if n in names()]):
        found = measure(name, X, 64)
        if "seconds" not in found:
            rows.add("wide", name, shape, np.nan, "s", "", found["failed"])
            continue
        rows.add("wide", name, shape, found["seconds"], "s", TIMES * floor)


def nci9(rows: Rows) -> None:
    """Measure time and memory of every ranker on 60 × 9,712."""
    from data import load

    try:
        X, table = load("nci9")[0], "nci9"
    except FileNotFoundError:
        X, table = tables.factors(9712, m=60).astype(np.float64), "60 x 9,712"
    for name in rows.chosen(names()):
        found = measure(name, X, 16)
        if "seconds" not in found:
            rows.add("nci9", name, table, np.nan, "s", "", found["failed"])
            continue
        limit = LIMIT_AGNOS_S if name == "agnos" else LIMIT_S
        rows.add("nci9", name, table, found["seconds"], "s", limit)
        rows.add("nci9", name, table, found["memory_mb"], "MB", LIMIT_MB)


def measure(name: str, X: np.ndarray, k: int) -> dict[str, Any]:
    """Return time and memory of a fit in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        command = [sys.executable, __file__, "--child", name, str(path), str(k)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ}, timeout=400
            )
        except subprocess.TimeoutExpired:
            return {"failed": "more than 400 s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(name: str, path: str, k: int) -> None:
    """Fit once on a small table, so that all is compiled, then measure."""
    warnings.simplefilter("ignore")
    X = np.load(path)
    rank = ranks(name, k)
    small = X[:, : 4 * k + 50]
    if name != "agnos":
        rank(np.ascontiguousarray(small))
    if name in GREEDY:  # other kernels where there are many features
        rank(X[:20])
    found = {"seconds": seconds(lambda: rank(X)), "memory_mb": peak_mb()}
    print(json.dumps(found))


def peak_mb() -> float:
    """Return the peak memory of this process, imports and table included."""
    # Not ru_maxrss: that starts from what the parent held.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def write(rows: list[dict[str, Any]]) -> None:
    """Write the rows; those of an earlier run stay if they were not measured again."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "rankers.csv"
    earlier = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    new = {_key(row) for row in rows}
    rows = [row for row in earlier if _key(row) not in new] + rows
    rows.sort(key=lambda row: list(PARTS).index(row["part"]))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
            )


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("part", "ranker", "table", "unit"))


def show(rows: list[dict[str, Any]]) -> None:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        cells = (row.get(name, "") for name in COLUMNS)
        texts = (f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells)
        lines.append("| " + " | ".join(texts) + " |")
    print("\n".join(lines))


PARTS = {"error": error, "wide": wide, "nci9": nci9}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--ranker", action="append")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        name, path, k = arguments.child
        child(name, path, int(k))
        return
    warnings.simplefilter("ignore")
    rows = Rows(arguments.ranker)
    for name, part in PARTS.items():
        if arguments.only is None or name in arguments.only:
            part(rows)
            write(rows.rows)
    show(rows.rows)


if __name__ == "__main__":
    main()
