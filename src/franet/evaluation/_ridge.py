"""Whole tables from a list of columns, however these were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import SEVERAL
from franet._common.features import FeatureIndex
from franet.cover._constraints import read_weights
from franet.cover._rebuild import fit_rebuild
from franet.cover._rows import draw_rows
from franet.estimators._base import BaseEstimator
from franet.estimators._validation import (
    check_part,
    check_table,
    like,
    names_of,
)
from franet.exceptions import DataError, Setting, UsageError


class RidgeReconstruction(BaseEstimator):
    """Rebuild a whole table from some of its columns, by ridge regression.

    It is the model that `franet.Cover` rebuilds tables by, for columns that anything
    or anyone else chose. All columns are standardized, and one strength serves all: the
    one by which most is predicted with each sample left out.

    Parameters
    ----------
    columns : sequence of str or int
        The columns that are known, by name or position.
    weights : mapping or array-like of shape (n_features,), default=None
        What each column counts in `explained_` and where the strength is chosen; None:
        all alike. A mapping or a pandas Series names some columns, others count 1.

    Attributes
    ----------
    columns_ : ndarray of int
        The columns that are known, by position.
    penalty_ : float
        The strength, as a share of the sum of squares of a column.
    error_ : ndarray of shape (n_features_in_,)
        The root of the mean squared error of each column, each sample left out, as a
        share of its standard deviation; 0 for known and constant columns.
    explained_ : float
        The share of the table that the columns explain, each sample left out: `Cover`
        has the same for its picks, with weights of its own.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet.evaluation import RidgeReconstruction
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> mine = ["mean radius", "mean texture", "mean smoothness"]
    >>> model = RidgeReconstruction(mine).fit(X[:400])
    >>> print(f"{model.explained_:.3f}")
    0.549
    >>> rebuilt = model.predict(X.loc[400:, mine])
    >>> rebuilt.shape
    (169, 30)
    """

    def __init__(self, columns: Sequence[str | int], *, weights: Any = None) -> None:
        self.columns = columns
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how the columns predict all others.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted model.
        """
        rows = draw_rows(check_table(self, X, lazy=True))
        names = names_of(self)
        index = FeatureIndex(names)
        several = SEVERAL.accepts(self.columns)
        if not several or not len(self.columns):
            given = Setting("columns", self.columns)
            remedy = "Give a list of names or positions."
            raise UsageError("{} names no columns.", given, remedy=remedy)
        self.columns_ = np.array([index.find(one) for one in self.columns], np.intp)
        if len(set(self.columns_)) < len(self.columns_):
            raise UsageError(
                "{} names a column twice.",
                Setting("columns"),
                remedy="Name each column once.",
            )
        constant = rows.constant
        if constant.all():
            raise DataError("All columns are constant: there is nothing to rebuild.")
        if isinstance(self.weights, str):
            raise UsageError(
                "{} must be numbers, one for each column.",
                Setting("weights", self.weights),
            )
        weights = read_weights(names, constant, self.weights)
        assert not isinstance(weights, str)
        found = fit_rebuild(rows.X, self.columns_, weights=weights)
        self._rebuild, self.penalty_, self.error_ = found, found.penalty, found.errors
        self.explained_ = found.explained
        return self

    def predict(self, X: Any) -> Any:
        """Return the whole table from the known columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_columns)
            The known columns, in the order of `columns`, in their own units.

        Returns
        -------
        X_all : ndarray or data frame of shape (n_samples, n_features_in_)
            All columns in their own units. A pandas or polars data frame with the
            names of the fit where X is one.
        """
        check_is_fitted(self)
        names = names_of(self)
        known = names[self.columns_] if hasattr(self, "feature_names_in_") else None
        which = "the columns that `columns` names"
        values = check_part(X, known, len(self.columns_), which)
        return like(X, self._rebuild.predict(values), names)

    def _for_gaps(self, is_sparse: bool) -> Setting | None:
        return None

    _for_text: Setting | None = None
