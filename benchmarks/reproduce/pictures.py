"""The pictures of the benchmark's page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from collect import AT
from cover_text import OVER, PEER, curves
from document import LEFT_OUT, TITLES, Tables

from franet.evaluation import Record, Results, compare
from franet.plotting import plot_critical_difference, plot_curves

CURVES = ("COIL20", "TOX-171")
# In the picture of curves: as many as can be told apart.
DRAWN = (
    "cover", "frane-reference", "frane-paper", "laplacian", "ndfs", "mcfs", "spec",
    "agnos", "random", "column-subset", "facility-location",
)  # fmt: skip


def draw(tables: Tables, folder: Path) -> None:
    """Draw all pictures into a folder."""
    mpl.use("svg")
    # The same file from the same data.
    mpl.rcParams.update({"svg.hashsalt": "franet", "svg.fonttype": "none"})
    for dataset in CURVES:
        _save(_curves(tables, dataset), folder / f"curves-{dataset}.svg")
    _save(_across(tables), folder / "across.svg")
    _save(_difference(tables), folder / "critical-difference.svg")
    _save(_simplex(tables), folder / "simplex.svg")
    _save(_ablation(tables), folder / "ablation.svg")


def _curves(tables: Tables, dataset: str) -> Any:
    """Draw the stored means as one fold would be drawn."""
    found: dict[str, dict[int, float]] = {}
    for row in tables.rows("curves"):
        if row["dataset"] == dataset and row["measure"] == "rmae":
            curve = found.setdefault(row["ranker"], {})
            curve[int(row["n_features"])] = float(row["mean"])
    results = Results(
        Record(dataset, "paper", 0, _title(name), values={"rmae": found[name]})
        for name in DRAWN
        if name in found
    )
    return plot_curves(results, dataset)


def _across(tables: Tables) -> Any:
    """Draw the means over the data sets, a panel for each measure."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10.4, 7.6), layout="constrained")
    for ax, (measure, over) in zip(axes.flat, OVER.items(), strict=True):
        found = curves(tables, measure, over)
        found |= {PEER: curves(tables, measure, "some_folds")[PEER]}
        results = Results(
            Record("mean", "paper", 0, _title(name), values={measure: curve})
            for name, curve in found.items()
        )
        plot_curves(results, "mean", measure=measure, ax=ax)
        ax.set_title("", loc="left")
        if over == "median":
            ax.set_ylabel(f"{ax.get_ylabel()}, median of folds")
        ax.get_legend().remove()
    figure.legend(
        *axes.flat[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(found),
        frameon=False,
        fontsize="small",
    )
    return axes.flat[0]


def _title(name: str) -> str:
    # `plot_curves` draws random columns in grey by this name.
    return name if name == "random" else TITLES[name]


def _difference(tables: Tables) -> Any:
    names = [name for name in LEFT_OUT if tables.has(name)]
    scores = np.array([[tables.error(d, n) for n in names] for d in tables.datasets])
    return plot_critical_difference(scores, [TITLES[name] for name in names])


def _simplex(tables: Tables) -> Any:
    first, second = "frane-reference", "laplacian-literature"
    scores = [
        {d: tables.folds[d, name, "rmae"] for d in tables.datasets}
        for name in (first, second)
    ]
    return compare(*scores, names=(TITLES[first], TITLES[second])).plot()


def _ablation(tables: Tables) -> Any:
    from matplotlib import pyplot

    ablation = tables.ablation
    similarities, progressions = ablation.similarities, ablation.progressions
    grid = ablation.ranks.reshape(len(similarities), len(progressions))
    _, ax = pyplot.subplots(figsize=(6.4, 3.8), layout="constrained")
    image = ax.imshow(grid, cmap="Blues_r", aspect="auto")
    middle = (grid.min() + grid.max()) / 2
    for i, j in np.ndindex(grid.shape):
        color = "white" if grid[i, j] < middle else "#23272e"
        ax.text(j, i, f"{grid[i, j]:.1f}", ha="center", va="center", color=color)
    ax.set_xticks(range(len(progressions)), progressions)
    ax.set_yticks(range(len(similarities)), similarities)
    ax.set_title(f"Average rank of 25 at {AT} features", loc="left")
    ax.figure.colorbar(image, ax=ax)
    return ax


def _save(ax: Any, path: Path) -> None:
    from matplotlib import pyplot

    ax.figure.savefig(path, metadata={"Date": None})
    pyplot.close(ax.figure)
