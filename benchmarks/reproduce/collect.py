"""Make the small tables in docs/benchmark/results of the stored records.

``python benchmarks/reproduce/collect.py [STORES …]``: folders as ``run.py`` writes
them, one after another where parts were measured on several machines. Rows of what no
folder holds stay as they are, so that one ranker can be measured anew.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from across import PEER, PEER_FOLDS, STORED
from general import load, n_chosen
from parts import (
    CURVE,
    DATASETS,
    DRAWS,
    PROGRESSIONS,
    RANDOM_DRAWS,
    REPORTING,
    SIMILARITIES,
    parts,
)
from run import LAST, STORES

from franet.evaluation import Results, ResultsStore, compare
from franet.evaluation.store import merge

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmark" / "results"
TABLE_PARTS = (
    "table", "collapsed", "peers", "cover", "agglomeration", "genie3", "agnos",
    "urelief", "udfs",
)  # fmt: skip
# Pairs that are compared over the data sets, the first against the second.
PAIRS = (
    ("frane-reference", "laplacian-literature"),
    ("frane-reference", "laplacian"),
    ("frane-reference", "random"),
    ("frane-paper", "frane-reference"),
    ("column-subset", "frane-reference"),
    ("column-subset", "random"),
    ("facility-location", "column-subset"),
    ("cover", "fastcan"),
    ("cover", "column-subset"),
    ("cover", "facility-location"),
    ("cover", "frane-paper"),
    ("cover", "random"),
)
# Pairs that are compared over the half that had no part in choosing cover, too.
HALF_PAIRS = (("cover", "fastcan"), ("cover", "column-subset"))
N_FOLDS = 10
AT = 16
# By what a ranking is judged at many numbers of features.
JUDGED = ("rmae_shared", "rmae_scaled", "r2", "nmi")


def main() -> None:
    stores = [Path(given) for given in sys.argv[1:]] or [STORES]
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = {name: _read(stores, name) for name in parts()}
    table = Results(r for name in TABLE_PARTS for r in found[name].records)
    _write("errors", 3, *_errors(table))
    _write("curves", 4, *_curves(table))
    _write("times", 2, *_times(table))
    _write("ablation", 3, *_ablation(found["ablation"]))
    _write("thresholds", 1, *_thresholds(found["table"], found["thresholds"]))
    _write("draws", 2, *_draws(found["random20"]))
    _write("general", 6, *general_rows(stores))
    _write("across", 4, *_across(stores, table))
    _write_json("comparisons", _comparisons(_read_errors()))
    runs = {name: _runs(stores, name) for name in [*parts(), LAST]}
    _write_json("runs", _stored_json("runs") | {k: v for k, v in runs.items() if v})


def _read(stores: Iterable[Path], part: str) -> Results:
    """Return the records of a part in the order of its rankers and of the data sets."""
    folders = [s / part for s in stores if (s / part).is_dir()]
    records = list(
        merge(r for folder in folders for r in ResultsStore.read(folder)).values()
    )
    order, names = [*parts()[part].rankers], parts()[part].datasets
    records.sort(key=lambda r: (order.index(r.ranker), names.index(r.dataset), r.fold))
    return Results(records)


def _runs(stores: Iterable[Path], part: str) -> list[dict[str, Any]]:
    keep = ("id", "start", "folds", "n_jobs", "threads", "versions", "machine")
    runs = []
    for store in stores:
        if (store / part).is_dir():
            walls = _walls(store / part)
            for run in ResultsStore.read_runs(store / part):
                there = {key: run[key] for key in keep}
                runs.append({**there, **walls.get(run["id"], {})})
    return runs


def _walls(folder: Path) -> dict[str, dict[str, Any]]:
    file = folder / "walls.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    walls = (json.loads(line) for line in lines)
    return {wall.pop("run"): wall for wall in walls}


def _errors(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Return the errors at 16 features, fold by fold."""
    rows = []
    for dataset in _sorted(results.datasets):
        for ranker in results.rankers:
            for measure in ("rmae", "rmae_shared"):
                if results.has(dataset, ranker, measure):
                    values = results.values(dataset, ranker, AT, measure)
                    warned = any(r.warnings for r in results.of(dataset, ranker))
                    rows.append(
                        [dataset, ranker, measure, int(warned), *map(_number, values)]
                    )
    folds = [f"fold{number}" for number in range(N_FOLDS)]
    return ["dataset", "ranker", "measure", "warned", *folds], rows


