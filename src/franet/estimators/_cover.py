"""Cover as a scikit-learn estimator: which few features represent the rest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from franet._common.threads import count_threads
from franet.cover._constraints import PARAMETERS, Constraints, read_constraints
from franet.cover._fit import CoverRanking, rank_by_cover, star
from franet.cover._shares import EXAMPLES
from franet.engine.device import Place, choose_device, free_bytes, wanted
from franet.estimators._base import FeatureRanker
from franet.estimators._parameters import COVER, constraints
from franet.estimators._validation import (
    TableOfFit,
    check_table,
    dense,
    how_many,
    names_of,
    number_to_select,
)
from franet.exceptions import DataError, Setting, UnitsWarning, UsageError
from franet.network import AttributeNetwork
from franet.network._explain import Representation, signed
from franet.network._origin import Origin
from franet.pairs.coded import column_at
from franet.pairs.similarity._sparse import constant_in
from franet.search.exact import Settings

# A column that holds more of the variance than all others together.
_MOST_OF_IT = 0.5
# … and this many times its part, because of three columns one may do so by chance.
_TIMES = 5.0
# Entries of a table from which a CUDA device is worth its start.
LARGE = 5_000_000
# Bytes that the blocks of a computation take on a device, besides the table.
_BLOCKS = 2**31


@dataclass(eq=False, repr=False, kw_only=True)
class Cover(FeatureRanker):
    """Pick features that represent the others, each for what earlier picks miss.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default="auto"
        How many features `transform` keeps: a number, a share, ``"auto"`` for as many
        as `n_features_suggested_` (all that were picked where there is no suggestion),
        or None for half.
    similarity : {"correlation", "spearman"}, default="correlation"
        How features are compared: by Pearson's correlation, or by that of ranks. Signs
        do not count.
    include, exclude : sequence of str or int, default=None
        Features, by name or position, that are picked first, and features that are
        never picked. Excluded features are still represented.
    cost : mapping or array-like of shape (n_features,), default=None
        What each feature costs: picks are those that add most for their cost. A
        mapping or a pandas Series names some features; others cost 1.
    groups : mapping or array-like of shape (n_features,), default=None
        Labels: at most one feature of each group is picked. None and NaN belong to no
        group.
    n_ranked : int, default=None
        How many features are picked one after another, at least as many as
        `n_features_to_select` asks for; None: that number, at least 64. With
        ``"auto"`` more are picked where the suggestion needs them. The others are
        ordered by what each would add after the last pick.
    backend : str, default="auto"
        Where it is computed: ``"numpy"`` (the cores of this machine), ``"torch"`` or a
        torch device (``"cuda"``, ``"cuda:1"``, ``"torch:cpu"``). ``"auto"`` is a GPU
        where torch sees one, the table has 5 million entries and fits into its memory,
        otherwise the cores.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    order_ : ndarray of int of shape (n_features_in_,)
        All features, best first: the picks, then the others, excluded ones and
        constant columns last.
    n_ranked_ : int
        How many features were picked.
    scores_ : ndarray of shape (n_features_in_,)
        What each pick added, made falling; what each other feature would add now.
    {feature_importances_}
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps: the first of `order_`.
    {n_features_}
    gains_ : ndarray of shape (n_ranked_,)
        What each pick added, as a share of the table.
    coverage_ : ndarray of shape (n_ranked_,)
        The share of the table that the first pick, the first two, … cover: the mean,
        over all features, of the squared correlation with the closest pick.
    representative_ : ndarray of int of shape (n_features_in_,)
        The selected pick that is closest to each feature, by position; -1 for constant
        columns.
    representative_corr_ : ndarray of shape (n_features_in_,)
        The correlation of each feature with it; NaN for constant columns.
    members_ : dict of int to ndarray of int
        For each selected pick, in order, the other features that it represents, the
        closest first.
    n_features_suggested_ : int or None
        How many picks keep 95 % of what can be kept; None if no small subset
        represents the table, or if more picks are needed to decide.
    suggestion_ : Suggestion
        The same with its band (``low``, ``high``), the curve (``kept``) and as a
        sentence (``str(suggestion_)``).
    network_ : AttributeNetwork
        Features connected with their representatives (``network_.representation``).
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns.
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    FRANe : The paper's method, which ranks features by their centrality.

    Notes
    -----
    Picks maximize, one by one, the mean of three shares of the table that a set S of
    features explains:

    - by representatives, ``Σ_j w_j max_{s ∈ S} r_js² / Σ_j w_j``: facility
      location [1]_;
    - linearly, ``Σ_j w_j ‖P_S z_j‖² / Σ_j w_j``, with the standardized features z and
      the projection P on the picks: column subset selection [2]_;
    - by neighbors: the share of the 32 leading principal components that the mean
      of the five nearest other samples rebuilds, distances taken on the picked
      columns in their own units.

    Weights w are the same for all but spiky features: ``min(1, 2·MAD/σ)²``. The first
    share is monotone and submodular, so that greedy picks of it alone reach
    ``1 − 1/e`` (63 %) of the best; the second is monotone and weakly submodular; the
    third is neither, and decides among the 64 candidates that add most to the others.
    Picks are nested: the best 16 start with the best 8. The table in other units is
    another table for neighbors: scale it first where units are arbitrary. Of more
    than 2,048 features, 2,048 drawn with a fixed seed take the place of all in the
    first share; 1,024 samples take part in the search for neighbors, 128 are rebuilt.
    It takes O(m·n) for each pick, besides O(m·n·2048·log k) for the first share, and
    about five float64 copies of the table; a sparse table is made dense.

    References
    ----------
    .. [1] G. L. Nemhauser, L. A. Wolsey, M. L. Fisher. An analysis of approximations
       for maximizing submodular set functions. Mathematical Programming 14, 1978.
    .. [2] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection
       for unsupervised learning. Knowledge and Information Systems 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import Cover
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X /= X.std()  # units differ
    >>> cover = Cover(n_features_to_select=3).fit(X)
    >>> list(X.columns[cover.order_[:3]])
    ['mean concave points', 'mean fractal dimension', 'mean texture']
    >>> cover.coverage_[:3].round(3)
    array([0.403, 0.48 , 0.54 ])
    >>> len(cover.members_[cover.order_[0]])
    16
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            *FeatureRanker._parameter_constraints["n_features_to_select"],
            StrOptions({"auto"}),
        ],
        **constraints(COVER),
    }
    _backends: ClassVar[tuple[str, ...]] = ("numpy", "torch")
    _for_text: ClassVar[Setting] = Setting("similarity", "mixed", ranker="FRANe")
    _finds = "representatives"

    n_features_to_select: int | float | str | None = field(
        default="auto", kw_only=False
    )
    similarity: str = "correlation"
    include: Any = None
    exclude: Any = None
    cost: Any = None
    groups: Any = None
    n_ranked: int | None = None
    backend: str = "auto"
    n_jobs: int | None = None

    def _fit(self, X: Any) -> None:
        table = check_table(self, X)
        constant = constant_in(table)
        if constant.all():
            raise DataError("All columns are constant: there is nothing to rank.")
        given = {name: getattr(self, name) for name in PARAMETERS}
        constraints = read_constraints(names_of(self), constant, **given)
        n_select = self._n_select(constraints)
        found = rank_by_cover(
            dense(table),
            constant,
            constraints,
            n_select=n_select,
            n_picks=self._n_picks(constraints, n_select),
            ranks=self.similarity == "spearman",
            n_threads=count_threads(self.n_jobs),
            device=choose_device_for(self._place(), table.shape),
        )
        self._set_attributes(found, constant)
        self._warn_of_units(found)

    def _n_select(self, constraints: Constraints) -> int | str | None:
        """Return how many are selected, checked against how many can be."""
        wanted, n_open = self.n_features_to_select, constraints.n_open()
        if n_open == 0:
            given = Setting("exclude")
            raise UsageError("{} leaves no feature that could be picked.", given)
        if wanted is None or wanted == "auto":
            return wanted
        count = number_to_select(wanted, self.n_features_in_)
        # Constant columns may be selected, behind all others; excluded ones may not.
        limited = self.exclude is not None or self.groups is not None
        if limited and count > n_open:
            features = "feature" if n_open == 1 else "features"
            raise UsageError(
                f"{{}}, but only {n_open} {features} can be picked: others are "
                "constant, in {}, or share one of {} with another feature.",
                Setting("n_features_to_select", wanted),
                Setting("exclude"),
                Setting("groups"),
                remedy=f"Ask for at most {n_open}.",
            )
        if count < len(constraints.include):
            raise UsageError(
                f"{{}}, but {{}} names {len(constraints.include)} features.",
                Setting("n_features_to_select", wanted),
                Setting("include"),
                remedy="Ask for at least that many.",
            )
        return count

    def _n_picks(self, constraints: Constraints, n_select: int | str | None) -> int:
        """Return how many are picked, at least."""
        selected = n_select if isinstance(n_select, int) else None
        for what, count in (
            (Setting("n_features_to_select", selected), selected or 0),
            (Setting("include"), len(constraints.include)),
        ):
            if self.n_ranked is not None and self.n_ranked < count:
                raise UsageError(
                    f"{{}}, but {{}} asks for {count} picks.",
                    Setting("n_ranked", self.n_ranked),
                    what,
                    Setting("n_ranked"),
                    remedy="Leave out {2}, or raise it.",
                )
        asked = how_many(self.n_ranked, selected, self.n_features_in_)
        return min(max(asked, len(constraints.include)), constraints.n_open())

    def _set_attributes(self, found: CoverRanking, constant: NDArray[np.bool_]) -> None:
        names = names_of(self)
        self._diagnosis = ""
        self._set_scores(found.scores, last=found.last, n_selected=found.n_selected)
        self.constant_ = constant
        self.n_ranked_ = len(found.order)
        self.gains_ = found.gains
        self.coverage_ = found.coverage
        self.representative_ = found.representative
        self.representative_corr_ = found.representative_corr
        self.members_ = _members(found)
        self.suggestion_ = found.suggestion
        self.n_features_suggested_ = found.suggestion.count
        adjacency, by = star(found), found.representative
        known = np.array([str(names[j]) if j >= 0 else "" for j in by], object)
        self.network_ = AttributeNetwork(
            adjacency=adjacency,
            names=names,
            scores=self.scores_,
            ranking=self.ranking_,
            threshold=np.nan,
            n_edges=adjacency.nnz // 2,
            representation=Representation(by, found.representative_corr, known),
            _origin=Origin(
                read=TableOfFit(self, ranks=self.similarity == "spearman"),
                comparison={"similarity": "abs-correlation"},
                settings=Settings(),
                columns=np.arange(len(names)),
                n_jobs=self.n_jobs,
            ),
        )

    def _warn_of_units(self, found: CoverRanking) -> None:
        """Warn if neighbors are those of one column."""
        j, share = found.loudest
        if share > max(_MOST_OF_IT, _TIMES / len(found.scores)):
            warning = UnitsWarning(
                f"{{}} holds {share:.0%} of the variance of the table, so that "
                "neighbors are those of this column.",
                column_at(j, getattr(self, "feature_names_in_", None)),
                remedy="Scale the columns first, as sklearn.preprocessing."
                "StandardScaler does, if their units are arbitrary.",
            )
            self._diagnosis = str(warning)
            # Past `fit` and scikit-learn's wrapper around it, to the caller.
            warnings.warn(warning, stacklevel=5)

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        if is_sparse or self.similarity != "correlation":
            return None
        return Setting("missing", "pairwise", ranker="FRANe")

    def _columns(self, names: Any) -> dict[str, Any]:
        by = self.representative_[self.order_]
        members = [len(self.members_.get(int(j), ())) for j in self.order_]
        return {
            **super()._columns(names),
            "representative": [str(names[k]) if k >= 0 else None for k in by],
            "correlation": self.representative_corr_[self.order_],
            "n_members": members,
        }

    def _for_notebook(self, best: NDArray[np.intp]) -> tuple[str, dict[str, list[str]]]:
        remark = f"<div>{escape(str(self.suggestion_))}.</div>"
        return remark, {"representation": [self._role(int(j)) for j in best]}

    def _role(self, j: int) -> str:
        """Return how many others a feature represents, or what represents it."""
        by, r = self.representative_[j], self.representative_corr_[j]
        if by == j:
            n = len(self.members_[j])
            return f"stands for {n:,}" if n else "stands for itself"
        return f"by {names_of(self)[by]} ({signed(r)})" if by >= 0 else "–"


