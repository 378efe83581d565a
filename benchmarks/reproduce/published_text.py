"""What stands in the places of published.md: ours beside published values."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any

from cells import listed, table
from document import TITLES, Tables

OURS = Path(__file__).parents[1] / "results" / "published.csv"
COVER = "Cover"
# The order of our columns.
NAMES = {
    name: TITLES.get(name, other)
    for name, other in (
        ("cover", ""), ("column-subset", ""), ("facility-location", ""),
        ("frane", "FRANe"), ("random", ""), ("pfa", "PFA, run again"),
    )
}  # fmt: skip
PUBLISHED = "published"
MEASURES = {
    "NMI": "NMI",
    "CLSACC": "clustering accuracy",
    "ACC": "accuracy",
    "AUC": "AUC",
}
# Published methods of FAE: those of the bar, and others that rank or train the like.
BAR = ("CAE", "FAE", "PFA")
FEWER = "FAE, fewer features"
METHODS = (*BAR, FEWER, "AEFS", "AgnoS-S")
# A published mean over fewer of the 50 splits is left out.
MIN_SPLITS = 30
# Training parts of these have fewer samples than features are chosen.
SMALL = ("GLIOMA", "leukemia")
Places = dict[str, Any]
# By data set, then by ranker.
Values = dict[str, dict[str, float]]


def page(tables: Tables) -> str:
    """Return the whole page."""
    template = Path(__file__).with_name("published.md").read_text("utf-8")
    return Template(template).substitute(places(tables))


def places(tables: Tables, ours: Path = OURS) -> Places:
    """Return what stands in the places of the page."""
    with ours.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return _fseval(tables, rows) | _fae(tables, rows)


def measured(rows: Sequence[Mapping[str, str]], part: str, measure: str) -> Values:
    """Return our values of a measure, means over draws."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if (row["part"], row["measure"]) == (part, measure):
            line = found.setdefault(row["dataset"], {})
            line.setdefault(NAMES[row["ranker"]], []).append(float(row["value"]))
    return {
        dataset: {name: fmean(values) for name, values in line.items()}
        for dataset, line in found.items()
    }


def _fseval(tables: Tables, rows: Sequence[Mapping[str, str]]) -> Places:
    cited = tables.rows("published-fseval")
    datasets = list(dict.fromkeys(row["dataset"] for row in cited))
    own = [name for key, name in NAMES.items() if key != "pfa"]
    theirs = list(cited[0])[2:]
    joined = {measure: measured(rows, "fseval", measure) for measure in MEASURES}
    for row in cited:
        line = {f"{name}, {PUBLISHED}": float(row[name]) for name in theirs}
        found = joined[row["measure"]]
        # In the order of the published values.
        found[row["dataset"]] = line | found.pop(row["dataset"], {})
    means = {measure: _means(joined[measure], datasets) for measure in MEASURES}
    every = [*own, *(f"{name}, {PUBLISHED}" for name in theirs)]
    every.sort(key=lambda name: -means["NMI"].get(name, -math.inf))
    best = {measure: max(values.values()) for measure, values in means.items()}
    lines = [
        [name, *(_cell(means[m].get(name), best[m]) for m in MEASURES)]
        for name in every
    ]
    return {
        "n_sets": len(datasets),
        "n_published": len(theirs),
        "fseval_means": table(["ranker", *MEASURES.values()], lines),
        "fseval_verdict": "\n".join(_standing(m, means[m]) for m in MEASURES),
        "fseval_behind": "\n".join(_behind(m, joined[m]) for m in MEASURES),
        "fseval_random": "\n".join(_chance(m, joined[m]) for m in MEASURES),
        "fseval_times": _times(rows, own, len(datasets)),
        **{f"fseval_{m}": _by_set(joined[m], own) for m in MEASURES},
    }


def _means(values: Values, datasets: Sequence[str]) -> dict[str, float]:
    """Return the mean of each ranker that was measured on every data set."""
    names = set.intersection(*(set(values[dataset]) for dataset in datasets))
    return {name: fmean(values[d][name] for d in datasets) for name in names}


def _best(line: Mapping[str, float], published: bool = True) -> str:
    """Return the best of the published rankers, or of all but Cover."""
    names = [n for n in line if (PUBLISHED in n if published else n != COVER)]
    return max(names, key=lambda name: line[name])


def _standing(measure: str, means: Mapping[str, float]) -> str:
    """Return how Cover stands among all rankers, as an item of a list."""
    title = f"- {MEASURES[measure]}:"
    if COVER not in means:
        return f"{title} not measured."
    place = 1 + sum(value > means[COVER] for value in means.values())
    found = f"{title} **{means[COVER]:.3f}**, rank {place} of {len(means)}"
    for kind, published in (("best other", False), ("best published", True)):
        name = _best(means, published)
        found += f"; {kind} {means[name]:.3f} ({name.removesuffix(f', {PUBLISHED}')})"
    return f"{found}."


def _behind(measure: str, values: Values) -> str:
    """Return where a published ranker is better than Cover, and by how much."""
    found = []
    known = {d: line for d, line in values.items() if COVER in line}
    for dataset, line in known.items():
        best = _best(line)
        if line[best] > line[COVER]:
            name = best.removesuffix(f", {PUBLISHED}")
            found.append(f"{dataset} ({name}, {line[best] - line[COVER]:.3f})")
    if not known:
        return f"- {MEASURES[measure]}: not measured."
    return f"- {MEASURES[measure]}, {len(found)} of {len(known)}: {listed(found)}."


