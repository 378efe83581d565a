"""A table as `Cover` takes it, and how much of it the picked features rebuild.

By a linear combination of the picks (`_linear`), and by the samples that are nearest in
them. Each is a share of the table, measured on samples that were left out, and says
what a further pick would add to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover._arrays import (
    Array,
    at_once,
    beside,
    blocks_of,
    host,
    kernels_of,
    put,
)
from franet.cover._linear import LinearPrediction
from franet.cover._order import content_keys, order_by_values
from franet.cover._residual import products_of_columns
from franet.cover._rows import Rows
from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.pairs.tiles import TileRunner

# Samples among which neighbors are searched, and pairs of these and those rebuilt.
SAMPLES, PAIRS = 512, 2**15
# Leading components of the table, which the neighbors rebuild.
COMPONENTS = 32
N_NEIGHBORS = 5
# Samples, and features to choose a penalty, by which it is judged what is predictable.
PREDICTED = 256
_ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# Candidates that one thread judges at a time.
_FEW = 4


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """A table, feature by feature, in NumPy or on a torch device.

    Samples are in an order that depends on their content, so that those at positions
    drawn with a fixed seed are the same in any order of rows.

    Attributes
    ----------
    Z : array of shape (n, m)
        The features as rows, centered and of unit length.
    weights : array of shape (n,)
        What each feature counts where it is rebuilt; they sum to 1.
    drawn : ndarray of int or slice
        Samples among which neighbors are searched.
    n_samples : int
        The number of samples from which these were drawn.
    correlations : array of shape (n, n) or None
        Those of all of these, if there are more than in `Z`.
    products : array of shape (m, m) or None
        ``Σ_j w_j z_j z_jᵀ``; None if features are fewer than samples.
    raw : array of shape (n, n_drawn) or None
        The features there in their own units, up to a common factor, if distances are
        to be taken in these; None for standard units.
    """

    Z: Array
    weights: Array
    drawn: NDArray[np.intp] | slice
    raw: Array | None
    n_samples: int
    correlations: Array | None
    products: Array | None

    def positions(self, features: Any) -> Array:
        """Return features at the drawn samples, in the units of distances."""
        if self.raw is not None:
            return self.raw[features]
        return self.Z[features][..., self.drawn]


def make_table(
    rows: Rows,
    columns: NDArray[np.intp],
    runner: TileRunner,
    *,
    ranks: bool = False,
    in_own_units: bool = False,
    weights: str | NDArray[np.float64] = "robust",
    device: Any = None,
) -> FeatureTable:
    """Return a table made of columns.

    Parameters
    ----------
    rows : Rows
        The rows from which features are picked.
    columns : ndarray of int
        The columns that take part, none of them constant.
    runner : TileRunner
        The threads.
    ranks : bool, default=False
        Whether columns are compared by their ranks.
    in_own_units : bool, default=False
        Whether samples are compared in the units of the columns.
    weights : {"robust", "variance"} or ndarray of shape (n,), default="robust"
        What features count.
    device : torch.device, optional
        Where the table goes; NumPy if not given.
    """
    X, correlations = rows.X, rows.correlations
    if len(columns) < X.shape[1]:
        X = X[:, columns]
        if correlations is not None:
            correlations = correlations[np.ix_(columns, columns)]
    m, n = X.shape
    every = np.arange(n)
    order = order_by_values(X)
    Z = feature_rows(rank_columns(X) if ranks else X, every, n, np.float64)
    _sort_samples(Z, order)
    standardize(Z)
    by_key = np.argsort(content_keys(Z), kind="stable")
    _sort_samples(Z, by_key)
    order = order[by_key]
    drawn = _draw(m, SAMPLES)
    raw = None
    if in_own_units:
        raw = feature_rows(X[order[drawn]], every, n, np.float64)
        raw *= powers_of_two(np.abs(raw).max(initial=0.0, keepdims=True))[0]
    if not isinstance(weights, str):
        w = weights
    elif weights == "robust":
        w = robust_weights(Z)
    else:
        w = variances(X[order])
        # What is noise in a column varies, too, but no other column shares it.
        shared = w * predictable(Z) ** 2
        w = shared if shared.any() else w
    there, w = put(Z, device), put(w / w.sum(), device)
    with runner.one_blas_thread():
        products = products_of_columns(there, w, runner) if m <= n else None
    return FeatureTable(
        there,
        w,
        drawn,
        None if raw is None else put(raw, device),
        rows.n_rows,
        # Ranks are those among the rows that were drawn.
        None if correlations is None or ranks else put(correlations, device),
        products,
    )


def _sort_samples(rows: NDArray[Any], order: NDArray[np.intp]) -> None:
    for part in blocks_of(rows):
        rows[part] = np.take(rows[part], order, axis=1)


def _draw(n: int, k: int) -> NDArray[np.intp] | slice:
    """Return k of n positions, always the same ones; all if there are no more."""
    if n <= k:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(n, k, replace=False))


def robust_weights(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each feature counts: less if few samples hold its variance.

    ``s = min(1, 2 · MAD / σ)``, with MAD the mean absolute deviation from the median,
    is 1 for normal values, and 0.4 for a word in one of a hundred documents. Where most
    features are of that kind, to rebuild one gains little, and its correlations are
    those of a document or two: a feature counts s². A few of them among others are to
    be rebuilt like these: all features count the same. Between, the exponent is twice
    what the median of s leaves of 1. A feature that others do not predict, such as
    noise, counts half of one that they predict wholly.
    """
    spread = np.empty(len(Z))
    for rows in blocks_of(Z):
        part = Z[rows]
        medians = np.median(part, axis=1)[:, None]
        spread[rows] = np.abs(part - medians).mean(axis=1)
    spread = (2.0 * np.sqrt(Z.shape[1]) * spread).clip(max=1.0)
    return np.asarray(
        spread ** (2.0 - 2.0 * np.median(spread)) * (1.0 + predictable(Z))
    )


