"""Make the pages of docs/benchmark and their pictures of the tables in results/.

``python benchmarks/reproduce/document.py`` writes all; ``--only NAME`` one of the pages
*README* and *published*. The text is a function of the tables alone, and a test holds
the pages to them.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from franet.evaluation.statistics import average_ranks

HOME = Path(__file__).resolve().parents[2] / "docs" / "benchmark"
TITLES = {
    "cover": "Cover",
    "frane-reference": "FRANe (reference)",
    "frane-paper": "FRANe (paper)",
    "laplacian": "Laplacian",
    "laplacian-literature": "Laplacian, t = 1",
    "spec": "SPEC",
    "mcfs": "MCFS",
    "ndfs": "NDFS",
    "udfs": "UDFS",
    "agnos": "AgnoS-S",
    "variance": "variance",
    "random": "random",
    "last-columns": "last columns",
    "column-subset": "column subset",
    "facility-location": "facility location",
    "genie3": "GENIE3",
    "urelief": "URelief",
    "fastcan": "fastcan",
    "cur": "CUR",
    "agglomeration": "agglomeration + medoid",
}
# The columns of the paper's table, and our ranker of each.
PAPER = {
    "FRANe": "frane-reference",
    "Laplace": "laplacian",
    "NDFS": "ndfs",
    "AgnoS-S": "agnos",
    "MCFS": "mcfs",
    "SPEC": "spec",
}
# The rankers that the paper did not compare with.
LEFT_OUT = (
    "frane-reference", "frane-paper", "cover", "random", "variance", "column-subset",
    "facility-location", "genie3", "fastcan", "cur", "agglomeration", "urelief", "udfs",
)  # fmt: skip
# Those that cover is compared with.
RIVALS = (
    "facility-location", "column-subset", "fastcan", "cur", "agglomeration",
    "variance", "random", "genie3", "urelief", "frane-paper", "laplacian", "spec",
    "mcfs", "ndfs", "agnos",
)  # fmt: skip
NEAR = 0.005
SAME = 0.0015
# What ties among examples may move the error of the last columns.
COLUMN_ORDER = 0.0025


@dataclass(frozen=True)
class Ablation:
    """Errors of every similarity with every progression.

    Attributes
    ----------
    pairs : list of tuple of str
        Similarity and progression.
    scores : ndarray of shape (n_sets, n_pairs)
        Mean errors.
    n_folds : list of int
        Over how many folds, the different numbers.
    """

    pairs: list[tuple[str, str]]
    scores: np.ndarray
    n_folds: list[int]

    @property
    def similarities(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(pair[0] for pair in self.pairs))

    @property
    def progressions(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(pair[1] for pair in self.pairs))

    @property
    def ranks(self) -> np.ndarray:
        """The average rank of each pair; ties take the mean."""
        return average_ranks(self.scores, ties="average")


class Tables:
    """The committed tables, as the text needs them."""

    def __init__(self, folder: Path = HOME / "results") -> None:
        self._folder = folder

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table."""
        with (self._folder / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def json(self, name: str) -> Any:
        """Return a document."""
        return json.loads((self._folder / f"{name}.json").read_text("utf-8"))

    @cached_property
    def folds(self) -> dict[tuple[str, str, str], np.ndarray]:
        """Errors at 16 features, fold by fold: by data set, ranker and measure."""
        return {
            (row["dataset"], row["ranker"], row["measure"]): np.array(
                [float(row[f"fold{f}"]) for f in range(10)]
            )
            for row in self.rows("errors")
        }

    @cached_property
    def warned(self) -> set[tuple[str, str]]:
        """Data sets and rankers that called themselves degenerate there."""
        rows = self.rows("errors")
        return {(row["dataset"], row["ranker"]) for row in rows if row["warned"] == "1"}

    @cached_property
    def published(self) -> dict[str, dict[str, float]]:
        """The paper's table, by data set."""
        return {
            row["dataset"]: {name: float(row[name]) for name in PAPER}
            for row in self.rows("published")
        }

    @cached_property
    def ablation(self) -> Ablation:
        """The ablation, over the data sets on which all pairs were measured."""
        rows = self.rows("ablation")
        error: dict[str, dict[tuple[str, str], float]] = {}
        for row in rows:
            pair = (row["similarity"], row["progression"])
            error.setdefault(row["dataset"], {})[pair] = float(row["rmae"])
        pairs = list(next(iter(error.values())))
        scores = np.array([[each[pair] for pair in pairs] for each in error.values()])
        return Ablation(pairs, scores, sorted({int(row["n_folds"]) for row in rows}))

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that were measured, in the order of the paper's table."""
        measured = {key[0] for key in self.folds}
        return [name for name in self.published if name in measured]

    def error(self, dataset: str, ranker: str, measure: str = "rmae") -> float:
        """Return the mean over the folds; NaN where there is none."""
        values = self.folds.get((dataset, ranker, measure))
        return float("nan") if values is None else float(values.mean())

    def mean(
        self, ranker: str, measure: str = "rmae", datasets: Sequence[str] | None = None
    ) -> float:
        """Return the mean over some data sets, all by default."""
        names = self.datasets if datasets is None else datasets
        return fmean(self.error(dataset, ranker, measure) for dataset in names)

    def has(self, ranker: str) -> bool:
        """Return whether a ranker was measured on every data set."""
        return all((d, ranker, "rmae") in self.folds for d in self.datasets)

    def collapsed_in_paper(self, dataset: str, name: str) -> bool:
        """Return whether a published value is that of the last 16 columns.

        It must stand for several rankers, as one may come near it by accident.
        """
        published = self.published[dataset]
        value = published[name]
        shared = list(published.values()).count(value) > 1
        last = self.error(dataset, "last-columns")
        return name != "FRANe" and shared and abs(value - last) <= COLUMN_ORDER


def readme(tables: Tables) -> str:
    from pictures import draw
    from text import page

    draw(tables, HOME)
    return page(tables)


def published(tables: Tables) -> str:
    from published_text import page

    return page(tables)


PAGES = {"README": readme, "published": published}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PAGES))
    given = parser.parse_args()
    for name, page in PAGES.items():
        if given.only in (None, name):
            (HOME / f"{name}.md").write_text(page(Tables()), "utf-8")


if __name__ == "__main__":
    main()
