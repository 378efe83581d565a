"""What principal components explain of samples left out, to compare picks with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover._order import order_by_values
from franet.cover._residual import products_of_columns
from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._standardize import feature_rows, standardize
from franet.pairs.tiles import TileRunner

# Samples that are drawn of more, and the parts that are left out.
SAMPLES, _FOLDS = 512, 10


def components_explain(
    X: NDArray[Any],
    weights: NDArray[np.float64],
    n_components: int,
    *,
    ranks: bool = False,
) -> NDArray[np.float64]:
    """Return which share of a table its first principal components explain.

    Each of ten parts of the samples is projected on the components of the others. Of
    more samples than 512, that many are drawn.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table.
    weights : ndarray of shape (n,)
        What each column counts; columns of weight 0 are left out.
    n_components : int
        How many components.
    ranks : bool, default=False
        Whether columns are compared by their ranks.

    Returns
    -------
    explained : ndarray of shape (n_components,)
        Of the first component, the first two, ….
    """
    from scipy.linalg import eigh

    columns = np.flatnonzero(weights > 0.0)
    order = order_by_values(X)
    m = len(order)
    if m > SAMPLES:
        drawn = np.random.default_rng(0).choice(m, SAMPLES, replace=False)
        order, m = order[np.sort(drawn)], SAMPLES
    rows = rank_columns(X[:, columns]).T if ranks else None
    rows = feature_rows(X, columns, len(columns), np.float64) if rows is None else rows
    Z = np.ascontiguousarray(rows[:, order], np.float64)
    standardize(Z)
    found, total = np.zeros(n_components), 0.0
    with TileRunner.one_blas_thread():
        K = products_of_columns(Z, weights[columns])
        for fold in range(min(_FOLDS, m)):
            out = np.arange(m) % _FOLDS == fold
            inner, across, own = (
                K[np.ix_(~out, ~out)],
                K[np.ix_(out, ~out)],
                K[out, out],
            )
            # Centered by the samples that are not left out.
            mean, along = inner.mean(axis=0), across.mean(axis=1)
            grand = mean.mean()
            inner = inner - mean - mean[:, None] + grand
            across = across - along[:, None] - mean + grand
            values, vectors = eigh(inner)
            values, vectors = values[::-1], vectors[:, ::-1]
            k = min(n_components, int((values > 1e-12 * max(values[0], 1e-300)).sum()))
            scores = ((across @ vectors[:, :k]) ** 2).sum(axis=0) / values[:k]
            shares = np.cumsum(scores)
            found[:k] += shares
            found[k:] += shares[-1] if k else 0.0
            total += float((own - 2.0 * along + grand).sum())
    return found / total if total > 0.0 else found
