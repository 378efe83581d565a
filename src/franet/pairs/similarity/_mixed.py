"""Numbers and categories on one scale, as tiles of ``d = 1 - s``.

Each column stands for a space: a number for the line of its standardized values, a
category for the centred indicators of its levels, of one dimension less than it has
levels. With orthonormal bases ``B`` of two spaces, ``‖BᵀC‖²`` is ``r²`` for two
numbers, the correlation ratio ``η²`` for a number and a category, and ``χ²/m`` for two
categories. Bases of categories are never made: sums over levels and counts give the
same, in memory that does not grow with the number of levels.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import DataError, Message
from franet.pairs.coded import CodedTable, column_at
from franet.pairs.similarity._standardize import (
    constant_columns,
    feature_rows,
    standardize,
)
from franet.pairs.similarity.kernels import level_squares, table_squares
from franet.pairs.tiles import PairSource, block_size

# A corrected square up to this is zero: it is the difference of two larger numbers.
TINY = 1e-12


def open_mixed(table: CodedTable) -> tuple[MixedSource, NDArray[np.bool_]]:
    """Return the source of a table's similarities, and which columns it leaves out."""
    constant = constant_columns(table.values)
    # Of each category, 0 for numbers.
    n_levels = np.zeros(table.shape[1], np.intp)
    for j in np.flatnonzero(table.is_category):
        # Examples may have been drawn from a larger table: some levels are not here.
        n_levels[j] = len(np.unique(table.values[:, j]))
    # The levels of such a column explain whatever there is to explain. Two levels in
    # two rows are an ordinary number.
    unique = (n_levels == table.shape[0]) & (n_levels > 2)
    left_out = constant | unique
    if left_out.all():
        raise DataError(
            "Every column is constant or holds a different text in every row: there is "
            "nothing to compare. Drop such columns, and pass others."
        )
    columns = np.flatnonzero(~left_out)
    source = MixedSource(table.values, columns, n_levels[columns])
    source.identifiers = np.flatnonzero(unique)
    return source, left_out


class IdentifierWarning(Message, UserWarning):
    """Columns are left out, because no two of their values are equal."""


def warn_of_identifiers(source: Any, names: Any) -> None:
    """Warn of columns that were left out because no two of their values are equal."""
    found = getattr(source, "identifiers", ())
    if not len(found):
        return
    shown = [column_at(int(j), names) for j in found[:5]]
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    warning = IdentifierWarning(
        f"{', '.join(['{}'] * len(shown))}{more}: every row has a text of its own, "
        "like an identifier. Such columns are left out, score 0 and rank last.",
        *shown,
        remedy="Drop them.",
    )
    # Past `fit` and scikit-learn's wrapper around it, to the caller.
    warnings.warn(warning, stacklevel=5)


