"""What results come to: tables, and a recommended number of features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from franet._common.checked import check_value
from franet._common.sentences import (
    counted,
    judged_at,
    nowhere_better,
    recommended,
    where_best,
)
from franet._common.table import TextTable
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM
from franet.evaluation.results import BETTER, NEAR, Curve, Results
from franet.evaluation.statistics import average_ranks, wins
from franet.exceptions import DataError

# Stands behind a value of a ranking that called itself degenerate.
_COLLAPSED = "†"
_N_BOOT = 2000
_LEVEL = 0.9
_UNKNOWN = (None, None)


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
        Mean and interval over the folds, the verdict against chance, stability, time.
    """
    done = [r for r in results.rankers if results.has(dataset, r, measure)]
    verdicts = results.verdicts(at, measure, dataset) if RANDOM in done else {}
    lines: list[list[Any]] = []
    for ranker in done:
        records = results.of(dataset, ranker)
        values = results.values(dataset, ranker, at, measure)
        count = int(results.curve(ranker, dataset, measure).counts[-1])
        many = len(records) > 1
        stable = many and min(len(record.top) for record in records) >= at
        lines.append(
            [
                ranker,
                min(at, count),
                float(values.mean()),
                *(over_folds(values, results.overlap(dataset, ranker)) or _UNKNOWN),
                verdicts.get(ranker, ""),
                results.stability(ranker, at, dataset)["kuncheva"] if stable else None,
                float(np.mean([record.seconds or 0.0 for record in records])),
                _COLLAPSED if any(record.warnings for record in records) else "",
            ]
        )
    sign = 1 if MEASURES[measure].lower_is_better else -1
    lines.sort(key=lambda line: sign * line[2])
    columns = [
        "ranker", "features", measure, "low", "high", "against random", "stability",
        "seconds", "warned",
    ]  # fmt: skip
    suggested = results.suggested.get(dataset)
    at = int(min(at, _n_features(results, dataset)))
    notes = [judged_at(MEASURES[measure].title, at, suggested)]
    return TextTable(columns, lines, [*notes, *_warned(results, [dataset])])


