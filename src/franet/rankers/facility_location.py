"""Facility location: the features that stand for all the others."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from franet._common.progress import report
from franet._common.threads import count_threads
from franet.cover.kernels import add_gains, block_gains, subtract_falls
from franet.estimators._validation import dense, how_many
from franet.pairs.similarity._correlation import CorrelationSource
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.tiles import Tile, TileGrid, TileRunner
from franet.rankers._base import Ranker, falling, first_best

# A feature that is covered up to this is a copy of a pick.
_COPY = 1e-9
# Candidates that are looked at together, so that their products are one of matrices.
_BATCH = 16
# Features along a stripe of such a product: 0.5 MB.
_STRIPE = 4096
# Features on each side of a block of bounds: 8 MB.
_PART = 1024
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
    {n_features_to_select}
    power : float, default=2
        The exponent p, at least 1. With 2 a feature counts by the share of its
        variance that its representative explains; larger values ask for closer
        resemblance.
    {n_ranked}
        Thousands of picks from many features take long; this number bounds them.
    {n_jobs}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The gain of a pick: the increase of F when it was picked. Others: what the
        feature would add after the last pick. A feature counts 1, the table at most
        n. Copies of a pick add nothing and score 0; constant columns -1.
    n_ranked_ : int
        How many features were picked, one after another.
    gains_ : ndarray
        The gain of each pick.
    coverage_ : ndarray
        ``F / n`` after each pick, n without constant columns: 1 if every feature is
        as good as its representative.
    {attributes}

    Notes
    -----
    The search is lazy [2]_: gains only fall, and only candidates whose bound exceeds
    the best gain are looked at again. A pick raises the cover of some features only,
    and only those change a gain: bounds fall by O(m) for each feature and rise. Of n
    features that are alike the t-th pick covers about n/t better, so that k picks take
    O(m·n²·log k). A pass over all pairs, tile by tile, finds what features not picked
    would add. There is never an n × n array. The first gains take no pass if p is 2:
    they are a quadratic form.

    Bounds of a float32 table are computed in float32, with sums in float64, and carry a
    margin for rounding; picks, gains and scores are decided in float64. A sparse table
    is made dense. A pick is the first column among equal gains.

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
        "power": [Interval(Real, 1, None, closed="left")],
    }

    power: float = 2
    n_ranked: int | None = None
    n_jobs: int | None = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[1]
        scores = np.full(n, -1.0)
        columns = np.flatnonzero(~constant_in(X))
        k = min(how_many(self.n_ranked, self.n_features_to_select, n), len(columns))
        self.gains_ = np.empty(0)
        if k:
            n_threads = count_threads(self.n_jobs)
            cover = FacilityGains(dense(X), columns, float(self.power), n_threads)
            order, self.gains_ = cover.pick(k)
            scores[columns] = cover.scores(order, self.gains_)
        self.n_ranked_ = len(self.gains_)
        self.coverage_ = np.cumsum(self.gains_) / max(len(columns), 1)
        return scores


class FacilityGains:
    """How well each feature is represented, and what a further pick would add.

    Parameters
    ----------
    X : ndarray of shape (m, n_columns)
        The table, float32 or float64.
    columns : ndarray of int
        The columns that take part, none of them constant.
    power : float
        The exponent of correlations.
    n_threads : int
        Number of threads; no result depends on it.
    """

    def __init__(
        self, X: NDArray[Any], columns: NDArray[np.intp], power: float, n_threads: int
    ) -> None:
        self._source = CorrelationSource.of_columns(X, columns)
        self.n = self._source.n
        self.power = power
        self.cover = np.zeros(self.n)
        # The standardized columns as rows of unit length.
        self._Z = self._source._exact[: self.n]
        self._runner = TileRunner(n_threads)
        self._alone = TileRunner(1)

    def all_gains(self, stage: str) -> NDArray[np.float64]:
        """Return the gains of all features, by a pass over all pairs."""
        gains = np.maximum(1.0 - self.cover, 0.0)
        # In float64: single products round by their place in a tile, and copies would
        # not tie.
        rows, block = self._source._exact, self._source.block

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a feature's sum has one writer.
            R = rows[tile.i * block :][:block] @ rows[tile.j * block :][:block].T
            at = tile.rows.start, tile.cols.start
            upper = tile.is_diagonal
            add_gains(R, *tile.shape, upper, *at, self.power, self.cover, gains=gains)

        self._runner.run(TileGrid(self.n, block).rounds(), visit, stage)
        return gains

    def scores(
        self, order: NDArray[np.intp], gains: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return scores that fall along the picks, and are lower for all others."""
        fallen = falling(np.append(gains, gains[-1]))
        scores = np.zeros(self.n)
        if len(order) < self.n:
            scores = np.minimum(self.all_gains("remaining gains"), fallen[-1])
            # Copies of a pick add nothing; a sum of rounding errors says otherwise.
            scores[self.cover >= 1.0 - _COPY] = 0.0
        scores[order] = fallen[:-1]
        return scores

    def pick(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Pick up to `k` features; return them and their gains."""
        order: list[int] = []
        gains: list[float] = []
        # Products of a few candidates are too small for the threads of BLAS.
        with self._runner.one_blas_thread():
            Z = self._source._work[: self.n]
            share = Bounds(Z, self.power, self._runner)
            noise = self._rounding(share.gains())
            # The exact gain where one was computed: gains never rise.
            ceiling = np.full(self.n, np.inf)
            while len(order) < k:
                fresh = self._fresh(np.minimum(share.gains() + noise, ceiling))
                np.minimum(ceiling, fresh, out=ceiling, where=fresh > -np.inf)
                j = first_best(fresh)
                if fresh[j] <= self.n * 1e-13:
                    break
                order.append(j)
                gains.append(float(fresh[j]))
                self._add(j)
                share.raise_to(self.cover)
                ceiling[j] = -np.inf
                report("picks", len(order), k)
        return np.array(order, np.intp), np.array(gains)

    def _fresh(self, bound: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gains of all features that may have the largest; -inf: others."""
        fresh = np.full(self.n, -np.inf)
        while True:
            best = fresh.max()
            part = np.argpartition(-bound, min(_BATCH, self.n) - 1)[:_BATCH]
            # Those within rounding of the best may come before it.
            part = np.sort(part[bound[part] >= best - 1e-9 * abs(best)])
            part = part[bound[part] > -np.inf]
            if not len(part):
                return fresh
            fresh[part] = self._gains(part)
            bound[part] = -np.inf

    def _rounding(self, first: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound how far a gain may be from what `Bounds` keeps of it.

        A correlation is off by at most `error`, a weight hence by ``p |r|^(p−1)``
        times that. The sum of these is bounded by Hölder's inequality from
        ``Σ |r|^p``, the first gain. An error counts once in the first gain, and at
        most twice in what is subtracted, because the rises of one cover do not
        overlap. The rest is for weights and covers that are rounded, and for sums.
        """
        p, (n, m) = self.power, self._Z.shape
        unit = float(np.finfo(self._source._work.dtype).eps)
        error = (m + 6) * unit / 2
        root = n ** (1 / p)
        length = np.maximum(first, 0.0) ** (1 / p) + root * error
        weights = 3 * p * error * root * length ** (p - 1)
        return weights + 8 * unit * first + 2 * n * unit + n * n * 2.0**-51

    def _stripes(self) -> list[slice]:
        return [slice(at, at + _STRIPE) for at in range(0, self.n, _STRIPE)]

    def _gains(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        # Always as many rows: products round the same in any company.
        A = np.zeros((_BATCH, self._Z.shape[1]))
        A[: len(features)] = self._Z[features]

        def gains_in(stripe: slice) -> NDArray[np.float64]:
            gains = np.zeros(_BATCH)
            R = A @ self._Z[stripe].T
            block_gains(R, self.power, self.cover[stripe], gains=gains)
            return gains

        stripes = self._stripes()
        runner = self._runner if len(stripes) >= _MANY else self._alone
        return np.sum(runner.map(gains_in, stripes), axis=0)[: len(features)]

    def _add(self, j: int) -> None:
        """Let a feature represent all that resemble it more than others do."""
        for stripe in self._stripes():
            r = np.abs(self._Z[stripe] @ self._Z[j]) ** self.power
            np.maximum(self.cover[stripe], r, out=self.cover[stripe])
        self.cover[j] = 1.0


class Bounds:
    """The gains of all features, kept up to date by what has risen.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centered and of unit length; in float32 products round so.
    power : float
        The exponent p of correlations.
    runner : TileRunner
        The threads.
    """

    def __init__(self, Z: NDArray[Any], power: float, runner: TileRunner) -> None:
        self._Z, self._power, self._runner = Z, power, runner
        self._cover = np.zeros(len(Z))
        self._gains = np.zeros(len(Z))
        # Fewer products as a quadratic form of z_i.
        Q = Z.T @ Z if power == 2.0 and 2 * Z.shape[1] < len(Z) else None

        def visit(rows: slice) -> None:
            part = Z[rows]
            if Q is not None:
                self._gains[rows] = np.einsum("ij,ij->i", part @ Q, part)
                return
            for others in _parts(len(Z)):
                self._gains[rows] += self._levels(rows, Z[others]).sum(axis=1)

        runner.map(visit, _parts(len(Z)))

    def _levels(self, rows: slice, targets: NDArray[Any]) -> NDArray[Any]:
        R = self._Z[rows] @ targets.T
        return R * R if self._power == 2.0 else np.abs(R) ** self._power

    def gains(self) -> NDArray[np.float64]:
        """Return what each feature would add."""
        return self._gains.clip(min=0.0)

    def raise_to(self, level: NDArray[np.float64]) -> None:
        """Let features be represented at least so well."""
        rises = level > self._cover
        old, new = self._cover[rises], level[rises]
        targets = self._Z[rises]
        self._cover[rises] = new

        def visit(rows: slice) -> None:
            for part in _parts(len(targets)):
                L = self._levels(rows, targets[part])
                subtract_falls(L, old[part], new[part], gains=self._gains[rows])

        # Gains change by what has risen, not by all: about n/t at the t-th pick.
        self._runner.map(visit, _parts(len(self._Z)))


def _parts(n: int) -> list[slice]:
    return [slice(at, at + _PART) for at in range(0, n, _PART)]
