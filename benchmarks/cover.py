"""``Cover()``: its time, and its error on tables that it was not chosen on.

``python benchmarks/cover.py`` measures all; ``--only NAME`` one of them:

- *rankers*: 16 and 64 features by ``Cover``, ``FacilityLocation`` and ``ColumnSubset``
  against fastcan with as many components, at the sizes of `SIZES`, on one core. All of
  a size run in turn in one process.
- *large*: time and peak memory of a sparse table of the size of an atlas of cells, of
  one that is nearly empty, and of a stored one of ``--gigabytes`` (20), each in a
  process of its own, on all cores; of the stored one also how long it takes to read it.
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
# Samples and features of tables on which greedy rankers are timed, and how often.
SIZES = {
    (60, 400): 9,
    (1_500, 600): 5,
    (1_200, 6_000): 3,
    (85, 22_283): 3,
    (100, 100_000): 1,
    (100_000, 100): 1,
}
GREEDY = ("cover", "facility-location", "column-subset")
# Data sets of more features than are all represented.
DRAWN = ("lymphoma", "PCMAC", "TOX-171", "Prostate-GE", "nci9")
# How many times fastcan's time is allowed; so many seconds are, at any size.
TIMES, SHORT = 2.0, 0.05
Rows = list[dict[str, Any]]


def rankers() -> Rows:
    """Return times of greedy rankers, and how many times fastcan's."""
    rows = []
    for (m, n), repeats in SIZES.items():
        X = tables.factors(n, m=m).astype(np.float64)
        for k in (16, K):
            found = _in_child(X, repeats, k)
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


def _in_child(X: np.ndarray, repeats: int, k: int) -> dict[str, float]:
    """Return times of fastcan and of greedy rankers that pick k, on one core."""
    cores = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        command = [sys.executable, __file__, "--child", str(path)]
        done = subprocess.run(
            [*command, str(repeats), str(k)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **cores},
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(path: str, repeats: int, k: int) -> None:
    """Fit all on a small table, so that all is compiled, then measure in turn."""
    warnings.simplefilter("ignore")
    X = np.load(path)
    times: dict[str, list[float]] = {name: [] for name in ("fastcan", *GREEDY)}
    for few in (X[:200, :1200], X[:60, :3000]):
        for name in times:
            _work(name, np.ascontiguousarray(few), k)()
    for _ in range(repeats):
        for name, found in times.items():
            found.append(seconds(_work(name, X, k)))
    medians = {name: float(np.median(found)) for name, found in times.items()}
    print(json.dumps(medians))


def _work(name: str, X: np.ndarray, k: int) -> Callable[[], Any]:
    from franet import Cover
    from franet.rankers import get

    if name == "fastcan":
        from peers import fastcan

        return lambda: fastcan(X, k)
    if name == "cover":
        return lambda: Cover(k, n_jobs=1).fit(X)
    given = {"n_jobs": 1} if name == "facility-location" else {}
    return lambda: get(name)(n_features_to_select=k, **given).fit(X)


def large(gigabytes: float) -> Rows:
    """Return time and memory of sparse and stored tables, and whether bars are met."""
    rows = []
    for name, (k, seconds_bar, mb_bar) in LARGE.items():
        command = [sys.executable, __file__, "--large", name, str(k), str(gigabytes)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        found = json.loads(done.stdout.strip().splitlines()[-1])
        table = f"{found['shape']}, {k} features"
        bar = seconds_bar or found["bar"]
        rows += [
            _row("large", "cover", table, found["seconds"], "s", bar),
            _row("large", "cover", table, found["memory_mb"], "MB", mb_bar),
        ]
        if "read" in found:
            cells = "one read", table, found["read"], "s"
            rows.append(_row("large", *cells, "", "three, and the fit, are the bar"))
    return rows


def measure_large(name: str, k: int, gigabytes: float) -> None:
    """Make a table, and measure one fit of it, in a process of its own."""
    from franet import Cover

    Cover(4).fit(np.random.default_rng(0).normal(size=(60, 40)))
    with tempfile.TemporaryDirectory() as folder:
        X = MAKE[name](Path(folder), gigabytes)
        shape = " x ".join(f"{size:,}" for size in X.shape)
        found: dict[str, Any] = {"shape": f"{name}, {shape}"}
        ranker = Cover(k)
        found["seconds"] = seconds(lambda: ranker.fit(X))
        found["memory_mb"] = peak_mb()
        if name == "stored":
            found["read"] = seconds(lambda: _read(X))
            part = np.array(X[: ranker.n_drawn_])
            found["bar"] = 3 * found["read"] + seconds(lambda: Cover(k).fit(part))
    print(json.dumps(found))


def _read(X: np.ndarray) -> None:
    """Read a mapped table once, as a fit does: in pieces that are given back."""
    from franet.pairs.columns import open_columns

    for _, part in open_columns(X).row_pieces(2**25):
        part.sum()


def cells(folder: Path, gigabytes: float) -> Any:
    """Return log counts of 38,000 cells and 32,000 genes, 5 % of them not zero."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    programs = rng.gamma(0.3, size=(10, 32_000)).astype(np.float32)
    parts = []
    for _ in range(76):
        rates = rng.gamma(1.0, size=(500, 10)).astype(np.float32) @ programs
        parts.append(sparse.csr_array(rng.poisson(rates * 0.0175).astype(np.float32)))
    X = sparse.vstack(parts, format="csr")
    X.data = np.log1p(X.data)
    return X


def nearly_empty(folder: Path, gigabytes: float) -> Any:
    """Return a sparse table of which one cell in a thousand is filled."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    given = {"density": 1e-3, "format": "csr", "rng": rng}
    return sparse.random_array((20_000, 5_000), **given)


def stored(folder: Path, gigabytes: float) -> Any:
    """Return a mapped file of float64 with 5,000 columns."""
    rng, n = np.random.default_rng(0), 5_000
    m = int(gigabytes * 1e9 / (8 * n))
    path = folder / "table.npy"
    loads = rng.normal(size=(20, n))
    # Not by a map, whose pages would count as memory.
    with path.open("wb") as file:
        head = {"descr": "<f8", "fortran_order": False, "shape": (m, n)}
        np.lib.format.write_array_header_1_0(file, head)
        for at in range(0, m, 5_000):
            factors = rng.normal(size=(min(5_000, m - at), 20))
            file.write((factors @ loads + rng.normal(size=n)).data)
    return np.load(path, mmap_mode="r")


# Features, and the seconds and megabytes that are allowed; 0: what reading takes.
LARGE = {
    "cells": (150, 900.0, 8_000.0),
    "nearly empty": (16, 5.0, 8_000.0),
    "stored": (16, 0.0, 2_000.0),
}
MAKE: dict[str, Callable[[Path, float], Any]] = {
    "cells": cells,
    "nearly empty": nearly_empty,
    "stored": stored,
}


def write(rows: Rows) -> None:
    """Write the rows; parts of an earlier run stay if they were not measured again."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "cover.csv"
    earlier = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    new = {row["part"] for row in rows}
    earlier = [row for row in earlier if row["part"] in PARTS]
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


PARTS = {"rankers": rankers, "large": large, "drawn": drawn, "general": general}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--large", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        path, repeats, k = given.child
        child(path, int(repeats), int(k))
        return
    if given.large:
        name, k, gigabytes = given.large
        measure_large(name, int(k), float(gigabytes))
        return
    for name, part in PARTS.items():
        if given.only is None or name in given.only:
            rows = part(given.gigabytes) if part is large else part()
            write(rows)
            show(rows)


if __name__ == "__main__":
    main()
