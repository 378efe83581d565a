"""The approximate search: how near it comes to the exact one, time and memory.

``python benchmarks/approximate.py`` compares both on 50,000 features, then measures
the approximate search up to 400,000; ``--million`` adds 1,000,000 features, ``--only
NAME`` (several times) takes some parts: agreement, seeds, growth, million.
Every measurement has a process of its own. Rows are printed and written to
``benchmarks/results/approximate.csv``; those that were not measured again stay.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from child import peak_mb

import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "approximate.csv"
COLUMNS = [
    "part", "what", "m", "n", "seconds", "cpu_seconds", "peak_gb", "exact_seconds",
    "top_100", "top_100_ties", "spearman", "mean_error", "winner", "exact_winner",
    "quality", "exact_quality", "mean_degree", "recall", "score_error",
    "score_agreement", "top_agreement", "n_rivals", "sampled", "n_probes", "commit",
]  # fmt: skip


def modules(n: int, m: int = 100, seed: int = 0) -> np.ndarray:
    """Return columns in modules whose sizes follow a power law: few large, many small.

    As in tables of genes, a batch moves all columns a little, a column belongs to its
    module more or less, and three in ten belong to none. The largest modules have
    hubs with thousands of neighbours.
    """
    rng = np.random.default_rng(seed)
    size = 1.0 / np.arange(1, n // 50 + 1)
    module = rng.choice(len(size), n, p=size / size.sum())
    share = rng.beta(3.0, 1.5, n) * (rng.random(n) > 0.3)
    signal = rng.normal(size=(m, len(size)))[:, module]
    X = signal * np.sqrt(share) + rng.normal(size=(m, n)) * np.sqrt(1.0 - share)
    X += 0.2 * rng.normal(size=(m, 1)) * rng.normal(size=n)
    return X.astype(np.float32)


def hub(n: int, m: int = 100, seed: int = 0) -> np.ndarray:
    """Return one tight group of n/25 columns, loose groups of 20, and noise."""
    from franet.datasets import make_groups

    loose = n // 50
    noise = n - n // 25 - 20 * loose
    made = make_groups(
        m,
        loose + 1,
        [n // 25] + [20] * loose,
        redundancy=[0.95] + [0.7] * loose,
        n_noise=noise,
        random_state=seed,
    )
    return made.X.astype(np.float32)


def groups(n: int, m: int = 100, seed: int = 0) -> np.ndarray:
    """Return groups of 50 columns, loose to tight, and as many columns of noise."""
    from franet.datasets import make_groups

    shares = np.linspace(0.5, 0.98, n // 100)
    made = make_groups(
        m,
        n // 100,
        50,
        redundancy=shares,
        n_noise=n // 2,
        exact=False,
        random_state=seed,
    )
    return made.X.astype(np.float32)


MAKERS = {
    "factors": tables.factors,
    "groups": groups,
    "hub": hub,
    "modules": modules,
    "dense winner": tables.dense_winner,
    # The same, with so few edges stored that the winner is seen through a sample.
    "dense winner, sampled": tables.dense_winner,
}
# Tables of other seeds, on which nothing was tuned.
SEEDS = {"factors": 7, "groups": 8, "hub": 9, "modules": 10}


def costs(what: str, n: int, start: float, cpu: float) -> dict[str, Any]:
    """Return what was measured since `start`, with the name of the table."""
    return {
        "what": what,
        "m": 100,
        "n": n,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "peak_gb": peak_mb() / 1e3,
    }


def measure(what: str, n: int, exact: bool, seed: int = 0) -> dict[str, Any]:
    """Return the figures of one table."""
    from franet.search.approximate import _search, search_approximately
    from franet.search.exact import Settings

    if what.endswith("sampled"):
        _search.DEEP, _search.DEEP_PAIRS = 100, 0
    X = MAKERS[what](n, 100, seed=seed)
    columns, threads = np.arange(n), 2
    # Kernels are compiled, or loaded, before the clock starts.
    small = MAKERS[what](5000, 100)
    seeded = [Settings(random=np.random.RandomState(0)) for _ in range(2)]
    search_approximately(small, columns[:5000], seeded[0])
    start, cpu = time.perf_counter(), time.process_time()
    found = search_approximately(X, columns, seeded[1], n_threads=threads)
    row = {
        **costs(what, n, start, cpu),
        "winner": found.winner,
        "quality": float(found.quality[found.winner]),
        "mean_degree": 2 * int(found.n_edges[found.winner]) / n,
    }
    told = found.approximation
    for name in COLUMNS[COLUMNS.index("recall") : COLUMNS.index("commit")]:
        row[name] = getattr(told, name)
    print(told, file=sys.stderr)
    return {**row, **compare(X, found.scores)} if exact else row


def compare(X: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    """Return how near scores come to those of an exact fit."""
    from franet import FRANe
    from franet.search.ranking import rank_correlation, rank_scores

    start = time.perf_counter()
    ranker = FRANe().fit(X)
    seconds = time.perf_counter() - start
    first = rank_scores(scores) <= 100
    least = np.sort(ranker.scores_)[-100] * (1.0 - 1e-9)
    shares = [v / v.mean() for v in (scores, ranker.scores_)]
    return {
        "exact_seconds": seconds,
        "top_100": float((first & (ranker.ranking_ <= 100)).sum() / 100),
        # Features that tie with the last of the first hundred are as good.
        "top_100_ties": float((ranker.scores_[first] >= least).mean()),
        "spearman": rank_correlation(scores, ranker.scores_),
        "mean_error": float(np.abs(shares[0] - shares[1]).mean()),
        "exact_winner": ranker.winner_,
        "exact_quality": float(ranker.quality_[ranker.winner_]),
    }


def child(
    part: str, what: str, n: int, exact: bool = False, seed: int = 0
) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", part, what]
    command += map(str, (n, int(exact), seed))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise RuntimeError(f"ended with {done.returncode}: {last}")
    row = {"part": part, **json.loads(done.stdout.strip().splitlines()[-1])}
    row["commit"] = _commit()
    for name in ("seconds", "cpu_seconds", "peak_gb", "spearman", "top_100"):
        if name in row:
            row[name] = round(row[name], 4)
    print("  ".join(f"{k}={v}" for k, v in row.items()), flush=True)
    print(done.stderr.strip().splitlines()[-1], flush=True)
    write(row)
    return row


def _commit() -> str:
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def write(row: dict[str, Any]) -> None:
    """Put a row into the file, in place of an earlier one of the same name."""
    rows = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            rows = {_key(old): old for old in csv.DictReader(file)}
    rows[_key(row)] = {
        k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()
    }
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))


def _key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["part"], row["what"], int(row["n"])


def agreement() -> None:
    for what in MAKERS:
        child("agreement", what, 20_000 if "dense" in what else 50_000, True)


def seeds() -> None:
    for what, seed in SEEDS.items():
        child("seeds", what, 50_000, True, seed)


def growth() -> None:
    """Measure time against the number of features, and print its exponent."""
    rows = [child("growth", "factors", n) for n in (50_000, 100_000, 200_000, 400_000)]
    for kind in ("seconds", "cpu_seconds"):
        n, t = np.log([(row["n"], row[kind]) for row in rows]).T
        print(f"{kind} grow as n^{np.polyfit(n, t, 1)[0]:.2f}")


def million() -> None:
    child("million", "factors", 1_000_000)


PARTS = {
    "agreement": agreement,
    "seeds": seeds,
    "growth": growth,
    "million": million,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        warnings.simplefilter("ignore")
        _, what, n, exact, seed = arguments.child
        print(json.dumps(measure(what, int(n), exact == "1", int(seed))))
        return
    default = [part for part in PARTS if part != "million" or arguments.million]
    for name in arguments.only or default:
        PARTS[name]()


if __name__ == "__main__":
    main()
