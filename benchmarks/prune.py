"""Dropping correlated columns: how many are kept, and whether both promises hold.

``python benchmarks/prune.py`` measures everything, prints it, and stores the tables
in ``results/prune.md``. ``--parts field size`` measures some parts and leaves the
others there as they are:

- *field*: kept columns of each table at two cutoffs, beside other tools; how many
  pairs of kept columns exceed the cutoff, and how many dropped columns have no kept
  partner. ``feature-engine`` takes part where it is installed.
- *random*: both guarantees on 1,000 random tables with copies, negatives, constants,
  equal values and gaps.
- *shuffles*: Jaccard index of the kept columns before and after columns and rows are
  shuffled, renamed, rescaled and negated; copies count as one column.
- *spectra*: what a cutoff does to the R² of a target, beside as many picks of Cover.
- *size*: processor time and peak memory of 200 × 50,000 and 200 × 200,000.

The tables are files ``NAME.npz`` with an array ``X`` and, for *spectra*, ``y``. They
are not part of this repository; see ``field.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import parts
from parts import Table

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "prune.md"
CUTOFFS = (0.9, 0.8)
# What one table may have at the most, from the definition of done.
MOST = {"chem_cox2": (162, 117), "chem_pac": (353, 196), "macro_fred_md": (93, 77)}
SPECTRA = ("nir_gasoline", "nir_soil", "nir_tecator")
SIZES = (("groups", 50_000), ("noise", 50_000), ("one block", 50_000),
         ("walks", 50_000), ("groups", 200_000), ("one block", 200_000))  # fmt: skip
ROUNDING = 1e-9
# Columns of tables for which feature-engine takes many minutes.
SLOW = 1500


def pandas_recipe(S: np.ndarray, cutoff: float) -> np.ndarray:
    """Drop each column that exceeds the cutoff with any column before it."""
    return np.flatnonzero(~(np.triu(S, 1) > cutoff).any(axis=0))


def find_correlation(S: np.ndarray, cutoff: float) -> np.ndarray:
    """Do as caret documents ``findCorrelation``, by its default for many columns.

    Of two columns that exceed the cutoff, the one with the larger mean absolute
    correlation is dropped, columns with the largest mean being looked at first. With
    fewer than 100 columns, means are taken again over the columns that are left.
    """
    n = len(S)
    mean = S.sum(axis=0) / max(n - 1, 1)
    order = np.argsort(-mean, kind="stable")
    if n >= 100:  # the one that is looked at has the larger mean: it is dropped
        above = np.triu(S[np.ix_(order, order)] > cutoff, 1).any(axis=1)
        return np.sort(order[~above])
    left = np.ones(n, bool)
    for a, i in enumerate(order):
        for j in order[a + 1 :]:
            if not (left[i] and left[j]) or S[i, j] <= cutoff:
                continue
            mean = S[:, left].sum(axis=1) / max(left.sum() - 1, 1)
            left[i if mean[i] > mean[j] else j] = False
            if not left[i]:
                break
    return np.flatnonzero(left)


def complete_linkage(S: np.ndarray, cutoff: float) -> np.ndarray:
    """Keep of each cluster by complete linkage the column closest to the others."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    D = np.clip(1 - S, 0, None)
    np.fill_diagonal(D, 0)
    label = fcluster(linkage(squareform(D, checks=False), "complete"), 1 - cutoff,
                     "distance")  # fmt: skip
    clusters = [np.flatnonzero(label == one) for one in np.unique(label)]
    return np.sort([c[np.argmax(S[np.ix_(c, c)].sum(axis=0))] for c in clusters])


def feature_engine(X: np.ndarray, cutoff: float) -> np.ndarray:
    """Drop columns by feature-engine, which goes by their names."""
    import pandas as pd
    from feature_engine.selection import DropCorrelatedFeatures

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    drop = DropCorrelatedFeatures(threshold=cutoff).fit(frame)
    return np.array([j for j, name in enumerate(frame) if name not in
                     drop.features_to_drop_])  # fmt: skip


def broken(S: np.ndarray, kept: np.ndarray, cutoff: float) -> tuple[int, int]:
    """Return pairs of kept columns above the cutoff, and dropped ones without any."""
    together = int((np.triu(S[np.ix_(kept, kept)], 1) > cutoff + ROUNDING).sum())
    dropped = np.setdiff1d(np.arange(len(S)), kept)
    alone = int((S[np.ix_(dropped, kept)].max(axis=1) < cutoff - ROUNDING).sum())
    return together, alone


