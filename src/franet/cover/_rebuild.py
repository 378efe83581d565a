"""All columns of a table from some of them, by one ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from franet.cover._arrays import Array, beside, blocks_of, host
from franet.cover._explained import explain
from franet.cover._order import order_by_values
from franet.cover._shares import FeatureTable
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.pairs.tiles import TileRunner

Floats = NDArray[np.float64]

# Columns of which float64 copies are made at a time.
_CHUNK = 1024


@dataclass(frozen=True, eq=False)
class Units:
    """Means and deviations of columns, each times a power of two near its largest.

    Attributes
    ----------
    factor, mean, length : ndarray of shape (n,)
        ``x · factor = mean + length · z``, with z of unit length; 0 for a constant.
    """

    factor: Floats
    mean: Floats
    length: Floats

    def standardized(self, X: Any, columns: NDArray[np.intp]) -> Floats:
        """Return values of some columns, centered and as shares of the length."""
        length = np.where(self.length > 0.0, self.length, 1.0)[columns]
        return np.asarray((X * self.factor[columns] - self.mean[columns]) / length)

    def restored(self, Z: Floats) -> Floats:
        """Return all columns in their own units; changes what is given."""
        Z *= self.length
        Z += self.mean
        Z /= self.factor
        return Z


def units_of(X: NDArray[Any]) -> Units:
    """Return the units of the columns of a dense table."""
    n = X.shape[1]
    factor, mean, length = np.empty(n), np.empty(n), np.empty(n)
    for at in range(0, n, _CHUNK):
        part = slice(at, at + _CHUNK)
        values = np.asarray(X[:, part], np.float64)
        factor[part] = powers_of_two(np.abs(values).max(axis=0, initial=0.0))
        values = values * factor[part]
        # A mean rounds, that of a constant too: from the first row it does not.
        mean[part] = values[0] + (values - values[0]).mean(axis=0)
        length[part] = np.sqrt(((values - mean[part]) ** 2).sum(axis=0))
    return Units(factor, mean, length)


@dataclass(frozen=True, eq=False)
class Rebuild:
    """A ridge regression of all columns of a table on some of them.

    Attributes
    ----------
    picks : ndarray of int of shape (k,)
        The columns that predict.
    units : Units
        Means and deviations of all columns.
    factors : tuple of ndarray
        Matrices whose product, of shape (k, n), holds the coefficients: of columns of
        unit length. Two where there are more picks than samples.
    errors : ndarray of shape (n,)
        The root of the mean squared error of each column, each sample left out, as a
        share of its standard deviation; 0 for picks and constant columns.
    penalty : float
        The strength of the regression, as a share of a column's sum of squares.
    explained : float
        The share of the table that the picks explain, each sample left out.
    """

    picks: NDArray[np.intp]
    units: Units
    factors: tuple[Floats, ...]
    errors: Floats
    penalty: float
    explained: float

    def predict(self, X: NDArray[Any]) -> Floats:
        """Return all columns, from the picks in the order of `picks`."""
        Z = self.units.standardized(X, self.picks)
        for factor in self.factors:
            Z = Z @ factor
        table = self.units.restored(Z)
        table[:, self.picks] = X
        return table


def fit_rebuild(
    X: NDArray[Any],
    picks: NDArray[np.intp],
    *,
    weights: Floats | None = None,
    runner: TileRunner | None = None,
) -> Rebuild:
    """Return the regression of all columns of a table on some of them.

    Its strength is that by which most is explained, with each sample left out.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table.
    picks : ndarray of int of shape (k,)
        The columns that predict.
    weights : ndarray of shape (n,), optional
        What each column counts where the strength is chosen; all alike if not given.
    runner : TileRunner, optional
        The threads; no result depends on their number.
    """
    runner, n = runner or TileRunner(1), X.shape[1]
    # Samples in an order by their content: sums do not depend on that of the table.
    Z = feature_rows(X[order_by_values(X)], np.arange(n), n, np.float64)
    standardize(Z)
    weights = np.full(n, 1.0 / n) if weights is None else weights
    penalty = float(explain(Z, weights, picks, runner).penalties[-1])
    return _rebuild(Z, weights, picks, penalty, np.arange(n), X, runner)


def rebuild_from(
    table: FeatureTable,
    picks: NDArray[np.intp],
    penalty: float,
    X: NDArray[Any],
    runner: TileRunner,
) -> Rebuild:
    """Return the regression for a table whose columns are standardized already.

    Parameters
    ----------
    table : FeatureTable
        The columns that take part.
    picks : ndarray of int of shape (k,)
        The features of it that predict.
    penalty : float
        The strength.
    X : ndarray of shape (m, n)
        The table with all columns.
    runner : TileRunner
        The threads.
    """
    known = table.Z, host(table.weights), picks, penalty, table.columns
    return _rebuild(*known, X, runner)


def _rebuild(
    Z: Array,
    weights: Floats,
    picks: NDArray[np.intp],
    penalty: float,
    columns: NDArray[np.intp],
    X: NDArray[Any],
    runner: TileRunner,
) -> Rebuild:
    """Return the regression of all columns of X, of which `columns` are in Z."""
    n, m = Z.shape
    lengths, k = np.empty(n), len(picks)
    with runner.one_blas_thread():
        A = host(Z[picks])
        L = cholesky(A @ A.T + penalty * np.eye(k), lower=True)
        G = solve_triangular(L, A, lower=True)
        h = 1.0 - 1.0 / m - np.einsum("ki,ki->i", G, G)
        # More picks than samples: by way of the samples.
        is_short = k > m
        last = np.zeros((m if is_short else k, X.shape[1]))
        left, there = beside(h, Z), beside(G, Z)

        def regress(part: slice) -> None:
            rows = Z[part]
            along = there @ rows.T
            last[:, columns[part]] = host(rows.T if is_short else along)
            residuals = (rows - along.T @ there) / left
            lengths[part] = np.sqrt(host((residuals * residuals).sum(axis=1)))

        runner.map(regress, blocks_of(Z))
        factors: tuple[Floats, ...]
        if is_short:
            factors = (solve_triangular(L, G, lower=True, trans="T"), last)
        else:
            factors = (solve_triangular(L, last, lower=True, trans="T"),)
    lengths[picks] = 0.0
    errors = np.zeros(X.shape[1])
    errors[columns] = lengths
    units = units_of(X)
    total = float(weights[units.length[columns] > 0.0].sum()) * (m / (m - 1)) ** 2
    # Zero where all that counts is constant among the rows that were drawn.
    explained = 1.0 - float(weights @ lengths**2) / total if total > 0.0 else 0.0
    return Rebuild(columns[picks], units, factors, errors, penalty, explained)
