"""Rankers on 25 real tables from 14 domains, judged by four measures.

``python benchmarks/field.py`` measures what ``results/field.csv`` does not hold yet,
prints the comparison and stores it. ``--again`` measures the given rankers anew, for
example ``--rankers cover --again``. ``--show`` only prints.

The rows of a table are split five times into a training and a test part. Columns are
chosen on the training part, and judged on the test part at 4, 16 and 64 columns:

- *rmae_raw*: error of five nearest neighbors in the chosen columns as they are. Every
  column is rebuilt; errors are in units of its standard deviation.
- *rmae_std*: the same with the chosen columns standardized.
- *r2*: ridge regression of all standardized columns on the chosen ones, pooled R².
- *y*: balanced accuracy, or R², of extra trees that see only the chosen columns. Not
  every table has a target.

The tables are files ``NAME.npz`` with an array ``X`` and, where there is a target,
``y`` (floats: regression, others: classes). They are not part of this repository.

``--split choosing`` and ``--split reporting`` are two halves of the tables: sorted by
name, the first, third, fifth, … and the others.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from peers import skmatter_cur
from scipy.stats import rankdata
from store import Row, Store

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "field.csv"
SIZES = (4, 16, 64)
FOLDS = 5
# The measures, and whether small is good.
MEASURES = {"rmae_raw": True, "rmae_std": True, "r2": False, "y": False}
MAX_ROWS, MAX_COLUMNS = 1500, 6000
RANDOM_DRAWS = 4
SPLITS = {
    "all": slice(None),
    "choosing": slice(0, None, 2),
    "reporting": slice(1, None, 2),
}
# Parameters of Cover by label.
COVERS: dict[str, dict[str, Any]] = {
    "cover": {},
    "cover-raw": {"scale": None},
    "cover-variance": {"weights": "variance"},
    "cover-linear": {"objective": "linear"},
    "cover-neighbors": {"objective": "neighbors"},
}
Choose = Callable[[np.ndarray, int], np.ndarray]


def standardized(A: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and variance 1; constant ones become 0."""
    deviation = A.std(axis=0)
    return (A - A.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def ours(name: str) -> Choose:
    """Return how a ranker of this library chooses columns."""

    def choose(A: np.ndarray, k: int) -> np.ndarray:
        from franet import Cover, FRANe
        from franet.rankers import get

        k = min(k, A.shape[1])
        ranker: Any
        if name in COVERS:
            ranker = Cover(n_features_to_select=k, n_jobs=1, **COVERS[name])
        elif name == "frane":
            ranker = FRANe(n_jobs=1)
        else:
            ranker = get(name)(n_features_to_select=k)
        return np.argsort(ranker.fit(A).ranking_, kind="stable")

    return choose


def fastcan(A: np.ndarray, k: int) -> np.ndarray:
    """Return what explains the principal components of standardized columns best."""
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    Z = standardized(A)
    k = min(k, min(A.shape) - 1)
    if min(A.shape) < 400:
        k = min(k, int(np.linalg.matrix_rank(Z)))
    targets = PCA(k, random_state=0).fit_transform(Z)
    return FastCan(k, verbose=0).fit(Z, targets).indices_


def cur(A: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of a CUR decomposition of standardized columns."""
    return skmatter_cur(A, min(k, min(A.shape) - 1))


def variance(A: np.ndarray, k: int) -> np.ndarray:
    """Return the columns by variance."""
    return np.argsort(-A.var(axis=0))


RANKERS: dict[str, Choose | None] = {
    **{name: ours(name) for name in COVERS},
    "frane": ours("frane"),
    "column-subset": ours("column-subset"),
    "facility-location": ours("facility-location"),
    "fastcan": fastcan,
    "cur": cur,
    "variance": variance,
    "random": None,
}
# Those that are compared unless others are named.
COMPARED = [name for name in RANKERS if name == "cover" or name not in COVERS]
# Rankers whose first choices depend on how many are asked for.
PER_SIZE = {"fastcan", "cur"}


def folder() -> Path:
    """Return where the tables are by default: beside the data sets of FRANET_DATA."""
    data = os.environ.get("FRANET_DATA")
    return Path(data).parent / "field" if data else HERE.parent.parent / "shared/field"


def open_store(path: Path = OUT) -> Store:
    """Return the results: means over the folds by table, ranker and size."""
    return Store(path, ("table", "ranker", "k", "folds"), (*MEASURES, "seconds"))


class Fold:
    """One split of a table, and how columns chosen on it are judged."""

    def __init__(self, X: np.ndarray, y: np.ndarray | None, fold: int) -> None:
        drawn = np.random.default_rng(7).permutation(len(X))[:MAX_ROWS]
        test = np.sort(drawn[fold::FOLDS])
        train = np.setdiff1d(drawn, test)
        keep = np.flatnonzero(X[train].std(axis=0) > 0)
        if len(keep) > MAX_COLUMNS:
            rng = np.random.default_rng(0)
            keep = np.sort(rng.choice(keep, MAX_COLUMNS, replace=False))
        self.fold = fold
        self.train, self.test = X[train][:, keep], X[test][:, keep]
        self.targets = None if y is None else (y[train], y[test])
        deviation = np.concatenate([self.train, self.test]).std(axis=0)
        self._scale = np.where(deviation > 0, deviation, 1.0)
        mean, deviation = self.train.mean(axis=0), self.train.std(axis=0)
        self._standard = [(part - mean) / deviation for part in (self.train, self.test)]

    @classmethod
    def read(cls, path: Path, fold: int) -> Fold:
        """Return a split of a stored table."""
        with np.load(path) as held:
            X = held["X"].astype(np.float64)
            y = held["y"] if "y" in held else None
        return cls(X, y, fold)

    @property
    def n_columns(self) -> int:
        """How many columns vary in the training part."""
        return self.train.shape[1]

    def judge(self, chosen: np.ndarray) -> dict[str, float]:
        """Return the four measures of chosen columns."""
        from sklearn.linear_model import Ridge

        Z, W = self._standard
        rest = W - Ridge(1.0).fit(Z[:, chosen], Z).predict(W[:, chosen])
        found = {
            "rmae_raw": self._error(self.train, self.test, chosen),
            "rmae_std": self._error(Z, W, chosen),
            "r2": float(1 - (rest**2).sum() / (W**2).sum()),
        }
        return found if self.targets is None else {**found, "y": self._target(chosen)}

    def _error(self, P: np.ndarray, Q: np.ndarray, chosen: np.ndarray) -> float:
        """Return the error of neighbors that are searched in P, the rows of Q."""
        from sklearn.neighbors import KNeighborsRegressor

        near = KNeighborsRegressor(5).fit(P[:, chosen], self.train)
        rebuilt = near.predict(Q[:, chosen])
        return float((np.abs(rebuilt - self.test) / self._scale).mean())

    def _target(self, chosen: np.ndarray) -> float:
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
        from sklearn.metrics import balanced_accuracy_score

        ya, yb = self.targets
        A, B = self.train[:, chosen], self.test[:, chosen]
        if ya.dtype.kind == "f":
            return float(
                ExtraTreesRegressor(60, random_state=0).fit(A, ya).score(B, yb)
            )
        predicted = ExtraTreesClassifier(60, random_state=0).fit(A, ya).predict(B)
        return float(balanced_accuracy_score(yb, predicted))


def judged(fold: Fold, name: str, sizes: Sequence[int]) -> list[Row]:
    """Return the measures of a ranker on one split, at each size."""
    choose, rows = RANKERS[name], []
    chosen, seconds = np.empty(0, int), 0.0
    for k in sizes:
        if choose is None:
            draws = [_drawn(fold, k, i) for i in range(RANDOM_DRAWS)]
            row = {key: np.mean([draw[key] for draw in draws]) for key in draws[0]}
        else:
            if name in PER_SIZE or not len(chosen):
                start = time.perf_counter()
                chosen = choose(fold.train, k if name in PER_SIZE else max(sizes))
                seconds = time.perf_counter() - start
            row = fold.judge(np.asarray(chosen)[:k])
        rows.append({"k": k, **row, "seconds": seconds})
    return rows


def _drawn(fold: Fold, k: int, draw: int) -> dict[str, float]:
    rng = np.random.default_rng(100 * fold.fold + draw)
    return fold.judge(rng.permutation(fold.n_columns)[:k])


def measure(path: Path, name: str, sizes: Sequence[int], folds: int) -> list[Row]:
    """Return the means over the folds of a table: a row for each size.

    Sizes above half of the columns of the table have no values.
    """
    from threadpoolctl import threadpool_limits

    found: dict[int, list[Row]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm(name)
        for i in range(folds):
            fold = Fold.read(path, i)
            fitting = [k for k in sizes if k <= fold.n_columns / 2]
            for row in judged(fold, name, fitting):
                found.setdefault(row["k"], []).append(row)
    of = {"table": path.stem, "ranker": name, "folds": folds}
    full = {k: means(rows) for k, rows in found.items() if len(rows) == folds}
    return [{**of, **full.get(k, {}), "k": k} for k in sizes]


def _warm(name: str) -> None:
    """Rank a small table, so that all is compiled when seconds are taken."""
    choose = RANKERS[name]
    if choose is not None:
        choose(np.random.default_rng(0).normal(size=(60, 40)), 4)


def means(rows: Sequence[Row]) -> Row:
    """Return the mean of each value."""
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def run(paths: Sequence[Path], store: Store, given: argparse.Namespace) -> None:
    """Measure what is not stored yet, and store each result when it is there."""
    from joblib import Parallel, delayed

    todo = [
        (path, name)
        for name in given.rankers
        for path in paths
        if given.again or not held(store, path.stem, name, given)
    ]
    work = partial(attempt, sizes=given.k, folds=given.folds)
    pool = Parallel(given.jobs, return_as="generator_unordered")
    for rows in pool(delayed(work)(path, name) for path, name in todo):
        store.add(rows)


def attempt(path: Path, name: str, sizes: Sequence[int], folds: int) -> list[Row]:
    """Measure; a ranker that fails on a table is reported and not stored."""
    start = time.perf_counter()
    try:
        rows = measure(path, name, sizes, folds)
    except Exception as err:
        print(f"{path.stem}: {name} failed: {type(err).__name__}: {err}", flush=True)
        return []
    print(f"{path.stem}: {name}, {time.perf_counter() - start:.0f} s", flush=True)
    return rows


def held(store: Store, table: str, name: str, given: argparse.Namespace) -> bool:
    """Return whether a ranker is stored on a table at each size."""
    folds = str(given.folds)
    return all((table, name, str(k), folds) in store.rows for k in given.k)


@dataclass(frozen=True)
class Comparison:
    """Rankers by one measure at one size, over the tables on which all have it."""

    names: Sequence[str]
    means: np.ndarray
    ranks: np.ndarray
    wins: np.ndarray
    n_tables: int


def compare(
    store: Store,
    tables: Sequence[str],
    names: Sequence[str],
    folds: int,
    by: str,
    k: int,
) -> Comparison:
    """Compare rankers by a measure at k columns; ties take the mean rank."""
    found = [[store.value(by, t, name, k, folds) for name in names] for t in tables]
    values = np.array(found).reshape(-1, len(names))
    values = values[~np.isnan(values).any(axis=1)]
    if not len(values):
        nothing = np.full(len(names), np.nan)
        return Comparison(names, nothing, nothing, np.zeros(len(names), int), 0)
    ranks = rankdata(values if MEASURES[by] else -values, axis=1)
    return Comparison(
        names,
        values.mean(axis=0),
        ranks.mean(axis=0),
        (ranks == 1).sum(axis=0),
        len(values),
    )


def mean_seconds(store: Store, tables: Sequence[str], name: str, folds: int) -> float:
    """Return the mean time of a ranker over the tables, at the largest size of each."""
    largest: dict[str, int] = {}
    for table, ranker, k, f in store.rows:
        known = (ranker, f) == (name, str(folds)) and table in tables
        if known and not np.isnan(store.value("seconds", table, name, k, f)):
            largest[table] = max(largest.get(table, 0), int(k))
    found = [store.value("seconds", t, name, k, folds) for t, k in largest.items()]
    return float(np.mean(found)) if found else float("nan")


def show(store: Store, tables: Sequence[str], given: argparse.Namespace) -> None:
    """Print each measure at each size, and the mean of the average ranks."""
    names, ranks = given.rankers, []
    for by in MEASURES:
        for k in given.k:
            found = compare(store, tables, names, given.folds, by, k)
            if not found.n_tables:
                continue
            ranks.append(found.ranks)
            title = f"{by}, {k} columns, {found.n_tables} tables"
            print(f"\n{title}: mean, average rank, wins")
            for i in np.argsort(found.ranks, kind="stable"):
                cells = (
                    f"{found.means[i]:8.4f} {found.ranks[i]:5.2f} {found.wins[i]:3d}"
                )
                print(f"  {names[i]:18s} {cells}")
    print(f"\nmean of these {len(ranks)} average ranks; seconds for the most columns")
    overall = np.mean(ranks, axis=0)
    for i in np.argsort(overall, kind="stable"):
        seconds = mean_seconds(store, tables, names[i], given.folds)
        print(f"  {names[i]:18s} {overall[i]:5.2f} {seconds:8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=folder())
    parser.add_argument("--rankers", nargs="+", choices=list(RANKERS), default=COMPARED)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--split", choices=list(SPLITS), default="all")
    parser.add_argument("--folds", type=int, choices=range(1, FOLDS + 1), default=FOLDS)
    parser.add_argument("--k", type=int, nargs="+", default=SIZES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure stored ones, too")
    parser.add_argument("--show", action="store_true", help="print what is stored")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    store = open_store(given.out)
    if given.show:
        tables = store.column("table")
    else:
        tables = sorted(path.stem for path in given.folder.glob("*.npz"))
        if not tables:
            parser.error(f"no tables in {given.folder}; name their folder by --folder")
    tables = tables[SPLITS[given.split]]
    if given.tables:
        tables = [name for name in tables if name in given.tables]
    if not given.show:
        run([given.folder / f"{name}.npz" for name in tables], store, given)
    show(store, tables, given)


if __name__ == "__main__":
    main()
