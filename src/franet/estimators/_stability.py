"""How sure a ranking is: rank again on halves of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import NUMBER, WHOLE, check_value, checked, optional
from franet._common.features import FeatureIndex
from franet._common.sentences import ALIKE, STABLE, how_drawn, how_stable, of_first_pick
from franet._common.table import TextTable
from franet._common.threads import count_threads
from franet.cover._constraints import by_position
from franet.estimators._draws import FEWEST, Draws
from franet.estimators._validation import TableOfFit, names_of
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.alike import correlations, dissimilarities
from franet.pairs.coded import CodedTable
from franet.pairs.similarity._sparse import constant_in

# Draws where no number is given.
HALVES = 20
# Tables with permuted columns, of two draws each.
PERMUTED = 5
# Stand-ins are looked for of this many picks, the best first.
PICKS = 256
# Columns that are compared with the picks at a time.
_CHUNK = 1024
# How much farther a half of a table lies from a new half than from its own table: by
# the deviations, √3 to 1 (see docs/stability.md).
_OPTIMISM = 3**0.5
_HEAD = ["feature", "rank", "median", "low", "high", "picked again", "or alike"]
_HEAD += ["stand-ins"]


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How sure a ranking is, from rankings of half-samples.

    Arrays have a value for each feature, in the order of the columns.

    Attributes
    ----------
    names : ndarray of str
        The names of the features; ``x0``, ``x1``, … where the table has none.
    ranking : ndarray of int
        The ranks of the fit, 1 is best.
    median_rank : ndarray of float
        The median rank over the draws.
    rank_low, rank_high : ndarray of int
        At least the share `level` of the draws ranks the feature from `rank_low` to
        `rank_high`; at most half of the others lies on either side.
    selected : ndarray of float
        The share of the draws in which the feature is among the first `top`.
    picked_again : ndarray of float
        For each of the first `top` features of the fit (the picks; at most 256 of
        them): the share of new half-samples in which it would be among the first
        `top`, an estimate; NaN for other features.
    held : ndarray of float
        The same, where a stand-in counts as the pick: a feature whose correlation with
        it is at least 0.9 in absolute value.
    interchangeable : dict of dict
        For each pick that has stand-ins: the column of each, and the share of the draws
        that lack the pick and have it, the most alike only; the largest first.
    agreement : float
        What one half of the samples picks, and the other half, too, stand-ins counted:
        the mean share over pairs of halves without a common sample.
    permuted : ndarray of float
        The same for tables whose columns are permuted, each by itself; empty where a
        ranker looks at each column alone, or could not rank them.
    kuncheva : float
        Kuncheva's consistency of the first `top` features, the mean over all pairs of
        draws: 1 if all draws select the same, 0 as by chance.
    jaccard : float
        The share of features that two selections have in common, likewise.
    top : int
        How many features were selected.
    n_halves : int
        Number of draws.
    level : float
        The level of the intervals.
    n_degenerate : int
        In how many draws the ranking said little; see `DegenerateRankingWarning`.
    has_choice : bool
        Whether other samples could lead to another selection; False where all columns
        that vary are selected, or as many as `include` names.
    """

    names: NDArray[Any]
    ranking: NDArray[np.intp]
    median_rank: NDArray[np.float64]
    rank_low: NDArray[np.intp]
    rank_high: NDArray[np.intp]
    selected: NDArray[np.float64]
    picked_again: NDArray[np.float64]
    held: NDArray[np.float64]
    interchangeable: dict[int, dict[int, float]]
    agreement: float
    permuted: NDArray[np.float64]
    kuncheva: float
    jaccard: float
    top: int
    n_halves: int
    level: float
    n_degenerate: int
    has_choice: bool

    @cached_property
    def sentence(self) -> str:
        """Whether other samples would lead to the same selection."""
        picks = np.isfinite(self.held)
        return how_stable(
            int(picks.sum()),
            int(np.sum(self.picked_again[picks] >= STABLE)),
            int(np.sum(self.held[picks] >= STABLE)),
            self.agreement,
            self.permuted.tolist(),
            has_choice=self.has_choice,
            is_all=bool(picks.sum() == self.top),
        )

    @cached_property
    def sentences(self) -> list[str]:
        """The same; what to know of a doubtful first pick; and how it was measured."""
        j = int(np.argmin(self.ranking))
        low, high = int(self.rank_low[j]), int(self.rank_high[j])
        first = of_first_pick(str(self.names[j]), float(self.held[j]), low, high)
        drawn = how_drawn(self.n_halves, self.n_degenerate)
        return [said for said in (self.sentence, first, drawn) if said]

    def stand_ins(self, feature: str | int) -> dict[str, float]:
        """Return what takes the place of a feature, by name.

        Parameters
        ----------
        feature : str or int
            The feature, by its name or its position.

        Returns
        -------
        stand_ins : dict of float
            The share of the draws in which each does, the largest first.
        """
        found = self.interchangeable.get(FeatureIndex(self.names).find(feature), {})
        return {str(self.names[j]): share for j, share in found.items()}

    def table(self, first: int | None = None) -> TextTable:
        """Return the features in the order of the fit, a row each.

        Parameters
        ----------
        first : int, optional
            How many features; all by default.

        Returns
        -------
        table : TextTable
            It prints itself; ``to_pandas`` and ``to_csv`` are there as well.
        """
        is_fine = first is None or first >= 1
        check_value("first", first, is_fine, "give a number of features, at least 1")
        order = np.argsort(self.ranking, kind="stable")[:first]
        rows = [self._row(int(j)) for j in order]
        return TextTable(_HEAD, rows, self._notes(), decimals=2)

    def _row(self, j: int) -> list[Any]:
        found = list(self.stand_ins(j).items())
        shown = ", ".join(f"{name} ({share:.2f})" for name, share in found[:3])
        is_pick = bool(np.isfinite(self.held[j]))
        return [
            str(self.names[j]),
            int(self.ranking[j]),
            float(self.median_rank[j]),
            int(self.rank_low[j]),
            int(self.rank_high[j]),
            float(self.picked_again[j]) if is_pick else None,
            float(self.held[j]) if is_pick else None,
            f"{shown} …" if len(found) > 3 else shown,
        ]

    def _notes(self) -> list[str]:
        return [
            *self.sentences,
            f"{100 * self.level:.4g} % intervals; first {self.top} of "
            f"{len(self.names)} features: Kuncheva {self.kuncheva:.2f}, Jaccard "
            f"{self.jaccard:.2f}.",
        ]

    def __repr__(self) -> str:
        return (
            f"<Stability: {self.n_halves} half-samples, first {self.top} of "
            f"{len(self.names)} features, Kuncheva {self.kuncheva:.2f}>"
        )

    def __str__(self) -> str:
        return str(self.table(10))

    def _repr_html_(self) -> str:
        return self.table(10)._repr_html_()


