"""Speed and memory, against the hardware's floor and against peers, in one run.

``python benchmarks/speed.py`` measures everything that fits into an hour;
``--quick`` leaves out what takes more than a minute; ``--only NAME`` (several times)
measures some parts: ratio, dense, sets, cold, frane, peers. The table is printed, and
written with a plot to ``benchmarks/results/``; rows that were not measured again stay
as they are there, with their commit. Every ratio comes from one process, floor and fit
in turn.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
sys.path.insert(0, str(HERE.parent / "tests"))

COLUMNS = [
    "part", "what", "m", "n", "seconds", "floor", "ratio", "memory_mb", "density",
    "note", "commit",
]  # fmt: skip


class Bench:
    """Runs measurements in child processes and collects rows."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder
        self.quick = quick
        self.rows: list[dict[str, Any]] = []

    def child(self, task: str, X: np.ndarray, *args: Any, **env: str) -> dict[str, Any]:
        """Return what a measurement in a process of its own found."""
        path = self.folder / "table.npy"
        np.save(path, X)
        command = [sys.executable, str(HERE / "child.py"), task, str(path)]
        return run([*command, *map(str, args)], **env)

    def add(self, part: str, what: str, X: np.ndarray, **values: Any) -> None:
        """Keep a row of results, and show it."""
        m, n = X.shape
        row = {"part": part, "what": what, "m": m, "n": n, **values}
        row["commit"] = _commit()
        self.rows.append(row)
        shown = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
        print("  ".join(f"{k}={v}" for k, v in shown.items()), flush=True)

    def ratio(self, part: str, what: str, X: np.ndarray, repeats: int = 5) -> None:
        """Measure a fit against the floor."""
        found = self.child("ratio", X, repeats)
        self.add(
            part,
            what,
            X,
            seconds=found["fit"],
            floor=found["floor"],
            ratio=found["fit"] / found["floor"],
            memory_mb=found["memory_mb"],
            density=found["density"],
            note=_agreement(X, found),
        )


def _commit() -> str:
    """Return the commit that is measured, with a + if files have changed since."""
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty=+"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip()


def run(command: list[str], **env: str) -> dict[str, Any]:
    done = subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def _agreement(X: np.ndarray, found: dict[str, Any]) -> str:
    """Return how far the scores are from those of the naive oracle, if it is quick."""
    if X.shape[1] > 2000:
        return ""
    from naive import naive_frane

    naive = naive_frane(X.astype(np.float64))
    off = np.abs(np.array(found["scores"]) - naive.scores).max() / naive.scores.max()
    same = "same winner" if naive.winner == found["winner"] else "ANOTHER WINNER"
    return f"naive: {same}, scores off by {off:.0e}"


def sizes(bench: Bench) -> None:
    wanted = [1000, 2000, 5000, 10_000, 22_283]
    for n in wanted if bench.quick else [*wanted, 50_000]:
        seeds = (0, 1, 2) if n == 22_283 else (0,)
        for seed in seeds:
            X = tables.factors(n, seed=seed)
            bench.ratio("ratio", f"factors, seed {seed}", X, 5 if n < 30_000 else 1)
    if not bench.quick:
        bench.ratio("ratio", "factors", tables.factors(100_000, m=100), 1)


def dense(bench: Bench) -> None:
    X = tables.dense_winner(22_283)
    bench.ratio("dense", "one tight group", X, 1 if bench.quick else 3)


def sets(bench: Bench) -> None:
    """Measure on real sets, and against the authors' code where it can be run."""
    names = ["lung_small", "madelon", "colon", "lymphoma", "nci9", "arcene"]
    for name in names:
        X = _load(name)
        if X is None:
            print(f"skipped {name}: its data are not here; set FRANET_DATA")
            continue
        bench.ratio("sets", name, X.astype(np.float32))
        bench.ratio("sets", f"{name}, float64", X)


def cold(bench: Bench) -> None:
    X = _load("lung_small")
    X = tables.factors(325, m=73) if X is None else X
    with tempfile.TemporaryDirectory() as cache:
        found = bench.child("cold", X, NUMBA_CACHE_DIR=cache)
        note = "import included, empty kernel cache"
        bench.add(
            "cold", "first fit, new process", X, seconds=found["first"], note=note
        )
        bench.add("cold", "second fit", X, seconds=found["second"])
        found = bench.child("cold", X, NUMBA_CACHE_DIR=cache)
        note = "import included, cached kernels"
        bench.add(
            "cold", "first fit, new process", X, seconds=found["first"], note=note
        )


