"""FRANe as a scikit-learn estimator."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet.engine.plan import make_plan
from franet.estimators._backend import (
    PREDICTION,
    approximate,
    comparison_of,
    offers_gaps,
    open_engine,
    open_numpy_source,
    settings_of,
    task_of,
)
from franet.estimators._base import FeatureRanker, Need
from franet.estimators._parameters import FRANE, constraints
from franet.estimators._validation import TableOfFit, fit_context, names_of
from franet.exceptions import ApproximationWarning, DegenerateRankingWarning, Setting
from franet.network import AttributeNetwork
from franet.network._origin import Origin, among_all, complete_above
from franet.pairs.columns._base import PAIRWISE
from franet.pairs.similarity._mixed import warn_of_identifiers
from franet.search.exact import Outcome, search


@dataclass(eq=False, repr=False, kw_only=True)
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
        the same information), ``"spearman"`` (correlation of average ranks);
        ``"mixed"``, for tables with text or categories beside numbers (``|r|``, the
        correlation ratio η and Cramér's V, on one scale from 0 to 1); the distances
        ``"canberra"``, ``"chebyshev"``, ``"euclidean"``, ``"manhattan"``,
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
    store_candidates : bool, default=False
        Whether every candidate is solved and `all_scores_` kept.
    search : {"exact", "approximate"}, default="exact"
        ``"approximate"``: in less than quadratic time, for hundreds of thousands of
        features; `approximation_` says how far it may be off. It needs a correlation
        as `similarity`, PageRank and RQH, and a table without gaps.
    backend : str or distributed.Client, default="auto"
        Where features are compared: ``"numpy"`` (the cores of this machine),
        ``"torch"`` or a torch device (``"cuda"``, ``"cuda:1"``, ``"torch:cpu"``),
        ``"dask"`` (the current client), a Dask client or the address of its scheduler
        (``"tcp://host:8786"``). ``"auto"`` is a GPU where torch sees one and there are
        100 million pairs to compare, otherwise the cores. Scores agree up to the
        order of sums. Clones share a client; pickles hold its address.
    checkpoint : path-like, default=None
        A folder in which passes over the features are kept as they are done. A fit
        that was stopped and is begun again with the same table and parameters does
        not repeat them. `max_edges`, `max_memory`, `random_state` and `n_jobs` may
        change, and what functions do: passes that come out otherwise are made anew.
        One fit at a time uses a folder; another one that starts meanwhile fails.
    max_edges : int, default=5_000_000
        A winning network with more edges keeps only the strongest of each feature.
    max_memory : int or str, default=None
        Memory that the fit may use besides the table, in bytes or as text such as
        ``"2 GB"``; None is half of what is free. If it is scarce, edges lie in
        temporary files. No result depends on it.
    random_state : int, RandomState instance or None, default=None
        The seed of ``quality="random"`` and of ``search="approximate"``.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The score of each feature, larger is better. Constant columns have no
        correlation: they score 0 and rank last.
    {attributes}
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
        Constant columns, left out by the correlations. With ``similarity="mixed"``
        also columns that have a text of its own in every row.
    n_isolated_ : int
        Number of features without an edge, constant columns aside.
    all_scores_ : ndarray of shape (n_thresholds, n_features_in_)
        With ``store_candidates``, the scores at every threshold.
    approximation_ : Approximation
        With ``search="approximate"``, how far the ranking may be off: the share of
        edges found, errors of scores, agreement of ranks; a sentence by ``str``.

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
        **constraints(FRANE),
    }
    _needs: ClassVar[dict[str, Need]] = {
        "p": Need(2.0, "similarity", ("minkowski",)),
        "damping": Need(0.85, "centrality", ("pagerank",)),
    }
    _backends: ClassVar[tuple[str, ...]] = ("numpy", "torch", "dask")
    _for_text: ClassVar[Setting] = Setting("similarity", "mixed")
    _finds = "network"

    n_features_to_select: int | float | None = field(default=None, kw_only=False)
    similarity: str | Callable[[Any, Any], Any] = "correlation"
    thresholds: str | Callable[[float, float, int], Any] = "geometric"
    n_thresholds: int = 100
    min_mean_degree: float = 1.0
    damping: float = 0.85
    weighted: bool = True
    centrality: str | Callable[[Any], Any] = "pagerank"
    quality: str | Callable[[Any], float] = "rqh"
    variant: str = "paper"
    p: float = 2.0
    missing: str = "error"
    tie_break: str = "column"
    store_candidates: bool = False
    search: str = "exact"
    backend: Any = "auto"
    checkpoint: str | os.PathLike[str] | None = None
    max_edges: int = 5_000_000
    max_memory: float | str | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, X: Any) -> None:
        if self.search == "approximate":
            outcome, constant = approximate(self, X)
        else:
            with open_engine(self, X) as (engine, constant):
                names = getattr(self, "feature_names_in_", None)
                warn_of_identifiers(engine.source, names)
                outcome = search(engine, settings_of(self))
        self._set_outcome(outcome, constant)
        self._warn_of(outcome)

    def _set_outcome(self, outcome: Outcome, constant: NDArray[np.bool_]) -> None:
        """Set what a search found as attributes."""

        def widen(values: Any) -> Any:
            wide = np.zeros((*values.shape[:-1], self.n_features_in_))
            wide[..., ~constant] = values
            return wide

        # What an earlier fit found, with other parameters.
        self._diagnosis = ""
        for name in [name for name in vars(self) if name.endswith("_")]:
            if name not in ("n_features_in_", "feature_names_in_"):
                delattr(self, name)
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
        if outcome.approximation is not None:
            self.approximation_ = outcome.approximation
        if outcome.all_scores is not None:
            self.all_scores_ = widen(outcome.all_scores)
        settings, columns, floor = settings_of(self), np.flatnonzero(~constant), None
        adjacency = among_all(outcome.network, columns, len(constant))
        if outcome.truncated:
            floor = complete_above(adjacency, settings.max_edges, len(columns))
        self.network_ = AttributeNetwork(
            adjacency=adjacency,
            names=names_of(self),
            scores=self.scores_,
            ranking=self.ranking_,
            threshold=self.threshold_,
            n_edges=int(outcome.n_edges[outcome.winner]) if won else 0,
            truncated_=bool(outcome.truncated),
            _origin=Origin(
                read=TableOfFit(self),
                comparison=comparison_of(self),
                settings=settings,
                columns=np.arange(len(constant)),
                n_jobs=self.n_jobs,
                floor=floor,
            ),
        )

    def _warn_of(self, outcome: Outcome) -> None:
        """Warn if the ranking says less than its length suggests."""
        n = len(outcome.scores)
        found = outcome.approximation
        if found is not None and found.is_poor:
            message = f"The ranking may differ from the exact one. {found}"
            warnings.warn(message, ApproximationWarning, stacklevel=5)
        if outcome.winner is None:
            warning = DegenerateRankingWarning(
                "All features score the same: {}.", outcome.reason
            )
        elif self.n_isolated_ > n // 2:
            by_column = self.tie_break == "column"
            by = "column" if by_column else "their scores in the next denser network"
            warning = DegenerateRankingWarning(
                f"{self.n_isolated_} of {n} features have no edge at the winning "
                f"threshold; they share one score and rank by {by}.",
                Setting("tie_break", "denser"),
                remedy="{} looks at the next denser network." if by_column else "",
            )
        else:
            return
        # Past `fit` and scikit-learn's wrapper around it, to the caller.
        warnings.warn(warning, stacklevel=5)

    @fit_context
    def plan(self, X: Any) -> dict[str, Any]:
        """Tell what `fit` will take, without doing it.

        The table is opened, as a fit does it, which takes a fit's time where examples
        are many times more than features. A few tiles are computed and timed; the rest
        is arithmetic. It tells of the
        exact search on the cores, also where ``backend="auto"`` would take a GPU.
        Another `search` or `backend` is an error.

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
        start = time.perf_counter()
        task = task_of(self, X, PREDICTION)
        source, _ = open_numpy_source(task)
        opening = time.perf_counter() - start
        plan = make_plan(source, task)
        expected, dense = plan.seconds(source)
        times = {"seconds": opening + expected, "seconds_dense": opening + dense}
        return asdict(plan) | times

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        return PAIRWISE if offers_gaps(self, is_sparse) else None

    def _columns(self, names: Any) -> dict[str, Any]:
        n_neighbors = np.diff(self.network_.adjacency.indptr)[self.order_]
        return {**super()._columns(names), "n_neighbors": n_neighbors}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.sparse = self.missing == "error"
        given = self.similarity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        # Not `string`: by scikit-learn's checks any object would have to do then.
        tags.input_tags.categorical = self.similarity == "mixed"
        return tags
