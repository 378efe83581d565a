"""How a network was made, and what the table of its fit has beside the stored edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.threads import count_threads
from franet.engine._numpy import TileEngine
from franet.engine.levels import Levels
from franet.exceptions import DataError
from franet.pairs.alike import dissimilarities, weight_sum
from franet.pairs.similarity import open_source
from franet.search.exact import Settings, edge_rule, top_of

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

# Weights of the same pair, computed twice, agree up to this share.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Origin:
    """How a network was made, so that it can be made again with other edges.

    Attributes
    ----------
    read : callable
        ``read(X, lazy)`` returns the table of the fit, checked, and raises a DataError
        for another table. With `lazy` it may be `Columns`.
    comparison : mapping
        How its columns are compared: the arguments of `open_source`.
    settings : Settings
        What the search was asked for.
    columns : ndarray of int
        Which columns of the table the features are.
    n_jobs : int or None
        Number of threads; no result depends on it.
    floor : ndarray or None
        For a truncated network: edges of a feature that are stronger than this are
        all stored.
    """

    read: Callable[[Any, bool], Any]
    comparison: Mapping[str, Any]
    settings: Settings
    columns: NDArray[np.intp]
    n_jobs: int | None = None
    floor: NDArray[np.float64] | None = None


def complete_above(adjacency: Any, max_edges: int, n_used: int) -> NDArray[np.float64]:
    """Return, for each feature, the weight above which no edge is missing.

    Parameters
    ----------
    adjacency : CSR array
        The strongest edges of each feature.
    max_edges : int
        How many edges are stored, about: the same number of each feature.
    n_used : int
        How many features are not constant.
    """
    n, per_feature = adjacency.shape[0], max(1, max_edges // n_used)
    floor = np.full(n, -np.inf)
    for j in range(n):
        weights = adjacency.data[adjacency.indptr[j] : adjacency.indptr[j + 1]]
        if len(weights) >= per_feature:
            at = len(weights) - per_feature
            floor[j] = np.partition(weights, at)[at]
    return floor


def edges_at(
    net: AttributeNetwork, origin: Origin, threshold: float, X: Any
) -> AttributeNetwork:
    """Return the network with the edges that the table has at a threshold."""
    adjacency, n_edges, n_used = _compute(origin, threshold, X)
    n, truncated, floor = adjacency.shape[0], adjacency.nnz // 2 < n_edges, None
    if truncated:
        floor = complete_above(adjacency, origin.settings.max_edges, n_used)
        floor = floor[origin.columns]
    if not np.array_equal(origin.columns, np.arange(n)):
        adjacency = adjacency[origin.columns][:, origin.columns].tocsr()
        adjacency.sort_indices()
        n_edges = adjacency.nnz // 2
    if not truncated:
        _check_same(net, adjacency, threshold)
    return replace(
        net,
        adjacency=adjacency,
        threshold=threshold,
        n_edges=n_edges,
        truncated_=truncated,
        representation=None,
        _origin=replace(origin, floor=floor),
    )


def _compute(origin: Origin, threshold: float, X: Any) -> tuple[Any, int, int]:
    """Return the edges of all columns, their number, and that of varied columns."""
    settings, n_threads = origin.settings, count_threads(origin.n_jobs)
    source, constant = open_source(
        origin.read(X, True),
        **origin.comparison,
        max_memory=settings.max_memory,
        n_thresholds=settings.n_thresholds,
        n_threads=n_threads,
    )
    columns, n = np.flatnonzero(~constant), len(constant)
    if source.n < 2:
        return sparse.csr_array((n, n)), 0, len(columns)
    engine = TileEngine(source, n_threads)
    extrema = engine.extrema()
    top = top_of(engine, extrema, settings)
    measure, edges = edge_rule(extrema, settings, top, np.array([top - threshold]))
    levels = Levels(engine, extrema, edges, measure)
    n_edges, most = int(levels.n_edges[0]) // 2, settings.max_edges
    found = levels.matrix(0) if n_edges <= most else levels.strongest(0, most)
    found = among_all(found.tocsr(), columns, n)
    found.sort_indices()
    return found, n_edges, len(columns)


def among_all(matrix: Any, columns: NDArray[np.intp], n: int) -> Any:
    """Return the edges of some columns as those of all `n`."""
    if len(columns) == n:
        return matrix
    coo = matrix.tocoo()
    j, k = coo.coords
    return sparse.csr_array((coo.data, (columns[j], columns[k])), (n, n))


def _check_same(net: AttributeNetwork, adjacency: Any, threshold: float) -> None:
    """Raise a DataError if edges of the network have other weights now."""
    old = net.adjacency.tocoo()
    j, k = old.coords
    slack = _SAME * max(1.0, float(old.data.max(initial=0.0)))
    inside = old.data > threshold + slack
    now = np.asarray(adjacency[j[inside], k[inside]]).ravel()
    if (np.abs(now - old.data[inside]) > slack).any():
        raise DataError(
            "X is not the table of the fit: the similarities differ. Pass that table."
        )


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
    part = net.adjacency[features][:, features].tocoo()
    known = np.full(part.shape, np.nan)
    known[part.coords] = part.data
    if X is None:
        return known
    if net._origin is None:
        raise DataError(
            "How this network was made is not known, so X does not help. Fit FRANe, "
            "and use its network_."
        )
    origin = net._origin
    d = dissimilarities(
        origin.read(X, False), origin.columns[features], **origin.comparison
    )
    np.fill_diagonal(d, np.nan)
    total = weight_sum(origin.comparison["similarity"], origin.settings.variant)
    return (_largest(d, known) if total is None else total) - d


def _largest(d: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    """Return the largest of all distances, by pairs whose weight is known.

    It makes similarities of distances, and a few features may not have it.
    """
    both = ~np.isnan(known) & ~np.isnan(d)
    if both.any():
        return float(np.median((known + d)[both]))
    return float(np.nanmax(d, initial=0.0))