def _chance(measure: str, values: Values) -> str:
    """Return how far our random features are from the published ones."""
    random = NAMES["random"]
    gaps = {
        dataset: line[random] - line[f"Random, {PUBLISHED}"]
        for dataset, line in values.items()
        if random in line
    }
    if not gaps:
        return f"- {MEASURES[measure]}: not measured."
    far = max(gaps, key=lambda dataset: abs(gaps[dataset]))
    return (
        f"- {MEASURES[measure]}: {fmean(gaps.values()):+.3f} in the mean of "
        f"{len(gaps)} data sets, at most {gaps[far]:+.3f} ({far})."
    )


def _by_set(values: Values, own: Sequence[str]) -> str:
    shown = [*own, f"Random, {PUBLISHED}"]
    lines = []
    for dataset, line in values.items():
        best, top = _best(line), max(line.values())
        cells = [_cell(line.get(name), top) for name in shown]
        name = best.removesuffix(f", {PUBLISHED}")
        lines.append([dataset, *cells, f"{_cell(line[best], top)}, {name}"])
    return table(["data set", *shown, f"best {PUBLISHED}"], lines)


def _times(rows: Sequence[Mapping[str, str]], own: Sequence[str], n_sets: int) -> str:
    """Return the seconds of each ranker that was measured on every data set."""
    seconds: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["part"] == "fseval":
            line = seconds.setdefault((NAMES[row["ranker"]], row["measure"]), {})
            line[row["dataset"]] = line.get(row["dataset"], 0.0) + float(row["seconds"])
    lines = []
    for name in own:
        times = [seconds.get((name, measure), {}) for measure in ("NMI", "ACC")]
        cells = [
            f"{sum(line.values()):,.0f}" if len(line) == n_sets else "–"
            for line in times
        ]
        lines.append([name, *cells])
    return table(["ranker", "clustering, s", "classification, s"], lines)


def _fae(tables: Tables, rows: Sequence[Mapping[str, str]]) -> Places:
    cited = tables.rows("published-fae")
    chosen = {row["dataset"]: int(row["n_features"]) for row in cited}
    for row in cited:
        chosen[row["dataset"]] = max(chosen[row["dataset"]], int(row["n_features"]))
    own = list(NAMES.values())
    found: dict[str, Values] = {}
    for measure, column, pick in (("MSE", "mse", min), ("ACC", "accuracy", max)):
        values = measured(rows, "fae", measure)
        found[measure] = {dataset: values.get(dataset, {}) for dataset in chosen}
        for row in cited:
            if int(row["splits"]) >= MIN_SPLITS:
                fewer = int(row["n_features"]) < chosen[row["dataset"]]
                name = f"{FEWER if fewer else row['method']}, {PUBLISHED}"
                line, value = found[measure][row["dataset"]], float(row[column])
                # FAE with and without bias: the better one.
                line[name] = pick(value, line.get(name, value))
    error = found["MSE"]
    lower = {d: line for d, line in error.items() if COVER in line and _lower(line)}
    return {
        "fae_MSE": _methods(error, own, chosen, min, _small),
        "fae_ACC": _methods(found["ACC"], own, chosen, max, partial(_text, digits=3)),
        "fae_lower": listed(lower),
        "fae_higher": listed(
            f"{d} (Cover {_small(line[COVER])}, {', '.join(_above(line))})"
            for d, line in error.items()
            if COVER in line and d not in lower
        ),
        "fae_unmeasured": listed(d for d, line in error.items() if COVER not in line),
        "fae_fewer": listed(
            f"{d} ({_small(line[f'{FEWER}, {PUBLISHED}'])} "
            f"against {_small(line[COVER])})"
            for d, line in error.items()
            if line.get(f"{FEWER}, {PUBLISHED}", math.inf) < line.get(COVER, -math.inf)
        ),
        "fae_pfa": listed(
            f"{d} {_small(line[NAMES['pfa']])} ({_small(line[f'PFA, {PUBLISHED}'])})"
            for d, line in error.items()
            if NAMES["pfa"] in line
        ),
        "min_splits": MIN_SPLITS,
        "small": listed(SMALL),
    }


def _above(line: Mapping[str, float]) -> list[str]:
    """Return the methods of the bar whose error is not above that of Cover."""
    return [
        f"{name} {_small(line[f'{name}, {PUBLISHED}'])}"
        for name in BAR
        if line[f"{name}, {PUBLISHED}"] <= line[COVER]
    ]


def _lower(line: Mapping[str, float]) -> bool:
    return not _above(line)


def _methods(
    values: Values, own: Sequence[str], chosen: Mapping[str, int], pick: Any, text: Any
) -> str:
    shown = [*own, *(f"{name}, {PUBLISHED}" for name in METHODS)]
    lines = []
    for dataset, line in values.items():
        cells = [_cell(line.get(n), pick(line.values()), text) for n in shown]
        mark = " *" if dataset in SMALL else ""
        lines.append([dataset + mark, str(chosen[dataset]), *cells])
    return table(["data set", "features", *shown], lines)


def _text(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}"


def _small(value: float) -> str:
    """Return an error; some published ones are beyond any scale."""
    return f"{value:.5f}" if value < 1e3 else f"{value:.0e}"


def _cell(value: float | None, best: float, text: Any = _text) -> str:
    if value is None:
        return "–"
    return f"**{text(value)}**" if value == best else text(value)
