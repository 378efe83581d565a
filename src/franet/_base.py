"""What every ranker shares: scores, ranks, and the features it keeps."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from franet._validation import number_to_select
from franet.network._html import ranking_html
from franet.ranking import rank_scores

if TYPE_CHECKING:
    from franet._stability import Stability

__all__ = ["FeatureRanker", "names_of"]


def names_of(ranker: Any) -> NDArray[Any]:
    """Return the names of the features; ``x0``, ``x1``, … where the table has none."""
    names = getattr(ranker, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(ranker.n_features_in_)])
    return np.asarray(names)


class FeatureRanker(SelectorMixin, BaseEstimator):
    """A base for rankers of features.

    A ranker computes ``scores_`` in `fit` and calls `_set_scores`; selecting,
    names and pandas/polars output come from scikit-learn's ``SelectorMixin``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
    }

    n_features_to_select: int | float | str | None
    n_features_in_: int
    # Why the ranking says little, in words; for the report, where a warning was missed.
    _diagnosis: str = ""

    def _set_scores(
        self,
        scores: NDArray[np.float64],
        last: NDArray[np.bool_] | None = None,
        second: NDArray[np.float64] | None = None,
        n_selected: int | None = None,
    ) -> None:
        self.scores_ = scores
        self.ranking_ = rank_scores(scores, last, second)
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

    def report(
        self, path: Any, X: Any = None, *, top: int = 500, force: bool = False
    ) -> None:
        """Write the ranking as one HTML page, with the network where there is one.

        Parameters
        ----------
        path : path-like
            The file: a page that needs nothing else if its name ends in .html, the
            data of the page if it ends in .json.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The table of the fit, for distributions and similarities.
        top : int, default=500
            How many features, best first, are listed.
        force : bool, default=False
            Whether a file that is there may be replaced.
        """
        from franet.report import check_report, summarise, write

        check_report(path, force=force)
        write(summarise(self, X, top=top), path, force=force)

    def stability(
        self,
        X: Any,
        n_boot: int = 50,
        *,
        top: int | None = None,
        level: float = 0.95,
        method: str = "bootstrap",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> Stability:
        """Tell how sure the ranking is, by ranking samples of the examples.

        The fitted ranker stays as it is: copies of it rank. In each draw columns are
        in random order, and a ranker with a ``random_state`` has another seed, so that
        ties and chance count too.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table of the fit.
        n_boot : int, default=50
            Number of draws.
        top : int, default=None
            How many features count as selected; None: `n_features_`.
        level : float, default=0.95
            The share of the draws that an interval of ranks holds, at the least.
        method : {"bootstrap", "half"}, default="bootstrap"
            As many examples as the table has, with replacement; or half of them
            without, each draw followed by that of the other half.
        random_state : int or None, default=0
            The seed of the draws.
        n_jobs : int, default=None
            Number of threads; -1 and None mean all cores. No result depends on it.

        Returns
        -------
        stability : Stability
            Intervals of ranks, shares of selection, interchangeable features; it
            prints itself.

        Examples
        --------
        >>> from franet.rankers import Variance
        >>> X = [[1, 0, 5], [2, 4, 5], [3, 9, 5], [1, 7, 5], [2, 3, 5]]
        >>> Variance(n_features_to_select=1).fit(X).stability(X, n_boot=20)
        <Stability: 20 draws (bootstrap), first 1 of 3 features, Kuncheva 1.00>
        """
        from franet._stability import measure_stability

        check_is_fitted(self)
        return measure_stability(
            self,
            X,
            n_boot=n_boot,
            top=top,
            level=level,
            method=method,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + ranking_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += ranking_html(self)
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        return tags
