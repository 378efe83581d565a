"""Which threshold wins: candidates, their scores, and proofs that others lose.

A graph for every threshold, from sparse to dense; a centrality of each; the ranking
whose scores spread most. For PageRank and RQH only those candidates are solved that
can still win: every other one carries a proven upper bound on its RQH.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.progress import report
from franet._common.returned import finite_numbers
from franet.engine._numpy import TileEngine
from franet.engine.levels import Level, Levels
from franet.engine.measure import Extrema, Measure
from franet.exceptions import DataError
from franet.quality import EQUAL, QUALITIES
from franet.search.centrality import CENTRALITIES, from_function
from franet.search.pagerank import Race
from franet.search.thresholds import lay_limits

# Why there may be no winner.
ONE_FEATURE = "there is only one feature to rank"
ALL_EQUAL = "all similarities between features are equal"


@dataclass(frozen=True)
class Settings:
    """What a search is asked for; see the parameters of FRANe."""

    thresholds: str | Callable[[float, float, int], Any] = "geometric"
    n_thresholds: int = 100
    min_mean_degree: float = 1.0
    damping: float = 0.85
    weighted: bool = True
    centrality: str | Callable[[Any], Any] = "pagerank"
    quality: str | Callable[[NDArray[np.float64]], float] = "rqh"
    variant: str = "paper"
    store_candidates: bool = False
    second_key: bool = False
    max_edges: int = 5_000_000
    max_memory: int | None = None
    random: np.random.RandomState | None = None


@dataclass
class Outcome:
    """What a search found.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        The scores at the winning threshold.
    thresholds : ndarray
        The thresholds in terms of similarities, sparse to dense.
    quality : ndarray
        The quality of each candidate, NaN where too sparse or discarded.
    quality_bound : ndarray
        An upper bound on the quality of each candidate, NaN where too sparse.
    too_sparse : ndarray of bool
        Thresholds whose graphs have too few edges.
    n_edges : ndarray
        Number of edges (each pair once) of each graph. An approximate search estimates
        it, and the qualities, for graphs that it did not store.
    winner : int or None
        The winning threshold; None if there is no candidate.
    reason : str
        Why there is no winner.
    network : CSR array
        The adjacency matrix at the winning threshold.
    truncated : bool
        Whether `network` holds only the strongest edges of each node.
    degrees : ndarray of shape (n,)
        The weighted degrees at the winning threshold.
    second_key : ndarray or None
        The scores at the next denser candidate.
    all_scores : ndarray or None
        The scores at every threshold, those too sparse included.
    approximation : Approximation or None
        How far an approximate search may be off.
    """

    scores: NDArray[np.float64]
    network: Any
    degrees: NDArray[np.float64]
    reason: str
    thresholds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    quality: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    quality_bound: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    too_sparse: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    n_edges: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    winner: int | None = None
    truncated: bool = False
    second_key: NDArray[np.float64] | None = None
    all_scores: NDArray[np.float64] | None = None
    approximation: Any = None


def search(engine: TileEngine, settings: Settings) -> Outcome:
    """Find the threshold whose ranking has the highest quality.

    Parameters
    ----------
    engine : TileEngine
        Reductions over the similarities of all features.
    settings : Settings
        What is asked for.
    """
    if engine.n < 2:
        return no_winner(engine.n, settings, ONE_FEATURE)
    extrema = engine.extrema()
    if not np.isfinite(extrema.high):
        raise DataError("The distances overflow: the values are too large. Scale them.")
    if all_equal(extrema):
        return no_winner(engine.n, settings, ALL_EQUAL)
    thresholds, measure, edges = lay_out(engine, engine.source.top, extrema, settings)
    levels = Levels(engine, extrema, edges, measure)
    return _Search(levels, settings).run(thresholds)


def all_equal(extrema: Extrema) -> bool:
    """Return whether there is one similarity only, up to rounding."""
    gap = extrema.high - extrema.low
    return not np.isfinite(extrema.next_low) or gap <= extrema.zero


def lay_out(
    engine: Any, top: float | None, extrema: Extrema, settings: Settings
) -> tuple[NDArray[np.float64], Measure, NDArray[np.float64]]:
    """Return the thresholds, what an edge weighs, and the largest ``d`` of edges.

    Parameters
    ----------
    engine : TileEngine or object
        As :func:`franet.search.thresholds.lay_limits` needs it.
    top : float or None
        The sum of a similarity and its dissimilarity; None where the data have it.
    extrema : Extrema
        The extremes of the dissimilarities.
    settings : Settings
        What is asked for.
    """
    top = top_of(top, extrema, settings)
    limits = lay_limits(settings, engine, extrema, top)
    return top - limits, *edge_rule(extrema, settings, top, limits)


def top_of(top: float | None, extrema: Extrema, settings: Settings) -> float:
    """Return the sum of a similarity and its dissimilarity."""
    return extrema.high if settings.variant == "reference" or top is None else top


def edge_rule(
    extrema: Extrema, settings: Settings, top: float, limits: NDArray[np.float64]
) -> tuple[Measure, NDArray[np.float64]]:
    """Return what an edge weighs, and for each limit the largest ``d`` of an edge."""
    paper = settings.variant == "paper"
    origin = extrema.low if paper else 0.0
    measure = Measure(
        top=top,
        snap=origin + extrema.zero,
        snap_to=origin,
        floor=extrema.slack,
        weighted=settings.weighted,
    )
    edges = limits + extrema.slack
    if paper:
        # A pair that equals the strongest one up to rounding is as strong.
        edges[(limits >= origin) & (limits <= measure.snap)] = measure.snap
    elif settings.weighted:
        # The authors count an edge only if its weight is above zero.
        edges = np.minimum(edges, np.nextafter(extrema.high - extrema.slack, -np.inf))
    return measure, edges


def no_winner(n: int, settings: Settings, reason: str = "", **found: Any) -> Outcome:
    """Return an outcome in which all features score the same.

    Parameters
    ----------
    n : int
        Number of features.
    settings : Settings
        What was asked for.
    reason : str, default=""
        Why there is no winner; that all graphs are too sparse, if empty.
    **found : object
        Attributes of the outcome that are known.
    """
    return Outcome(
        scores=np.full(n, 1.0 if settings.variant == "reference" else 1.0 / n),
        network=sparse.csr_array((n, n)),
        degrees=np.zeros(n),
        reason=reason
        or "no threshold gives a graph with a mean degree of at least "
        f"{settings.min_mean_degree:g}",
        all_scores=np.empty((0, n)) if settings.store_candidates else None,
        **found,
    )


def spread(
    values: dict[int, float], same_as: NDArray[np.intp], too_sparse: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return what is known of each candidate, NaN where nothing is.

    Thresholds with equal edge sets are one candidate: the first represents all.
    """
    known = [values.get(int(i), np.nan) for i in same_as]
    return np.where(too_sparse, np.nan, known)


