"""What a fit on a cluster takes: a model, fitted to measured points, and a simulation.

``python benchmarks/scaling_model.py`` reads ``benchmarks/results/dask.csv``, fits the
model, and prints the tables of ``docs/scaling.md``; ``--write`` puts them into that
page, between its markers.

The processor seconds of a pass are ``tiles · (a + b·m) + c·bytes``: a tile is scanned,
computed from m values a feature, and edges that it finds are sent. Points that are
marked as held out take no part in the fit. What cannot be run here is simulated.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scaling_simulation import Losses, Pass, simulate
from scipy.optimize import nnls

from franet._common.memory import BYTES_PER_PAIR
from franet.engine._numpy import TileEngine
from franet.engine._windows import windows
from franet.engine.levels import SAMPLED
from franet.engine.plan import _MOST_PRODUCTS, _USUAL_PRODUCTS
from franet.pairs.tiles import TileGrid

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "dask.csv"
PAGE = HERE.parent / "docs" / "scaling.md"

KINDS = ("extremes", "edges", "edges, deeper", "product, rough", "product")
# What is assumed, not measured.
DOLLARS = 0.05  # for a core and an hour
CORES = 16  # of a worker
SHARED = 0.7  # what a core does of the measured speed when all of a machine are at work
NETWORK = 1.25e9  # bytes a second into the client
STORAGE = 0.2e9  # bytes a second that a worker reads
LOST = 10 * 3600.0  # seconds until a worker is lost, on average
BACK = 60.0  # seconds until it is there again
M = 100
SIZES = (100_000, 1_000_000, 10_000_000)
CLUSTERS = (16, 64, 256)
# A near pair: two features and two values.
BYTES_NEAR = 24
BLOCKS = {"passes": 512, "passes64": 256}


def read() -> list[dict[str, Any]]:
    """Return the measured points, numbers as numbers."""
    with RESULTS.open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        for name, text in row.items():
            if name not in ("part", "what", "note"):
                row[name] = float(text) if text else math.nan
    return rows


@dataclass
class Model:
    """Processor seconds of each kind of pass, memory, and the price of a task.

    Attributes
    ----------
    seconds : dict
        Of each kind, the coefficients of tiles, of tiles · m and of bytes.
    opening : float
        Seconds for a cell of the table.
    memory : tuple of float
        Bytes of a worker: a constant, and for a cell of the table.
    """

    seconds: dict[str, Any]
    opening: float
    memory: tuple[float, float]


def fit(rows: list[dict[str, Any]], part: str) -> Model:
    """Return the model whose relative errors are least, without held-out points."""
    points = [r for r in rows if r["part"] == part and r["note"] != "held out"]
    seconds = {}
    for kind in KINDS:
        found = [r for r in points if r["what"] == kind]
        seconds[kind] = _least(
            [_terms(r) for r in found], [r["cpu_seconds"] for r in found]
        )
    found = [r for r in points if r["what"] == "open"]
    cells = [[r["n"] * r["m"]] for r in found]
    opening = float(_least(cells, [r["cpu_seconds"] for r in found])[0])
    found = [r for r in points if r["what"] == "memory"]
    cells = [[1e6, r["n"] * r["m"]] for r in found]
    # Absolute errors: in small tables, memory that was there already is used again.
    constant, cell = nnls(np.array(cells), np.array([r["memory"] for r in found]))[0]
    return Model(seconds, opening, (1e6 * constant, cell))


def _terms(r: dict[str, Any]) -> list[float]:
    # What other passes send does not depend on what they find.
    found = r["bytes_out"] if r["what"].startswith("edges") else 0.0
    return [r["tiles"], r["tiles"] * r["m"], found]


def _least(A: Any, y: Any) -> Any:
    A, y = np.array(A, float), np.array(y, float)
    if not len(y):
        raise SystemExit(f"{RESULTS.name} lacks points: run dask_cluster.py first")
    return nnls(A / y[:, None], np.ones(len(y)))[0]


def task_price(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the client's seconds for a task, and for a byte that it returns."""
    found = [r for r in rows if r["part"] == "tasks" and r["what"] == "result"]
    A = [[r["parts"], r["bytes_out"]] for r in found]
    task, byte = _least(A, [r["seconds"] for r in found])
    (last,) = [r for r in rows if r["what"] == "put together"]
    added = last["seconds"] / last["bytes_out"]
    return float(task), max(float(byte), 1 / NETWORK) + added


