"""What every ranker shares: scores, ranks, and the features it keeps."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    validate_parameter_constraints,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import check_value
from franet._common.docs import entries, shared_docs
from franet._common.files import check_apart
from franet._common.joints import connected
from franet._common.optional import require
from franet.engine.device import Place, parse_place, portable
from franet.estimators._callbacks import telling
from franet.estimators._stability import StabilityMixin
from franet.estimators._validation import (
    fit_context,
    fitted_table,
    names_of,
    number_to_select,
    stays_polars,
)
from franet.exceptions import Setting, UsageError
from franet.network._html import SHOWN, best_html
from franet.pairs.columns._open import as_numpy, known_files
from franet.search.ranking import rank_scores

if TYPE_CHECKING:
    # With a base of unknown type, a dataclass could be given parameters of any name.
    from franet.estimators._callbacks import OlderCallbacks as CallbackSupportMixin

    class BaseEstimator:
        """That of scikit-learn, of which any attribute may be asked."""

        def __getattr__(self, name: str) -> Any: ...

        __getstate__: Any
        __sklearn_tags__: Any
        _repr_html_inner: Any
        _repr_mimebundle_: Any

    class SelectorMixin(BaseEstimator):
        """That of scikit-learn."""

        transform: Any
        inverse_transform: Any

else:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin

    from franet.estimators._callbacks import CallbackSupportMixin


def _rebuilds(ranker: Any) -> bool:
    """Tell whether there is a table to be rebuilt."""
    if getattr(ranker, "similarity", None) == "precomputed":
        raise AttributeError(
            "similarity='precomputed' has no score: similarities cannot be rebuilt. "
            "Fit a ranker to the table."
        )
    return True


class ParameterError(UsageError, InvalidParameterError):
    """scikit-learn's error about the value of a parameter, which is a field here."""


class Need(NamedTuple):
    """What a parameter needs of another one to have a meaning."""

    default: Any
    other: str
    values: tuple[Any, ...]