def over_folds(
    values: NDArray[np.float64], rho: float | None
) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean over folds; None with one fold.

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
        Values fold by fold.
    rho : float or None
        The correlation of folds, whose training parts overlap; None: 1/n_folds.
    """
    n = len(values)
    if n < 2:
        return None
    rho = 1 / n if rho is None else rho
    half = stdtrit(n - 1, 0.975) * np.sqrt(
        (1 / n + rho / (1 - rho)) * values.var(ddof=1)
    )
    mean = values.mean()
    return float(mean - half), float(mean + half)


def lead(results: Results, dataset: str, measures: Sequence[str]) -> TextTable:
    """Return which ranker is best at which number of features.

    Parameters
    ----------
    results : Results
        Where the values are.
    dataset : str
        The data set.
    measures : sequence of str
        Names from `MEASURES`.

    Returns
    -------
    table : TextTable
        A row for each measure and number; the same in words below it.
    """
    lines: list[list[Any]] = []
    notes = []
    for measure in measures:
        sign = -1.0 if MEASURES[measure].lower_is_better else 1.0
        found: list[tuple[int, str, bool]] = []
        curves = {
            r: results.curve(r, dataset, measure)
            for r in results.rankers
            if results.has(dataset, r, measure)
        }
        for k in sorted({int(k) for curve in curves.values() for k in curve.counts}):
            # All features are the same for all rankers.
            there = {
                r: sign * curve.values[:, curve.counts == k][:, 0]
                for r, curve in curves.items()
                if k in curve.counts and k < _n_features(results, dataset)
            }
            if len(there) < 2:
                continue
            # The sort is stable: of equal ones the first counts.
            best, second = sorted(there, key=lambda r: -there[r].mean())[:2]
            ahead = there[best] - there[second]
            interval = over_folds(ahead, results.overlap(dataset, best))
            is_sure = interval is not None and interval[0] > 0.0
            mean = float(sign * there[best].mean())
            gap = float(ahead.mean())
            lines.append([measure, k, best, mean, second, gap, *(interval or _UNKNOWN)])
            found.append((k, best, is_sure))
        if found:
            notes.append(where_best(MEASURES[measure].title, found))
        if RANDOM in curves and not _beats_random(results, dataset, measure, curves):
            notes.append(nowhere_better(MEASURES[measure].title))
    columns = [
        "measure", "features", "best", "value", "second", "lead", "low", "high"
    ]  # fmt: skip
    return TextTable(columns, lines, notes)


def _beats_random(
    results: Results, dataset: str, measure: str, curves: Mapping[str, Curve]
) -> bool:
    """Return whether any ranker is better than random columns at any number."""
    return any(
        results.verdicts(k, measure, dataset, rankers=[ranker])[ranker] == BETTER
        for ranker in curves
        if ranker != RANDOM
        for k in np.intersect1d(curves[ranker].counts, curves[RANDOM].counts).tolist()
    )


def _n_features(results: Results, dataset: str) -> float:
    known = [r.n_features for r in results.records if r.dataset == dataset]
    return min((n for n in known if n is not None), default=math.inf)


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
    """A ranker and a number of features, by one measure.

    Attributes
    ----------
    ranker : str
        The ranker.
    n_features : int
        The number that was suggested; or else the smallest within tolerance of the
        best.
    interval : tuple of int
        Where that number lies in 90 % of the bootstrap samples of the folds; the number
        itself if it was suggested.
    value : float
        The measure at that number, the mean over the folds.
    value_interval : tuple of float or None
        Its 95 % interval over the folds; None with one fold.
    best : float
        The best value of all, at any number.
    measure : str
        The name of the measure.
    verdict : str
        How the ranker compares with random columns at that number; "" if chance was
        not measured.
    n_random : int or None
        How many random columns do as well, or come as close to the best; None if none
        of the measured numbers does, or chance was not measured.
    suggested_by : str
        The ranker that suggests the number; "" if it was found by the tolerance.
    is_all : bool
        Whether these are all features of the table.
    """

    ranker: str
    n_features: int
    interval: tuple[int, int]
    value: float
    value_interval: tuple[float, float] | None
    best: float
    measure: str
    verdict: str
    n_random: int | None
    suggested_by: str
    is_all: bool

    def __str__(self) -> str:
        verdict = self.verdict
        if verdict and self.n_random is not None and verdict == BETTER:
            columns = counted(self.n_random, "random column")
            verdict += f"; it takes {columns} to do as well"
        return recommended(
            MEASURES[self.measure].title,
            self.ranker,
            self.n_features,
            self.interval,
            self.value,
            self.value_interval,
            self.best,
            verdict,
            self.suggested_by,
            is_all=self.is_all,
        )


def recommend(
    results: Results,
    dataset: str,
    ranker: str | None,
    measure: str,
    tolerance: float | None,
    seed: int,
) -> Recommendation:
    """Return the best ranker at the suggested number, or the fewest features.

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
    tolerance : float or None
        How much worse than the best is near enough; None: the suggested number.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    recommendation : Recommendation
        The number and how sure it is.
    """
    is_fine = tolerance is None or tolerance >= 0
    check_value("tolerance", tolerance, is_fine, "give a number of at least 0")
    names = [r for r in results.rankers if results.has(dataset, r, measure)]
    candidates = [r for r in names if r != RANDOM] if ranker is None else [ranker]
    if not candidates:
        raise DataError(f"{measure!r} is not measured for any ranker on {dataset!r}")
    sign = 1.0 if MEASURES[measure].lower_is_better else -1.0
    curves = {r: results.curve(r, dataset, measure) for r in {*candidates, *names}}
    lost = {r: sign * curve.values for r, curve in curves.items()}
    counts = {r: curve.counts for r, curve in curves.items()}
    by, wanted = results.suggested.get(dataset, ("", 0))
    there = [r for r in candidates if wanted in counts[r]]
    if tolerance is not None or not there:
        by, wanted = "", 0
    near = NEAR if tolerance is None else tolerance

    def choose(rows: NDArray[np.intp]) -> tuple[str, int, float]:
        means = {r: lost[r][rows].mean(axis=0) for r in candidates}
        best = min(float(mean.min()) for mean in means.values())
        if by:
            at = {r: float(means[r][counts[r] == wanted][0]) for r in there}
            return min(there, key=lambda r: at[r]), wanted, best
        k, _, name = min(
            (int(counts[r][at]), float(mean[at]), r)
            for r, mean in means.items()
            for at in np.flatnonzero(mean <= best + near)
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
    values = curves[name].values[:, counts[name] == k][:, 0]
    compared = RANDOM in names and name != RANDOM
    enough = sign * values.mean() if by else best + near
    close = compared and lost[RANDOM].mean(axis=0) <= enough
    verdict = ""
    if compared and k in counts[RANDOM]:
        verdict = results.verdicts(k, measure, dataset, rankers=[name])[name]
    return Recommendation(
        ranker=name,
        n_features=k,
        interval=(int(low), int(high)),
        value=float(values.mean()),
        value_interval=over_folds(values, results.overlap(dataset, name)),
        best=sign * best,
        measure=measure,
        verdict=verdict,
        n_random=int(counts[RANDOM][np.argmax(close)]) if np.any(close) else None,
        suggested_by=by,
        is_all=k >= _n_features(results, dataset),
    )