class StabilityMixin:
    """A part of rankers: how sure a ranking is."""

    n_features_: int
    ranking_: NDArray[np.intp]

    # Whether the score of a column depends on the others: permuted columns score as
    # before where it does not.
    _relates = True

    @checked(
        n_halves=WHOLE,
        top=optional(WHOLE),
        level=NUMBER,
        random_state=optional(WHOLE),
        n_jobs=optional(WHOLE),
    )
    def stability(
        self,
        X: Any,
        n_halves: int = HALVES,
        *,
        top: int | None = None,
        level: float = 0.95,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> Stability:
        """Return how sure the ranking is, by ranking halves of the samples.

        The fitted ranker stays as it is: copies of it rank. Half of the samples is
        drawn without replacement; the next draw takes the other half. In each draw
        columns are in random order, and a ranker with a ``random_state`` has another
        seed, so that ties and chance count too. Ten more halves are those of tables
        whose columns are permuted, each by itself: what a selection by chance is like.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table of the fit, with at least 4 samples.
        n_halves : int, default=20
            Number of draws.
        top : int, default=None
            How many features count as selected; None: `n_features_`.
        level : float, default=0.95
            The share of the draws that an interval of ranks holds, at the least.
        random_state : int or None, default=0
            The seed of the draws. The order of the samples does not matter.
        n_jobs : int, default=None
            Number of threads; -1 and None mean all cores. No result depends on it.

        Returns
        -------
        stability : Stability
            Whether other samples would pick the same, as a sentence; intervals of
            ranks, shares of selection, interchangeable features. It prints itself.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from franet.rankers import ColumnSubset
        >>> X, _ = load_wine(return_X_y=True)
        >>> ColumnSubset(n_features_to_select=3).fit(X).stability(X).sentence
        '1 of these 3 picks is stable; other samples would replace the others.'
        """
        check_is_fitted(self)
        if get_tags(self).input_tags.pairwise:
            raise UsageError(
                "{} has no samples to draw.",
                Setting("similarity", "precomputed"),
                remedy="Rank the table itself.",
            )
        table = TableOfFit(self)(X, False)
        table = table.tocsr() if sparse.issparse(table) else table
        m, n = table.shape
        top = self.n_features_ if top is None else top
        seed = 0 if random_state is None else random_state
        for name, value, is_fine, remedy in (
            ("n_halves", n_halves, n_halves >= 2, "give a whole number of at least 2"),
            ("top", top, 1 <= top <= n, f"give a number of features from 1 to {n}"),
            ("level", level, 0 < level < 1, "give a share between 0 and 1"),
            ("random_state", seed, seed >= 0, "give a whole number from 0 on, or None"),
        ):
            check_value(name, value, is_fine, remedy)
        if m < FEWEST:
            raise DataError(
                f"Half-samples need at least {FEWEST} samples, X has {m}. Pass more."
            )
        n_threads = count_threads(n_jobs)
        draws = Draws(self, table, n_halves, random_state)
        n_degenerate = draws.run(n_threads)
        ranks, ordered = draws.ranks, np.sort(draws.ranks, axis=0)
        tail = int((1 - level) / 2 * n_halves + 1e-9)
        low, high = ordered[[tail, n_halves - 1 - tail]].astype(np.intp)
        middle = ordered[[(n_halves - 1) // 2, n_halves // 2]]
        counts = (ranks <= top).sum(axis=0)
        kuncheva, jaccard = _agreement(ranks, counts, top)
        matcher = _Matcher(table, top, _has_gaps(self))
        picks = np.argsort(self.ranking_, kind="stable")[: min(top, PICKS)]
        again, by = matcher.find(picks, ranks)
        alone, held = matcher.between_halves(ranks)
        forced = np.isin(picks, _forced(self))
        is_fixed = np.zeros(n, bool)
        if not isinstance(table, CodedTable):
            is_fixed = constant_in(table)
        has_choice = bool(top < n - is_fixed.sum() and not forced.all())
        shares = np.full((2, n), np.nan)
        for share, found, mean in (
            (shares[0], again, alone),
            (shares[1], again | (by >= 0), held),
        ):
            share[picks] = np.where(forced, 1.0, _of_new_halves(found, mean))
        return Stability(
            names=names_of(self),
            ranking=self.ranking_.copy(),
            median_rank=middle.mean(axis=0, dtype=np.float64),
            rank_low=low,
            rank_high=high,
            selected=counts / n_halves,
            picked_again=shares[0],
            held=shares.max(axis=0),
            interchangeable=_interchangeable(picks, by),
            agreement=held,
            permuted=self._when_permuted(table, top, random_state, n_threads)
            if has_choice
            else np.empty(0),
            kuncheva=kuncheva,
            jaccard=jaccard,
            top=int(top),
            n_halves=int(n_halves),
            level=float(level),
            n_degenerate=n_degenerate,
            has_choice=has_choice,
        )

    def _when_permuted(
        self, table: Any, top: int, seed: int | None, n_threads: int
    ) -> NDArray[np.float64]:
        """Return how well halves agree where columns have nothing to do with others."""
        if not self._relates:
            return np.empty(0)
        draws = Draws(self, table, 2 * PERMUTED, seed, permuted=True)
        try:
            draws.run(n_threads)
        except DataError:  # although halves of the table itself can be ranked
            return np.empty(0)
        found, pairwise = [], _has_gaps(self)
        for at in range(0, 2 * PERMUTED, 2):
            matcher = _Matcher(draws.table(at), top, pairwise)
            found.append(matcher.between_halves(draws.ranks[at : at + 2])[1])
        return np.array(found)


def _agreement(
    ranks: NDArray[Any], counts: NDArray[np.intp], top: int
) -> tuple[float, float]:
    """Return Kuncheva's and Jaccard's index, by the definitions of the evaluation.

    Sizes of intersections come from products: a thousand draws make half a million
    pairs of sets.
    """
    n_halves, n = ranks.shape
    if top == n:
        return 1.0, 1.0
    some = (counts > 0) & (counts < n_halves)
    chosen = (ranks[:, some] <= top).astype(np.float32)
    shared = (chosen @ chosen.T)[np.triu_indices(n_halves, 1)]
    both = shared.astype(np.float64) + (counts == n_halves).sum()
    by_chance = top * top / n
    kuncheva = (both.mean() - by_chance) / (top - by_chance)
    return float(kuncheva), float((both / (2 * top - both)).mean())


class _Matcher:
    """Finds picks in other selections, or what is like them in a table.

    Parameters
    ----------
    X : ndarray, CSR array or CodedTable
        The table.
    top : int
        How many features are selected.
    pairwise : bool
        Whether the table has gaps.
    """

    def __init__(self, X: Any, top: int, pairwise: bool) -> None:
        self._X, self._top, self._pairwise = X, top, pairwise

    def find(
        self, picks: NDArray[np.intp], ranks: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which draws select each pick, and what else they select instead.

        Parameters
        ----------
        picks : ndarray of int of shape (n_picks,)
            The picks.
        ranks : ndarray of shape (n_draws, n)
            The ranks of each draw.

        Returns
        -------
        again : ndarray of bool of shape (n_draws, n_picks)
            Whether a draw selects a pick.
        by : ndarray of int of shape (n_draws, n_picks)
            Where it does not: the selected feature that is most alike, at least
            `ALIKE`; -1 where there is none.
        """
        selected = ranks <= self._top
        again = selected[:, picks]
        by = np.full(again.shape, -1, np.intp)
        lost = np.flatnonzero(~again.all(axis=0))
        others, close = self._alike(picks[lost], np.flatnonzero(selected.any(axis=0)))
        for draw in range(len(ranks)):
            there = np.flatnonzero(selected[draw, others])
            if len(there) and len(lost):
                best = there[close[:, there].argmax(axis=1)]
                is_alike = close[np.arange(len(lost)), best] >= ALIKE
                free = is_alike & ~again[draw, lost]
                by[draw, lost[free]] = others[best[free]]
        return again, by

    def between_halves(self, ranks: NDArray[Any]) -> tuple[float, float]:
        """Return the share of what halves pick that the other halves pick, too.

        Alone, and with stand-ins. Draws 0 and 1, 2 and 3, … have no common sample.
        """
        shares = []
        for draw in range(len(ranks) // 2 * 2):
            picks = np.argsort(ranks[draw], kind="stable")[: min(self._top, PICKS)]
            other = draw ^ 1
            again, by = self.find(picks, ranks[other : other + 1])
            shares.append((again.mean(), (again | (by >= 0)).mean()))
        alone, held = np.mean(shares, axis=0)
        return float(alone), float(held)

    def _alike(
        self, picks: NDArray[np.intp], others: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the others that are like a pick, and how much like each."""
        kept, parts = [others[:0]], [np.empty((len(picks), 0))]
        for at in range(0, len(others) if len(picks) else 0, _CHUNK):
            some = others[at : at + _CHUNK]
            features = np.concatenate([picks, some])
            if self._pairwise:
                r = 1.0 - dissimilarities(
                    self._X, features, "correlation", pairwise=True
                )
            else:
                r = correlations(self._X, features)
            # Rounded, so that copies are equally close: the first column is taken.
            close = np.abs(np.nan_to_num(r[: len(picks), len(picks) :])).round(9)
            near = (close >= ALIKE).any(axis=0)
            kept.append(some[near])
            parts.append(close[:, near])
        return np.concatenate(kept), np.concatenate(parts, axis=1)


def _of_new_halves(found: NDArray[np.bool_], mean: float) -> NDArray[np.float64]:
    """Return the shares of new half-samples that would pick each pick.

    Parameters
    ----------
    found : ndarray of bool of shape (n_draws, n_picks)
        Which draws from the table of the fit pick it.
    mean : float
        The share of what one half picks that the other half picks, too.
    """
    n_draws, n_picks = found.shape
    # A draw has samples that made the pick a pick; a new half has not.
    z = ndtri((found.sum(axis=0) + 0.5) / (n_draws + 1)) / _OPTIMISM
    # What is seen in all draws, or in none, is not certain for that.
    least = 0.5 / (n_draws * n_picks)
    mean = min(max(mean, least), 1 - least)
    far = 2.0 * np.abs(z).max() + 2.0 * abs(ndtri(mean)) + 1.0
    shift = brentq(lambda s: ndtr(z + s).mean() - mean, -far, far)
    return np.asarray(ndtr(z + shift))


def _has_gaps(ranker: Any) -> bool:
    return getattr(ranker, "missing", "error") == "pairwise"


def _forced(ranker: Any) -> list[int]:
    """Return the features that are picked in any case."""
    given = getattr(ranker, "include", None)
    if given is None:
        return []
    forced: list[int] = by_position({"include": given}, names_of(ranker))["include"]
    return forced


def _interchangeable(
    picks: NDArray[np.intp], by: NDArray[np.intp]
) -> dict[int, dict[int, float]]:
    """Return what takes the place of each pick, and in which share of the draws."""
    found: dict[int, dict[int, float]] = {}
    for pick, instead in zip(picks.tolist(), by.T, strict=True):
        others, times = np.unique(instead[instead >= 0], return_counts=True)
        order = np.lexsort((others, -times))
        if len(others):
            shares = (times[order] / len(by)).tolist()
            found[pick] = dict(zip(others[order].tolist(), shares, strict=True))
    return found
