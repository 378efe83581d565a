"""The figures and tables about ``Cover()`` in page.md."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
from cells import listed, plain, table
from document import RIVALS, TITLES, Tables
from parts import CHOOSING, CURVE, REPORTING

from franet.evaluation.statistics import average_ranks, wins

COVER, PEER = "cover", "fastcan"
SHARED = "rmae_shared"
# The measures of the curves, and whether small is good.
ACROSS = {"rmae_shared": True, "rmae_scaled": True, "r2": False, "nmi": False}
# How they are put together over the folds: a single fold may ruin the mean of R².
OVER = {"rmae_shared": "mean", "rmae_scaled": "mean", "r2": "median", "nmi": "mean"}
MEASURE_TITLES = {
    "rmae_shared": "RMAE",
    "rmae_scaled": "RMAE, scaled",
    "r2": "R²",
    "nmi": "NMI",
}
# Rankers that are judged on other tables.
ELSEWHERE = (
    "cover", "fastcan", "cur", "random", "column-subset", "facility-location",
    "frane-paper",
)  # fmt: skip
Places = dict[str, Any]


def errors(
    tables: Tables, datasets: Sequence[str], measure: str = SHARED
) -> np.ndarray:
    """Return errors at 16 features: a row for each data set, cover and its rivals."""
    names = (COVER, *RIVALS)
    return np.array([[tables.error(d, n, measure) for n in names] for d in datasets])


def better(tables: Tables, rival: str, measure: str = SHARED) -> int:
    """Return on how many data sets cover is better than another ranker."""
    return sum(
        tables.error(d, COVER, measure) < tables.error(d, rival, measure)
        for d in tables.datasets
    )


def draws(tables: Tables, measure: str = SHARED) -> dict[str, list[float]]:
    """Return the errors of columns drawn by chance, by data set."""
    return {
        row["dataset"]: [
            float(value) for key, value in row.items() if key.startswith("random-")
        ]
        for row in tables.rows("draws")
        if row["measure"] == measure
    }


def _rivals(tables: Tables) -> Places:
    """Cover and its rivals, over all data sets and over both halves."""
    groups = (tables.datasets, CHOOSING, REPORTING)
    found = [errors(tables, names) for names in groups]
    ranks = [average_ranks(scores, ties="average") for scores in found]
    means = [scores.mean(axis=0) for scores in found]
    position = errors(tables, tables.datasets, "rmae").mean(axis=0)
    won = wins(found[0])
    rows = []
    for at in np.argsort(means[0], kind="stable"):
        cells = [f"{means[0][at]:.4f}", plain(ranks[0][at]), plain(won[at])]
        cells += [f"{position[at]:.4f}"]
        for half in (1, 2):
            cells += [f"{means[half][at]:.4f}", plain(ranks[half][at])]
        title = TITLES[(COVER, *RIVALS)[at]]
        rows.append([f"**{title}**" if at == 0 else title, *cells])
    columns = [
        "ranker", "mean", "average rank", "wins", "mean, ties by position",
        "mean, choosing half", "rank", "mean, reporting half", "rank",
    ]  # fmt: skip
    second = 1 + int(means[0][1:].argmin())
    return {
        "rivals": table(columns, rows),
        "n_rivals": len(RIVALS),
        "n_all": len(RIVALS) + 1,
        "choosing": listed(CHOOSING),
        "reporting": listed(REPORTING),
        "n_reporting": len(REPORTING),
        "cover_mean": f"{means[0][0]:.3f}",
        "cover_rank": plain(ranks[0][0]),
        "cover_rank_reporting": plain(ranks[2][0]),
        "second": TITLES[(COVER, *RIVALS)[second]],
        "second_mean": f"{means[0][second]:.3f}",
        "second_rank": plain(np.sort(ranks[0])[1]),
    }


def _sets(tables: Tables) -> Places:
    """Compare cover with the best of its rivals, data set by data set."""
    shown = ("fastcan", "column-subset", "facility-location", "frane-paper")
    by_chance = draws(tables)
    rows, behind, chance, single = [], [], 0, 0
    for d in tables.datasets:
        error = tables.error(d, COVER, SHARED)
        best = min(RIVALS, key=lambda name: tables.error(d, name, SHARED))
        least = tables.error(d, best, SHARED)
        if error > least:
            behind.append(f"{d} ({TITLES[best]}, {error - least:.3f})")
        chance += error < fmean(by_chance[d])
        single += sum(error < value for value in by_chance[d])
        mark = "" if d in REPORTING else " *"
        cells = [error, *(tables.error(d, name, SHARED) for name in shown)]
        cells += [fmean(by_chance[d]), min(by_chance[d])]
        rows.append(
            [
                d + mark,
                *(f"{cell:.3f}" for cell in cells),
                f"{least:.3f}, {TITLES[best]}",
            ]
        )
    columns = [
        "data set", TITLES[COVER], *(TITLES[name] for name in shown),
        "random, mean of draws", "random, best draw", "best rival",
    ]  # fmt: skip
    n_draws = len(next(iter(by_chance.values())))
    scores = errors(tables, tables.datasets)
    ahead_of = (scores[:, 1:] < scores[:, :1]).sum(axis=1)
    worst = int(ahead_of.argmax())
    return {
        "worst": f"{tables.datasets[worst]}, where {ahead_of[worst]} are better",
        "cover_sets": table(columns, rows),
        "behind": listed(behind),
        "n_first": len(tables.datasets) - len(behind),
        "n_better_frane": better(tables, "frane-paper"),
        "n_better_reference": better(tables, "frane-reference"),
        "n_better_chance": chance,
        "n_random_draws": n_draws,
        "n_better_draws": single,
        "n_all_draws": n_draws * len(tables.datasets),
    }


def _bayes_cover(tables: Tables) -> Places:
    """Which is better on the next data set, cover or another one."""
    lines = []
    for c in tables.json("comparisons"):
        if c["names"][0] == COVER and c["measure"] == SHARED:
            half = "" if c["n_sets"] == len(tables.datasets) else ", reporting half"
            lines.append(
                [
                    f"{TITLES[c['names'][1]]}{half}",
                    *(f"{c[key]:.3f}" for key in ("p_first", "p_equal", "p_second")),
                    " / ".join(f"{share:.2f}" for share in c["next_set"]),
                ]
            )
    columns = ["against", "cover better", "equal", "the other better", "next data set"]
    return {"cover_bayes": table(columns, lines)}


def curves(
    tables: Tables, measure: str, over: str = "mean"
) -> dict[str, dict[int, float]]:
    """Return the curves of a measure by ranker, means over the data sets.

    Over the folds they are the ``"mean"``, the ``"median"``, or the mean of
    ``"some_folds"``, on which the peer was judged, too.
    """
    found: dict[str, dict[int, list[float]]] = {}
    for row in tables.rows("across"):
        if row["measure"] == measure and row[over]:
            curve = found.setdefault(row["ranker"], {})
            curve.setdefault(int(row["n_features"]), []).append(float(row[over]))
    n = len(tables.datasets)
    return {
        name: {k: fmean(curve[k]) for k in CURVE}
        for name, curve in found.items()
        if all(len(curve[k]) == n for k in CURVE)
    }


def _across(tables: Tables) -> Places:
    places: Places = {}
    for measure, over in [*OVER.items(), ("r2", "mean")]:
        found = curves(tables, measure, over)
        first = curves(tables, measure, "some_folds")
        rows = {TITLES[name]: curve for name, curve in found.items()}
        rows |= {f"{TITLES[n]}, first fold": first[n] for n in (COVER, PEER)}
        lines = [
            [title, *(f"{curve[k]:.3f}" for k in CURVE)]
            for title, curve in rows.items()
        ]
        columns = ["ranker", *(str(k) for k in CURVE)]
        places[f"across_{measure}_{over}"] = table(columns, lines)
        places[f"leads_{measure}_{over}"] = _leads(found, ACROSS[measure])
    found = curves(tables, "r2")
    places["r2_behind_random"] = listed(
        str(k) for k in CURVE if found[COVER][k] < found["random"][k]
    )
    judged = [r for r in tables.rows("across") if r["measure"] == "r2" and r["lowest"]]
    row = min(judged, key=lambda r: float(r["lowest"]))
    places["r2_lowest"] = (
        f"{float(row['lowest']):.0f}, {TITLES[row['ranker']]} at {row['n_features']} "
        f"features of {row['dataset']}"
    )
    return places


def _leads(found: dict[str, dict[int, float]], low: bool) -> str:
    """Return at how many features cover is the best of all with ten folds."""
    sign = 1 if low else -1
    others = [curve for name, curve in found.items() if name != COVER]
    return listed(
        str(k)
        for k in CURVE
        if all(sign * found[COVER][k] < sign * curve[k] for curve in others)
    )


def general(tables: Tables) -> dict[str, dict[tuple[str, str], float]]:
    """Return the values on tables that are not of the paper, by table."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row in tables.rows("general"):
        key = (row["ranker"], row["measure"])
        found.setdefault(row["dataset"], {})[key] = float(row["mean"])
    return found


