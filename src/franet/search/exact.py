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
from franet.engine.levels import Levels
from franet.engine.measure import Extrema, Measure
from franet.exceptions import DataError
from franet.quality import EQUAL, QUALITIES
from franet.search.centrality import CENTRALITIES, from_function
from franet.search.race import Race
from franet.search.thresholds import lay_limits

__all__ = [
    "ALL_EQUAL",
    "ONE_FEATURE",
    "Outcome",
    "Settings",
    "all_equal",
    "best_of",
    "edge_rule",
    "lay_out",
    "no_winner",
    "search",
    "top_of",
]

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
    thresholds: NDArray[np.float64]
    quality: NDArray[np.float64]
    quality_bound: NDArray[np.float64]
    too_sparse: NDArray[np.bool_]
    n_edges: NDArray[np.int64]
    winner: int | None
    network: Any
    degrees: NDArray[np.float64]
    reason: str = ""
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
    limits = lay_limits(
        settings.variant,
        settings.thresholds,
        settings.n_thresholds,
        engine,
        extrema,
        top,
    )
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
    none = np.empty(0)
    blank: dict[str, Any] = {
        "scores": np.full(n, 1.0 if settings.variant == "reference" else 1.0 / n),
        "thresholds": none,
        "quality": none,
        "quality_bound": none,
        "too_sparse": np.empty(0, bool),
        "n_edges": np.empty(0, np.int64),
        "winner": None,
        "reason": reason
        or "no threshold gives a graph with a mean degree of at least "
        f"{settings.min_mean_degree:g}",
        "network": sparse.csr_array((n, n)),
        "degrees": np.zeros(n),
        "all_scores": np.empty((0, n)) if settings.store_candidates else None,
    }
    return Outcome(**blank | found)


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
        mean_degree = levels.n_edges / levels.n
        self.too_sparse = mean_degree < settings.min_mean_degree
        # Thresholds with equal edge sets are one candidate: the first stands for all.
        self.same_as = np.searchsorted(levels.n_edges, levels.n_edges)
        first = self.same_as == np.arange(len(thresholds))
        candidates = np.flatnonzero(first & ~self.too_sparse)
        asked = np.flatnonzero(first) if settings.store_candidates else candidates
        quality = np.full(len(thresholds), np.nan)
        bound = np.full(len(thresholds), np.nan)
        winner = self._choose(candidates, asked, quality, bound)
        outcome = no_winner(
            levels.n,
            settings,
            thresholds=thresholds,
            quality=self._spread(quality),
            quality_bound=self._spread(bound),
            too_sparse=self.too_sparse,
            n_edges=levels.n_edges // 2,
        )
        if winner is not None:
            outcome.winner, outcome.reason = winner, ""
            outcome.scores = self._scores(winner)
            outcome.degrees = levels.degrees(winner)
            outcome.network, outcome.truncated = self._network(winner)
        self._extras(outcome, candidates)
        return outcome

    def _spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(self.too_sparse, np.nan, values[self.same_as])

    def _choose(
        self,
        candidates: NDArray[np.intp],
        asked: NDArray[np.intp],
        quality: NDArray[np.float64],
        bound: NDArray[np.float64],
    ) -> int | None:
        """Fill in the qualities and return the winner."""
        settings = self.settings
        if settings.quality == "random":
            winner = None
            if len(candidates):
                random = settings.random or np.random.mtrand._rand
                winner = int(candidates[random.randint(len(candidates))])
            if settings.store_candidates:
                self._solve_all(asked)
            return winner
        pruned = (
            settings.centrality == "pagerank"
            and settings.quality == "rqh"
            and not settings.store_candidates
        )
        if pruned:
            race = Race(self.levels, settings.damping, self.solved)
            bound[candidates] = race.run([int(i) for i in candidates])
        else:
            self._solve_all(asked)
        measure = settings.quality
        rate = QUALITIES[measure] if isinstance(measure, str) else measure
        for i in candidates:
            if int(i) in self.solved:
                rating = rate(self._scores(int(i)))
                rating = float(finite_numbers(rating, (), "The quality function"))
                quality[i] = bound[i] = rating
        return best_of(quality) if len(candidates) else None

    def _scores(self, i: int) -> NDArray[np.float64]:
        if i not in self.solved:
            self._solve_all(np.array([i]))
        return self.solved[i]

    def _solve_all(self, graphs: NDArray[np.intp]) -> None:
        """Compute the scores of some graphs, whatever they may be worth."""
        wanted = [int(i) for i in graphs if int(i) not in self.solved]
        if self.settings.centrality == "pagerank":
            Race(self.levels, self.settings.damping, self.solved).solve(wanted)
            return
        name = self.settings.centrality
        centrality = from_function(name) if callable(name) else CENTRALITIES[name]
        for done, i in enumerate(wanted):
            self.solved[i] = centrality(self.levels.graph(i))
            report("centralities", done + 1, len(wanted))

    def _network(self, winner: int) -> tuple[Any, bool]:
        levels, most = self.levels, self.settings.max_edges
        if levels.n_edges[winner] // 2 <= most:
            return levels.matrix(winner), False
        return levels.strongest(winner, most), True

    def _extras(self, outcome: Outcome, candidates: NDArray[np.intp]) -> None:
        if self.settings.second_key and outcome.winner is not None:
            denser = candidates[candidates > outcome.winner]
            if len(denser):
                outcome.second_key = self._scores(int(denser[0]))
        if self.settings.store_candidates:
            rows = [self._scores(int(i)) for i in self.same_as]
            outcome.all_scores = np.array(rows)
