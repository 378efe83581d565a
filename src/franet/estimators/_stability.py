"""How sure a ranking is: rank again on samples of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import NUMBER, TEXT, WHOLE, check_value, checked, optional
from franet._common.features import FeatureIndex
from franet._common.table import TextTable
from franet._common.threads import count_threads
from franet.estimators._draws import FEWEST, Draws
from franet.estimators._validation import TableOfFit, names_of
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.alike import REDUNDANT, correlations, dissimilarities
from franet.pairs.coded import CodedTable

# Stand-ins are looked for of so many picks, the best first.
PICKS = 256
# Columns that are compared with the picks at a time.
_CHUNK = 1024
_HEAD = ["feature", "rank", "median", "low", "high", "selected", "covered"]
_HEAD += ["interchangeable with"]


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How sure a ranking is, from rankings of samples of the examples.

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
        `rank_high`; at most half of the rest lies on either side.
    selected : ndarray of float
        The share of the draws in which the feature is among the first `top`.
    interchangeable : dict of dict
        For each of the first `top` features of the fit (the picks; at most 256 of
        them) that has stand-ins: the column of each, and the share of the draws in
        which it took the place of the pick, the largest first.
    kuncheva : float
        Kuncheva's consistency of the first `top` features, the mean over all pairs of
        draws: 1 if all draws select the same, 0 as by chance.
    jaccard : float
        The share of features that two selections have in common, likewise.
    top : int
        How many features were selected.
    n_boot : int
        Number of draws.
    method : str
        How examples were drawn.
    level : float
        The level of the intervals.
    n_degenerate : int
        In how many draws the ranking said little; see `DegenerateRankingWarning`.
    """

    names: NDArray[Any]
    ranking: NDArray[np.intp]
    median_rank: NDArray[np.float64]
    rank_low: NDArray[np.intp]
    rank_high: NDArray[np.intp]
    selected: NDArray[np.float64]
    interchangeable: dict[int, dict[int, float]]
    kuncheva: float
    jaccard: float
    top: int
    n_boot: int
    method: str
    level: float
    n_degenerate: int

    @cached_property
    def covered(self) -> NDArray[np.float64]:
        """The share of the draws that select a pick or a stand-in; else `selected`."""
        covered = self.selected.copy()
        for pick, found in self.interchangeable.items():
            covered[pick] += sum(found.values())
        return np.minimum(covered, 1.0)

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
        return [
            str(self.names[j]),
            int(self.ranking[j]),
            float(self.median_rank[j]),
            int(self.rank_low[j]),
            int(self.rank_high[j]),
            float(self.selected[j]),
            float(self.covered[j]) if self.ranking[j] <= self.top else None,
            f"{shown} …" if len(found) > 3 else shown,
        ]

    def _notes(self) -> list[str]:
        picks = self.ranking <= min(self.top, PICKS)
        again, covered = self.selected[picks].mean(), self.covered[picks].mean()
        notes = [
            f"{self.n_boot} draws ({self.method}), {100 * self.level:.4g} % intervals.",
            f"First {self.top} of {len(self.names)} features: Kuncheva "
            f"{self.kuncheva:.2f}, Jaccard {self.jaccard:.2f}; a draw selects "
            f"{100 * again:.0f} % of them, {100 * covered:.0f} % with stand-ins.",
        ]
        if self.n_degenerate:
            notes.append(f"{self.n_degenerate} draws gave a degenerate ranking.")
        return notes

    def __repr__(self) -> str:
        return (
            f"<Stability: {self.n_boot} draws ({self.method}), first {self.top} of "
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

    @checked(
        n_boot=WHOLE,
        top=optional(WHOLE),
        level=NUMBER,
        method=TEXT,
        random_state=optional(WHOLE),
        n_jobs=optional(WHOLE),
    )
    def stability(
        self,
        X: Any,
        n_boot: int = 50,
        *,
        top: int | None = None,
        level: float = 0.95,
        method: str = "bootstrap",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> Stability:
        """Tell how sure the ranking is, by ranking samples of the examples.

        The fitted ranker stays as it is: copies of it rank. In each draw columns are
        in random order, and a ranker with a ``random_state`` has another seed, so that
        ties and chance count too.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table of the fit.
        n_boot : int, default=50
            Number of draws.
        top : int, default=None
            How many features count as selected; None: `n_features_`.
        level : float, default=0.95
            The share of the draws that an interval of ranks holds, at the least.
        method : {"bootstrap", "half"}, default="bootstrap"
            As many examples as the table has, with replacement; or half of them
            without, each draw followed by that of the other half.
        random_state : int or None, default=0
            The seed of the draws.
        n_jobs : int, default=None
            Number of threads; -1 and None mean all cores. No result depends on it.

        Returns
        -------
        stability : Stability
            Intervals of ranks, shares of selection, interchangeable features; it
            prints itself.

        Examples
        --------
        >>> from franet.rankers import Variance
        >>> X = [[1, 0, 5], [2, 4, 5], [3, 9, 5], [1, 7, 5], [2, 3, 5]]
        >>> Variance(n_features_to_select=1).fit(X).stability(X, n_boot=20)
        <Stability: 20 draws (bootstrap), first 1 of 3 features, Kuncheva 1.00>
        """
        check_is_fitted(self)
        if get_tags(self).input_tags.pairwise:
            raise UsageError(
                "{} has no examples to draw.",
                Setting("similarity", "precomputed"),
                remedy="Rank the table itself.",
            )
        table = TableOfFit(self)(X, False)
        table = table.tocsr() if sparse.issparse(table) else table
        if isinstance(table, CodedTable) and method == "bootstrap":
            raise UsageError(
                "{} draws rows more than once, so that rare levels seem to explain "
                "everything in a table with categories.",
                Setting("method", method),
                Setting("method", "half"),
                remedy="Use {1}.",
            )
        m, n = table.shape
        top = self.n_features_ if top is None else top
        seed = 0 if random_state is None else random_state
        for name, value, is_fine, remedy in (
            ("n_boot", n_boot, n_boot >= 2, "give a whole number of at least 2"),
            ("top", top, 1 <= top <= n, f"give a number of features from 1 to {n}"),
            ("level", level, 0 < level < 1, "give a share between 0 and 1"),
            ("method", method, method in FEWEST, f"choose one of {', '.join(FEWEST)}"),
            ("random_state", seed, seed >= 0, "give a whole number from 0 on, or None"),
        ):
            check_value(name, value, is_fine, remedy)
        if m < FEWEST[method]:
            raise DataError(
                f"{{}} needs at least {FEWEST[method]} examples, X has {m}.",
                Setting("method", method),
            )
        draws = Draws(self, table, n_boot, method, random_state)
        n_degenerate = draws.run(count_threads(n_jobs))
        ranks, ordered = draws.ranks, np.sort(draws.ranks, axis=0)
        tail = int((1 - level) / 2 * n_boot + 1e-9)
        low, high = ordered[[tail, n_boot - 1 - tail]].astype(np.intp)
        middle = ordered[[(n_boot - 1) // 2, n_boot // 2]]
        counts = (ranks <= top).sum(axis=0)
        kuncheva, jaccard = _agreement(ranks, counts, top)
        return Stability(
            names=names_of(self),
            ranking=self.ranking_.copy(),
            median_rank=middle.mean(axis=0, dtype=np.float64),
            rank_low=low,
            rank_high=high,
            selected=counts / n_boot,
            interchangeable=_interchangeable(table, ranks, counts, self, top),
            kuncheva=kuncheva,
            jaccard=jaccard,
            top=int(top),
            n_boot=int(n_boot),
            method=method,
            level=float(level),
            n_degenerate=n_degenerate,
        )


def _agreement(
    ranks: NDArray[Any], counts: NDArray[np.intp], top: int
) -> tuple[float, float]:
    """Return Kuncheva's and Jaccard's index, by the definitions of the evaluation.

    Sizes of intersections come from products: a thousand draws make half a million
    pairs of sets.
    """
    n_boot, n = ranks.shape
    if top == n:
        return 1.0, 1.0
    some = (counts > 0) & (counts < n_boot)
    chosen = (ranks[:, some] <= top).astype(np.float32)
    shared = (chosen @ chosen.T)[np.triu_indices(n_boot, 1)]
    both = shared.astype(np.float64) + (counts == n_boot).sum()
    by_chance = top * top / n
    kuncheva = (both.mean() - by_chance) / (top - by_chance)
    return float(kuncheva), float((both / (2 * top - both)).mean())


def _interchangeable(
    X: Any,
    ranks: NDArray[Any],
    counts: NDArray[np.intp],
    ranker: Any,
    top: int,
) -> dict[int, dict[int, float]]:
    """Return what takes the place of each pick, and in which share of the draws."""
    n_boot, ranking = len(ranks), ranker.ranking_
    pairwise = getattr(ranker, "missing", "error") == "pairwise"
    picks = np.argsort(ranking, kind="stable")[: min(top, PICKS)]
    picks = picks[counts[picks] < n_boot]
    newcomers = np.flatnonzero((counts > 0) & (ranking > top))
    others, r = _alike(X, picks, newcomers, pairwise)
    found: dict[int, dict[int, int]] = {int(pick): {} for pick in picks}
    for chosen in ranks:
        lost = np.flatnonzero(chosen[picks] > top)
        gained = np.flatnonzero(chosen[others] <= top)
        for i, k in _match(r[np.ix_(lost, gained)]):
            stand_ins, j = found[int(picks[lost[i]])], int(others[gained[k]])
            stand_ins[j] = stand_ins.get(j, 0) + 1
    return {
        pick: {
            j: times / n_boot
            for j, times in sorted(stand_ins.items(), key=lambda s: (-s[1], s[0]))
        }
        for pick, stand_ins in found.items()
        if stand_ins
    }


def _alike(
    X: Any, picks: NDArray[np.intp], others: NDArray[np.intp], pairwise: bool
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the others that repeat a pick, and how closely they repeat each."""
    kept, parts = [others[:0]], [np.empty((len(picks), 0))]
    for at in range(0, len(others) if len(picks) else 0, _CHUNK):
        some = others[at : at + _CHUNK]
        features = np.concatenate([picks, some])
        if pairwise:
            r = 1.0 - dissimilarities(X, features, "correlation", pairwise=True)
        else:
            r = correlations(X, features)
        # Rounded, so that copies are equally close; the first column then comes first.
        close = np.abs(np.nan_to_num(r[: len(picks), len(picks) :])).round(9)
        near = (close >= REDUNDANT).any(axis=0)
        kept.append(some[near])
        parts.append(close[:, near])
    return np.concatenate(kept), np.concatenate(parts, axis=1)


def _match(r: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair rows with columns, the closest first, each at most once; r is used up."""
    pairs: list[tuple[int, int]] = []
    if not r.size:
        return pairs
    best = r.argmax(axis=1)
    close = r.max(axis=1)
    while close[i := int(close.argmax())] >= REDUNDANT:
        k = int(best[i])
        pairs.append((i, k))
        close[i] = 0.0
        r[:, k] = 0.0
        again = np.flatnonzero((best == k) & (close > 0.0))
        best[again] = r[again].argmax(axis=1)
        close[again] = r[again].max(axis=1)
    return pairs
