"""FRANe as a scikit-learn estimator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar, Self

from franet._attributes import Fitted
from franet._backend import (
    approximate,
    check,
    check_combination,
    check_plan,
    open_engine,
    open_numpy_source,
)
from franet._base import FeatureRanker
from franet._callbacks import telling
from franet._outcome import set_outcome, warn_of
from franet._parameters import CONSTRAINTS
from franet._threads import count_threads
from franet._validation import fit_context
from franet.cover._estimator import fit_cover
from franet.engine.plan import make_plan
from franet.engine.tiles import PairSource
from franet.exceptions import UsageError
from franet.search import Settings, search
from franet.similarity._mixed import warn_of_identifiers

__all__ = ["FRANe"]

# Parameters that say which features may be picked, and at what cost.
_OF_COVER = ("include", "exclude", "cost", "groups")


class FRANe(Fitted, FeatureRanker):
    """Rank features by their centrality in a network of similar features.

    Features that are similar are connected, weak edges are dropped at many
    thresholds, PageRank is computed on each network, and the ranking whose scores
    spread most is kept [1]_.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=None
        How many features `transform` keeps; a float is a share, None keeps half.
        ``"auto"``, with ``redundancy="cover"``: as many as `n_features_suggested_`
        says; all that were picked where it says nothing.
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
    redundancy : {None, "cover"}, default=None
        None is the paper's method, which may rank many features of one group first.
        ``"cover"``: features are picked one after another, each for what the earlier
        ones do not tell; see Notes. It needs a correlation as `similarity`.
    include, exclude : sequence of str or int, default=None
        With ``redundancy="cover"``, features by name or position that are picked
        first, and features that are never picked. These are represented all the same.
    cost : mapping or array-like of shape (n_features,), default=None
        With ``redundancy="cover"``, what each feature costs: picks are those that add
        most for their cost. A mapping names some features; others cost 1.
    groups : mapping or array-like of shape (n_features,), default=None
        With ``redundancy="cover"``, labels: at most one feature of each group is
        picked. None and NaN belong to no group.
    n_ranked : int, default=None
        With ``redundancy="cover"``, how many features are put in order by picking;
        None: as many as `n_features_to_select` asks for, at least 64. The others are
        ordered by what each alone would add after the last pick. The paper's method
        ranks all.
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
    search : {"exact", "approximate"}, default="exact"
        ``"approximate"``: in less than quadratic time, for hundreds of thousands of
        features; `approximation_` says how far it may be off. It needs a correlation
        as `similarity`, PageRank and RQH, and a table without gaps.
    backend : {"auto", "numpy", "torch", "dask"}, default="auto"
        What compares the features: the cores of this machine (``"numpy"``), a torch
        device, or a Dask cluster. ``"auto"`` is a GPU where torch sees one and there
        are 100 million pairs to compare, a cluster where `scheduler` is given, and
        otherwise the cores. Scores agree up to the order of sums.
    device : str, default=None
        With ``backend="torch"``, the device, such as ``"cuda"`` or ``"cpu"``; None is
        a GPU where there is one.
    scheduler : str or distributed.Client, default=None
        With ``backend="dask"``, the address of the scheduler or a client; None is the
        current client. Clones share a client; pickles hold its address.
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
        The network at the winning threshold; with ``redundancy="cover"``, features
        connected with their representatives (``network_.representation``).
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns, left out by the correlations. With ``similarity="mixed"``
        also columns that have a text of its own in every row.
    n_isolated_ : int
        Number of features without an edge, constant columns aside.
    all_scores_ : ndarray of shape (n_thresholds, n_features_in_)
        With ``keep_all``, the scores at every threshold.
    approximation_ : Approximation
        With ``search="approximate"``, how far the ranking may be off: the share of
        edges found, errors of scores, agreement of ranks; a sentence by ``str``.
    order_ : ndarray of int
        With ``redundancy="cover"``, the features picked, first to last.
    gains_ : ndarray
        What each pick added, as a share of the table.
    coverage_ : ndarray
        The share of the table that the first pick, the first two, … cover: the mean,
        over all features, of the squared correlation with the closest pick.
    represented_by_ : ndarray of int of shape (n_features_in_,)
        The pick that stands for each feature, by position; -1 for constant columns.
        Picks are those selected; with ``n_features_to_select=None`` as many as are
        suggested.
    representation_ : ndarray of shape (n_features_in_,)
        The correlation of each feature with that pick; NaN for constant columns.
    represents_ : dict of int to ndarray of int
        For each of these picks, in order, the features it stands for, itself aside:
        the most similar first.
    n_features_suggested_ : int or None
        How many picks keep 95 % of what can be kept; None if no small subset stands
        for the table, or if more picks are needed to tell.
    suggestion_ : Suggestion
        The same with its band (``low``, ``high``), the curve (``kept``) and as a
        sentence (``str(suggestion_)``).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Notes
    -----
    ``redundancy="cover"`` maximises, pick by pick, the mean of three shares of the
    table that a set S of features tells:

    - by representatives, ``Σ_j w_j max_{s ∈ S} r_js² / Σ_j w_j``: facility location;
    - linearly, ``Σ_j w_j ‖P_S z_j‖² / Σ_j w_j``, with the standardised features z and
      the projection P on the picks: column subset selection;
    - by neighbours: the share of the 32 leading principal components that the mean
      of the five nearest other examples rebuilds, distances taken on the picked
      columns in their own units.

    Weights w are the same for all but spiky features: ``min(1, 2·MAD/σ)²``. The first
    share is monotone and submodular, so that greedy picks of it alone reach
    ``1 − 1/e`` (63 %) of the best; the second is monotone and weakly submodular; the
    third is neither, and decides among the 64 candidates that add most to the others.
    Picks are nested: the best 16 start with the best 8. The table in other units is
    another table for neighbours: scale it first where units are arbitrary. Of more
    than 2,048 features so many, drawn with a fixed seed, stand for all in the first
    share; 1,024 examples take part in the search for neighbours, 128 are rebuilt. It
    takes O(m·n) for each pick, besides O(m·n·2048·log k) for the first share, and
    about five float64 copies of the table; a sparse table is made dense.

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

    Features that do not repeat each other, and what the first one stands for. Units
    differ, so that columns are scaled first:

    >>> X /= X.std()
    >>> ranker = FRANe(n_features_to_select=3, redundancy="cover").fit(X)
    >>> list(X.columns[ranker.order_[:3]])
    ['mean concave points', 'mean fractal dimension', 'mean texture']
    >>> ranker.coverage_[:3].round(3)
    array([0.403, 0.48 , 0.54 ])
    >>> len(ranker.represents_[ranker.order_[0]])
    16
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
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
        redundancy: str | None = None,
        include: Any = None,
        exclude: Any = None,
        cost: Any = None,
        groups: Any = None,
        n_ranked: int | None = None,
        p: float = 2.0,
        missing: str = "error",
        tie_break: str = "column",
        keep_all: bool = False,
        search: str = "exact",
        backend: str = "auto",
        device: Any = None,
        scheduler: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
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
        self.redundancy = redundancy
        self.include = include
        self.exclude = exclude
        self.cost = cost
        self.groups = groups
        self.n_ranked = n_ranked
        self.p = p
        self.missing = missing
        self.tie_break = tie_break
        self.keep_all = keep_all
        self.search = search
        self.backend = backend
        self.device = device
        self.scheduler = scheduler
        self.checkpoint = checkpoint
        self.max_edges = max_edges
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, SciPy CSR or CSC. Text and categories
            need ``similarity="mixed"``.
        y : None
            Ignored.

        Returns
        -------
        self : FRANe
            The fitted ranker.
        """
        check_combination(self)
        with telling(self, X, y):
            if self.redundancy == "cover":
                fit_cover(self, X)
                return self
            self._check_unused()
            if self.search == "approximate":
                outcome, constant = approximate(self, X)
            else:
                with open_engine(self, X) as (engine, constant):
                    names = getattr(self, "feature_names_in_", None)
                    warn_of_identifiers(engine.source, names)
                    outcome = search(engine, Settings.of(self))
            set_outcome(self, outcome, constant)
            warn_of(self, outcome)
        return self

    def _check_unused(self) -> None:
        """Refuse what has a meaning with ``redundancy="cover"`` only."""
        given = [name for name in _OF_COVER if getattr(self, name) is not None]
        if self.n_features_to_select == "auto":
            given.append("n_features_to_select='auto'")
        if given:
            raise UsageError(f"{given[0]} needs redundancy='cover'.")

    def _forget(self) -> None:
        """Drop what an earlier fit found, which may have been of the other kind."""
        self._diagnosis = ""
        for name in [name for name in vars(self) if name.endswith("_")]:
            if name not in ("n_features_in_", "feature_names_in_"):
                delattr(self, name)

    @fit_context
    def plan(self, X: Any) -> dict[str, Any]:
        """Tell what `fit` will take, without doing it.

        The table is opened, as a fit does it, which takes a fit's time where examples
        are many times more than features. A few tiles are computed and timed; the rest
        is arithmetic. It tells of the
        exact search on the cores, also where ``backend="auto"`` would take a GPU.
        Another `redundancy`, `search` or `backend`, a `device` and a `scheduler` are
        errors.

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
        if self.redundancy is not None:
            raise UsageError("plan tells of the paper's method: set redundancy=None.")
        check_plan(self)
        self._check_unused()
        start = time.perf_counter()
        source, _ = self._open(X)
        opening = time.perf_counter() - start
        settings, n_threads = Settings.of(self), count_threads(self.n_jobs)
        plan = make_plan(source, settings.n_thresholds, n_threads, settings.max_memory)
        expected, dense = plan.seconds(source)
        times = {"seconds": opening + expected, "seconds_dense": opening + dense}
        return asdict(plan) | times

    def _open(self, X: Any) -> tuple[PairSource, Any]:
        return open_numpy_source(self, check(self, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.sparse = self.missing == "error"
        given = self.similarity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        # Not `string`: by scikit-learn's checks any object would have to do then.
        tags.input_tags.categorical = self.similarity == "mixed"
        return tags