def best_of(quality: NDArray[np.float64]) -> int:
    """Return the candidate with the highest quality, NaN where it is not known.

    Qualities equal up to rounding are equal: the sparser graph wins.
    """
    best = np.nanmax(quality)
    return int(np.argmax(quality >= best - EQUAL * abs(best)))


@dataclass
class _Search:
    """One search over the levels of a table."""

    levels: Levels
    settings: Settings
    solved: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def run(self, thresholds: NDArray[np.float64]) -> Outcome:
        levels, settings = self.levels, self.settings
        too_sparse = levels.n_edges / levels.n < settings.min_mean_degree
        same_as = np.searchsorted(levels.n_edges, levels.n_edges)
        first = same_as == np.arange(len(thresholds))
        candidates = np.flatnonzero(first & ~too_sparse).tolist()
        winner = None
        if settings.quality == "random" and candidates:
            random = settings.random or np.random.mtrand._rand
            winner = candidates[random.randint(len(candidates))]
        asked = np.flatnonzero(first).tolist() if settings.store_candidates else None
        bound = self._solve(candidates, asked)
        found = self._rate(candidates)
        outcome = no_winner(
            levels.n,
            settings,
            thresholds=thresholds,
            quality=spread(found, same_as, too_sparse),
            quality_bound=spread(bound | found, same_as, too_sparse),
            too_sparse=too_sparse,
            n_edges=levels.n_edges // 2,
        )
        if found:
            winner = best_of(outcome.quality)
        if winner is not None:
            outcome.winner, outcome.reason = winner, ""
            outcome.scores = self._scores(winner)
            outcome.degrees = levels.degrees(winner)
            network = levels.network(winner, settings.max_edges)
            outcome.network, outcome.truncated = network
            denser = [i for i in candidates if i > winner]
            if settings.second_key and denser:
                outcome.second_key = self._scores(denser[0])
        if asked is not None:
            outcome.all_scores = np.array([self._scores(int(i)) for i in same_as])
        return outcome

    def _solve(
        self, candidates: list[int], asked: list[int] | None
    ) -> dict[int, float]:
        """Solve what the winner depends on, and what is asked for beside it.

        Returns upper bounds on the qualities, where only the best were solved.
        """
        settings = self.settings
        if asked is not None:
            self._solve_all(asked)
        elif settings.centrality == "pagerank" and settings.quality == "rqh":
            race = Race(self.levels, settings.damping, self.solved)
            race.run(candidates)
            return race.bound
        elif settings.quality != "random":
            self._solve_all(candidates)
        return {}

    def _rate(self, candidates: list[int]) -> dict[int, float]:
        """Return the qualities of those that were solved."""
        quality = self.settings.quality
        if quality == "random":
            return {}
        rate = QUALITIES[quality] if isinstance(quality, str) else quality
        return {
            i: float(finite_numbers(rate(self.solved[i]), (), "The quality function"))
            for i in candidates
            if i in self.solved
        }

    def _scores(self, i: int) -> NDArray[np.float64]:
        if i not in self.solved:
            self._solve_all([i])
        return self.solved[i]

    def _solve_all(self, graphs: list[int]) -> None:
        """Compute the scores of some graphs, whatever they may be worth."""
        wanted = [i for i in graphs if i not in self.solved]
        if self.settings.centrality == "pagerank":
            Race(self.levels, self.settings.damping, self.solved).solve(wanted)
            return
        name = self.settings.centrality
        centrality = from_function(name) if callable(name) else CENTRALITIES[name]
        for done, i in enumerate(wanted):
            self.solved[i] = centrality(Level(self.levels, i))
            report("centralities", done + 1, len(wanted))