class MixedSource(PairSource):
    """Tiles of ``1 - s`` between numbers and categories.

    ``s² = 1 - (1 - v)·((m - 2)/(m - 1 - D))²``, where ``v`` is ``r²``, ``η²`` or
    Cramér's ``V²`` and ``D`` the larger number of dimensions; at least 0.

    Parameters
    ----------
    values : ndarray of shape (m, n_columns)
        The table, with the levels of categories as numbers from 0.
    columns : ndarray of int
        The columns that take part, none of them constant.
    n_levels : ndarray of int
        Of each of these, the number of its levels; 0 for numbers.

    Attributes
    ----------
    identifiers : ndarray of int
        Columns of the table that were left out because all their values differ.
    """

    scale = 1.0
    top = 1.0
    identifiers: NDArray[np.intp] = np.empty(0, np.intp)

    def __init__(
        self,
        values: NDArray[np.float64],
        columns: NDArray[np.intp],
        n_levels: NDArray[np.intp],
    ) -> None:
        self.n = len(columns)
        self.block = block_size(self.n)
        m = values.shape[0]
        padded = self._n_padded
        self._values = feature_rows(values, columns, padded, np.float64)
        # A category of two levels is a number: r, η and V are the same then.
        many = np.flatnonzero(n_levels > 2)
        self._categories = _Categories.of(self._values[many])
        self._values[many] = 0.0
        standardize(self._values)
        self._place = np.full(padded, -1)
        self._place[many] = np.arange(len(many))
        self._dimensions = np.ones(padded)
        self._dimensions[many] = n_levels[many] - 1
        self._price = np.zeros(padded)
        free = m - 1 - self._dimensions[many]
        self._price[many] = ((m - 2) / free) ** 2 - 1.0
        self.nbytes = sum(a.nbytes for a in (self._values, *self._categories))

    def squares(self, i: int, j: int) -> NDArray[np.float64]:
        """Return ``r²``, ``η²`` or ``χ²/m`` of block `i` against block `j`."""
        F = self._values[self._rows(i)] @ self._values[self._rows(j)].T
        np.multiply(F, F, out=F)
        self._fill_numbers(i, j, F)
        if i == j:
            category = self._place[self._rows(i)] >= 0
            mirrored = F[np.ix_(category, ~category)].T
            F[np.ix_(~category, category)] = mirrored
        else:
            self._fill_numbers(j, i, F.T)
        self._fill_tables(i, j, F)
        return F

    def _fill_numbers(self, i: int, j: int, F: NDArray[np.float64]) -> None:
        """Write the rows of the categories of block `i` against numbers of `j`."""
        place = self._place[self._rows(i)]
        numbers = np.flatnonzero(self._place[self._rows(j)] < 0)
        if not (place >= 0).any() or not len(numbers):
            return
        Z = np.ascontiguousarray(self._values[self._rows(j)][numbers].T)
        eta = np.empty(len(numbers))
        _, order, starts, at = self._categories
        for row in np.flatnonzero(place >= 0):
            c = place[row]
            level_squares(order[c], starts[at[c] : at[c + 1]], Z, out=eta)
            F[row, numbers] = eta

    def _fill_tables(self, i: int, j: int, F: NDArray[np.float64]) -> None:
        """Write the squares of the categories of block `i` and those of `j`."""
        down, across = self._place[self._rows(i)], self._place[self._rows(j)]
        cols = np.flatnonzero(across >= 0)
        for row in np.flatnonzero(down >= 0):
            ahead = cols[cols >= row] if i == j else cols
            phi = np.empty(len(ahead))
            table_squares(*self._categories, down[row], across[ahead], out=phi)
            F[row, ahead] = phi
            if i == j:
                F[ahead, row] = phi

    def tile(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the dissimilarities of block `i` against block `j`."""
        a, b = self._rows(i), self._rows(j)
        F = self.squares(i, j)
        # What the finer column tells of the coarser one: V² for two categories.
        F /= np.minimum(self._dimensions[a, None], self._dimensions[b])
        np.minimum(F, 1.0, out=F)
        # The larger number of dimensions has the higher price.
        price = np.maximum(self._price[a, None], self._price[b])
        F -= (1.0 - F) * price
        F[(price > 0.0) & (F <= TINY)] = 0.0
        return np.subtract(1.0, np.sqrt(F, out=F), out=F)


class _Categories(NamedTuple):
    """Categories, with their rows sorted by level.

    Attributes
    ----------
    codes : ndarray of shape (n_categories, m)
        The level of each row, counted from 0.
    order : ndarray of shape (n_categories, m)
        The rows, level by level.
    starts : ndarray of int
        For one category after the other, where in its order each level starts, and
        where the last one ends.
    at : ndarray of shape (n_categories + 1,)
        Where each category begins in `starts`.
    """

    codes: NDArray[np.int32]
    order: NDArray[np.int32]
    starts: NDArray[np.intp]
    at: NDArray[np.intp]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> _Categories:
        """Return the categories whose levels are the whole numbers in each row."""
        codes = np.empty(values.shape, np.int32)
        order = np.empty(values.shape, np.int32)
        starts, at = [np.empty(0, np.intp)], [0]
        for c, row in enumerate(values.astype(np.intp)):
            _, codes[c], size = np.unique(row, return_inverse=True, return_counts=True)
            order[c] = np.argsort(row, kind="stable")
            starts.append(np.append(0, np.cumsum(size)))
            at.append(at[-1] + len(starts[-1]))
        return cls(codes, order, np.concatenate(starts), np.array(at))