def choose_device_for(place: Place, shape: tuple[int, int]) -> Any:
    """Return the torch device on which to rank a table; None: in NumPy.

    Parameters
    ----------
    place : Place
        What the user asked for.
    shape : tuple of int
        The number of samples and of features.
    """
    m, n = shape
    if not wanted(place, pays=m * n >= LARGE):
        return None
    device = choose_device(place.device)
    # The features, what is left of them, and those among which neighbors are; two
    # products of samples, or what the picks explain and a copy of it.
    needed = 8 * (n * (2 * m + min(m, EXAMPLES)) + 2 * m * min(m, n)) + _BLOCKS
    free = free_bytes(device)
    if needed <= free:
        return device
    if place.kind == "auto":
        return None
    raise UsageError(
        f"{{}}: '{device}' has {free / 1e9:.1f} GB left, and Cover needs "
        f"{needed / 1e9:.1f} GB there.",
        place.given,
        Setting("backend", "numpy"),
        remedy="Set {1}, or free some.",
    )


def _members(found: CoverRanking) -> dict[int, NDArray[np.intp]]:
    by, strength = found.representative, -np.abs(found.representative_corr)
    order = np.lexsort((np.arange(len(by)), strength))
    return {
        int(j): order[(by[order] == j) & (order != j)]
        for j in found.order[: found.n_representatives]
    }
