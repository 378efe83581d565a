"""What stands in the places of page.md: tables and figures, from the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from string import Template
from typing import Any

import numpy as np
from cells import listed, plain, table
from cover_text import COVER_PLACES
from document import COLUMN_ORDER, LEFT_OUT, NEAR, PAPER, SAME, TITLES, Tables

from franet.evaluation.statistics import (
    average_ranks,
    correlated_t_test,
    friedman,
    nemenyi,
    wins,
)

# Values that are marked: of the last 16 columns, or of a ranking that warned.
COLLAPSED, WARNED = "‡", "†"
ROPE = 0.001
Places = dict[str, Any]


def page(tables: Tables) -> str:
    """Return the whole page."""
    places: Places = {
        "rope": ROPE,
        "near": NEAR,
        "same": SAME,
        "column_order": COLUMN_ORDER,
    }
    for part in (
        _summary, _reproduction, _differences, _collapses, _left_out, _verdicts,
        _ablation, _thresholds, _bayes, _measures, _runs, _times, *COVER_PLACES,
    ):  # fmt: skip
        places |= part(tables)
    template = Path(__file__).with_name("page.md").read_text("utf-8")
    return Template(template).substitute(places)


def _summary(tables: Tables) -> Places:
    names = [name for name in LEFT_OUT if tables.has(name)]
    best = min(names, key=lambda name: tables.mean(name))
    others = [name for name in PAPER if name != "FRANe"]
    flags = [tables.collapsed_in_paper(d, n) for d in tables.datasets for n in others]
    return {
        "n_sets": len(tables.datasets),
        "n_near": sum(abs(_gap(tables, d)) <= NEAR for d in tables.datasets),
        "n_collapsed": sum(flags),
        "n_others": len(flags),
        "n_random_better": sum(
            tables.error(d, "random") < tables.error(d, "frane-reference")
            for d in tables.datasets
        ),
        "mean_random": f"{tables.mean('random'):.3f}",
        "mean_frane": f"{tables.mean('frane-reference'):.3f}",
        "best": TITLES[best],
        "mean_best": f"{tables.mean(best):.3f}",
    }


def _gap(tables: Tables, dataset: str) -> float:
    """Return ours less the published value, at the three digits that are printed."""
    ours = round(tables.error(dataset, "frane-reference"), 3)
    return round(ours - tables.published[dataset]["FRANe"], 3)


def _reproduction(tables: Tables) -> Places:
    columns = ["data set"]
    for name in PAPER:
        columns += [f"{name}, published", "ours"]
        if name == "FRANe":
            columns += ["ours, paper's definition"]
    rows = []
    for d in tables.datasets:
        row: list[Any] = [d]
        for name, ranker in PAPER.items():
            mark = COLLAPSED if tables.collapsed_in_paper(d, name) else ""
            row += [f"{tables.published[d][name]:.3f}{mark}", _cell(tables, d, ranker)]
            if name == "FRANe":
                row += [_cell(tables, d, "frane-paper")]
        rows.append(row)
    published = [[tables.published[d][n] for n in PAPER] for d in tables.datasets]
    ours = [[tables.error(d, r) for r in PAPER.values()] for d in tables.datasets]
    for title, rank in (
        ("average rank, smallest", lambda s: average_ranks(s, ties="min")),
        ("average rank, mean", lambda s: average_ranks(s, ties="average")),
        ("wins", wins),
    ):
        a, b = rank(np.array(published)), rank(np.array(ours))
        cells = [plain(v) for pair in zip(a, b, strict=True) for v in pair]
        rows.append([title, *cells[:2], "", *cells[2:]])
    return {
        "reproduction": table(columns, rows),
        "collapsed": COLLAPSED,
        "warned": WARNED,
    }


def _differences(tables: Tables) -> Places:
    gaps = {d: _gap(tables, d) for d in tables.datasets}
    far = [f"{d} ({gap:+.3f})" for d, gap in gaps.items() if abs(gap) > NEAR]
    some = [f"{d} ({gap:+.3f})" for d, gap in gaps.items() if SAME < abs(gap) <= NEAR]
    rows = tables.rows("experiments")
    by: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        key = (row["experiment"], row["dataset"], row["setting"])
        by.setdefault(key, []).append(float(row["rmae"]))

    def both(dataset: str) -> list[str]:
        ours = tables.error(dataset, "frane-reference")
        return [f"{tables.published[dataset]['FRANe']:.3f}", f"{ours:.3f}"]

    orders = [
        [
            d,
            *both(d),
            f"{min(by['order', d, 'shuffled']):.3f}",
            f"{max(by['order', d, 'shuffled']):.3f}",
            f"{tables.error(d, 'frane-reference', 'rmae_shared'):.3f}",
        ]
        for d in _seen(rows, "order")
    ]
    within = [float(row[3]) <= float(row[1]) <= float(row[4]) for row in orders]
    settings = list(dict.fromkeys(s for e, _, s in by if e == "grid"))
    grid = [
        [d, *both(d), *(f"{by['grid', d, s][0]:.3f}" for s in settings)]
        for d in _seen(rows, "grid")
    ]
    literal = [
        [d, s, f"{min(values):.3f}", f"{max(values):.3f}", *both(d)]
        for (e, d, s), values in by.items()
        if e == "literal"
    ]
    head = ["data set", "published", "ours"]
    return {
        "far": listed(far),
        "some": listed(some),
        "n_within": sum(within),
        "n_orders": len(within),
        "orders": table([*head, "smallest", "largest", "ties shared"], orders),
        "grid": table([*head, *settings], grid),
        "literal": table(
            ["data set", "steps", "smallest", "largest", "published", "ours"], literal
        ),
    }


def _seen(rows: list[dict[str, str]], experiment: str) -> list[str]:
    return list(
        dict.fromkeys(r["dataset"] for r in rows if r["experiment"] == experiment)
    )


def _collapses(tables: Tables) -> Places:
    rows = []
    for d in tables.datasets:
        names = [n for n in PAPER if tables.collapsed_in_paper(d, n)]
        if names:
            cells = [
                _cell(tables, d, name)
                for name in ("last-columns", "laplacian-literature", "laplacian")
            ]
            published = f"{tables.published[d][names[0]]:.3f}"
            rows.append([d, ", ".join(names), published, *cells])
    columns = [
        "data set", "published for", "published", "last 16 columns", "Laplacian, t = 1",
        "Laplacian, width from the data",
    ]  # fmt: skip
    return {"collapses": table(columns, rows)}


def _left_out(tables: Tables) -> Places:
    names = [name for name in LEFT_OUT if tables.has(name)]
    rows = [[d, *(_cell(tables, d, name) for name in names)] for d in tables.datasets]
    rows.append(["**mean**", *(f"{tables.mean(name):.3f}" for name in names)])
    scores = np.array([[tables.error(d, n) for n in names] for d in tables.datasets])
    ranks = average_ranks(scores, ties="average")
    rows.append(["average rank", *(plain(rank) for rank in ranks)])
    rows.append(["wins", *(plain(count) for count in wins(scores))])
    shared = [f"{tables.mean(name, 'rmae_shared'):.3f}" for name in names]
    rows.append(["mean, ties shared", *shared])
    return {
        "left_out": table(["data set", *(TITLES[name] for name in names)], rows),
        "friedman": f"{friedman(scores).p_value:.1e}",
        "critical": f"{nemenyi(scores).critical_difference:.2f}",
    }


def _verdicts(tables: Tables) -> Places:
    rows = []
    for name in [n for n in TITLES if tables.has(n) and n != "random"]:
        counts = [0, 0, 0]
        for d in tables.datasets:
            found = correlated_t_test(
                tables.folds[d, name, "rmae_shared"],
                tables.folds[d, "random", "rmae_shared"],
                rope=ROPE,
                rho=0.1,
            )
            counts[0 if found.first >= 0.95 else 2 if found.second >= 0.95 else 1] += 1
        rows.append([TITLES[name], *map(str, counts)])
    columns = ["ranker", "better than random", "no better", "worse"]
    return {"verdicts": table(columns, rows)}


def _ablation(tables: Tables) -> Places:
    ablation = tables.ablation
    by = dict(zip(ablation.pairs, ablation.ranks, strict=True))
    best = [ablation.pairs[at] for at in ablation.scores.argmin(axis=1)]
    lines = [
        [s, *(plain(by[s, p]) for p in ablation.progressions)]
        for s in ablation.similarities
    ]
    similarity, progression = min(by, key=lambda pair: by[pair])
    return {
        "ablation": table(["similarity", *ablation.progressions], lines),
        "ablation_sets": len(ablation.scores),
        "ablation_folds": " to ".join(map(str, ablation.n_folds)),
        "ablation_best": f"{similarity} with the {progression} progression",
        "ablation_friedman": f"{friedman(ablation.scores).p_value:.1e}",
        "wins_similarity": _count(ablation.similarities, [pair[0] for pair in best]),
        "wins_progression": _count(ablation.progressions, [pair[1] for pair in best]),
        "most_wins": max(best.count(pair) for pair in best),
    }


def _thresholds(tables: Tables) -> Places:
    rows = tables.rows("thresholds")
    draws = [key for key in rows[0] if key.startswith("chance")]
    lines, better, single = [], 0, 0
    for row in rows:
        chosen, chance = float(row["rqh"]), [float(row[key]) for key in draws]
        better += chosen < mean(chance)
        single += sum(chosen < value for value in chance)
        values = (chosen, mean(chance), min(chance), max(chance))
        lines.append([row["dataset"], *(f"{value:.3f}" for value in values)])
    columns = ["data set", "RQH", "chance, mean", "best draw", "worst draw"]
    return {
        "thresholds": table(columns, lines),
        "n_draws": len(draws),
        "rqh_better": better,
        "rqh_single": single,
        "rqh_cases": len(rows) * len(draws),
    }


def _bayes(tables: Tables) -> Places:
    lines = []
    for c in tables.json("comparisons"):
        first, second = (TITLES[name] for name in c["names"])
        if c["n_sets"] < len(tables.datasets):
            second += ", reporting half"
        lines.append(
            [
                f"{first} – {second}",
                "shared" if c["measure"] == "rmae_shared" else "by position",
                *(f"{c[key]:.3f}" for key in ("p_first", "p_equal", "p_second")),
                " / ".join(f"{share:.2f}" for share in c["next_set"]),
                f"{max(c['r_hat'].values()):.3f}",
                f"{min(c['ess'].values()):,.0f}",
            ]
        )
    columns = [
        "first – second", "ties", "first better", f"equal ({ROPE:g})", "second better",
        "next data set", "R-hat", "effective draws",
    ]  # fmt: skip
    return {"bayes": table(columns, lines)}


def _measures(tables: Tables) -> Places:
    value = {
        (r["dataset"], r["ranker"], r["measure"], r["n_features"]): float(r["mean"])
        for r in tables.rows("curves")
    }
    whole = [
        name
        for name in TITLES
        if all((d, name, "rmae_scaled", "256") in value for d in tables.datasets)
    ]
    titles = {"rmae": "RMAE", "rmae_scaled": "RMAE, scaled"}
    cells = [(measure, k) for measure in titles for k in ("4", "16", "64", "256")]
    rows = [
        [
            TITLES[name],
            *(
                f"{mean(value[d, name, *cell] for d in tables.datasets):.3f}"
                for cell in cells
            ),
        ]
        for name in whole
    ]
    columns = [f"{titles[measure]} at {k}" for measure, k in cells]
    return {"measures": table(["ranker", *columns], rows)}


def _runs(tables: Tables) -> Places:
    lines = []
    for part, runs in tables.json("runs").items():
        if runs:
            jobs = dict.fromkeys(str(run["n_jobs"]) for run in runs)
            walls = [run["wall_s"] for run in runs if "wall_s" in run]
            # A run that was stopped does not say how long it took.
            wall = f"{sum(walls):,.0f} s" if len(walls) == len(runs) else "–"
            machines = dict.fromkeys(_machine(run["machine"]) for run in runs)
            lines.append([part, listed(jobs), wall, listed(machines)])
    columns = ["part", "processes", "wall time", "machine"]
    return {"runs": table(columns, lines)}


def _machine(machine: dict[str, Any]) -> str:
    memory = machine.get("memory")
    size = f", {memory / 2**30:.0f} GiB" if memory else ""
    return f"{machine.get('processor') or 'unknown'}, {machine['cores']} cores{size}"


def _times(tables: Tables) -> Places:
    rows = tables.rows("times")
    lines = []
    for name in dict.fromkeys(row["ranker"] for row in rows):
        own = [row for row in rows if row["ranker"] == name]
        slowest = max(own, key=lambda row: float(row["seconds"]))
        lines.append(
            [
                TITLES[name],
                f"{mean(float(row['seconds']) for row in own):.2f}",
                f"{float(slowest['seconds']):.1f} ({slowest['dataset']})",
                f"{mean(float(row['kuncheva']) for row in own):.2f}",
            ]
        )
    return {"times": table(["ranker", "mean", "slowest", "stability"], lines)}


def _cell(tables: Tables, dataset: str, ranker: str) -> str:
    error = tables.error(dataset, ranker)
    if math.isnan(error):
        return "–"
    mark = WARNED if (dataset, ranker) in tables.warned else ""
    return f"{error:.3f}{mark}"


def _count(names: Sequence[str], found: Sequence[str]) -> str:
    return ", ".join(f"{name} {found.count(name)}" for name in names)