def tables(given: Any, names: Any = None) -> Iterator[tuple[str, np.ndarray, Any]]:
    """Yield the tables, without constant columns."""
    for path in sorted(given.folder.glob("*.npz")):
        if names is None or path.stem in names:
            with np.load(path, allow_pickle=False) as file:
                X, y = file["X"].astype(float), file["y"] if "y" in file else None
            yield path.stem, X[:, X.max(axis=0) > X.min(axis=0)], y


def field(given: Any) -> Table:
    """Compare the numbers of kept columns, and what is broken, with other tools."""
    from franet import drop_correlated

    tools: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
        "drop_correlated": lambda X, S, c: drop_correlated(X, c).kept,
        "exact=True": lambda X, S, c: drop_correlated(X, c, exact=True).kept,
        "pandas recipe": lambda X, S, c: pandas_recipe(S, c),
        "findCorrelation": lambda X, S, c: find_correlation(S, c),
        "complete linkage": lambda X, S, c: complete_linkage(S, c),
    }
    try:
        import feature_engine as _
    except ImportError:
        print("feature-engine is not installed: left out")
    else:
        tools["feature-engine"] = lambda X, S, c: feature_engine(X, c)
    rows = []
    for name, X, _ in tables(given):
        S = np.abs(np.corrcoef(X.T))
        np.fill_diagonal(S, 0.0)
        for at, cutoff in enumerate(CUTOFFS):
            row: list[Any] = [name, f"{X.shape[0]} × {X.shape[1]}", cutoff]
            for tool, choose in tools.items():
                if tool == "feature-engine" and X.shape[1] > SLOW:
                    row.append("–")
                    continue
                kept = choose(X, S, cutoff)
                together, alone = broken(S, kept, cutoff)
                count = str(len(kept))
                if tool == "exact=True":
                    least = drop_correlated(X, cutoff, exact=True).least
                    assert least is not None
                    count += "" if least == len(kept) else f" (≥ {least:.0f})"
                if together or alone:
                    assert tool not in ("drop_correlated", "exact=True")
                    count += f" ({together}, {alone})"
                row.append(count)
            if name in MOST:
                assert int(row[3]) <= MOST[name][at], row
            rows.append(row)
            print(*row, flush=True)
    return ["table", "size", "cutoff", *tools], rows