def frane(bench: Bench) -> None:
    """Measure the authors' code, and ours on the same table in the same run."""
    python = _frane_python()
    if python is None:
        print("skipped frane: needs Python 3.10 (set FRANE_PYTHON to its path)")
        return
    for name in ["lung_small", "colon"] + ([] if bench.quick else ["lymphoma"]):
        X = _load(name)
        if X is None:
            print(f"skipped {name}: its data are not here; set FRANET_DATA")
            continue
        ours = bench.child("ratio", X, 5)
        path = bench.folder / "table.npy"
        theirs = run([str(python), str(HERE / "frane_child.py"), str(path)])
        note = f"{theirs['fit'] / ours['fit']:.0f} times our {ours['fit']:.4f} s"
        bench.add(
            "frane",
            name,
            X,
            seconds=theirs["fit"],
            memory_mb=theirs["memory_mb"],
            note=note,
        )


def _frane_python() -> Path | None:
    """Return the Python of an environment with the authors' code; build it once."""
    folder = HERE / ".frane-env"
    python = folder / "bin" / "python"
    if python.exists():
        return python
    base = os.environ.get("FRANE_PYTHON") or shutil.which("python3.10")
    pins = ["numpy==1.22.4", "scipy==1.8.1", "tqdm", "frane==0.1.0"]
    try:
        subprocess.run([base or "", "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *pins], check=True)
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return python


def peers(bench: Bench) -> None:
    for n in [1000, 5000, 22_283] + ([] if bench.quick else [100_000]):
        X = tables.factors(n)
        for peer in ("fastcan", "skmatter_cur", "laplacian"):
            if n > 22_283 and peer == "skmatter_cur":
                continue
            try:
                found = bench.child(peer, X)
            except RuntimeError as err:
                print(f"skipped {peer}: {err}")
                continue
            bench.add(
                "peers", peer, X, seconds=found["fit"], memory_mb=found["memory_mb"]
            )


def _load(name: str) -> np.ndarray | None:
    from data import load, shared_dir

    return None if shared_dir() is None else load(name)[0]


def growth(rows: list[dict[str, Any]]) -> str:
    """Return the exponent of n with which the time grows from 5,000 features on."""
    points = [(r["n"], r["seconds"]) for r in rows if r["part"] == "ratio"]
    points = [p for p in points if p[0] >= 5000]
    if len(points) < 2:
        return ""
    n, t = np.log(np.array(points)).T
    return f"time grows as n^{np.polyfit(n, t, 1)[0]:.2f} from 5,000 features on"


def with_earlier(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with those of earlier runs for what was not measured now."""
    path = RESULTS / "speed.csv"
    new = {_what(row) for row in rows}
    old: list[dict[str, Any]] = []
    if path.exists():
        with path.open(newline="") as file:
            old = [row for row in csv.DictReader(file) if _what(row) not in new]
    for row in old:
        for name in ("m", "n"):
            row[name] = int(row[name])
        for name in ("seconds", "floor", "ratio", "memory_mb", "density"):
            row[name] = float(row[name]) if row.get(name) else ""
    order = list(PARTS)
    both = sorted(old + rows, key=lambda row: row["n"])
    return sorted(both, key=lambda row: order.index(row["part"]))


def _what(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(name, "")) for name in ("part", "what", "n"))


def write(rows: list[dict[str, Any]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "speed.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
            )
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        cells = (row.get(name, "") for name in COLUMNS)
        texts = (f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells)
        lines.append("| " + " | ".join(texts) + " |")
    text = "\n".join([*lines, "", growth(rows), ""])
    (RESULTS / "speed.md").write_text(text)
    print(text)
    plot(rows)


def plot(rows: list[dict[str, Any]]) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(6, 4))
    series: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["part"] == "ratio":
            series.setdefault("franet, exact fit", []).append(
                (row["n"], row["seconds"])
            )
            series.setdefault("bare Gram pass", []).append((row["n"], row["floor"]))
        elif row["part"] in ("peers", "frane"):
            name = "frane 0.1.0" if row["part"] == "frane" else row["what"]
            series.setdefault(name, []).append((row["n"], row["seconds"]))
    for name, points in series.items():
        ax.loglog(*zip(*sorted(points), strict=True), "o-", label=name, markersize=4)
    ax.set(xlabel="features", ylabel="seconds")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    plt.tight_layout()
    plt.savefig(RESULTS / "speed.svg", metadata={"Date": None})


PARTS = {
    "ratio": sizes, "dense": dense, "sets": sets, "cold": cold, "frane": frane,
    "peers": peers,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=list(PARTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), arguments.quick)
        for name, part in PARTS.items():
            if arguments.only is None or name in arguments.only:
                part(bench)
        write(with_earlier(bench.rows))


if __name__ == "__main__":
    main()
