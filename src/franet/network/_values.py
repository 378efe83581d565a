"""All similarities of some features, not only those that make an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.exceptions import DataError
from franet.network._denser import check_columns, ranks_of

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["similarities"]


def similarities(
    net: AttributeNetwork, features: NDArray[np.intp], X: Any = None
) -> NDArray[np.float64]:
    """Return the similarities of some features with each other.

    Parameters
    ----------
    net : AttributeNetwork
        The network.
    features : ndarray of int
        Positions in it.
    X : array-like or sparse matrix, optional
        The table of the fit. Without it only edges are known.

    Returns
    -------
    similarities : ndarray of shape (n, n)
        NaN on the diagonal and where nothing is known.
    """
    known = _stored(net, features)
    if X is None:
        return known
    if net._recipe is None:
        raise DataError(
            "How this network was made is not known, so X does not help. Fit FRANe, "
            "and use its network_."
        )
    d, top = _dissimilarities(net, features, X)
    values = (_top(d, known) if top is None else top) - d
    np.fill_diagonal(values, np.nan)
    return values


def _stored(net: AttributeNetwork, features: NDArray[np.intp]) -> NDArray[np.float64]:
    part = net.adjacency[features][:, features].tocoo()
    values = np.full(part.shape, np.nan)
    values[part.coords] = part.data
    return values


def _top(d: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    """Return what similarity and dissimilarity add up to, by pairs of which both are.

    Distances become similarities by the largest of all distances in the table, which
    a few features do not show.
    """
    both = ~np.isnan(known) & ~np.isnan(d)
    if both.any():
        return float(np.median((known + d)[both]))
    return float(np.nanmax(d, initial=0.0))


def _dissimilarities(
    net: AttributeNetwork, features: NDArray[np.intp], X: Any
) -> tuple[NDArray[np.float64], float | None]:
    from franet.estimators._frane import FRANe
    from franet.estimators._validation import check_table
    from franet.pairs.similarity import open_source

    recipe = net._recipe
    assert recipe is not None
    given = recipe.parameters
    ranker = FRANe(**{**given, "n_features_to_select": None})
    pairwise = given["missing"] == "pairwise"
    table = check_table(ranker, X, allow_missing=pairwise)
    check_columns(ranker, recipe, table.shape[1])
    columns = recipe.columns[features]
    if given["similarity"] == "precomputed":
        table = table.tocsr()[columns] if sparse.issparse(table) else table[columns]
    table = table.tocsc()[:, columns] if sparse.issparse(table) else table[:, columns]
    if recipe.ranks:
        table = ranks_of(table)
    if isinstance(table, np.ndarray):
        table = np.asfortranarray(table)
    source, constant = open_source(
        table.tocsr() if sparse.issparse(table) else table,
        given["similarity"],
        p=given["p"],
        variant=given["variant"],
        pairwise=pairwise,
    )
    d = np.full((len(features), len(features)), np.nan)
    used = np.flatnonzero(~constant)
    d[np.ix_(used, used)] = _all_tiles(source)
    # Weights of 1 do not tell the scale.
    own = source.top if given["variant"] == "paper" else None
    return d, own


def _all_tiles(source: Any) -> NDArray[np.float64]:
    n, block = source.n, source.block
    d = np.full((n, n), np.nan)
    for i in range(0, n, block):
        for j in range(i, n, block):
            rows, cols = slice(i, min(i + block, n)), slice(j, min(j + block, n))
            tile = source.exact_tile(i // block, j // block)
            d[rows, cols] = tile[: rows.stop - i, : cols.stop - j]
            d[cols, rows] = d[rows, cols].T
    return d