def _curves(results: Results) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = []
    for dataset in _sorted(results.datasets):
        for ranker in results.rankers:
            for measure in ("rmae", "rmae_scaled"):
                if results.has(dataset, ranker, measure):
                    curve = results.curve(ranker, dataset, measure)
                    label = (dataset, ranker, measure)
                    points = zip(curve.counts, curve.mean, curve.error, strict=True)
                    rows += [
                        [*label, int(k), _number(value), _number(error)]
                        for k, value, error in points
                    ]
    return ["dataset", "ranker", "measure", "n_features", "mean", "error"], rows


def _times(results: Results) -> tuple[list[str], list[list[Any]]]:
    rows = []
    for ranker in results.rankers:
        for dataset in _sorted(results.datasets):
            records = results.of(dataset, ranker)
            if records:
                seconds = np.mean([r.seconds for r in records])
                stable = results.stability(ranker, AT, dataset)["kuncheva"]
                rows.append([ranker, dataset, _number(seconds), _number(stable)])
    return ["ranker", "dataset", "seconds", "kuncheva"], rows


def _ablation(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Return the errors of each pair, over the folds that all pairs finished."""
    rows = []
    for dataset in _sorted(results.datasets):
        folds = _common_folds(results, dataset)
        for similarity in SIMILARITIES if folds else ():
            for progression in PROGRESSIONS:
                label = f"{similarity}/{progression}"
                means = [
                    np.mean(
                        [
                            next(iter(r.values[measure].values()))
                            for r in results.records
                            if r.dataset == dataset
                            and r.ranker == label
                            and r.fold in folds
                        ]
                    )
                    for measure in ("rmae", "rmae_shared")
                ]
                rows.append(
                    [dataset, similarity, progression, len(folds), *map(_number, means)]
                )
    columns = ["dataset", "similarity", "progression", "n_folds"]
    return [*columns, "rmae", "rmae_shared"], rows


def _common_folds(results: Results, dataset: str) -> set[int]:
    done: dict[str, set[int]] = {label: set() for label in results.rankers}
    for record in results.records:
        if record.dataset == dataset and record.status == "ok":
            done[record.ranker].add(record.fold)
    complete = len(done) == len(SIMILARITIES) * len(PROGRESSIONS)
    return set.intersection(*done.values()) if complete else set()


def _thresholds(table: Results, chance: Results) -> tuple[list[str], list[list[Any]]]:
    """Return the error with RQH, and with a threshold by chance, draw by draw."""
    labels = [f"chance-{draw}" for draw in range(DRAWS)]
    rows = []
    for dataset in _sorted(chance.datasets):
        if all(chance.has(dataset, label) for label in labels):
            chosen = table.values(dataset, "frane-reference", AT).mean()
            drawn = [chance.values(dataset, label, AT).mean() for label in labels]
            rows.append([dataset, _number(chosen), *map(_number, drawn)])
    return ["dataset", "rqh", *labels], rows


def _draws(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Return the errors of columns drawn by chance, draw by draw."""
    labels = [f"random-{draw}" for draw in range(RANDOM_DRAWS)]
    rows = [
        [
            dataset,
            measure,
            *(_mean(results.values(dataset, label, AT, measure)) for label in labels),
        ]
        for dataset in _sorted(results.datasets)
        for measure in ("rmae", "rmae_shared")
    ]
    return ["dataset", "measure", *labels], rows


def general_rows(stores: Iterable[Path]) -> tuple[list[str], list[list[Any]]]:
    """Return all measures on the tables that are not of the paper."""
    results = _read(stores, "general")
    rows: list[list[Any]] = []
    for dataset in results.datasets:
        m, n = load(dataset)[0].shape
        k = n_chosen(n)
        found: dict[tuple[str, str], list[float]] = {}
        for ranker in results.rankers:
            for measure in parts()["general"].measures:
                value = results.values(dataset, ranker, k, measure).mean()
                kind = "random" if ranker.startswith("random-") else ranker
                found.setdefault((kind, measure), []).append(value)
        rows += [[dataset, m, n, k, *key, _mean(v)] for key, v in found.items()]
    return ["dataset", "m", "n", "n_features", "ranker", "measure", "mean"], rows


def _across(
    stores: Iterable[Path], table: Results
) -> tuple[list[str], list[list[Any]]]:
    """Return curves of some rankers: all folds put together, and the mean of some.

    Those are the folds of the peer, which has no others.
    """
    folders = [store / LAST for store in stores if (store / LAST).is_dir()]
    values: dict[tuple[str, str, str, int], dict[int, float]] = {}
    records = [r for r in table.records if r.ranker in STORED]
    for record in [*records, *(r for f in folders for r in ResultsStore.read(f))]:
        for row in record.rows():
            if row.n_features in CURVE and row.measure in JUDGED:
                key = (row.dataset, row.ranker, row.measure, row.n_features)
                values.setdefault(key, {})[row.fold] = row.value
    order = [*STORED, PEER]
    rows: list[list[Any]] = []
    for key in sorted(values, key=lambda k: (DATASETS.index(k[0]), order.index(k[1]))):
        each = values[key]
        whole = len(each) == N_FOLDS
        found = list(each.values())
        together = [np.mean(found), np.median(found), min(found)]
        cells = [_number(value) for value in together] if whole else [""] * 3
        rows.append([*key, *cells, _mean([each[fold] for fold in PEER_FOLDS])])
    columns = ["dataset", "ranker", "measure", "n_features"]
    return [*columns, "mean", "median", "lowest", "some_folds"], rows


def _read_errors() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return the errors at 16 features: measure, ranker, data set, folds."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    with (RESULTS / "errors.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            folds = [float(row[f"fold{number}"]) for number in range(N_FOLDS)]
            of_measure = found.setdefault(row["measure"], {})
            of_measure.setdefault(row["ranker"], {})[row["dataset"]] = folds
    return found


def _comparisons(errors: dict[str, Any]) -> list[dict[str, Any]]:
    pairs = [(*pair, DATASETS) for pair in PAIRS]
    pairs += [(*pair, REPORTING) for pair in HALF_PAIRS]
    return [
        _compared(errors[measure], first, second, names, measure)
        for first, second, names in pairs
        for measure in ("rmae", "rmae_shared")
        if first in errors[measure] and second in errors[measure]
    ]


def _compared(
    errors: dict[str, Any],
    first: str,
    second: str,
    names: tuple[str, ...],
    measure: str,
) -> dict[str, Any]:
    a, b = errors[first], errors[second]
    both = [name for name in names if name in a and name in b]
    outcome = compare(
        {name: a[name] for name in both},
        {name: b[name] for name in both},
        names=(first, second),
    )
    return {"measure": measure, **_summary(outcome)}


def _summary(outcome: Any) -> dict[str, Any]:
    keep = ("names", "rope", "n_sets", "n_folds", "r_hat", "ess")
    summary = outcome.summary()
    shares = {
        name: round(getattr(outcome, name), 3)
        for name in ("p_first", "p_equal", "p_second")
    }
    further = [round(float(share), 3) for share in outcome.next_set]
    return {**{key: summary[key] for key in keep}, **shares, "next_set": further}


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=DATASETS.index)


def _mean(values: Any) -> float:
    return _number(float(np.mean(values)))


def _number(value: float) -> float:
    return float(f"{value:.6g}")


def _write(name: str, n_keys: int, columns: list[str], rows: list[list[Any]]) -> None:
    """Replace the rows of a table that have the same first cells, and add others."""
    path = RESULTS / f"{name}.csv"
    table: dict[tuple[str, ...], list[Any]] = {}
    if path.exists():
        with path.open(newline="") as file:
            table = {tuple(row[:n_keys]): row for row in list(csv.reader(file))[1:]}
    table |= {tuple(map(str, row[:n_keys])): row for row in rows}
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(table.values())
    print(f"{len(rows)} new rows in {name}.csv")


def _stored_json(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _write_json(name: str, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
