"""Results as tables: one table in detail, or many side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franet._common.table import Table
from franet.evaluation.measures import MEASURES
from franet.evaluation.statistics import average_ranks, wins

if TYPE_CHECKING:
    from franet.evaluation.results import Results

__all__ = ["COLLAPSED", "one_table", "table_of_sets"]

# Stands behind a value of a ranking that called itself degenerate.
COLLAPSED = "†"


def one_table(results: Results, dataset: str, at: int, measure: str) -> Table:
    """Return the rankers on one data set, the best first.

    Parameters
    ----------
    results : Results
        Where the values are.
    dataset : str
        The data set.
    at : int
        Number of features.
    measure : str
        A name from `MEASURES`.

    Returns
    -------
    table : Table
        Mean and deviation over the folds, the verdict against chance, stability, time.
    """
    from franet.evaluation.records import RANDOM

    done = [r for r in results.rankers if results.has(dataset, r, measure)]
    compared = RANDOM in done
    verdicts = results.verdicts(at, measure, dataset) if compared else {}
    lines: list[list[Any]] = []
    for ranker in done:
        records = results.of(dataset, ranker)
        values = results.values(dataset, ranker, at, measure)
        many = len(records) > 1
        stable = many and min(len(record.top) for record in records) >= at
        lines.append(
            [
                ranker,
                float(values.mean()),
                float(values.std(ddof=1)) if many else None,
                verdicts.get(ranker, ""),
                results.stability(ranker, at, dataset)["kuncheva"] if stable else None,
                float(np.mean([record.seconds or 0.0 for record in records])),
                COLLAPSED if any(record.warnings for record in records) else "",
            ]
        )
    sign = 1 if MEASURES[measure].lower_is_better else -1
    lines.sort(key=lambda line: sign * line[1])
    columns = [
        "ranker", measure, "sd", "against random", "stability", "seconds", "warned",
    ]  # fmt: skip
    title = f"{MEASURES[measure].title} at {at} features, mean over the folds."
    return Table(columns, lines, [title, *_warned(results, [dataset])])


def table_of_sets(results: Results, at: int, measure: str) -> Table:
    """Return a row for each data set and a column for each ranker.

    Parameters
    ----------
    results : Results
        Where the values are.
    at : int
        Number of features.
    measure : str
        A name from `MEASURES`.

    Returns
    -------
    table : Table
        Means over the folds; then, over the data sets that every ranker finished,
        average ranks by both rules for ties, and wins.
    """
    lines: list[list[Any]] = []
    whole = []
    for dataset in results.datasets:
        line = [
            float(results.values(dataset, ranker, at, measure).mean())
            if results.has(dataset, ranker, measure)
            else None
            for ranker in results.rankers
        ]
        if None not in line:
            whole.append(line)
        lines.append([dataset, *line])
    notes = [f"{MEASURES[measure].title} at {at} features, mean over the folds."]
    if whole and len(results.rankers) > 1:
        lower = MEASURES[measure].lower_is_better
        scores = np.array(whole)
        middle = average_ranks(scores, ties="average", lower_is_better=lower)
        smallest = average_ranks(scores, ties="min", lower_is_better=lower)
        lines.append(["average rank", *(float(rank) for rank in middle)])
        lines.append(["… ties smallest", *(float(rank) for rank in smallest)])
        won = wins(scores, lower_is_better=lower)
        lines.append(["wins", *(int(count) for count in won)])
        notes.append(f"Ranks and wins over {len(whole)} data sets that all finished.")
    notes += _warned(results, results.datasets)
    return Table(["data set", *results.rankers], lines, notes)


def _warned(results: Results, datasets: list[str]) -> list[str]:
    """Return which rankings called themselves degenerate or failed, and where."""
    notes = []
    for ranker in results.rankers:
        where, failed = [], []
        for dataset in datasets:
            records = [
                r
                for r in results.records
                if r.dataset == dataset and results.name_of(r) == ranker
            ]
            if any(record.warnings for record in records):
                where.append(dataset)
            failed += [r for r in records if r.status != "ok"]
        if where:
            notes.append(f"{COLLAPSED} {ranker} warned on {', '.join(where)}.")
        if failed:
            first = failed[0]
            notes.append(
                f"{ranker} did not finish {len(failed)} folds, the first of "
                f"{first.dataset}: {first.reason or first.status}."
            )
    return notes
