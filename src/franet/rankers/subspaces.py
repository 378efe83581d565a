"""Rank random subspaces of very many features, and average."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from franet._common.progress import report
from franet.estimators._base import FeatureRanker
from franet.exceptions import (
    ApproximationWarning,
    DegenerateRankingWarning,
    Setting,
    UsageError,
)
from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import COUNT, Ranker
from franet.rankers.simple import Variance
from franet.search.ranking import mid_ranks, rank_correlation

# So many times the features of a subspace are ranked whole as well, for comparison.
_COMPARED = 4
# Of so many at the top it is told how many stay there.
_KEPT = 100


class Subspaces(NamedTuple):
    """How near a ranking by subspaces comes to a ranking of the whole.

    Attributes
    ----------
    n_subspaces : int
        How many subspaces were ranked.
    size : int
        How many features the largest of them has.
    n_compared : int
        Number of features, drawn at random, that were ranked both ways: at once, and
        by subspaces of the same size.
    score_agreement : float
        Spearman correlation of the two scores.
    top_agreement : float
        The share of the first features, 100 or a tenth of those compared, that are
        first both ways.
    """

    n_subspaces: int
    size: int
    n_compared: int
    score_agreement: float
    top_agreement: float

    def __str__(self) -> str:
        if self.n_subspaces == 1:
            return "All features ranked at once."
        first = _first(self.n_compared)
        return (
            f"Approximate: {self.n_subspaces} subspaces of up to {self.size} features; "
            f"on {self.n_compared} features ranked both ways rank correlation "
            f"{self.score_agreement:.3f}, {100 * self.top_agreement:.0f} % of the "
            f"first {first} stay."
        )

    @property
    def is_poor(self) -> bool:
        """Whether the ranking may differ visibly from the exact one."""
        return self.score_agreement < 0.95 or self.top_agreement < 0.9


class RandomSubspaces(Ranker):
    """Rank features by the mean of their scores in random subspaces.

    A ranker that compares all pairs takes four times as long for twice the features;
    on subspaces of a fixed size it takes twice as long. Any ranker and any similarity
    will do. Features of large variance are drawn more often, an idea of the paper on
    FRANe [1]_.

    Parameters
    ----------
    {n_features_to_select}
    ranker : FeatureRanker, default=None
        What ranks a subspace; None is ``FRANe()``.
    size : int, default=2048
        How many features a subspace has. No more features are ranked at once.
    n_rounds : int, default=3
        How often a feature is drawn on average. In the first round every feature is
        drawn once.
    weights : {"variance", "uniform"}, default="variance"
        Whether a feature's chance in further rounds is in proportion to its variance,
        in the units of the table, or the same for all.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The mean over the subspaces of a feature. Scores that are never negative are
        taken as multiples of their mean in the subspace, others by their ranks there.
        0 for constant columns.
    n_drawn_ : ndarray of int of shape (n_features_in_,)
        In how many subspaces each feature was.
    approximation_ : Subspaces
        How far the ranking may be off: a part of the table ranked both ways. It
        prints itself.
    {attributes}

    See Also
    --------
    franet.FRANe : With ``search="approximate"`` it comes much nearer to an exact fit,
        under the correlations.

    Notes
    -----
    A subspace sees few neighbours of a feature: its network is sparse where the whole
    one is dense, so that another threshold wins there. `approximation_` tells what
    that does to the ranking of 4 · `size` features, not of all.

    References
    ----------
    .. [1] U. Primožič, B. Škrlj, S. Džeroski, M. Petković. Unsupervised Feature
       Ranking via Attribute Networks. Discovery Science, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from franet import FRANe
    >>> from franet.rankers import RandomSubspaces
    >>> X = np.random.default_rng(0).normal(size=(30, 8))
    >>> base = FRANe(similarity="euclidean")
    >>> ranker = RandomSubspaces(ranker=base, random_state=0).fit(X)
    >>> print(ranker.approximation_)
    All features ranked at once.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ranker": [None, FeatureRanker],
        "size": [Interval(Integral, 2, None, closed="left")],
        "n_rounds": [COUNT],
        "weights": [StrOptions({"variance", "uniform"})],
    }

    ranker: Any = None
    size: int = 2048
    n_rounds: int = 3
    weights: str = "variance"
    random_state: Any = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        random = check_random_state(self.random_state)
        self._base = self._given_ranker()
        X = X if isinstance(X, np.ndarray) else X.tocsc()
        n = X.shape[1]
        varies = np.flatnonzero(~constant_in(X))
        scores, self.n_drawn_ = np.zeros(n), np.zeros(n, np.int64)
        if not len(varies):
            return scores
        weight = np.ones(n)
        if self.weights == "variance":
            weight = Variance()._score(X)
        drawn = list(self._draw(varies, weight[varies], random))
        found = self._average(X, drawn, random, "subspaces")
        scores[varies] = found[varies]
        for columns in drawn:
            self.n_drawn_[columns] += 1
        self.approximation_ = self._compare(X, varies, weight, drawn, random)
        del self._base
        return scores

    def _given_ranker(self) -> Any:
        """Return the ranker of subspaces; it has to take any columns of the table."""
        if self.ranker is None:
            from franet.estimators._frane import FRANe

            return FRANe()
        given = self.ranker.get_params(deep=False)
        if given.get("similarity") == "precomputed":
            raise UsageError(
                "{} compares by {}, but subspaces are drawn from the columns of a "
                "table.",
                Setting("ranker"),
                Setting("similarity", "precomputed"),
                remedy="Fit it on the matrix itself.",
            )
        default = type(self.ranker)().get_params(deep=False)
        if given["n_features_to_select"] != default["n_features_to_select"]:
            raise UsageError(
                "{} has {}, but only its scores are used.",
                Setting("ranker"),
                Setting("n_features_to_select", given["n_features_to_select"]),
                Setting("n_features_to_select"),
                remedy="Set {2} of RandomSubspaces instead.",
            )
        for name in ("include", "exclude", "cost", "groups"):
            if given.get(name) is not None:
                raise UsageError(
                    f"ranker has {name}, which is about the features of the whole "
                    "table, not of a subspace. Leave it out."
                )
        for name in ("tie_break", "store_candidates", "max_edges", "checkpoint"):
            if given.get(name) != default.get(name):
                raise UsageError(
                    f"ranker has {name}={given[name]!r}, but only the scores of "
                    "subspaces are used. Leave it out."
                )
        return self.ranker

    def _draw(
        self,
        columns: NDArray[np.intp],
        weight: NDArray[np.float64],
        random: np.random.RandomState,
    ) -> Iterator[NDArray[np.intp]]:
        """Yield the columns of each subspace, ascending."""
        n = len(columns)
        n_parts = -(-n // self.size)
        for part in np.array_split(random.permutation(columns), n_parts):
            yield np.sort(part)
        if n_parts == 1:
            return
        size = n // n_parts
        for _ in range((self.n_rounds - 1) * n_parts):
            # The smallest of exponential times: draws in proportion to the weights,
            # none twice (Efraimidis and Spirakis).
            times = random.exponential(size=n) / weight
            yield np.sort(columns[np.argpartition(times, size - 1)[:size]])

    def _average(
        self, X: Any, drawn: list[Any], random: np.random.RandomState, what: str
    ) -> NDArray[np.float64]:
        """Return the mean score of each column over the subspaces it is in."""
        found = []
        for done, columns in enumerate(drawn, 1):
            found.append(self._rank(X, columns, random))
            report(what, done, len(drawn))
        shares = all((scores >= 0.0).all() for scores in found)
        total, count = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for columns, scores in zip(drawn, found, strict=True):
            values = scores if shares else mid_ranks(scores)
            mean = values.mean()
            total[columns] += values / mean if mean > 0.0 else 1.0
            count[columns] += 1.0
        return np.asarray(total / np.maximum(count, 1.0))

    def _rank(
        self, X: Any, columns: NDArray[np.intp], random: np.random.RandomState
    ) -> NDArray[np.float64]:
        """Return the scores of some columns among themselves."""
        if len(columns) == 1:
            return np.ones(1)
        ranker = clone(self._base)
        if "random_state" in ranker.get_params(deep=False):
            ranker.set_params(random_state=random.randint(2**31 - 1))
        with warnings.catch_warnings():
            # Ties of the whole ranking are told in the end.
            warnings.simplefilter("ignore", DegenerateRankingWarning)
            return np.asarray(ranker.fit(X[:, columns]).scores_)

    def _compare(
        self,
        X: Any,
        varies: NDArray[np.intp],
        weight: NDArray[np.float64],
        drawn: list[Any],
        random: np.random.RandomState,
    ) -> Subspaces:
        """Rank a part of the table both ways."""
        size = max(map(len, drawn))
        if len(drawn) == 1:
            return Subspaces(1, size, size, 1.0, 1.0)
        some = np.sort(random.permutation(varies)[: _COMPARED * self.size])
        whole = self._rank(X, some, random)
        parts = list(self._draw(some, weight[some], random))
        average = self._average(X, parts, random, "comparison")[some]
        first = _first(len(some))
        tops = [np.argsort(-s, kind="stable")[:first] for s in (whole, average)]
        found = Subspaces(
            len(drawn),
            size,
            len(some),
            rank_correlation(whole, average),
            float(np.isin(tops[0], tops[1]).mean()),
        )
        if found.is_poor:
            message = f"The ranking may differ from that of all features. {found}"
            warnings.warn(message, ApproximationWarning, stacklevel=5)
        return found


def _first(n: int) -> int:
    """Return how many at the top are compared, of n features."""
    return max(1, min(_KEPT, n // 10))
