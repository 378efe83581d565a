"""What each part of the objective of `Cover` is worth, on half of the real tables.

Each variant changes one thing. Tables, folds and measures are those of ``field.py``:
the choosing half, three of the five splits, 4, 16 and 64 columns.

``python benchmarks/choose.py`` measures what ``results/choose.csv`` does not hold yet,
stores it and prints a table: the mean of each measure at 16 columns, and the average
rank of a variant among all, mean over the measures and sizes. ``--show`` only prints.
All takes a quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import field
import numpy as np
from store import Store

from franet.cover import _fit, _linear, _shares

OUT = Path(__file__).resolve().parent / "results" / "choose.csv"
FOLDS = 3
SHOWN = 16


@dataclass(frozen=True)
class Variant:
    """What takes the place of what, and the parameters of `Cover` by their label."""

    changes: tuple[tuple[Any, str, Any], ...] = ()
    label: str = "cover"


def counts(*shares: float) -> Variant:
    """Return how often shares count: linear, by neighbors."""
    return Variant(((_fit, "OBJECTIVES", {"balanced": shares}),))


def of_all(value: float) -> Any:
    """Return a function with the same value for each feature."""
    return lambda Z: np.full(len(Z), value)


VARIANTS = {
    "as it is (1, 1)": Variant(),
    "linear alone": counts(1, 0),
    # Linear gains alone make the short list.
    "neighbors alone, of a linear short list": counts(1e-9, 1),
    "linear twice (2, 1)": counts(2, 1),
    "neighbors twice (1, 2)": counts(1, 2),
    # The share of picks made is 0 / 0 at first, and min(1, NaN) is 1.
    "neighbors in full from the first pick": Variant(((_fit, "_NEAR", np.float64(0)),)),
    "16 candidates": Variant(((_fit, "_SHORT", 16),)),
    "64 candidates": Variant(((_fit, "_SHORT", 64),)),
    "a penalty of one sample": Variant(((_linear, "PENALTY", 1.0),)),
    "without the guard by leverage": Variant(((_linear, "_LEVERAGE", np.inf),)),
    "1,024 samples, 128 rebuilt": Variant(
        ((_shares, "SAMPLES", 1024), (_shares, "PAIRS", 2**17))
    ),
    "each feature counts 1": Variant(((_shares, "robust_weights", of_all(1.0)),)),
    "weights without predictability": Variant(((_shares, "predictable", of_all(0.0)),)),
    "`scale=None`": Variant(label="cover-raw"),
    '`weights="variance"`': Variant(label="cover-variance"),
}


@contextmanager
def changed(variant: Variant) -> Iterator[None]:
    """Change what a variant changes, for a time."""
    with ExitStack() as stack:
        for where, name, value in variant.changes:
            stack.enter_context(patch.object(where, name, value))
        yield


def measure(path: Path, store: Store, again: bool) -> None:
    """Measure the variants that are not stored yet on a table, and store them."""
    table = path.stem
    todo = [
        name
        for name in VARIANTS
        if again or (table, name, str(SHOWN), str(FOLDS)) not in store.rows
    ]
    splits = [field.Fold.read(path, i) for i in range(FOLDS)] if todo else []
    for name in todo:
        found: dict[int, list[field.Row]] = {}
        for fold in splits:
            sizes = [k for k in field.SIZES if k <= fold.n_columns / 2]
            with changed(VARIANTS[name]):
                rows = field.judged(fold, VARIANTS[name].label, sizes)
            for row in rows:
                found.setdefault(row["k"], []).append(row)
        of = {"table": table, "variant": name, "folds": FOLDS}
        store.add(
            {**of, **field.means(rows), "k": k}
            for k, rows in found.items()
            if len(rows) == FOLDS
        )
        print(f"{table}: {name}", flush=True)


def show(store: Store) -> None:
    """Print a row for each variant."""
    tables, names = store.column("table"), list(VARIANTS)
    found = {
        (by, k): field.compare(store, tables, names, FOLDS, by, k)
        for by in field.MEASURES
        for k in field.SIZES
    }
    ranks = np.mean([each.ranks for each in found.values()], axis=0)
    print(f"| variant | {' | '.join(field.MEASURES)} | average rank |")
    print("|---|" + "---|" * (len(field.MEASURES) + 1))
    for i, name in enumerate(names):
        means = [f"{found[by, SHOWN].means[i]:.4f}" for by in field.MEASURES]
        print(f"| {name} | {' | '.join(means)} | {ranks[i]:.2f} |")


def main() -> None:
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=field.folder())
    parser.add_argument("--again", action="store_true", help="measure stored ones, too")
    parser.add_argument("--show", action="store_true", help="print what is stored")
    given = parser.parse_args()
    store = Store(OUT, ("table", "variant", "k", "folds"), (*field.MEASURES, "seconds"))
    if not given.show:
        paths = sorted(given.folder.glob("*.npz"))[field.SPLITS["choosing"]]
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in paths:
                measure(path, store, given.again)
    show(store)


if __name__ == "__main__":
    main()
