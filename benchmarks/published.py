"""The protocols of FSEVAL and of FAE: our rankers beside the published results.

``python benchmarks/published.py`` measures both; ``--only NAME`` one of them:

- *fseval*: the protocol "10Percent" of FSEVAL [1]_. A ranker sees the whole table, raw.
  The first 0.5, 1, …, 10 % of its features are judged, and the value is the mean over
  these 20 steps. *clustering*: k-means with the true number of clusters, ten seeds; NMI
  and clustering accuracy. *classification*: a random forest, five times five-fold;
  accuracy and AUC. Both are computed by FSEVAL's own package, sdufseval. Random
  features are drawn ten times, as there.
- *fae*: the protocol of FAE [2]_. 50 splits of a scaled table; features are chosen on
  the training part, linear regression on them predicts all features of the test part
  (mean squared error), and extra trees its classes. *pfa* repeats a published method:
  it shows how far the protocols agree.

Classification takes hours, so it is measured only if ``--measures classification`` asks
for it; ``--rankers`` and ``--sets`` choose rankers and data sets. Every value is stored
in ``benchmarks/results/published.csv`` as soon as it is known. What is stored is not
measured again, unless the ranking has changed or ``--again`` is given: a run can be
killed and resumed, and after a change of a ranker the same command measures what
differs. In *fae* the ranking of the first split decides.

Seconds are those of the processor, ranking included; with ``--jobs`` they miss what
other processes take. At the end ours are printed beside the published values, as
``benchmarks/reproduce/document.py --only published`` writes them into
docs/benchmark/published.md. ``--cite FOLDER`` reads the published values anew.

Data sets, and in ``field`` coil20_20x20.npz, are looked for in FRANET_DATA or in
``../shared``. ``make published`` installs sdufseval in an environment of its own.
``--sets`` without names measures nothing and prints what is stored.

References
----------
.. [1] M. Rajabinasab, A. Zimek. "FSEVAL: Feature Selection Evaluation Toolbox and
   Dashboard." arXiv:2604.18227, 2026. github.com/mrajabinasab/FSEVAL.
.. [2] X. Wu, Q. Cheng. "Fractal Autoencoders for Feature Selection." AAAI 2021.
   github.com/xinxingwu-uk/FAE_full_more_examples.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import inspect
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "published.csv"
sys.path += [str(HERE.parent / "tests"), str(HERE / "reproduce")]

COLUMNS = (
    "part", "ranker", "dataset", "draw", "measure", "value", "seconds", "ranking",
)  # fmt: skip
KEY = COLUMNS[:5]
RANKERS = ("cover", "column-subset", "facility-location", "frane", "random")
MEASURES = {
    "clustering": ("NMI", "CLSACC"),
    "classification": ("ACC", "AUC"),
}
# Those of FSEVAL that are at hand, the quick ones first.
SETS = (
    "lung_small", "colon", "Yale", "GLIOMA", "leukemia", "ALLAML", "Prostate-GE",
    "warpPIE10P", "TOX-171", "madelon", "pixraw10P", "ORL", "arcene", "Isolet",
    "COIL20",
)  # fmt: skip
SHARES = np.round(np.arange(0.005, 0.1001, 0.005), 3)
# Seeds of k-means, seeds of the forests, folds, and draws of random features.
N_CLUSTERINGS, N_FORESTS, N_FOLDS, N_DRAWS = 10, 5, 5, 10
# How many features FAE chooses of each of its tables.
CHOSEN = {
    "Prostate-GE": 64, "GLIOMA": 64, "leukemia": 64, "pixraw10P": 64, "arcene": 64,
    "coil20_20x20": 50,
}  # fmt: skip
N_SPLITS = 50
REBUILT = ("MSE", "ACC")
CITED = ("dataset", "method", "n_features", "bias", "splits", "accuracy", "mse")
METHOD = re.compile(r"\d+_(?P<name>[A-Za-z]+)_((?P<k>\d+)_)?CV(/bias_(?P<bias>\w+))?")
# Methods of FAE's tables that saw the test part.
TEST_PART = ("LS", "SPEC", "NDFS", "MCFS", "InfFS")
Row = dict[str, Any]


def order_of(name: str, X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the first k features of a ranking."""
    if name == "pfa":
        return pfa(X, k, seed)
    from franet.rankers import get

    cls = get(name)
    known = inspect.signature(cls).parameters
    given = {"n_features_to_select": k, "random_state": seed, "n_jobs": 1}
    ranker = cls(**{key: value for key, value in given.items() if key in known})
    return np.asarray(ranker.fit(X).order_[:k])