def lay_out(n: int, block: int, kind: str, near: float) -> Pass:
    """Return the parts of a pass over n features; `near` pairs are to be sent."""
    parts = windows(TileGrid(n, block))
    tiles = [part.count(None) for part in parts]
    share = np.array(tiles) / sum(tiles)
    blocks = np.array([len(part.blocks) for part in parts], float)
    features = blocks * block
    if kind == "extremes":
        found = 24 * blocks**2
    elif kind == "edges":
        pairs = BYTES_PER_PAIR * TileEngine.KEPT_PAIRS + BYTES_NEAR * near
        found = 12 * SAMPLED * features + share * pairs
    elif kind == "edges, deeper":
        found = share * BYTES_PER_PAIR * TileEngine.DEEP_PAIRS
    else:
        found = 8 * features
    return Pass(tiles, [float(size) for size in found])


def hours_of(
    rows: Any, part: str, n: int, workers: int, products: int, seed: int | None = None
) -> float:
    """Return the hours of a fit with so many products; with a seed, with losses."""
    model = fit(rows, part)
    block, price = BLOCKS[part], task_price(rows)
    opening = n * M * (model.opening + _bytes_of(part) / STORAGE)
    seconds, losses = opening, None
    if seed is not None:
        losses = Losses(LOST, BACK + opening, np.random.default_rng(seed))
    counts = {"extremes": 1, "edges": 1, "edges, deeper": 1, "product": products}
    for kind, count in counts.items():
        work = lay_out(n, block, kind, near_pairs(rows, n, part))
        a, b, c = model.seconds[kind]
        whole = sum(work.tiles)
        tile = a + b * M + c * work.moved / whole
        for _ in range(count):
            core = tile / (CORES * SHARED)
            seconds += simulate(work, core, workers, price, losses)
    return seconds / 3600


def _bytes_of(part: str) -> int:
    return 4 if part == "passes" else 8