def predictable(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return which share of each feature all others predict, samples left out.

    By ridge regression in closed form: with ``C = (ZᵀZ + αI)⁻¹``, ``u = C z`` and
    ``t = zᵀu``, the residual of sample i of z, left out, is
    ``u_i / ((1 − t) C_ii + u_i²)`` when z itself is not among the predictors. The
    penalty α, one for all, is that by which most is predicted.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        The features as rows, centered and of unit length.
    """
    from scipy.linalg import eigh

    n, m = Z.shape
    if m > PREDICTED:
        Z = Z[:, _draw(m, PREDICTED)].copy()
        standardize(Z)
        m = PREDICTED
    with TileRunner.one_blas_thread():
        values, vectors = eigh(products_of_columns(Z))
        values, few = values.clip(min=0.0), Z[_draw(n, PREDICTED)]
        inverses = (
            (vectors / (values + alpha * n / m)) @ vectors.T for alpha in _ALPHAS
        )
        C = max(inverses, key=lambda C: _predicted(few, C).sum())
        return np.concatenate([_predicted(Z[part], C) for part in blocks_of(Z)])


def _predicted(Z: NDArray[np.float64], C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of features that is predicted, at least 0; see `predictable`."""
    m = Z.shape[1]
    U = Z @ C
    left = 1.0 - np.einsum("ji,ji->j", Z, U)
    residuals = U / (left[:, None] * np.diag(C) + U * U)
    total = (m / (m - 1)) ** 2
    return np.maximum(1.0 - np.einsum("ji,ji->j", residuals, residuals) / total, 0.0)


def variances(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the variances of columns, up to a common factor."""
    scale = powers_of_two(np.abs(X).max(keepdims=True))[0]
    parts = (X[:, at : at + 1024] * scale for at in range(0, X.shape[1], 1024))
    return np.concatenate([part.var(axis=0) for part in parts])


def linear_share(table: FeatureTable, runner: TileRunner) -> LinearPrediction:
    """Return the share that is predicted, each sample left out where they are few.

    Of many samples leaving one out changes nothing: rows of a factor of the
    correlations of features take their place.
    """
    Z, weights = table.Z, table.weights
    if table.correlations is None:
        return LinearPrediction(Z, weights, table.products, runner)
    from scipy.linalg import eigh

    values, vectors = eigh(host(table.correlations))
    factor = beside(vectors * np.sqrt(np.maximum(values, 0.0)), Z)
    return LinearPrediction(factor, weights, None, runner, table.n_samples)


class NearestSamples:
    """The share that the five nearest samples rebuild, each sample left out in turn.

    The share of the leading principal components of the table, whose distances are
    those of all features without most of the noise.
    """

    def __init__(self, table: FeatureTable, runner: TileRunner) -> None:
        self._runner, self._table = runner, table
        U, Z = _components(table, runner), table.Z
        m = len(U)
        self.k = min(N_NEIGHBORS, m - 1)
        rows = np.arange(m)[_draw(m, PAIRS // m)]
        centered = U[rows] - U.mean(axis=0)
        self._total = float(np.einsum("ij,ij->", centered, centered)) / len(rows)
        D = np.zeros((len(rows), m))
        D[np.arange(len(rows)), rows] = np.inf
        self._U, self._rows, self._D = (beside(array, Z) for array in (U, rows, D))

    def errors(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share that is not rebuilt, were each of some features picked."""
        kernels = kernels_of(self._D)
        order, out = kernels.in_order(self._D), np.empty(len(features))

        def visit(part: slice) -> None:
            X = self._table.positions(features[part])
            there = self._rows, self._U, self.k
            kernels.neighbor_errors(self._D, order, X, *there, out=out[part])

        few = _FEW * at_once(self._D)
        parts = [slice(at, at + few) for at in range(0, len(features), few)]
        self._runner.map(visit, parts)
        return out / self._total if self._total > 0.0 else np.zeros(len(features))

    def add(self, j: int) -> None:
        """Pick feature j."""
        x = self._table.positions(j)
        self._D += (x[self._rows, None] - x) ** 2


def _components(table: FeatureTable, runner: TileRunner) -> NDArray[np.float64]:
    """Return the leading components of the weighted features, a drawn sample a row."""
    from scipy.linalg import eigh

    drawn = table.drawn
    if table.products is None:
        K = products_of_columns(table.Z[:, drawn], table.weights, runner)
    else:
        K = table.products[drawn][:, drawn]
    m = len(K)
    first = max(m - COMPONENTS, 0)
    # On the processor for all: it is small.
    values, vectors = eigh(host(K), subset_by_index=(first, m - 1))
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
