"""FRANe as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from franet._base import FeatureRanker
from franet._threads import count_threads
from franet._validation import check_table, number_to_select
from franet.centrality import CENTRALITIES
from franet.engine.memory import parse_bytes
from franet.engine.plan import make_plan
from franet.engine.tiles import PairSource
from franet.exceptions import DegenerateRankingWarning
from franet.network import AttributeNetwork
from franet.network._recipe import make_recipe
from franet.quality import QUALITIES
from franet.search import Outcome, Settings, search
from franet.similarity import SIMILARITIES, open_source
from franet.thresholds import PROGRESSIONS

__all__ = ["FRANe"]


class FRANe(FeatureRanker):
    """Rank features by their centrality in a network of similar features.

    Features that are similar are connected, weak edges are dropped at many
    thresholds, PageRank is computed on each network, and the ranking whose scores
    spread most is kept [1]_.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    similarity : str or callable, default="correlation"
        How alike two features are. ``"correlation"`` (``1 + r``),
        ``"abs-correlation"`` (``|r|``: features that move against each other carry
        the same information), ``"spearman"`` (correlation of average ranks); the
        distances ``"canberra"``, ``"chebyshev"``, ``"euclidean"``, ``"manhattan"``,
        ``"minkowski"``, ``"seuclidean"``, ``"sqeuclidean"``, as ``max(d) - d``;
        ``"precomputed"``: X is the symmetric, non-negative similarity matrix; or a
        function ``f(A, B)`` that returns the a × b non-negative similarities of the
        a columns of A and the b columns of B.
    thresholds : str or callable, default="geometric"
        How the thresholds lie between the largest and the smallest similarity:
        ``"geometric"``, ``"linear"``, ``"linear-mean"`` and ``"linear-median"``
        (down to the mean, the median), ``"quantile"``, ``"logspace"``, or a function
        ``f(smallest, largest, n)`` that returns n thresholds.
    n_thresholds : int, default=100
        Number of thresholds.
    min_mean_degree : float, default=1.0
        A network is a candidate if its mean degree is at least this.
    damping : float, default=0.85
        The damping factor of PageRank.
    weighted : bool, default=True
        Whether edges weigh what the similarity is, or all the same.
    centrality : str or callable, default="pagerank"
        ``"pagerank"``, ``"degree"``, ``"eigenvector"``, ``"closeness"``,
        ``"harmonic"``, or a function of the sparse adjacency matrix that returns one
        score for each feature.
    quality : str or callable, default="rqh"
        Which ranking wins: ``"rqh"`` (second largest over second smallest score),
        ``"gini"``, ``"cv"`` (coefficient of variation), ``"entropy"``, ``"random"``
        (any candidate, the paper's control), or a function of the scores.
    variant : {"paper", "reference"}, default="paper"
        The definition of the paper, or that of the authors' code, from which the
        published figures come.
    p : float, default=2.0
        The exponent of ``similarity="minkowski"``.
    missing : {"error", "pairwise"}, default="error"
        What NaN means: an error, or that each correlation uses the rows in which
        both features are there.
    tie_break : {"column", "denser"}, default="column"
        How features of equal scores are ordered: by column, or first by their scores
        at the next denser candidate.
    keep_all : bool, default=False
        Whether every candidate is solved and `all_scores_` kept.
    max_edges : int, default=5_000_000
        A winning network with more edges keeps only the strongest of each feature.
    max_memory : int or str, default=None
        Memory that the fit may use besides the table, in bytes or as text such as
        ``"2 GB"``; None is half of what is free. If it is scarce, edges lie in
        temporary files. No result depends on it.
    random_state : int, RandomState instance or None, default=None
        The seed of ``quality="random"``.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The score of each feature, larger is better. Constant columns have no
        correlation: they score 0 and rank last.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best. Scores within 1e-9 of each other are equal.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps.
    n_features_ : int
        How many those are.
    thresholds_ : ndarray
        The thresholds, sparse to dense: an edge needs at least this similarity.
    quality_ : ndarray
        The quality of the ranking at each threshold; NaN where the network is too
        sparse, or where it provably cannot win.
    quality_bound_ : ndarray
        A proven upper bound on it; NaN where the network is too sparse.
    too_sparse_ : ndarray of bool
        Thresholds at which the network is too sparse.
    n_edges_ : ndarray of int
        Number of edges at each threshold.
    winner_ : int or None
        The position of the winning threshold; None if there is none.
    threshold_ : float
        The winning threshold, NaN if there is none.
    network_ : AttributeNetwork
        The network at the winning threshold.
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns, left out by the correlations.
    n_isolated_ : int
        Number of features without an edge, constant columns aside.
    all_scores_ : ndarray of shape (n_thresholds, n_features_in_)
        With ``keep_all``, the scores at every threshold.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    References
    ----------
    .. [1] U. Primožič, B. Škrlj, S. Džeroski, M. Petković. Unsupervised Feature
       Ranking via Attribute Networks. Discovery Science, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import FRANe
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ranker = FRANe(n_features_to_select=3).fit(X)
    >>> list(ranker.get_feature_names_out())
    ['mean compactness', 'mean concavity', 'mean concave points']
    >>> ranker.network_.n_edges
    113
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "similarity": [StrOptions(set(SIMILARITIES)), callable],
        "thresholds": [StrOptions(set(PROGRESSIONS)), callable],
        "n_thresholds": [Interval(Integral, 2, None, closed="left")],
        "min_mean_degree": [Interval(Real, 0, None, closed="left")],
        "damping": [Interval(Real, 0, 1, closed="neither")],
        "weighted": ["boolean"],
        "centrality": [StrOptions({"pagerank", *CENTRALITIES}), callable],
        "quality": [StrOptions({"random", *QUALITIES}), callable],
        "variant": [StrOptions({"paper", "reference"})],
        "p": [Interval(Real, 1, None, closed="left")],
        "missing": [StrOptions({"error", "pairwise"})],
        "tie_break": [StrOptions({"column", "denser"})],
        "keep_all": ["boolean"],
        "max_edges": [Interval(Integral, 1, None, closed="left")],
        "max_memory": [None, Interval(Real, 0, None, closed="neither"), str],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        similarity: str | Callable[[Any, Any], Any] = "correlation",
        thresholds: str | Callable[[float, float, int], Any] = "geometric",
        n_thresholds: int = 100,
        min_mean_degree: float = 1.0,
        damping: float = 0.85,
        weighted: bool = True,
        centrality: str | Callable[[Any], Any] = "pagerank",
        quality: str | Callable[[Any], float] = "rqh",
        variant: str = "paper",
        p: float = 2.0,
        missing: str = "error",
        tie_break: str = "column",
        keep_all: bool = False,
        max_edges: int = 5_000_000,
        max_memory: float | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.similarity = similarity
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.min_mean_degree = min_mean_degree
        self.damping = damping
        self.weighted = weighted
        self.centrality = centrality
        self.quality = quality
        self.variant = variant
        self.p = p
        self.missing = missing
        self.tie_break = tie_break
        self.keep_all = keep_all
        self.max_edges = max_edges
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, SciPy CSR or CSC.
        y : None
            Ignored.

        Returns
        -------
        self : FRANe
            The fitted ranker.
        """
        source, constant = self._open(X)
        outcome = search(source, self._settings(), count_threads(self.n_jobs))
        self._set_outcome(outcome, constant)
        self._warn(outcome)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def plan(self, X: Any) -> dict[str, Any]:
        """Tell what `fit` will take, without doing it.

        A few tiles are computed and timed; the rest is arithmetic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table.

        Returns
        -------
        plan : dict
            ``n_features``, ``n_pairs``, ``n_tiles``, ``block`` (features along a
            side of a tile), ``n_threads``, ``memory`` and ``max_memory`` in bytes,
            ``on_disk`` (whether edges will lie in temporary files), ``seconds``
            (expected, if the winning network is sparse, as it mostly is) and
            ``seconds_dense`` (if it is too dense to be stored).
        """
        source, _ = self._open(X)
        settings, n_threads = self._settings(), count_threads(self.n_jobs)
        plan = make_plan(source, settings.n_thresholds, n_threads, settings.max_memory)
        expected, dense = plan.seconds(source)
        return {**asdict(plan), "seconds": expected, "seconds_dense": dense}

    def _open(self, X: Any) -> tuple[PairSource, Any]:
        pairwise = self.missing == "pairwise"
        table = check_table(self, X, allow_missing=pairwise)
        # Before the work, not after it.
        number_to_select(self.n_features_to_select, self.n_features_in_)
        return open_source(
            table,
            self.similarity,
            p=self.p,
            variant=self.variant,
            pairwise=pairwise,
        )

    def _settings(self) -> Settings:
        return Settings(
            thresholds=self.thresholds,
            n_thresholds=self.n_thresholds,
            min_mean_degree=self.min_mean_degree,
            damping=self.damping,
            weighted=self.weighted,
            centrality=self.centrality,
            quality=self.quality,
            variant=self.variant,
            keep_all=self.keep_all,
            second_key=self.tie_break == "denser",
            max_edges=self.max_edges,
            max_memory=self._max_memory(),
            random=check_random_state(self.random_state),
        )

    def _max_memory(self) -> int | None:
        return None if self.max_memory is None else parse_bytes(self.max_memory)

    def _set_outcome(self, outcome: Outcome, constant: Any) -> None:
        def widen(values: Any) -> Any:
            wide = np.zeros((*values.shape[:-1], self.n_features_in_))
            wide[..., ~constant] = values
            return wide

        second = outcome.second_key
        self._set_scores(
            widen(outcome.scores),
            last=constant,
            second=None if second is None else widen(second),
        )
        self.constant_ = constant
        self.thresholds_ = outcome.thresholds
        self.quality_ = outcome.quality
        self.quality_bound_ = outcome.quality_bound
        self.too_sparse_ = outcome.too_sparse
        self.n_edges_ = outcome.n_edges
        self.winner_ = outcome.winner
        won = outcome.winner is not None
        self.threshold_ = float(outcome.thresholds[outcome.winner]) if won else np.nan
        self.n_isolated_ = int((outcome.degrees == 0.0).sum())
        if outcome.all_scores is not None:
            self.all_scores_ = widen(outcome.all_scores)
        elif hasattr(self, "all_scores_"):
            del self.all_scores_
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = np.array([f"x{j}" for j in range(self.n_features_in_)])
        self.network_ = AttributeNetwork(
            adjacency=_widen_matrix(outcome.network, constant),
            names=names,
            scores=self.scores_,
            ranking=self.ranking_,
            threshold=self.threshold_,
            n_edges=int(outcome.n_edges[outcome.winner]) if won else 0,
            truncated_=bool(outcome.truncated),
            _recipe=make_recipe(self, outcome, constant),
        )

    def _warn(self, outcome: Outcome) -> None:
        n = len(outcome.scores)
        if outcome.winner is None:
            message = f"All features score the same: {outcome.reason}."
        elif self.n_isolated_ > n // 2:
            by = (
                "column. tie_break='denser' looks at the next denser network."
                if self.tie_break == "column"
                else "their scores in the next denser network."
            )
            message = (
                f"{self.n_isolated_} of {n} features have no edge at the winning "
                f"threshold; they share one score and rank by {by}"
            )
        else:
            return
        # Past `fit` and scikit-learn's wrapper around it, to the caller.
        warnings.warn(message, DegenerateRankingWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.sparse = self.missing == "error"
        given = self.similarity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags


def _widen_matrix(matrix: Any, constant: Any) -> Any:
    """Return the matrix with empty rows and columns where columns are constant."""
    if not constant.any():
        return matrix
    columns = np.flatnonzero(~constant)
    coo = matrix.tocoo()
    j, k = coo.coords
    n = len(constant)
    return sparse.csr_array((coo.data, (columns[j], columns[k])), (n, n))
