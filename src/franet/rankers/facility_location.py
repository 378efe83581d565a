"""Facility location: the features that stand for all the others."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from franet._progress import report
from franet._threads import count_threads
from franet.engine.tiles import Tile, TileGrid, TileRunner
from franet.rankers._base import Ranker
from franet.rankers._greedy import constant_in, dense, falling, first_best, how_many
from franet.rankers.kernels import add_gains, block_gains
from franet.similarity._correlation import CorrelationSource

__all__ = ["FacilityLocation"]

# Candidates that are looked at together, so that their products are one of matrices.
_BATCH = 16
# Features along a stripe of such a product: 0.5 MB.
_STRIPE = 4096
# A feature that is covered up to this is a copy of a pick.
_COPY = 1e-9
# From so many stripes on, threads are worth their start.
_MANY = 8


class FacilityLocation(Ranker):
    """Rank features by how well they stand for all others, one after another.

    Each pick maximises the increase of the coverage

        ``F(S) = Σ_j max_{s ∈ S} |r_js|^p``,

    where r is the correlation: every feature is represented by that picked feature
    which it resembles most. Features of one group share one representative; the next
    pick comes from another group. F is monotone and submodular, so that the first k
    picks reach at least ``1 − 1/e`` (63 %) of the best that any k features can [1]_.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    power : float, default=2
        The exponent p, at least 1. With 2 a feature counts by the share of its
        variance that its representative explains; larger values ask for closer
        resemblance.
    n_ranked : int, default=None
        How many features are put in order by picking; None: as many as
        `n_features_to_select` asks for (64 if it is None), at least 64. The others
        are ordered by what each alone would add after the last pick. Thousands of
        picks from many features take long; this number bounds them.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The gain of a pick: the increase of F when it was picked. Others: what the
        feature would add after the last pick. A feature counts 1, the table at most
        n. Copies of a pick add nothing and score 0; constant columns -1.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best. Scores within 1e-9 of each other are equal.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps.
    n_features_ : int
        How many those are.
    order_ : ndarray of int
        The features picked, first to last.
    gains_ : ndarray
        The gain of each pick.
    coverage_ : ndarray
        ``F / n`` after each pick, n without constant columns: 1 if every feature is
        as good as its representative.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Notes
    -----
    The first gains, and the last ones of features not picked, are two passes over all
    pairs, tile by tile: O(m·n²), never an n × n array. Between them the search is
    lazy [2]_: gains only fall, so that an old gain is an upper bound, and only
    candidates whose bound exceeds the best gain are looked at again, at O(m·n) each.
    A float32 table is passed over in float32, with sums in float64; what is picked is
    decided in float64. A sparse table is made dense. A pick is the first column among
    equal gains.

    References
    ----------
    .. [1] G. L. Nemhauser, L. A. Wolsey, M. L. Fisher. An analysis of approximations
       for maximizing submodular set functions. Mathematical Programming 14, 1978.
    .. [2] M. Minoux. Accelerated greedy algorithms for maximizing submodular set
       functions. Optimization Techniques, 1978.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet.rankers import FacilityLocation
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ranker = FacilityLocation(n_features_to_select=3).fit(X)
    >>> list(X.columns[ranker.order_[:3]])
    ['mean concave points', 'compactness error', 'worst perimeter']
    >>> ranker.coverage_[:3].round(3)
    array([0.403, 0.496, 0.557])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "power": [Interval(Real, 1, None, closed="left")],
        "n_ranked": [None, Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        power: float = 2,
        n_ranked: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.power = power
        self.n_ranked = n_ranked
        self.n_jobs = n_jobs

    def _score(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[1]
        scores = np.full(n, -1.0)
        columns = np.flatnonzero(~constant_in(X))
        k = min(how_many(self.n_ranked, self.n_features_to_select, n), len(columns))
        self.order_, self.gains_ = columns[:0], np.empty(0)
        if k:
            cover = _Cover(
                _Columns(dense(X), columns, absolute=True),
                float(self.power),
                count_threads(self.n_jobs),
            )
            order, self.gains_ = cover.pick(k)
            self.order_ = columns[order]
            scores[columns] = _all_scores(order, self.gains_, cover)
        self.coverage_ = np.cumsum(self.gains_) / max(len(columns), 1)
        return scores


def _all_scores(
    order: NDArray[np.intp], gains: NDArray[np.float64], cover: _Cover
) -> NDArray[np.float64]:
    """Return scores that fall along the picks, and are lower for all others."""
    fallen = falling(np.append(gains, gains[-1]))
    if len(order) == cover.n:
        scores = np.empty(cover.n)
    else:
        scores = np.minimum(cover.all_gains("remaining gains"), fallen[-1])
        # Copies of a pick add nothing; a sum of rounding errors says otherwise.
        scores[cover.cover >= 1.0 - _COPY] = 0.0
    scores[order] = fallen[:-1]
    return scores


class _Columns(CorrelationSource):
    """Tiles of ``1 − |r|``, and the standardised columns they come from."""

    def rows(self, part: Any) -> NDArray[np.float64]:
        """Return some columns as rows of unit length."""
        return np.asarray(self._exact[: self.n][part])


class _Cover:
    """How well each feature is represented, and what a further pick would add."""

    def __init__(self, source: _Columns, power: float, n_threads: int) -> None:
        self.source = source
        self.n = source.n
        self.power = power
        self.cover = np.zeros(self.n)
        # What rounding may add to a gain.
        self._noise = self.n * (power * source.error + 1e-13)
        self._grid = TileGrid(source.n, source.block)
        self._runner = TileRunner(n_threads)
        self._alone = TileRunner(1)

    def all_gains(self, stage: str) -> NDArray[np.float64]:
        """Return the gains of all features, by a pass over all pairs."""
        gains = np.maximum(1.0 - self.cover, 0.0)

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a feature's sum has one writer.
            add_gains(
                self.source.tile(tile.i, tile.j),
                *tile.shape,
                tile.is_diagonal,
                tile.rows.start,
                tile.cols.start,
                self.power,
                self.cover,
                gains=gains,
            )

        self._runner.run(self._grid.rounds(), visit, stage)
        return gains

    def pick(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Pick up to `k` features; return them and their gains."""
        bound = self.all_gains("first gains") + self._noise
        order: list[int] = []
        gains: list[float] = []
        # Products of a few candidates are too small for the threads of BLAS.
        with self._runner.one_blas_thread():
            while len(order) < k:
                j, gain = self._best(bound)
                if gain <= self.n * 1e-13:
                    break
                self._add(j)
                bound[j] = -np.inf
                order.append(j)
                gains.append(gain)
                report("picks", len(order), k)
        return np.array(order, np.intp), np.array(gains)

    def _best(self, bound: NDArray[np.float64]) -> tuple[int, float]:
        """Return the first feature of the largest gain; bounds become tighter."""
        fresh = np.full(self.n, -np.inf)
        stale = bound.copy()
        while True:
            best = fresh.max()
            part = np.argpartition(-stale, min(_BATCH, self.n) - 1)[:_BATCH]
            # Those within rounding of the best may come before it.
            part = np.sort(part[stale[part] >= best - 1e-9 * abs(best)])
            part = part[stale[part] > -np.inf]
            if not len(part):
                break
            fresh[part] = self._gains(part)
            stale[part] = -np.inf
        seen = fresh > -np.inf
        bound[seen] = fresh[seen]
        j = first_best(fresh)
        return j, float(fresh[j])

    def _stripes(self) -> list[slice]:
        return [slice(at, at + _STRIPE) for at in range(0, self.n, _STRIPE)]

    def _gains(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        # Always as many rows: products round the same in any company.
        A = np.zeros((_BATCH, self.source.rows(slice(1)).shape[1]))
        A[: len(features)] = self.source.rows(features)

        def gains_in(stripe: slice) -> NDArray[np.float64]:
            gains = np.zeros(_BATCH)
            R = A @ self.source.rows(stripe).T
            block_gains(R, self.power, self.cover[stripe], gains=gains)
            return gains

        stripes = self._stripes()
        runner = self._runner if len(stripes) >= _MANY else self._alone
        return np.sum(runner.map(gains_in, stripes), axis=0)[: len(features)]

    def _add(self, j: int) -> None:
        """Let a feature represent all that resemble it more than others do."""
        x = self.source.rows(j)
        for stripe in self._stripes():
            r = np.abs(self.source.rows(stripe) @ x) ** self.power
            np.maximum(self.cover[stripe], r, out=self.cover[stripe])
        self.cover[j] = 1.0