def pfa(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the features of a principal feature analysis, as FAE runs it.

    Features are clustered by their loadings on the principal components that hold half
    of the variance; each cluster gives the feature closest to its center.
    """
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    loadings = PCA(0.5).fit(StandardScaler().fit_transform(X)).components_.T
    found = KMeans(k, n_init=10, random_state=seed).fit(loadings)
    distances = np.linalg.norm(loadings - found.cluster_centers_[found.labels_], axis=1)
    members = (np.flatnonzero(found.labels_ == cluster) for cluster in range(k))
    return np.array([own[distances[own].argmin()] for own in members])


def digest(order: np.ndarray) -> str:
    """Return a short text that differs where rankings differ."""
    return hashlib.sha256(order.astype("<i8").tobytes()).hexdigest()[:12]


def fseval(given: Any) -> Iterator[list[Row]]:
    """Measure rankings of the whole table; yield the rows of each unit."""
    from data import load

    for name in chosen(SETS, given.sets):
        X, y = load(name)
        for ranker in given.rankers or RANKERS:
            for draw in range(N_DRAWS if ranker == "random" else 1):
                start = time.process_time()
                order = order_of(ranker, X, counts(X.shape[1])[-1], draw)
                ranked = time.process_time() - start
                for kind in given.measures:
                    unit = ("fseval", ranker, name, draw)
                    if known(unit, MEASURES[kind], order, given.again):
                        continue
                    start = time.process_time()
                    values = JUDGES[kind](X, y, order, given.jobs)
                    seconds = ranked + time.process_time() - start
                    yield rows(unit, values, seconds, order)


def counts(n: int) -> list[int]:
    """Return how many features the 20 steps judge; small tables repeat some."""
    return [max(1, math.ceil(share * n)) for share in SHARES]


def clustering(
    X: np.ndarray, y: np.ndarray, order: np.ndarray, jobs: int
) -> dict[str, float]:
    from sdufseval import unsupervised_eval_batch

    steps = counts(X.shape[1])
    found = unsupervised_eval_batch(
        {k: X[:, order[:k]] for k in dict.fromkeys(steps)},
        y,
        avg_steps=N_CLUSTERINGS,
        n_jobs=jobs,
        random_state=0,
    )
    return means("clustering", [found[k] for k in steps])


def classification(
    X: np.ndarray, y: np.ndarray, order: np.ndarray, jobs: int
) -> dict[str, float]:
    from sdufseval import supervised_eval_batch
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=100, n_jobs=1)
    steps = counts(X.shape[1])
    found = supervised_eval_batch(
        {k: X[:, order[:k]] for k in dict.fromkeys(steps)},
        y,
        classifier=forest,
        cv=N_FOLDS,
        avg_steps=N_FORESTS,
        n_jobs=jobs,
        random_state=0,
    )
    return means("classification", [found[k][type(forest).__name__] for k in steps])


def means(kind: str, found: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the steps."""
    return {m: fmean(each[m.lower()] for each in found) for m in MEASURES[kind]}


JUDGES = {"clustering": clustering, "classification": classification}


def fae(given: Any) -> Iterator[list[Row]]:
    """Measure rankings of training parts; yield the rows of each unit."""
    for name in chosen(CHOSEN, given.sets):
        X, y = scaled(name)
        for ranker in given.rankers or (*RANKERS, "pfa"):
            start = time.process_time()
            train, _ = halves(X, 0)
            first = order_of(ranker, X[train], CHOSEN[name], 0)
            unit = ("fae", ranker, name, 0)
            if known(unit, REBUILT, first, given.again):
                continue
            found = [rebuild(X, y, ranker, CHOSEN[name], s) for s in range(N_SPLITS)]
            means = map(fmean, zip(*found, strict=True))
            values = dict(zip(REBUILT, means, strict=True))
            yield rows(unit, values, time.process_time() - start, first)


def scaled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of FAE, scaled as there: before it is split."""
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    from data import load

    if name == "coil20_20x20":
        with np.load(shared(f"field/{name}.npz")) as file:
            return file["X"], file["y"]
    X, y = load(name)
    if name == "pixraw10P":
        return X.astype(np.float32) / 255, y
    scaler = StandardScaler() if name == "leukemia" else MinMaxScaler()
    return scaler.fit_transform(X), y


def halves(X: np.ndarray, split: int) -> list[np.ndarray]:
    """Return the rows of the training part and of the test part."""
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(len(X)), test_size=0.2, random_state=split)


def rebuild(
    X: np.ndarray, y: np.ndarray, ranker: str, k: int, split: int
) -> tuple[float, float]:
    """Return mean squared error and accuracy of one split."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LinearRegression

    train, test = halves(X, split)
    order = order_of(ranker, X[train], k, split)
    kept, rest = X[train][:, order], X[test][:, order]
    predicted = LinearRegression().fit(kept, X[train]).predict(rest)
    trees = ExtraTreesClassifier(50, random_state=0).fit(kept, y[train])
    return float(((predicted - X[test]) ** 2).mean()), trees.score(rest, y[test])


def shared(name: str) -> Path:
    """Return the path of a shared file or folder that is not a data set of franet."""
    from data import shared_dir

    folder = shared_dir()
    places = [folder / name, folder.parent / name] if folder else []
    for place in places:
        if place.exists():
            return place
    raise FileNotFoundError(f"{name}: set FRANET_DATA")


def chosen(sets: Iterable[str], wanted: list[str] | None) -> list[str]:
    """Return those among some data sets that are asked for."""
    return [name for name in sets if wanted is None or name in wanted]


def rows(
    unit: tuple[Any, ...], values: dict[str, float], seconds: float, order: np.ndarray
) -> list[Row]:
    """Return a row for each value of a unit."""
    last = (f"{seconds:.1f}", digest(order))
    cells = [(*unit, measure, f"{v:.6g}", *last) for measure, v in values.items()]
    return [dict(zip(COLUMNS, map(str, row), strict=True)) for row in cells]


def known(
    unit: tuple[Any, ...], measures: Iterable[str], order: np.ndarray, again: bool
) -> bool:
    """Return whether the values of a unit are stored, for the same ranking."""
    table = stored()
    found = [table.get((*map(str, unit), m), {}).get("ranking") for m in measures]
    return not again and set(found) == {digest(order)}


def stored() -> dict[tuple[str, ...], Row]:
    """Return the rows measured so far, by what they measure."""
    if not OUT.exists():
        return {}
    with OUT.open(newline="") as file:
        return {tuple(row[c] for c in KEY): row for row in csv.DictReader(file)}


def keep(new: list[Row]) -> None:
    """Store rows; a run that is killed meanwhile leaves the file as it was."""
    table = stored() | {tuple(row[c] for c in KEY): row for row in new}
    write(OUT, COLUMNS, [table[key] for key in sorted(table)])


def write(path: Path, columns: Sequence[str], table: Iterable[Row]) -> None:
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    part.replace(path)


def cite(folder: Path) -> None:
    """Write the published values that docs/benchmark shows."""
    from document import HOME

    with (folder / "fseval.csv").open(newline="") as file:
        found: dict[tuple[str, str], Row] = {}
        for row in csv.DictReader(file):
            line = found.setdefault((row["dataset"], row["measure"]), {})
            line[row["ranker"]] = row["value"]
    names = sorted({name for line in found.values() for name in line})
    lines = [
        {"dataset": dataset, "measure": measure} | found[dataset, measure]
        for dataset in SETS
        for measures in MEASURES.values()
        for measure in measures
    ]
    columns = ["dataset", "measure", *names]
    write(HOME / "results" / "published-fseval.csv", columns, lines)
    with (folder / "fae.csv").open(newline="") as file:
        lines = [method(row) for row in csv.DictReader(file)]
    write(HOME / "results" / "published-fae.csv", CITED, filter(None, lines))


def method(row: Row) -> Row | None:
    """Return a published row of FAE; None where features were chosen on the test part.

    Names are such as ``7_PFA_CV`` and ``12_FAE_50_CV/bias_True``.
    """
    found = METHOD.fullmatch(row["method"])
    if found is None or found["name"] in TEST_PART:
        return None
    own = {
        "method": found["name"].replace("AgnoSS", "AgnoS-S"),
        "n_features": found["k"] or CHOSEN[row["dataset"]],
        "bias": found["bias"],
    }
    return {c: own.get(c, row.get(c, "")) for c in CITED}


def show() -> None:
    """Print ours beside the published values."""
    from document import Tables
    from published_text import places

    found = places(Tables())
    for title in ("fseval_means", "fseval_NMI", "fseval_CLSACC", "fae_MSE", "fae_ACC"):
        print(f"\n{title}\n\n{found[title]}")


PARTS: dict[str, Callable[[Any], Iterator[list[Row]]]] = {"fseval": fseval, "fae": fae}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--rankers", nargs="+")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument(
        "--measures", nargs="+", choices=list(MEASURES), default=["clustering"]
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that judge")
    parser.add_argument("--again", action="store_true", help="measure what is stored")
    parser.add_argument("--cite", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.cite:
        cite(given.cite)
    for name, part in PARTS.items():
        if given.only in (None, name):
            for new in part(given):
                keep(new)
                print("  ".join(new[0][c] for c in KEY[:4]), end="  ")
                print("  ".join(f"{r['measure']} {r['value']}" for r in new), end="  ")
                print(f"{new[0]['seconds']} s", flush=True)
    show()


if __name__ == "__main__":
    main()
