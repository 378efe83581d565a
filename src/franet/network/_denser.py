"""The edges of a network at another threshold, from the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.exceptions import DataError
from franet.network._recipe import Recipe, complete_above

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["check_columns", "edges_at", "ranks_of"]

# Weights of the same pair, computed twice, agree up to this share.
_SAME = 1e-9


def edges_at(
    net: AttributeNetwork, recipe: Recipe, threshold: float, X: Any
) -> AttributeNetwork:
    """Return the network with the edges that the table has at a threshold."""
    adjacency, n_edges, constant = _compute(recipe, threshold, X)
    truncated = adjacency.nnz // 2 < n_edges
    floor = None
    if truncated:
        used = int((~constant).sum())
        per_feature = max(1, recipe.parameters["max_edges"] // used)
        floor = complete_above(adjacency, per_feature)[recipe.columns]
    if not np.array_equal(recipe.columns, np.arange(len(constant))):
        adjacency = adjacency[recipe.columns][:, recipe.columns].tocsr()
        adjacency.sort_indices()
        n_edges = adjacency.nnz // 2
    _check_same(net, adjacency, threshold, truncated)
    return replace(
        net,
        adjacency=adjacency,
        threshold=threshold,
        n_edges=n_edges,
        truncated_=truncated,
        representation=None,
        _recipe=replace(recipe, floor=floor),
    )


def _compute(
    recipe: Recipe, threshold: float, X: Any
) -> tuple[Any, int, NDArray[np.bool_]]:
    """Return the edges of all columns, their number and the constant columns."""
    from franet._common.threads import count_threads
    from franet.engine._numpy import TileEngine
    from franet.engine.levels import Levels
    from franet.estimators._frane import FRANe
    from franet.search.exact import Settings, edge_rule, top_of

    ranker = FRANe(**{**recipe.parameters, "n_features_to_select": None})
    source, constant = _open(ranker, recipe, X)
    check_columns(ranker, recipe, len(constant))
    columns, n = np.flatnonzero(~constant), len(constant)
    if source.n < 2:
        return sparse.csr_array((n, n)), 0, constant
    settings = Settings.of(ranker)
    engine = TileEngine(source, count_threads(ranker.n_jobs))
    extrema = engine.extrema()
    top = top_of(engine, extrema, settings)
    measure, edges = edge_rule(extrema, settings, top, np.array([top - threshold]))
    levels = Levels(engine, extrema, edges, measure)
    n_edges, most = int(levels.n_edges[0]) // 2, settings.max_edges
    found = levels.matrix(0) if n_edges <= most else levels.strongest(0, most)
    found = found.tocoo()
    j, k = found.coords
    wide = sparse.csr_array((found.data, (columns[j], columns[k])), (n, n))
    wide.sort_indices()
    return wide, n_edges, constant


def _open(ranker: Any, recipe: Recipe, X: Any) -> tuple[Any, NDArray[np.bool_]]:
    if not recipe.ranks:
        return ranker._open(X)
    from franet.estimators._validation import check_table
    from franet.pairs.similarity import open_source

    return open_source(ranks_of(check_table(ranker, X)), ranker.similarity)


def ranks_of(table: Any) -> NDArray[np.float64]:
    """Return the average ranks in each column of a checked table."""
    from franet.pairs.similarity._correlation import rank_columns

    return rank_columns(table.toarray() if sparse.issparse(table) else table)


def check_columns(ranker: Any, recipe: Recipe, n: int) -> None:
    """Raise a DataError if a table has other columns than that of the fit."""
    if n != recipe.n_columns:
        raise DataError(
            f"X has {n} columns, the table of the fit had {recipe.n_columns}. Pass "
            "that table."
        )
    names = getattr(ranker, "feature_names_in_", None)
    if names is None or recipe.names is None:
        return
    if not np.array_equal(names, recipe.names):
        raise DataError(
            "X has other columns than the table of the fit. Pass that table."
        )


def _check_same(
    net: AttributeNetwork, adjacency: Any, threshold: float, truncated: bool
) -> None:
    """Raise a DataError if edges of the network have other weights now."""
    old = net.adjacency.tocoo()
    j, k = old.coords
    slack = _SAME * max(1.0, float(old.data.max(initial=0.0)))
    inside = old.data > threshold + slack
    if truncated or not inside.any():
        return
    now = np.asarray(adjacency[j[inside], k[inside]]).ravel()
    if (np.abs(now - old.data[inside]) > slack).any():
        raise DataError(
            "X is not the table of the fit: the similarities differ. Pass that table."
        )