def _general(tables: Tables) -> Places:
    found = general(tables)
    sizes = {
        row["dataset"]: [f"{row['m']} × {row['n']}", row["n_features"]]
        for row in tables.rows("general")
    }
    rows = [
        [name, *sizes[name], *(f"{each[n, SHARED]:.3f}" for n in ELSEWHERE)]
        for name, each in found.items()
    ]
    titles = [TITLES[name] for name in ELSEWHERE]
    counts = {measure: ahead(tables, measure) for measure in ACROSS if measure != "nmi"}
    lines = [
        [MEASURE_TITLES[measure], *map(str, each.values())]
        for measure, each in counts.items()
    ]
    worse = [
        f"{name} ({each[COVER, SHARED]:.3f} against {each['random', SHARED]:.3f})"
        for name, each in found.items()
        if each[COVER, SHARED] > each["random", SHARED]
    ]
    return {
        "n_elsewhere": len(found),
        "elsewhere": table(["table", "size", "features", *titles], rows),
        "ahead": table(["measure", *titles[1:]], lines),
        "ahead_fastcan": counts[SHARED]["fastcan"],
        "ahead_cur": counts[SHARED]["cur"],
        "ahead_random": counts[SHARED]["random"],
        "worse_than_random": listed(worse),
    }


def ahead(tables: Tables, measure: str) -> dict[str, int]:
    """Return on how many other tables cover is better than each of the others."""
    sign = 1 if ACROSS[measure] else -1
    return {
        name: sum(
            sign * each[COVER, measure] < sign * each[name, measure]
            for each in general(tables).values()
        )
        for name in ELSEWHERE
        if name != COVER
    }


COVER_PLACES = (_rivals, _sets, _bayes_cover, _across, _general)