def random(given: Any) -> Table:
    """Check both guarantees on random tables, by the slow oracle of the tests."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from franet import drop_correlated
    from naive_prune import check, constant, correlations, table

    counts = {cutoff: np.zeros(3, int) for cutoff in (0.5, *CUTOFFS[::-1], 0.95, 1.0)}
    for seed in range(1000):
        X = table(seed)
        if constant(X).all():  # of which none would be kept: an error
            continue
        R = correlations(X)
        for cutoff, count in counts.items():
            for more in ({}, {"exact": True}):
                found = drop_correlated(X, cutoff, **more)
                check(X, found, cutoff, R)
            count += 1, X.shape[1], X.shape[1] - len(found.kept)
    rows = [[cutoff, *count, 0] for cutoff, count in counts.items()]
    for row in rows:
        print(*row)
    return ["cutoff", "tables", "columns", "dropped", "promises broken"], rows


def shuffles(given: Any) -> Table:
    """Compare what is kept of shuffled, renamed, rescaled and negated columns."""
    import pandas as pd

    from franet import drop_correlated

    rows = []
    for name, X, _ in tables(given):
        m, n = X.shape
        S = np.abs(np.corrcoef(X.T))
        first = np.argmax((S > 1 - ROUNDING) | np.eye(n, dtype=bool), axis=1)
        for cutoff in CUTOFFS:
            one = set(first[drop_correlated(X, cutoff).kept])
            shares = []
            for seed in range(5):
                draw = np.random.default_rng(seed)
                columns, order = draw.permutation(n), draw.permutation(m)
                units = draw.choice([-1.0, 1.0], n) * draw.uniform(0.01, 100, n)
                labels = [f"c{j}" for j in draw.permutation(n)]
                other = pd.DataFrame((X * units)[order][:, columns], columns=labels)
                kept = drop_correlated(other, cutoff).kept
                two = set(first[columns[kept]])
                shares.append(len(one & two) / len(one | two))
            rows.append([name, cutoff, len(one), f"{min(shares):.4f}"])
            assert min(shares) >= 0.98, rows[-1]
            print(*rows[-1], flush=True)
    return ["table", "cutoff", "kept", "least Jaccard of 5"], rows


def spectra(given: Any) -> Table:
    """Predict a target from all columns, from kept ones, and from picks of Cover."""
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from franet import Cover, DropCorrelated

    model = [StandardScaler(), RidgeCV(np.logspace(-8, 4, 25))]
    rows = []
    for name, X, y in tables(given, SPECTRA):
        if name == "nir_soil":  # -1: not known
            X, y = X[y != -1], y[y != -1]
        for cutoff in (*CUTOFFS, 0.99):
            drop = DropCorrelated(cutoff)
            k = int(drop.fit(X).n_features_)
            ways = {"all": [], "kept": [drop], "cover": [Cover(k)], "16": [Cover(16)]}
            row: list[Any] = [name, cutoff, k]
            for steps in ways.values():
                folds = KFold(5, shuffle=True, random_state=0)
                scores = cross_val_score(make_pipeline(*steps, *model), X, y, cv=folds)
                row.append(f"{scores.mean():.3f}")
            rows.append(row)
            print(*row, flush=True)
    head = ["all columns", "kept columns", "as many picks of Cover", "Cover(16)"]
    return ["spectra", "cutoff", "kept", *(f"R², {words}" for words in head)], rows


def made(kind: str, n: int, m: int = 200) -> np.ndarray:
    """Return a table of a kind, made a thousand columns at a time."""
    draw = np.random.default_rng(0)
    X = np.empty((m, n))
    shared = draw.standard_normal((m, n // 10))
    for at in range(0, n, 1000):
        part = draw.standard_normal((m, min(1000, n - at)))
        size = part.shape[1]
        if kind == "groups":
            part *= draw.uniform(0.05, 0.6, size)
            part += shared[:, draw.integers(0, n // 10, size)]
        elif kind == "one block":
            part *= draw.uniform(0.06, 0.3, size)
            part += shared[:, [0]]
        elif kind == "walks":
            part = np.cumsum(part, axis=0)
        X[:, at : at + 1000] = part
    return X


def measure(kind: str, n: int) -> None:
    """Prune a table that is made here, and print what it took as JSON."""
    from franet import drop_correlated

    warnings.simplefilter("ignore")
    X = made(kind, n)
    drop_correlated(X[:, :3000])  # compiles, or loads, the kernels
    drop_correlated(X[:50, :100])
    wall, processor = time.perf_counter(), time.process_time()
    found = drop_correlated(X)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    # Not ru_maxrss, which begins with the peak of the parent process.
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    print(json.dumps([len(found.kept), processor, wall, peak / 1e6]))


def size(given: Any) -> Table:
    """Measure processor time and memory, each table in a process of its own."""
    rows = []
    for kind, n in SIZES:
        words = [sys.executable, __file__, "--measure", kind, str(n)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        kept, processor, wall, peak = json.loads(done.stdout.splitlines()[-1])
        row = [kind, f"200 × {n:,}", kept, f"{processor:.1f}", f"{wall:.1f}"]
        rows.append([*row, f"{peak:.2f}"])
        print(*rows[-1], flush=True)
    head = ["table", "size", "kept", "processor s", "wall s", "peak GB, table included"]
    return head, rows


PARTS: dict[str, Callable[[Any], Table]] = {
    "field": field,
    "random": random,
    "shuffles": shuffles,
    "spectra": spectra,
    "size": size,
}
NOTES = {
    "field": "Kept columns. In brackets: pairs of kept columns above the cutoff, and "
    "dropped columns without a kept partner, where there are any; of `exact=True` the "
    "proven bound, where it is not reached. feature-engine takes minutes for more than "
    "1,500 columns, and is left out there.",
    "random": "Tables with copies, negatives, constants, equal values and gaps, each "
    "pruned with and without `exact=True` and checked by `tests/naive_prune.py`.",
    "shuffles": "Rows and columns shuffled, columns renamed, rescaled and negated; "
    "copies count as one column.",
    "spectra": "Five-fold R² of ridge regression; columns are chosen in each fold.",
    "size": "float64; the number of threads is that of the machine.",
}


def main() -> None:
    parser = parts.parser(__doc__, PARTS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure[0], int(given.measure[1]))
        return
    warnings.simplefilter("ignore")
    parts.run(OUT, "Dropping correlated columns", PARTS, NOTES, given)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
