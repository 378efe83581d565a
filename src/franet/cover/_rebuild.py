"""All columns of a table from some of them, by one ridge regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from franet.cover._arrays import Array, beside, blocks_of, host
from franet.cover._explained import explain
from franet.cover._order import order_by_values
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

    def among(self, columns: NDArray[np.intp], X: NDArray[Any]) -> Rebuild:
        """Return the same for a table of which only `columns` are not constant."""
        n = X.shape[1]
        *first, last = self.factors
        wide, errors = np.zeros((len(last), n)), np.zeros(n)
        wide[:, columns], errors[columns] = last, self.errors
        return replace(
            self,
            picks=columns[self.picks],
            units=units_of(X),
            factors=(*first, wide),
            errors=errors,
        )

    def predict(self, X: NDArray[Any]) -> Floats:
        """Return all columns, from the picks in the order of `picks`."""
        Z = self.units.standardized(X, self.picks)
        for factor in self.factors:
            Z = Z @ factor
        table = self.units.restored(Z)
        table[:, self.picks] = X
        return table


def _rows_of(X: NDArray[Any]) -> Floats:
    """Return columns as rows of unit length; samples in an order by their content."""
    n = X.shape[1]
    Z = feature_rows(X[order_by_values(X)], np.arange(n), n, np.float64)
    standardize(Z)
    return Z


def fit_rebuild(
    X: NDArray[Any],
    picks: NDArray[np.intp],
    *,
    weights: Array | None = None,
    Z: Array | None = None,
    penalty: float | None = None,
    runner: TileRunner | None = None,
) -> Rebuild:
    """Return the regression of all columns of a table on some of them.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table.
    picks : ndarray of int of shape (k,)
        The columns that predict.
    weights : array of shape (n,), optional
        What each column counts where the strength is chosen; all alike if not given.
    Z : array of shape (n, m), optional
        The columns as rows, centered and of unit length, with samples in any order.
    penalty : float, optional
        The strength. If not given, that by which most is explained with each sample
        left out.
    runner : TileRunner, optional
        The threads; no result depends on their number.
    """
    runner = runner or TileRunner(1)
    Z = _rows_of(X) if Z is None else Z
    n, m = Z.shape
    weights = np.full(n, 1.0 / n) if weights is None else host(weights)
    if penalty is None:
        curve = explain(Z, beside(weights, Z), picks, runner)
        penalty = float(curve.penalties[-1])
    errors = np.empty(n)
    k = len(picks)
    with runner.one_blas_thread():
        A = host(Z[picks])
        L = cholesky(A @ A.T + penalty * np.eye(k), lower=True)
        G = solve_triangular(L, A, lower=True)
        h = 1.0 - 1.0 / m - np.einsum("ki,ki->i", G, G)
        T = np.empty((k, n))
        left, there = beside(h, Z), beside(G, Z)

        def regress(part: slice) -> None:
            rows = Z[part]
            along = there @ rows.T
            T[:, part] = host(along)
            residuals = (rows - along.T @ there) / left
            errors[part] = np.sqrt(host((residuals * residuals).sum(axis=1)))

        runner.map(regress, blocks_of(Z))
        factors: tuple[Floats, ...]
        if k <= m:
            factors = (solve_triangular(L, T, lower=True, trans="T"),)
        else:
            factors = (solve_triangular(L, G, lower=True, trans="T"), host(Z).T)
    errors[picks] = 0.0
    units, w = units_of(X), weights
    nothing = float(w[units.length > 0.0].sum()) * (m / (m - 1)) ** 2
    explained = 1.0 - float(w @ errors**2) / nothing
    return Rebuild(picks, units, factors, errors, penalty, explained)
