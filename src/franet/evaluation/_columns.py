"""Columns that somebody chose, judged like the first features of a ranker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from franet._common.features import FeatureIndex
from franet.exceptions import DataError, UsageError


def is_list(given: Any) -> bool:
    """Return whether something is a list of columns, and not a ranker or its name."""
    is_one = isinstance(given, str | bytes) or hasattr(given, "fit")
    return isinstance(given, Iterable) and not is_one


class ChosenColumns:
    """Ranks chosen columns in their order, then the others in that of the table.

    Parameters
    ----------
    columns : list of int
        Positions.

    Attributes
    ----------
    ranking_ : ndarray of int of shape (n_features,)
        1 is the first.
    """

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what a clone is made of."""
        return {"columns": self.columns}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the columns of a table.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.
        """
        n = X.shape[1]
        others = np.setdiff1d(np.arange(n), self.columns)
        self.ranking_ = np.empty(n, np.intp)
        self.ranking_[[*self.columns, *others]] = np.arange(1, n + 1)
        return self


def find_columns(label: str, given: Any, names: Any) -> ChosenColumns:
    """Return a list of columns as something to be judged.

    Parameters
    ----------
    label : str
        What the list is called.
    given : iterable of str or int
        Names or positions, the most important first.
    names : ndarray of str
        The names of the columns of the table.
    """
    if isinstance(given, set | frozenset | dict):
        raise UsageError(
            f"rankers: {label!r} is a {type(given).__name__}, which has no order. Give "
            "a list."
        )
    index, found = FeatureIndex(names), []
    for column in given:
        is_fine = isinstance(column, str | int | np.integer) and column is not True
        if not is_fine or column is False:
            raise UsageError(
                f"rankers: {label!r} holds {column!r}. Give names or positions of "
                "columns."
            )
        try:
            j = index.find(column)
        except DataError as err:
            raise UsageError(f"rankers: {label!r}: {err}") from err
        if j in found:
            raise UsageError(
                f"rankers: {label!r} names {index.names[j]!r} twice. Leave one out."
            )
        found.append(j)
    if not found:
        raise UsageError(f"rankers: {label!r} names no column. Name at least one.")
    return ChosenColumns(found)
