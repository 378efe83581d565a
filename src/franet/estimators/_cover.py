"""Cover as a scikit-learn estimator: which few features represent the rest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from franet._common import sentences
from franet._common.checked import check_value
from franet._common.memory import parse_bytes
from franet._common.threads import count_threads
from franet.cover._components import components_explain
from franet.cover._constraints import read_weights
from franet.cover._fit import ENOUGH, CoverRanking, rank_by_cover
from franet.cover._plan import plan_cover
from franet.cover._represent import LEVEL, Representatives, star
from franet.cover._rows import draw_rows
from franet.cover._shares import SAMPLES
from franet.engine.device import Place, choose_device, free_bytes, wanted
from franet.estimators._base import FeatureRanker
from franet.estimators._constrained import ConstrainedRanker
from franet.estimators._parameters import COVER, constraints
from franet.estimators._validation import (
    TableOfFit,
    check_part,
    check_table,
    how_many,
    like,
    names_of,
    number_to_select,
)
from franet.exceptions import (
    DataError,
    DegenerateRankingWarning,
    Setting,
    UsageError,
)
from franet.network import AttributeNetwork
from franet.network._explain import Representation, signed
from franet.network._origin import Origin
from franet.search.exact import Settings

# Entries of a table from which a CUDA device is worth its start.
LARGE = 5_000_000
# Bytes that the blocks of a computation take on a device, besides the table.
_BLOCKS = 2**31


@dataclass(eq=False, repr=False, kw_only=True)
class Cover(ConstrainedRanker):
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
    scale : {"standard"} or None, default="standard"
        The units in which samples are compared, when the nearest of them are searched:
        standardized columns (ranks, with ``"spearman"``), so that units do not matter;
        or, with None, the columns as they are, for those who will use the picks so.
        Nothing else depends on units, ``weights="variance"`` aside.
    weights : {"robust", "variance"}, mapping or array-like, default="robust"
        What each feature counts where the picks rebuild it. ``"robust"``: alike, but up
        to half as much if others do not predict it, and less if few samples hold its
        variance in a table of such features, as words are. ``"variance"``: by the
        variance that it shares with other features, for columns of one unit
        (expression, spectra, pixels, fields). A number for each column; a mapping or a
        pandas Series names some features, others count 1.
    objective : {"balanced", "linear", "neighbors"}, default="balanced"
        What the picks are for: to predict the other features by linear models, to find
        similar samples, or both.
    {include}
    {exclude}
    {cost}
    {groups}
    n_ranked : int, "auto" or None, default=None
        How many features are picked one after another, at least as many as
        `n_features_to_select` asks for; None: that number. ``"auto"``: at least 64, and
        up to 512 where the suggestion needs them, as ``n_features_to_select="auto"``
        does in any case. The others are ordered by what each would add after the last
        pick.
    backend : str, default="auto"
        Where it is computed: ``"numpy"`` (the cores of this machine), ``"torch"`` or a
        torch device (``"cuda"``, ``"cuda:1"``, ``"torch:cpu"``). ``"auto"`` is a GPU
        where torch sees one, the table has 5 million entries and fits into its memory,
        otherwise the cores.
    max_memory : int, float or str, default=None
        What the fit may take beside a table in memory, in bytes or as text such as
        ``"2 GB"``. Fewer rows are drawn then. None: enough for 4,096 rows of a table in
        memory, about 2 GB for others.
    n_jobs : int, default=None
        Number of threads; -1 and None mean all cores. No result depends on it.

    Attributes
    ----------
    order_ : ndarray of int of shape (n_features_in_,)
        All features, best first: the picks, then the others, excluded ones and
        constant columns last.
    n_ranked_ : int
        How many features were picked.
    n_drawn_ : int
        From how many rows they were picked: all, or a sample that is drawn by content.
        Correlations of drawn rows are off by up to ``2 / sqrt(n_drawn_)``, mostly.
    scores_ : ndarray of shape (n_features_in_,)
        What each pick added, made falling; what each other feature would add now.
    {feature_importances_}
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps: the first of `order_`.
    {n_features_}
    explained_ : ndarray of shape (n_ranked_,)
        The share of the table that the first pick, the first two, … explain, by ridge
        regression with each sample left out: like the cumulative explained variance
        of principal components, of samples not seen. See Notes.
    n_samples_explained_ : int
        How many samples were left out: all, or 4,096 that are drawn of more.
    weights_ : ndarray of shape (n_features_in_,)
        What each feature counts there; they sum to 1. A pick explains that much by
        itself.
    n_features_suggested_ : int or None
        How many picks are enough, see `suggest`; None if no small subset represents
        the table, or if more picks are needed to decide.
    representative_ : ndarray of int of shape (n_features_in_,)
        The selected pick that represents each feature, by position, see `represent`;
        -1 where there is none, as for constant columns.
    representative_corr_ : ndarray of shape (n_features_in_,)
        The correlation of each feature with it; NaN where there is none.
    members_ : dict of int to ndarray of int
        For each selected pick, in order, the other features that it represents, the
        closest first.
    reconstruction_error_ : ndarray of shape (n_features_in_,)
        How far `reconstruct` is off in each column, each sample left out: the root of
        the mean squared error, as a share of the standard deviation. 1 is about what
        the mean of the column achieves; 0 for selected and constant columns.
    gains_ : ndarray of shape (n_ranked_,)
        What each pick added to what the search maximizes, the mean of its shares.
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
    Each pick raises two shares of the table, each measured on samples that were left
    out, one after the other. With S the picks:

    - linear, the share of all features, weighted, that ridge regression on S predicts:
      column subset selection [1]_ with leave-one-out errors [2]_;
    - by neighbors: the share of the 32 leading principal components of the table that
      the mean of the five nearest other samples, by the columns S, rebuilds.

    The 32 features that add most to the linear share are candidates. Picked is the one
    that adds most to both, each gain divided by how much the best candidate exceeds the
    median one. The second share counts less for the first four picks: who is near in
    one column is hardly ever near in all. ``objective="linear"`` takes the first share
    alone; with ``"neighbors"`` the second one counts twice. A feature for which a
    sample would have a leverage of more than 0.3 of what is left to it comes after all
    others. Where no feature would lower the error of samples left out, the penalty of
    the regression, five samples at first, is raised.

    Picks are nested: the best 16 start with the best 8. Neither units (with the default
    `scale`) nor the order of rows matter; the order of columns matters only among equal
    ones, of which the first is picked. Neighbors are searched among 512 samples, and at
    least 64 are rebuilt. Of more than 4,096 samples these are drawn; with up to 1,024
    features the linear share is that of all samples then. What is drawn depends on the
    content of samples, with a fixed seed.

    It takes O(m·n) for each pick after O(m·n·min(m, n)) for the first, with m the
    samples that are used. A float64 copy of these is kept, and two in float32 that find
    candidates; gains of candidates are computed in float64. A sparse or stored table is
    read in three passes, and only the drawn samples are in memory, dense.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection
       for unsupervised learning. Knowledge and Information Systems 35, 2013.
    .. [2] D. M. Allen. The relationship between variable selection and data
       augmentation and a method for prediction. Technometrics 16, 1974.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import Cover
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> cover = Cover().fit(X)
    >>> list(X.columns[cover.order_[:3]])
    ['mean concave points', 'mean fractal dimension', 'worst texture']
    >>> cover.explained_[:3].round(3)
    array([0.412, 0.569, 0.635])
    >>> cover.n_features_suggested_
    5
    >>> len(cover.members_[cover.order_[0]])
    12
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
    scale: str | None = "standard"
    weights: Any = "robust"
    objective: str = "balanced"
    include: Any = None
    exclude: Any = None
    cost: Any = None
    groups: Any = None
    n_ranked: int | str | None = None
    backend: str = "auto"
    max_memory: float | str | None = None
    n_jobs: int | None = None

    def _fit(self, X: Any) -> None:
        table = check_table(self, X, lazy=True)
        rows = draw_rows(table, self._bytes())
        constant = rows.constant
        if constant.all():
            raise DataError("All columns are constant: there is nothing to rank.")
        names = names_of(self)
        constraints = self._allowed(constant)
        n_select = self._n_select(constraints)
        found = rank_by_cover(
            rows,
            constraints,
            n_select=n_select,
            n_picks=self._n_picks(constraints, n_select),
            until_settled="auto" in (n_select, self.n_ranked),
            judges=not self._for_order,
            weights=read_weights(names, constant, self.weights),
            device=choose_device_for(self._place(), rows.X.shape),
            **self._options(),
        )
        self.n_drawn_ = len(rows.X)
        self._set_attributes(found, constant)
        is_asked = n_select == "auto" and not self._for_order
        if is_asked and self.n_features_suggested_ is None:
            n = self.n_features_
            text = sentences.nothing_suggested(n, self._is_subset)
            warnings.warn(text, DegenerateRankingWarning, stacklevel=4)

    def _bytes(self) -> int | None:
        return None if self.max_memory is None else parse_bytes(self.max_memory)

    def _options(self) -> dict[str, Any]:
        """Return the arguments of `rank_by_cover` that need no table."""
        return {
            "objective": self.objective,
            "n_threads": count_threads(self.n_jobs),
            "ranks": self.similarity == "spearman",
            "in_own_units": self.scale is None,
        }

    def plan(self, X: Any) -> dict[str, Any]:
        """Return what `fit` will take, without doing it.

        Smaller tables of random numbers are ranked and timed, and a part of `X` is read
        where rows are drawn; the rest is arithmetic. Where picks hardly explain other
        features, a fit takes longer: it compares them with those of tables whose
        columns are permuted. It is about the cores of this machine; another `backend`
        is an error.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table.

        Returns
        -------
        plan : dict
            ``n_features``, ``n_examples``, ``n_drawn`` (the rows from which features
            are picked), ``n_picks`` (with ``"auto"`` the fewest), ``n_threads``,
            ``memory`` in bytes beside the table, and ``seconds``.
        """
        place = self._place()
        if place.kind not in ("auto", "numpy"):
            raise UsageError(
                "Time and memory can be predicted for the cores of this machine only, "
                "not for {}.",
                place.given,
                Setting("backend", "numpy"),
                remedy="Set {1}.",
            )
        table = check_table(self, X, lazy=True)
        n, wanted = self.n_features_in_, self.n_features_to_select
        selected = number_to_select(wanted, n) if wanted != "auto" else None
        n_picks = how_many(self.n_ranked, selected, n)
        options = self._options()
        found = plan_cover(table, n_picks, self._bytes(), **options)
        return {"ranker": "cover", **found, "n_threads": options["n_threads"]}

    def _set_attributes(self, found: CoverRanking, constant: NDArray[np.bool_]) -> None:
        names = names_of(self)
        self._diagnosis = ""
        self._set_scores(found.scores, last=found.last, n_selected=found.n_selected)
        self.constant_ = constant
        self.n_ranked_ = len(found.order)
        self.gains_ = found.gains
        self.explained_ = found.curve.explained
        self.n_samples_explained_ = found.curve.n_samples
        self.weights_ = found.weights
        self._curve, self._is_subset = found.curve, found.is_subset
        self._is_settled, self._closest = found.is_settled, found.closest
        self._rebuild = found.rebuild
        # Those that are selected without being picked are known, too.
        self.reconstruction_error_ = np.where(self.support_, 0.0, found.rebuild.errors)
        self.n_features_suggested_ = self.suggest()
        self._k, self._n_samples = found.n_representatives, found.n_samples
        represented = self.represent()
        self.representative_ = by = represented.representative
        self.representative_corr_ = represented.correlation
        self.members_ = represented.members
        adjacency = star(represented)
        known = np.array([str(names[j]) if j >= 0 else "" for j in by], object)
        self.network_ = AttributeNetwork(
            adjacency=adjacency,
            names=names,
            scores=self.scores_,
            ranking=self.ranking_,
            threshold=np.nan,
            n_edges=adjacency.nnz // 2,
            representation=Representation(by, represented.correlation, known),
            _origin=Origin(
                read=TableOfFit(self, ranks=self.similarity == "spearman"),
                comparison={"similarity": "abs-correlation"},
                settings=Settings(),
                columns=np.arange(len(names)),
                n_jobs=self.n_jobs,
            ),
        )

    def suggest(self, share: float = ENOUGH) -> int | None:
        """Return how many picks are enough to explain the other features.

        Parameters
        ----------
        share : float, default=0.95
            The share, above 0 and at most 1, of what the picks worth their place
            explain of other features: `explained_` less the `weights_` of the picks,
            at the largest number of them of which each adds a fifth of its own weight
            there, as chance lets it add nearly that.

        Returns
        -------
        k : int or None
            The smallest number of picks that reaches it. None where picks explain no
            more of other features than in tables whose columns are permuted, each for
            itself (99th percentile): no small subset represents the table. None, too,
            where more picks may explain more.
        """
        check_is_fitted(self)
        is_fine = 0.0 < share <= 1.0
        check_value("share", share, is_fine, "give a share above 0 and at most 1.")
        if not (self._is_subset and self._is_settled):
            return None
        return self._curve.reaching(share) or None

    def explained_by_components(
        self, X: Any, n_components: int | None = None
    ) -> NDArray[np.float64]:
        """Return which share of the table its principal components explain.

        To compare `explained_` with: the components of nine tenths of the samples
        explain the other tenth, ten times over. Each component uses all columns, and
        is usually, but not always, above as many picks.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            The table of the fit. Of more samples than 512, that many are drawn.
        n_components : int, default=None
            How many components; None: `n_ranked_`.

        Returns
        -------
        explained : ndarray of shape (n_components,)
            Of the first component, the first two, …; features count as in `weights_`.
        """
        check_is_fitted(self)
        k = self.n_ranked_ if n_components is None else n_components
        check_value("n_components", k, k >= 1, "give a number from 1 on.")
        rows = draw_rows(TableOfFit(self)(X, lazy=True), self._bytes())
        ranks = self.similarity == "spearman"
        return components_explain(rows.X, self.weights_, k, ranks=ranks)

    def represent(self, k: int | None = None, level: float = LEVEL) -> Representatives:
        """Return which of the first picks represents each feature.

        Parameters
        ----------
        k : int, default=None
            How many picks, at most `n_ranked_`; None: those selected.
        level : float, default=0.05
            A pick represents the features that resemble it more than any other pick,
            if their correlation is significant at ``level / k``: independent normal
            columns would have a larger one with any of k picks with that probability
            at most, `level` in all.

        Returns
        -------
        Representatives
            ``representative`` and ``correlation`` of each feature (-1 and NaN where no
            pick represents it), ``members`` of each pick, and ``floor``, the least
            absolute correlation that counts.
        """
        check_is_fitted(self)
        k = self._k if k is None else k
        is_fine = 1 <= k <= self.n_ranked_
        check_value("k", k, is_fine, f"give a number from 1 to {self.n_ranked_}.")
        is_fine = 0.0 < level <= 1.0
        check_value("level", level, is_fine, "give a level above 0 and at most 1.")
        return self._closest.represent(k, level, self.n_features_in_)

    def reconstruct(self, X: Any) -> Any:
        """Return the whole table from its selected columns.

        Every other column is predicted by ridge regression on the selected picks, the
        one that `explained_` measures with each sample left out;
        `reconstruction_error_` says how far it is off. Constant columns keep their
        value. After ``similarity="spearman"`` values are predicted, not ranks, by a
        regression of the same kind.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features_)
            The selected columns, in the order of `transform`, in their own units.

        Returns
        -------
        X_all : ndarray or data frame of shape (n_samples, n_features_in_)
            All columns in their own units. A pandas or polars data frame with the
            names of the fit where X is one.
        """
        check_is_fitted(self)
        names, chosen = names_of(self), np.flatnonzero(self.support_)
        known = names[chosen] if hasattr(self, "feature_names_in_") else None
        which = "the columns that transform returns"
        values = check_part(X, known, len(chosen), which)
        at = np.searchsorted(chosen, self._rebuild.picks)
        table = self._rebuild.predict(values[:, at])
        table[:, chosen] = values
        return like(X, table, names)

    def inverse_transform(self, X: Any) -> Any:
        """Return the whole table from its selected columns; the same as `reconstruct`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features_)
            The selected columns.

        Returns
        -------
        X_original : ndarray or data frame of shape (n_samples, n_features_in_)
            A table as wide as that of the fit.
        """
        return self.reconstruct(X)

    def sentences(self) -> list[str]:
        """Return what there is to say about the table, a sentence or two each.

        How many columns are enough and what they explain, how many features no pick
        represents, and by which samples that was measured where some were drawn.
        """
        said = [
            self.summary(),
            self._represented(),
            sentences.sampled(self.n_samples_explained_, self._n_samples),
        ]
        return [sentence for sentence in said if sentence]

    def _represented(self) -> str:
        found, varied = self.represent(), ~self.constant_
        n_left = int(np.sum((found.representative < 0) & varied))
        n = int(varied.sum())
        return sentences.represented(n, n_left, self._k, found.floor, LEVEL)

    def summary(self) -> str:
        """Return in words how many columns are enough, and what they explain."""
        check_is_fitted(self)
        return sentences.how_many(
            self.explained_.tolist(),
            int((~self.constant_).sum()),
            self.n_features_suggested_,
            is_subset=self._is_subset,
        )

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        if is_sparse or self.similarity != "correlation":
            return None
        return Setting("missing", "pairwise", ranker="FRANe")

    def _columns(self, names: Any) -> dict[str, Any]:
        by = self.representative_[self.order_]
        members = [len(self.members_.get(int(j), ())) for j in self.order_]
        increase = np.full(len(self.order_), np.nan)
        increase[: self.n_ranked_] = np.diff(self.explained_, prepend=0.0)
        explained = np.full(len(self.order_), np.nan)
        explained[: self.n_ranked_] = self.explained_
        # What the search maximizes is another number than what is explained.
        columns = super()._columns(names)
        del columns["score"]
        return {
            **columns,
            "explained": explained,
            "increase": increase,
            "representative": [str(names[k]) if k >= 0 else None for k in by],
            "correlation": self.representative_corr_[self.order_],
            "n_members": members,
        }

    def _for_notebook(self, best: NDArray[np.intp]) -> tuple[str, dict[str, list[str]]]:
        remark = f"<div>{escape(self.summary())}</div>"
        explained = [sentences.tenths(share) for share in self.explained_[: len(best)]]
        explained += ["–"] * (len(best) - len(explained))
        roles = [self._role(int(j)) for j in best]
        return remark, {"explained": explained, "representation": roles}

    def _role(self, j: int) -> str:
        """Return how many others a feature represents, or what represents it."""
        by, r = self.representative_[j], self.representative_corr_[j]
        if by == j:
            n = len(self.members_[j])
            return f"represents {n:,}" if n else "represents itself"
        if by >= 0:
            return f"by {names_of(self)[by]} ({signed(r)})"
        return "–" if self.constant_[j] else "not represented"


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
    needed = 8 * (n * (2 * m + min(m, SAMPLES)) + 2 * m * min(m, n)) + _BLOCKS
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