class FeatureSelector(SelectorMixin, BaseEstimator):
    """A base for what keeps some columns of a table: ``support_`` says which."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    # What else can be done about columns of text.
    _for_text: ClassVar[Setting | None] = None

    support_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _validate_params(self) -> None:
        """Check each parameter."""
        for name, value in self.get_params(deep=False).items():
            try:
                validate_parameter_constraints(
                    self._parameter_constraints, {name: value}, type(self).__name__
                )
            except InvalidParameterError as err:
                rest = str(err).partition(f"'{name}'")[2]
                raise ParameterError("The '{}'{}", Setting(name), rest) from None

    def transform(self, X: Any) -> Any:
        """Keep the selected features of a table.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            The table.

        Returns
        -------
        X_r : array of shape (n_samples, n_features_)
            Its selected columns, in the order of the table; of NumPy, or as
            `set_output` says.
        """
        if getattr(self, "similarity", None) == "mixed" and stays_polars(self, X):
            return X[:, self.support_.nonzero()[0].tolist()]
        # Of NumPy, and so are results. Some versions take the wrong columns otherwise.
        with config_context(array_api_dispatch=False), fitted_table(self, X) as table:
            return super().transform(table)

    def inverse_transform(self, X: Any) -> Any:
        """Put selected features back in their places, among columns of zeros.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features_)
            The selected columns.

        Returns
        -------
        X_original : array of shape (n_samples, n_features_in_)
            A table as wide as that of the fit.
        """
        with config_context(array_api_dispatch=False):
            return super().inverse_transform(as_numpy(X))

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        """Return what else can be done about missing values."""
        return None

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        return tags


class FeatureRanker(StabilityMixin, CallbackSupportMixin, FeatureSelector):
    """A base for rankers of features.

    A ranker computes scores in `_fit` and calls `_set_scores`; selecting,
    names and pandas/polars output come from scikit-learn's ``SelectorMixin``. A line
    ``{name}`` of its docstring becomes the entry of that name in the docstring of this
    class or of one between them, and ``{attributes}`` all attributes named here.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best. Scores within 1e-9 of each other are equal.
    order_ : ndarray of int of shape (n_features_in_,)
        All features, best first.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps.
    n_features_ : int
        How many those are.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
    }

    # Parameters that apply with some values of another parameter only.
    _needs: ClassVar[dict[str, Need]] = {}

    # What a ranker with the parameter `backend` can run on.
    _backends: ClassVar[tuple[str, ...]] = ()
    # What a fit finds besides scores: nothing, `network_` of similar features, or one
    # in which picks represent the others.
    _finds: ClassVar[Literal["ranking", "network", "representatives"]] = "ranking"

    n_features_to_select: int | float | str | None
    backend: Any
    # Whether a fit is asked for the order alone, as those of half-samples are.
    _for_order: bool = False
    # Why the ranking says little, in words; for the report, where a warning was missed.
    _diagnosis: str = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        bases = [base for base in cls.__mro__[:0:-1] if issubclass(base, FeatureRanker)]
        texts = {k: v for base in bases for k, v in entries(base.__doc__).items()}
        common = entries(FeatureRanker.__doc__).items()
        every = "\n".join(text for name, text in common if name.endswith("_"))
        shared_docs(attributes=every, **texts)(cls)

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, SciPy CSR or CSC. Text and categories
            need ``FRANe(similarity="mixed")``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        with telling(self, X, y):
            self._fit(X)
        return self

    @abstractmethod
    def _fit(self, X: Any) -> None:
        """Set ``scores_`` and what else is found in a table."""

    def _validate_params(self) -> None:
        """Check each parameter, and refuse one that would be ignored."""
        super()._validate_params()
        if self._backends:
            self._place()
        for name, need in self._needs.items():
            value, found = getattr(self, name), getattr(self, need.other)
            if value != need.default and found not in need.values:
                raise UsageError(
                    "{} applies with {}{} only, not with {!r}.",
                    Setting(name, value),
                    Setting(need.other, need.values[0]),
                    "".join(f" or {item!r}" for item in need.values[1:]),
                    found,
                    Setting(name),
                    remedy="Leave out {4}.",
                )

    def _place(self) -> Place:
        """Return where a ranker with the parameter `backend` runs."""
        return parse_place(self.backend, self._backends)

    def _set_scores(
        self,
        scores: NDArray[np.float64],
        last: NDArray[np.bool_] | None = None,
        second: NDArray[np.float64] | None = None,
        n_selected: int | None = None,
    ) -> None:
        self.scores_ = scores
        self.ranking_ = rank_scores(scores, last, second)
        self.order_ = np.argsort(self.ranking_)
        if n_selected is None:
            n_selected = number_to_select(
                self.n_features_to_select, self.n_features_in_
            )
        self.n_features_ = n_selected
        self.support_ = self.ranking_ <= self.n_features_

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The scores, under scikit-learn's name."""
        check_is_fitted(self)
        return self.scores_

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the ranking as a data frame, best feature first.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Whose data frame.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Columns ``rank``, ``feature``, ``score`` and ``selected``; after `FRANe`
            also ``n_neighbors``, the number of edges. After `Cover`, in place of the
            score, ``explained`` by a pick and those before it and its ``increase``, and
            ``representative``, ``correlation`` (with it) and ``n_members``.

        Examples
        --------
        >>> from franet.rankers import Variance
        >>> Variance(1).fit([[1, 0], [2, 4], [3, 9]]).to_frame()
           rank feature      score  selected
        0     1      x1  13.555556      True
        1     2      x0   0.666667     False
        """
        check_is_fitted(self)
        is_fine = library in ("pandas", "polars")
        check_value("library", library, is_fine, "choose 'pandas' or 'polars'.")
        frames = require(library, "to_frame", library)
        return frames.DataFrame(self._columns(names_of(self)))

    def _columns(self, names: Any) -> dict[str, Any]:
        """Return the ranking as columns, best feature first."""
        order = self.order_
        return {
            "rank": np.arange(1, len(order) + 1),
            "feature": [str(names[j]) for j in order],
            "score": self.scores_[order],
            "selected": self.support_[order],
        }

    def report(
        self, path: Any, X: Any = None, *, top: int = 500, stability: Any = None
    ) -> None:
        """Write the ranking as one HTML page, with the network where there is one.

        A file that is there is replaced, unless it is the one that X is read from.

        Parameters
        ----------
        path : path-like
            The file: a page that needs nothing else if its name ends in .html, the
            data of the page if it ends in .json.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The table of the fit, for distributions and similarities.
        top : int, default=500
            How many features, best first, are listed.
        stability : Stability, default=None
            How sure the ranking is: what `stability` returned, such as
            ``ranker.stability(X)``. Without it the page says that this was not
            measured.
        """
        page = connected("report")
        page.check_report(path, force=True)
        check_apart(path, known_files(X))
        page.write(
            page.summarize(self, X, top=top, stability=stability), path, force=True
        )

    @available_if(_rebuilds)
    def score(self, X: Any, y: Any = None) -> float:
        """Tell how well the selected features rebuild a table, such as held-out rows.

        The table is cut into five parts. The five nearest rows of the other parts, by
        the selected columns, predict all columns of a row. It is what
        `franet.evaluation.reconstruction` returns by default; searches over
        parameters maximize it.

        Parameters
        ----------
        X : array-like, sparse matrix or AnnData of shape (n_samples, n_features)
            At least four rows, without missing values. Of more than 2,000 so many are
            drawn, with a fixed seed.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Minus the mean absolute error, each column in its standard deviations:
            0 is best.
        """
        check_is_fitted(self)
        score: float = connected("evaluation").reconstruction(self, X)
        return score

    def __sklearn_clone__(self) -> Any:
        if not hasattr(getattr(self, "backend", None), "submit"):
            return super().__sklearn_clone__()
        # A Dask client is a live connection, which cannot be copied: clones share it.
        bare: Any = copy(self)
        bare.backend = "dask"
        fresh: Any = super(FeatureRanker, bare).__sklearn_clone__()
        return fresh.set_params(backend=self.backend)

    def __getstate__(self) -> dict[str, Any]:
        return portable(super().__getstate__())

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._ranking_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._ranking_html()
        return bundle

    def _ranking_html(self) -> str:
        """Return the best features of a fitted ranker; nothing before the fit."""
        if not hasattr(self, "ranking_"):
            return ""
        names, best = names_of(self), self.order_[:SHOWN]
        remark, more = self._for_notebook(best)
        columns = {
            "feature": [str(names[j]) for j in best],
            "rank": [f"{self.ranking_[j]:,}" for j in best],
            **more,
        }
        rows, n = list(zip(*columns.values(), strict=True)), len(names)
        table = best_html(tuple(columns), rows, n, "features")
        return f"<div>The best of {n:,} features{remark}{table}</div>"

    def _for_notebook(self, best: NDArray[np.intp]) -> tuple[str, dict[str, list[str]]]:
        """Return what else a notebook shows: HTML, and columns of the best features."""
        return "", {"score": [f"{self.scores_[j]:.4g}" for j in best]}
