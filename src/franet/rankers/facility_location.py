"""Facility location: the features that represent all the others."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from franet._common.progress import report
from franet._common.threads import count_threads
from franet.cover._constraints import Choice
from franet.cover._order import feature_keys
from franet.cover.kernels import add_gains, block_gains, subtract_falls
from franet.pairs.similarity._correlation import BLOCK
from franet.pairs.similarity._standardize import feature_rows, standardize
from franet.pairs.tiles import Tile, TileGrid, TileRunner, block_size
from franet.rankers._greedy import GreedyRanker, Picked, first_best

# The most features of which all gains are known; how many are drawn of more.
EXACT, TARGETS = 2048, 1024
# A feature that is covered up to this is a copy of a pick.
_COPY = 1e-9
# A gain below this share of a feature, times their number, is rounding.
_NOTHING = 1e-13
# What a feature counts among the targets that it resembles.
_ITSELF = 1e-3
# Candidates that are looked at together, so that their products are one of matrices.
_BATCH = 16
# Features along a stripe of such a product: 0.5 MB.
_STRIPE = 4096
# Features whose gains one thread keeps up to date at a time.
_PART = 1024
# Correlations that are kept, 128 MB in float32; if there are more, none is.
_KEPT = 2**25
# From so many stripes on, threads are worth their start.
_MANY = 8


class FacilityLocation(GreedyRanker):
    """Rank features by how well they represent all others, one after another.

    Each pick maximises the increase of the coverage

        ``F(S) = Σ_j max_{s ∈ S} |r_js|^p``,

    where r is the correlation: every feature is represented by that picked feature
    which it resembles most. Features of one group share one representative; the next
    pick comes from another group. F is monotone and submodular, so that the first k
    picks reach at least ``1 − 1/e`` (63 %) of the best that any k features can [1]_,
    if they are exact (see the notes) and nothing constrains them.

    Parameters
    ----------
    {n_features_to_select}
    {include}
    {exclude}
    {cost}
    {groups}
    {n_ranked}
    power : float, default=2
        The exponent p, at least 1. With 2 a feature counts by the share of its
        variance that its representative explains; larger values ask for closer
        resemblance.
    {n_jobs}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The gain of a pick: the increase of F when it was picked; where a later one
        adds more (as with `include` and `cost`), as much as that. Others: what the
        feature would add after the last pick. A feature counts 1, the table at most n.
        Copies of a pick add nothing and score 0; constant columns and features that
        may not be picked -1.
    {n_ranked_}
    {gains_}
    coverage_ : ndarray of shape (n_ranked_,)
        ``F / n`` after each pick, n without constant columns: 1 if every feature is
        as good as its representative.
    {attributes}

    Notes
    -----
    Up to 2,048 columns that vary, picks and scores are exact. The search is lazy [2]_:
    gains only fall, and only candidates whose bound exceeds the best gain are computed
    again. It takes O(m·n²) and one n × n array.

    Of more columns, 1,024 represented ones, drawn by content, estimate what each
    candidate would add: those at equal distances in an order of all that depends on
    what they hold, so that shuffled rows and permuted columns draw the same (unless the
    skewness of every column is 0, as that of balanced yes-no columns). With p = 2
    and at most 1,024 rows the first gains of all are known, as a quadratic form, and
    only the share of them that is left is estimated. The gains of the 16 best
    candidates are then computed over all features, and the best of these is picked, or
    the first of its copies. So `gains_` and `coverage_` are exact, and so is the choice
    among the 16, but a better candidate may be missed; the scores of features that were
    not picked are estimates. k picks take O(m·n·(m + 1024·log k + 16·k)) at the most;
    there is never an n × n array.

    Estimates are computed in float32; picks and gains are decided in float64. A sparse
    table is made dense. A pick is the first column among equal gains.

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
    n_jobs: int | None = None

    def _pick(
        self, X: NDArray[Any], columns: NDArray[np.intp], choice: Choice, k: int
    ) -> Picked:
        n_threads = count_threads(self.n_jobs)
        cover = FacilityGains(X, columns, float(self.power), n_threads)
        gains = cover.pick(choice, k)
        return Picked(gains, cover.remaining(choice), float(len(columns)))

    def _set_shares(self, shares: NDArray[np.float64]) -> None:
        self.coverage_ = shares


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
        self.n, self.power = len(columns), power
        self.cover = np.zeros(self.n)
        self._grid = TileGrid(self.n, block_size(self.n, BLOCK[X.dtype]))
        n_padded = self._grid.n_blocks * self._grid.block
        self._rows = feature_rows(X, columns, n_padded, np.float64)
        standardize(self._rows)
        # Without the zeros that fill the last block.
        self._Z = self._rows[: self.n]
        self._runner = TileRunner(n_threads)
        self._alone = TileRunner(1)
        self._exact = self.n <= EXACT
        # Products of a few candidates are too small for the threads of BLAS.
        with self._runner.one_blas_thread():
            self._targets = np.arange(self.n) if self._exact else self._draw()
            self._share = Represented(*self._products(), power, self._runner)
            self._known = (np.ones(self.n), 0.0) if self._exact else self._rates()
        # The exact gain where one was computed: gains never rise.
        self._ceiling = np.full(self.n, np.inf)
        self._noise = self._rounding() if self._exact else np.zeros(self.n)

    def _draw(self) -> NDArray[np.intp]:
        """Return features at equal distances in an order of all by their content."""
        order = np.argsort(np.abs(feature_keys(self._Z)), kind="stable")
        return np.sort(order[(2 * np.arange(TARGETS) + 1) * self.n // (2 * TARGETS)])

    def _products(self) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """Return features, correlations with targets if they are kept, and targets."""
        if self._exact:
            return self._Z, self._correlations(), self._Z
        rough = self._Z[self._targets].astype(np.float32)
        if self.n * TARGETS > _KEPT:
            return self._Z, None, rough
        R = np.empty((TARGETS, self.n), np.float32)

        def visit(part: slice) -> None:
            R[:, part] = rough @ self._Z[part].astype(np.float32).T

        self._runner.map(visit, _parts(self.n))
        return self._Z, R, rough

    def _correlations(self) -> NDArray[np.float64]:
        """Return the correlations of all pairs, by tiles.

        In float64: single products round by their place in a tile, and copies would
        not tie.
        """
        R = np.empty((self.n, self.n))
        rows, block = self._rows, self._grid.block

        def visit(tile: Tile) -> None:
            a, b = tile.shape
            found = rows[tile.i * block :][:block] @ rows[tile.j * block :][:block].T
            R[tile.cols, tile.rows] = found[:a, :b].T
            R[tile.rows, tile.cols] = found[:a, :b]

        self._runner.run(self._grid.rounds(), visit, "correlations")
        return R

    def remaining(self, choice: Choice) -> NDArray[np.float64]:
        """Return what each feature would add to the picks; nothing, if it is one."""
        gains = np.zeros(self.n)
        if len(choice.order) < self.n:
            gains = self.all_gains() if self._exact else self._estimates()
        # Copies of a pick add nothing; a sum of rounding errors says otherwise.
        gains[self.cover >= 1.0 - _COPY] = 0.0
        return gains

    def all_gains(self) -> NDArray[np.float64]:
        """Return the gains of all features, from the correlations of all pairs."""
        gains = np.maximum(1.0 - self.cover, 0.0)
        R = self._share.R

        def visit(tile: Tile) -> None:
            # Blocks of one round are different: a feature's sum has one writer.
            part = np.ascontiguousarray(R[tile.rows, tile.cols])
            at = tile.rows.start, tile.cols.start
            upper = tile.is_diagonal
            add_gains(
                part, *tile.shape, upper, *at, self.power, self.cover, gains=gains
            )

        self._runner.run(self._grid.rounds(), visit, "remaining gains")
        return gains

    def _others(self) -> NDArray[np.float64]:
        """Return what each feature would add to the targets, itself left out.

        A feature represents itself wholly, and few others: if a target's share of
        itself were multiplied like that of others, the targets would be picked.
        """
        sums = self._share.gains()
        sums[self._targets] -= np.maximum(1.0 - self.cover[self._targets], 0.0)
        return sums.clip(min=0.0)

    def _rates(self) -> tuple[NDArray[np.float64], float]:
        """Return what all others add, relative to the targets, and what itself counts.

        Where that takes fewer products than the targets do, what all others add at
        first is known, as a quadratic form. Of a feature that resembles no target,
        only what it adds to itself says how much is left.
        """
        n, m = self._Z.shape
        among = np.isin(np.arange(n), self._targets)
        rates = (n - 1) / (len(self._targets) - among)
        if self.power != 2.0 or m > len(self._targets):
            return rates, 0.0
        sums, Q = self._others() + _ITSELF, (self._Z.T @ self._Z).astype(np.float32)
        for part in _parts(n):
            Z = self._Z[part].astype(np.float32)
            first = np.einsum("ij,ij->i", Z @ Q, Z) - 1.0
            rates[part] = first.clip(min=0.0) / sums[part]
        return rates, _ITSELF

    def _estimates(self) -> NDArray[np.float64]:
        """Return gains as the targets suggest; none is more than when computed."""
        own, (rates, counts) = np.maximum(1.0 - self.cover, 0.0), self._known
        gains = (self._others() + counts * own) * rates + own
        return np.minimum(gains, self._ceiling)

    def pick(self, choice: Choice, k: int) -> NDArray[np.float64]:
        """Pick up to `k` features; return what each added."""
        gains: list[float] = []
        with self._runner.one_blas_thread():
            while len(gains) < k:
                forced = choice.forced()
                if forced is None:
                    j, gain, near = self._best(choice)
                    if gain <= 0.0:
                        break
                else:
                    j, near = forced, self._near(forced)
                    gain = float(self._gains(np.array([forced]))[0])
                choice.pick(j)
                gains.append(gain)
                np.maximum(self.cover, near**self.power, out=self.cover)
                self.cover[j] = 1.0
                self._share.raise_to(self.cover[self._targets])
                report("picks", len(gains), k)
        return np.array(gains)

    def _best(self, choice: Choice) -> tuple[int, float, NDArray[np.float64]]:
        """Return the feature that adds most for its cost, that, and what it resembles.

        If its gain is 0, no feature adds anything.
        """
        cost, ceiling = choice.cost, self._ceiling
        bound = self._bound() / cost
        bound[~choice.open] = -np.inf
        fresh = np.full(self.n, -np.inf)
        while len(part := self._promising(bound, float((fresh / cost).max()))):
            found = self._gains(part)
            ceiling[part] = np.minimum(ceiling[part], found)
            fresh[part] = np.where(found > self.n * _NOTHING, found, 0.0)
            bound[part] = -np.inf
            if not self._exact:
                break
        j = first_best(fresh / cost)
        gain, near = float(fresh[j]), self._near(j)
        if not self._exact and gain > 0.0:
            # Copies may not be among those that were looked at.
            copies = np.flatnonzero(choice.open & (near >= 1.0 - _COPY))
            first = int(copies[np.argmin(cost[copies])])
            if first != j:
                j, near = first, self._near(first)
        return j, gain, near

    def _bound(self) -> NDArray[np.float64]:
        """Return what features would add at the most; or about, if they are many."""
        if self._exact:
            return np.minimum(self._share.gains() + self._noise, self._ceiling)
        # What is covered already is a copy of a pick.
        return np.where(self.cover < 1.0 - _COPY, self._estimates(), -np.inf)

    def _promising(self, bound: NDArray[np.float64], best: float) -> NDArray[np.intp]:
        """Return the features of the largest bounds that may be the best ones."""
        part = np.argpartition(-bound, min(_BATCH, self.n) - 1)[:_BATCH]
        # Those within rounding of the best may come before it.
        part = np.sort(part[bound[part] >= best - 1e-9 * abs(best)])
        return part[bound[part] > -np.inf]

    def _rounding(self) -> NDArray[np.float64]:
        """Bound how far a gain may be from what `Represented` keeps of it.

        A correlation is off by at most `error`, a weight hence by ``p |r|^(p−1)``
        times that. The sum of these is bounded by Hölder's inequality from
        ``Σ |r|^p``, the first gain. An error counts once in the first gain, and at
        most twice in what is subtracted, because the rises of one cover do not
        overlap. The rest is for weights and covers that are rounded, and for sums.
        """
        first = self._share.gains()
        p, (n, m) = self.power, self._Z.shape
        unit = float(np.finfo(np.float64).eps)
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

    def _near(self, j: int) -> NDArray[np.float64]:
        """Return how well a feature represents each, as the size of correlations."""
        return np.asarray(np.abs(self._Z @ self._Z[j]))


class Represented:
    """What each feature would add to some targets, kept up to date by what has risen.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centered and of unit length.
    R : ndarray of shape (n_targets, n) or None
        Their correlations with the targets; None: they are computed where needed.
    targets : ndarray of shape (n_targets, m)
        The features to represent; in float32 products round so.
    power : float
        The exponent p of correlations.
    runner : TileRunner
        The threads.
    """

    def __init__(
        self,
        Z: NDArray[np.float64],
        R: Any,
        targets: NDArray[Any],
        power: float,
        runner: TileRunner,
    ) -> None:
        self.R = R
        self._Z, self._targets, self._power, self._runner = Z, targets, power, runner
        self._cover = np.zeros(len(targets))
        self._gains = np.zeros(len(Z))
        if R is None and power == 2.0 and Z.shape[1] < len(targets):
            # Fewer products as a quadratic form of z_i.
            Q = targets.T.astype(np.float64) @ targets
            for part in _parts(len(Z)):
                self._gains[part] = np.einsum("ij,ij->i", Z[part] @ Q, Z[part])
            return
        # What a feature adds is the fall of its gain when all are covered.
        self._subtract(np.arange(len(targets)), self._cover, self._cover + 1.0)
        self._gains *= -1.0

    def _subtract(
        self,
        rises: NDArray[np.intp],
        old: NDArray[np.float64],
        new: NDArray[np.float64],
    ) -> None:
        """Subtract from the gains what they lose as some targets are covered better."""
        kind = self._targets.dtype
        old, new = old.astype(kind), new.astype(kind)
        chosen = self._targets[rises if self.R is None else []]

        def visit(part: slice) -> None:
            R, rows, at = self.R, rises, part.start
            if R is None:
                R = chosen @ self._Z[part].astype(kind).T
                rows, at = np.arange(len(rises)), 0
            gains = self._gains[part]
            subtract_falls(R, rows, at, old, new, self._power, gains=gains)

        self._runner.map(visit, _parts(len(self._Z)))

    def gains(self) -> NDArray[np.float64]:
        """Return what each feature would add."""
        return self._gains.clip(min=0.0)

    def raise_to(self, level: NDArray[np.float64]) -> None:
        """Let targets be represented at least so well."""
        rises = np.flatnonzero(level > self._cover)
        # Gains change by what has risen, not by all: about n/t at the t-th pick.
        self._subtract(rises, self._cover[rises], level[rises])
        self._cover[rises] = level[rises]


def _parts(n: int) -> list[slice]:
    return [slice(at, at + _PART) for at in range(0, n, _PART)]