def near_pairs(rows: Any, n: int, part: str) -> float:
    """Return how many pairs lie so near to a limit that float32 does not decide."""
    if part == "passes64":
        return 0.0
    found = {r["what"]: r for r in rows if r["part"] == "limits"}
    pairs = n * (n - 1) / 2
    k = min(8, max(3, round(-math.log10(TileEngine.KEPT_PAIRS / pairs))))
    dense = found[f"more than 1e-{k} of the pairs"]["parts"]
    return float(pairs * dense * found["near"]["ratio"])


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a table of Markdown, numbers to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def size(value: float) -> str:
    """Return bytes as a reader takes them in."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e3:.3g} kB"


def duration(hours: float) -> str:
    """Return hours as a reader takes them in."""
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{60 * hours:.0f} min" if hours >= 1 / 60 else f"{3600 * hours:.0f} s"


def measured_table(rows: Any) -> str:
    lines = []
    for r in rows:
        if r["part"] in ("ratio", "kills"):
            cells = [r["what"], f"{r['seconds']:.2f}", _maybe(r["cpu_seconds"], ".2f")]
            lines.append([*cells, _maybe(r["ratio"], ".2f"), r["note"]])
    load = max(r["load"] for r in rows if r["part"] == "ratio")
    head = ["22,283 features, 85 examples", "seconds", "processor seconds", "ratio", ""]
    return (
        table(head, lines)
        + f"\n\nTwo cores, in use by others as well: the load was {load:.1f}."
    )


def _maybe(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


def model_table(rows: Any) -> str:
    head = ["pass", "a, µs", "b, µs", "c, ns", "off, fitted", "off, held out"]
    lines = []
    for part, dtype in (("passes", "float32"), ("passes64", "float64")):
        model = fit(rows, part)
        for kind in KINDS:
            if part == "passes64" and kind == "product, rough":
                continue  # in float64 nothing is rough
            a, b, c = model.seconds[kind]
            found = [r for r in rows if r["part"] == part and r["what"] == kind]
            errors: dict[bool, list[float]] = {False: [], True: []}
            for r in found:
                told = float(np.dot(_terms(r), model.seconds[kind]))
                errors[r["note"] == "held out"].append(told / r["cpu_seconds"] - 1)
            cells = [f"{dtype}, {kind}", f"{1e6 * a:.0f}", f"{1e6 * b:.2f}"]
            cells.append(f"{1e9 * c:.2f}" if kind.startswith("edges") else "")
            lines.append([*cells, *map(_span, errors.values())])
    return table(head, lines)


def _span(errors: list[float]) -> str:
    return f"{100 * min(errors):+.0f} … {100 * max(errors):+.0f} %" if errors else ""


def other_text(rows: Any) -> str:
    task, byte = task_price(rows)
    model, exact = fit(rows, "passes"), fit(rows, "passes64")
    return (
        f"A task costs the client {1e3 * task:.1f} ms, and {1e9 * byte:.2f} ns for "
        f"each byte that it returns. A worker opens {1e-6 / model.opening:.0f} million "
        f"cells a second. It takes {model.memory[1]:.0f} bytes for a cell of a float32 "
        f"table, {exact.memory[1]:.0f} for one of a float64 table; the model is off by "
        f"{_span(_memory_errors(rows))} on the tables that were held out."
    )


def _memory_errors(rows: Any) -> list[float]:
    errors = []
    for part in BLOCKS:
        constant, cell = fit(rows, part).memory
        for r in rows:
            if (r["part"], r["what"], r["note"]) == (part, "memory", "held out"):
                told = constant + cell * r["n"] * r["m"]
                errors.append(told / r["memory"] - 1)
    return errors


def needs_table(rows: Any) -> str:
    head = ["", *[f"{n:,} features" for n in SIZES]]
    lines: dict[str, list[str]] = {}
    for n in SIZES:
        for name, text in _needs(rows, n).items():
            lines.setdefault(name, []).append(text)
    return table(head, [[name, *cells] for name, cells in lines.items()])


def _needs(rows: Any, n: int) -> dict[str, str]:
    grid, near = TileGrid(n, 512), near_pairs(rows, n, "passes")
    found = {
        "tiles, float32": f"{grid.n_tiles:,}",
        "parts of a pass": f"{len(windows(grid)):,}",
        "passes, sparse winner": f"{3 + _USUAL_PRODUCTS}",
        "passes, dense winner": f"{3 + _MOST_PRODUCTS}",
    }
    for kind in ("extremes", "edges", "product"):
        found[f"sent by a pass: {kind}"] = size(lay_out(n, 512, kind, near).moved)
    found["of it pairs near a limit"] = size(BYTES_NEAR * near)
    for dtype, part in (("float32", "passes"), ("float64", "passes64")):
        constant, cell = fit(rows, part).memory
        found[f"memory of a worker, {dtype}"] = size(constant + cell * n * M)
        # Degrees and scores, as the plan of a fit has them; extremes of each tile;
        # stored pairs, and those near a limit, twice while they are put together.
        extremes = 24 * TileGrid(n, BLOCKS[part]).n_blocks ** 2
        pairs = BYTES_PER_PAIR * TileEngine.DEEP_PAIRS
        pairs += BYTES_NEAR * near_pairs(rows, n, part)
        found[f"memory of the client, {dtype}"] = size(
            28 * n * 100 + extremes + 2 * pairs
        )
    return found


def clusters_table(rows: Any) -> str:
    head = ["features", "workers", "sparse winner", "with losses", "core-hours", "$"]
    head += ["dense winner", "core-hours", "$"]
    lines = []
    for n in SIZES:
        # Pairs near a limit are too many to be kept beyond a million features.
        part = "passes" if n <= 1_000_000 else "passes64"
        name = f"{n:,}, {'float32' if part == 'passes' else 'float64'}"
        for workers in CLUSTERS:
            usual = hours_of(rows, part, n, workers, _USUAL_PRODUCTS)
            lossy = hours_of(rows, part, n, workers, _USUAL_PRODUCTS, seed=0)
            dense = hours_of(rows, part, n, workers, _MOST_PRODUCTS)
            cells = [name, f"{workers} × {CORES}", duration(usual)]
            cells.append(f"{100 * (lossy / usual - 1):+.1f} %")
            cells += _price(usual * workers * CORES)
            lines.append([*cells, duration(dense), *_price(dense * workers * CORES)])
    text = (
        f"Assumed: {DOLLARS:.2f} $ for a core and an hour; a core does "
        f"{100 * SHARED:.0f} % of the measured speed when all {CORES} of a machine are "
        f"at work; {NETWORK / 1e9:.2f} GB/s into the client; {STORAGE / 1e9:.1f} GB/s "
        f"from storage to a worker. With losses: each worker is lost once in "
        f"{LOST / 3600:.0f} hours on average, and back after {BACK:.0f} s, without the "
        "table."
    )
    return table(head, lines) + "\n\n" + text


def _price(core_hours: float) -> list[str]:
    return [f"{core_hours:.0f}", f"{DOLLARS * core_hours:.2f}"]


SECTIONS = {
    "measured": measured_table,
    "model": model_table,
    "other": other_text,
    "needs": needs_table,
    "clusters": clusters_table,
}


def filled(page: str, rows: Any) -> str:
    """Return a page with what stands between its markers made anew."""
    for name, make in SECTIONS.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        text = f"{begin}\n{make(rows)}\n{end}"
        page, count = pattern.subn(lambda _, text=text: text, page)
        if count != 1:
            raise SystemExit(f"{PAGE.name}: the markers of {name!r} are missing")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="fill the page")
    arguments = parser.parse_args()
    rows = read()
    for name, make in SECTIONS.items():
        print(f"## {name}\n\n{make(rows)}\n")
    if arguments.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main()
