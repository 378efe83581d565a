"""What every ranker shares: scores, ranks, and the features it keeps."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from franet._validation import number_to_select
from franet.network._html import ranking_html
from franet.ranking import rank_scores

__all__ = ["FeatureRanker"]


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

    n_features_to_select: int | float | None
    n_features_in_: int
    # Why the ranking says little, in words; for the report, where a warning was missed.
    _diagnosis: str = ""

    def _set_scores(
        self,
        scores: NDArray[np.float64],
        last: NDArray[np.bool_] | None = None,
        second: NDArray[np.float64] | None = None,
    ) -> None:
        self.scores_ = scores
        self.ranking_ = rank_scores(scores, last, second)
        self.n_features_ = number_to_select(
            self.n_features_to_select, self.n_features_in_
        )
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
