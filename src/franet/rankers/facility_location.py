"""Facility location: the features that stand for all the others."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from franet._common.threads import count_threads
from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import Ranker
from franet.rankers._facility import FacilityGains
from franet.rankers._greedy import dense, falling, how_many

# A feature that is covered up to this is a copy of a pick.
_COPY = 1e-9


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

    A float32 table is passed over in float32, with sums in float64; what is picked, and
    its gain, is decided in float64, and bounds carry a margin for rounding. A sparse
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
        self.gains_ = np.empty(0)
        if k:
            cover = FacilityGains(
                dense(X),
                columns,
                float(self.power),
                count_threads(self.n_jobs),
            )
            order, self.gains_ = cover.pick(k)
            scores[columns] = _all_scores(order, self.gains_, cover)
        self.n_ranked_ = len(self.gains_)
        self.coverage_ = np.cumsum(self.gains_) / max(len(columns), 1)
        return scores


def _all_scores(
    order: NDArray[np.intp], gains: NDArray[np.float64], cover: FacilityGains
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
