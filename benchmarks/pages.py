"""Make pages of docs/benchmark of the tables in benchmarks/results.

``python benchmarks/pages.py`` writes ``field.md`` and ``panels.md``: the templates in
``pages/`` with tables and figures from ``field.csv`` and ``panels.csv``. A page is a
function of its results alone, and a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template

import field
import numpy as np
import panels

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "reproduce"))
from cells import listed, table  # noqa: E402

HOME = HERE.parent / "docs" / "benchmark"
TITLES = {
    "cover": "Cover",
    "cover-variance": "Cover, variance",
    "frane": "FRANe",
    "column-subset": "column subset",
    "facility-location": "facility location",
    "cur": "CUR",
}
Places = dict[str, object]


def title(name: str) -> str:
    """Return the title of a ranker; that of Cover stands out."""
    text = TITLES.get(name, name)
    return f"**{text}**" if name.startswith("cover") else text


def field_places() -> Places:
    """Return what fills the page of the real tables."""
    store, names = field.open_store(), field.COMPARED
    tables = store.column("table")
    halves = {key: tables[part] for key, part in field.SPLITS.items()}
    places: Places = {
        "n_tables": len(tables),
        "n_targets": field.compare(store, tables, names, field.FOLDS, "y", 4).n_tables,
        "choosing": listed(halves["choosing"]),
        "reporting": listed(halves["reporting"]),
        "overall": _overall(store, halves, names),
    }
    for by in field.MEASURES:
        places[by] = _measure(store, tables, names, by)
        places[f"reporting_{by}"] = _measure(store, halves["reporting"], names, by)
    return places


def _overall(
    store: field.Store, halves: dict[str, list[str]], names: Sequence[str]
) -> str:
    ranks = {
        key: np.mean(
            [
                field.compare(store, tables, names, field.FOLDS, by, k).ranks
                for by in field.MEASURES
                for k in field.SIZES
            ],
            axis=0,
        )
        for key, tables in halves.items()
    }
    rows = []
    for i in np.argsort(ranks["all"], kind="stable"):
        seconds = field.mean_seconds(store, halves["all"], names[i], field.FOLDS)
        cells = [f"{ranks[key][i]:.2f}" for key in ("all", "choosing", "reporting")]
        rows.append([title(names[i]), *cells, f"{seconds:.2f}" if seconds else ""])
    columns = ["ranker", "all tables", "choosing half", "reporting half", "seconds"]
    return table(columns, rows)


def _measure(
    store: field.Store, tables: Sequence[str], names: Sequence[str], by: str
) -> str:
    found = [
        field.compare(store, tables, names, field.FOLDS, by, k) for k in field.SIZES
    ]
    order = np.argsort(np.mean([each.ranks for each in found], axis=0), kind="stable")
    rows = [
        [
            title(names[i]),
            *(f"{c.means[i]:.3f} / {c.ranks[i]:.2f} ({c.wins[i]})" for c in found),
        ]
        for i in order
    ]
    shapes = [f"{k} features" for k in field.SIZES]
    heads = [f"{s}, {c.n_tables} tables" for s, c in zip(shapes, found, strict=True)]
    return table(["ranker", *heads], rows)


def panels_places() -> Places:
    """Return what fills the page of the gene panels."""
    store = panels.open_store()
    groups = panels.groups(store, panels.DRAWS)
    every, known = groups["all tables"], groups["tables with counts"]
    on_logs = [name for name in panels.RANKERS if name not in panels.ON_COUNTS]
    each = [
        f"### {name}\n\n{_means(store, [name], panels.ACCURACIES)}\n\n"
        f"{_means(store, [name], panels.MEASURES[2:])}"
        for name in every
    ]
    return {
        "draws": panels.DRAWS,
        "without": listed(sorted(set(every) - set(known))),
        "n_all": len(every),
        "n_counts": len(known),
        "ranks_all": _ranks(store, every, panels.unlabeled("all tables")),
        "ranks_counts": _ranks(store, known, panels.unlabeled("tables with counts")),
        "all": _means(store, every, panels.ACCURACIES, on_logs),
        "all_free": _means(store, every, panels.MEASURES[2:], on_logs),
        "counts": _means(store, known, panels.ACCURACIES),
        "counts_free": _means(store, known, panels.MEASURES[2:]),
        "falls": _falls(store, every, known),
        "each": "\n\n".join(each),
    }


def _ranks(store: panels.Store, tables: Sequence[str], names: Sequence[str]) -> str:
    ranks = panels.mean_ranks(store, tables, names, panels.DRAWS)
    best = [
        f"{title(names[ranks[:, i].argmin()])} at {k}"
        for i, k in enumerate(panels.SIZES)
    ]
    rows = []
    for i in np.argsort(ranks.mean(axis=1), kind="stable"):
        seconds = [
            store.value("seconds", name, names[i], 150, panels.DRAWS) for name in tables
        ]
        took = "" if names[i] == "random" else f"{np.mean(seconds):.2g}"
        values = [f"{r:.2f}" for r in (*ranks[i], ranks[i].mean())]
        rows.append([title(names[i]), *values, took])
    found = table(["ranker", *map(str, panels.SIZES), "mean", "seconds"], rows)
    return f"{found}\n\nBest mean rank: {', '.join(best)} genes."


def _means(
    store: panels.Store,
    tables: Sequence[str],
    measures: Sequence[str],
    names: Sequence[str] | None = None,
) -> str:
    rows = []
    for name in names or panels.RANKERS:
        values = np.hstack(
            [
                panels.accuracies(store, tables, name, by, panels.DRAWS).mean(axis=0)
                for by in measures
            ]
        )
        if not np.isnan(values).all():
            rows.append([title(name), *(f"{value:.3f}" for value in values)])
    words = {"knn": "neighbors", "r2": "R²"}
    heads = [f"{words.get(by, by)}, {k}" for by in measures for k in panels.SIZES]
    return table(["ranker", *heads], rows)


def _falls(store: panels.Store, every: Sequence[str], known: Sequence[str]) -> str:
    rows = []
    for name in panels.RANKERS:
        tables = known if name in panels.ON_COUNTS else every
        fall, where = panels.largest_fall(store, tables, name, panels.DRAWS)
        rows.append([title(name), f"{fall:.3f}", where])
    return table(["ranker", "largest fall", "where"], rows)


PAGES: dict[str, Callable[[], Places]] = {
    "field": field_places,
    "panels": panels_places,
}


def page(name: str) -> str:
    """Return a page: its template with the figures of its results."""
    template = Template((HERE / "pages" / f"{name}.md").read_text("utf-8"))
    return template.substitute(PAGES[name]())


def main() -> None:
    for name in PAGES:
        if not (HERE / "results" / f"{name}.csv").exists():
            print(f"no results for {name}.md: run benchmarks/{name}.py")
            continue
        (HOME / f"{name}.md").write_text(page(name), "utf-8")
        print(f"wrote {HOME / name}.md")


if __name__ == "__main__":
    main()
