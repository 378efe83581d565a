"""What results come to: tables, and a recommended number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import check_value
from franet._common.table import TextTable
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM
from franet.evaluation.results import BETTER, Results
from franet.evaluation.statistics import average_ranks, wins
from franet.exceptions import DataError

# Stands behind a value of a ranking that called itself degenerate.
_COLLAPSED = "†"
_N_BOOT = 2000
_LEVEL = 0.9


def one_table(results: Results, dataset: str, at: int, measure: str) -> TextTable:
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
    table : TextTable
        Mean and deviation over the folds, the verdict against chance, stability, time.
    """
    done = [r for r in results.rankers if results.has(dataset, r, measure)]
    verdicts = results.verdicts(at, measure, dataset) if RANDOM in done else {}
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
                _COLLAPSED if any(record.warnings for record in records) else "",
            ]
        )
    sign = 1 if MEASURES[measure].lower_is_better else -1
    lines.sort(key=lambda line: sign * line[1])
    columns = [
        "ranker", measure, "sd", "against random", "stability", "seconds", "warned",
    ]  # fmt: skip
    title = f"{MEASURES[measure].title} at {at} features, mean over the folds."
    return TextTable(columns, lines, [title, *_warned(results, [dataset])])


def table_of_sets(results: Results, at: int, measure: str) -> TextTable:
    """Return a row for each data set and a column for each ranker.

    Parameters
    ----------
    results, at, measure
        As for `one_table`.

    Returns
    -------
    table : TextTable
        Means over the folds; then, over the data sets that every ranker finished,
        average ranks by both rules for ties, and wins.
    """
    by_ranker = [results.scores(r, at=at, measure=measure) for r in results.rankers]
    lines: list[list[Any]] = []
    for dataset in results.datasets:
        found = [each.get(dataset) for each in by_ranker]
        means = [None if folds is None else float(folds.mean()) for folds in found]
        lines.append([dataset, *means])
    whole = [means for _, *means in lines if None not in means]
    notes = [f"{MEASURES[measure].title} at {at} features, mean over the folds."]
    if whole and len(results.rankers) > 1:
        lower = MEASURES[measure].lower_is_better
        scores = np.array(whole)
        middle = average_ranks(scores, ties="average", lower_is_better=lower)
        smallest = average_ranks(scores, ties="min", lower_is_better=lower)
        won = wins(scores, lower_is_better=lower)
        lines.append(["average rank", *middle.tolist()])
        lines.append(["… ties smallest", *smallest.tolist()])
        lines.append(["wins", *won.tolist()])
        notes.append(f"Ranks and wins over {len(whole)} data sets that all finished.")
    notes += _warned(results, results.datasets)
    return TextTable(["data set", *results.rankers], lines, notes)


def _warned(results: Results, datasets: list[str]) -> list[str]:
    """Return which rankings called themselves degenerate or failed, and where."""
    notes = []
    for ranker in results.rankers:
        records = [
            r
            for dataset in datasets
            for r in results.records
            if r.dataset == dataset and results.name_of(r) == ranker
        ]
        where = dict.fromkeys(r.dataset for r in records if r.warnings)
        failed = [r for r in records if r.status != "ok"]
        if where:
            notes.append(f"{_COLLAPSED} {ranker} warned on {', '.join(where)}.")
        if failed:
            first = failed[0]
            notes.append(
                f"{ranker} did not finish {len(failed)} folds, the first of "
                f"{first.dataset}: {first.reason or first.status}."
            )
    return notes


@dataclass(frozen=True)
class Recommendation:
    """A ranker and a number of features.

    Attributes
    ----------
    ranker : str
        The ranker.
    n_features : int
        The smallest number within tolerance of the best.
    interval : tuple of int
        Where that number lies in 90 % of the bootstrap samples of the folds.
    value : float
        The measure at that number, the mean over the folds.
    best : float
        The best value of all.
    measure : str
        The name of the measure.
    verdict : str
        How the ranker compares with random columns at that number; "" if chance was
        not measured.
    n_random : int or None
        How many random columns come as close to the best; None if none of the
        measured numbers does, or chance was not measured.
    """

    ranker: str
    n_features: int
    interval: tuple[int, int]
    value: float
    best: float
    measure: str
    verdict: str
    n_random: int | None

    def __str__(self) -> str:
        low, high = self.interval
        sure = f"{low} to {high}" if low < high else f"{low}"
        text = (
            f"Keep {self.n_features} features of {self.ranker} ({sure} in 90 % of "
            f"bootstrap samples): {MEASURES[self.measure].title} {self.value:.3f}, "
            f"the best of all is {self.best:.3f}."
        )
        if self.verdict:
            text += f" At that number it is {self.verdict}"
            if self.n_random is not None and self.verdict == BETTER:
                text += f", where {self.n_random} random columns do as well"
            text += "."
        return text


def recommend(
    results: Results,
    dataset: str,
    ranker: str | None,
    measure: str,
    tolerance: float,
    seed: int,
) -> Recommendation:
    """Return the smallest number of features within tolerance of the best.

    Parameters
    ----------
    results : Results
        Where the curves are.
    dataset : str
        The data set.
    ranker : str or None
        The ranker, or None for that which needs the fewest features.
    measure : str
        A name from `MEASURES`.
    tolerance : float
        How much worse than the best is near enough.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    recommendation : Recommendation
        The number and how sure it is.
    """
    check_value("tolerance", tolerance, tolerance >= 0, "give a number of at least 0")
    names = [r for r in results.rankers if results.has(dataset, r, measure)]
    candidates = [r for r in names if r != RANDOM] if ranker is None else [ranker]
    if not candidates:
        raise DataError(f"{measure!r} is not measured for any ranker on {dataset!r}")
    sign = 1.0 if MEASURES[measure].lower_is_better else -1.0
    curves = {r: results.curve(r, dataset, measure) for r in {*candidates, *names}}
    lost = {r: sign * curve.values for r, curve in curves.items()}
    counts = {r: curve.counts for r, curve in curves.items()}

    def choose(rows: NDArray[np.intp]) -> tuple[str, int, float]:
        means = {r: lost[r][rows].mean(axis=0) for r in candidates}
        best = min(float(mean.min()) for mean in means.values())
        k, _, name = min(
            (int(counts[r][at]), float(mean[at]), r)
            for r, mean in means.items()
            for at in np.flatnonzero(mean <= best + tolerance)
        )
        return name, k, best

    n_folds = len(lost[candidates[0]])
    name, k, best = choose(np.arange(n_folds))
    generator = np.random.default_rng(seed)
    found = [
        choose(generator.integers(n_folds, size=n_folds))[1] for _ in range(_N_BOOT)
    ]
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="nearest")
    at = int(np.flatnonzero(counts[name] == k)[0])
    compared = RANDOM in names and name != RANDOM
    close = compared and lost[RANDOM].mean(axis=0) <= best + tolerance
    verdict = ""
    if compared and k in counts[RANDOM]:
        verdict = results.verdicts(k, measure, dataset, rankers=[name])[name]
    return Recommendation(
        ranker=name,
        n_features=k,
        interval=(int(low), int(high)),
        value=float(curves[name].mean[at]),
        best=sign * best,
        measure=measure,
        verdict=verdict,
        n_random=int(counts[RANDOM][np.argmax(close)]) if np.any(close) else None,
    )
