"""Other networks from one: of some features, or at another threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.checked import check_value
from franet._common.threads import count_threads
from franet.engine._numpy import TileEngine
from franet.engine.levels import Levels
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.alike import dissimilarities
from franet.pairs.similarity import CORRELATIONS, open_source
from franet.search.exact import Settings, edge_rule, top_of

if TYPE_CHECKING:
    from franet.network import AttributeNetwork


# What weight and dissimilarity of each pair add up to; otherwise the largest d.
_SUMS = {
    "correlation": 2.0,
    "spearman": 2.0,
    "abs-correlation": 1.0,
    "mixed": 1.0,
    "precomputed": 0.0,
}
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


def _edges_at(
    net: AttributeNetwork, origin: Origin, threshold: float, X: Any
) -> AttributeNetwork:
    """Return the network with the edges that the table has at a threshold."""
    adjacency, n_edges, n_used = _compute(origin, threshold, X)
    truncated, floor, columns = adjacency.nnz // 2 < n_edges, None, origin.columns
    if truncated:
        floor = complete_above(adjacency, origin.settings.max_edges, n_used)[columns]
    if not np.array_equal(columns, np.arange(adjacency.shape[0])):
        adjacency = _part(adjacency, columns)
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
    top = top_of(source.top, extrema, settings)
    measure, edges = edge_rule(extrema, settings, top, np.array([top - threshold]))
    levels = Levels(engine, extrema, edges, measure)
    found, _ = levels.network(0, settings.max_edges)
    found = among_all(found.tocsr(), columns, n)
    found.sort_indices()
    return found, int(levels.n_edges[0]) // 2, len(columns)


def among_all(matrix: Any, columns: NDArray[np.intp], n: int) -> Any:
    """Return the edges of some columns as those of all `n`."""
    if len(columns) == n:
        return matrix
    coo = matrix.tocoo()
    j, k = coo.coords
    return sparse.csr_array((coo.data, (columns[j], columns[k])), (n, n))


def _part(adjacency: Any, chosen: NDArray[np.intp]) -> Any:
    """Return the edges between some features."""
    part = adjacency[chosen][:, chosen].tocsr()
    part.sort_indices()
    return part


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
    weights = weights_in(net, _origin_of(net).read(X, False), features)
    return known if weights is None else weights


def weights_in(
    net: AttributeNetwork, table: Any, features: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return the weights of pairs by the checked table of the fit; None: not known."""
    origin, total = _origin_of(net), total_weight(net, table)
    if total is None:
        return None
    d = dissimilarities(table, origin.columns[features], **origin.comparison)
    np.fill_diagonal(d, np.nan)
    return total - d


def total_weight(net: AttributeNetwork, table: Any) -> float | None:
    """Return ``w + d``, which is the same for all pairs; None if it is not known."""
    origin, edges = _origin_of(net), net.adjacency
    how, settings = origin.comparison, origin.settings
    total, by = None, how["similarity"]
    if settings.variant != "reference":
        total = 0.0 if callable(by) else _SUMS.get(by)
    if total is not None or table is None or edges.nnz == 0 or not settings.weighted:
        return total
    # It is the largest d of all pairs. One edge, whose weight is known, shows it.
    at = int(np.argmax(edges.data))
    j = int(np.searchsorted(edges.indptr, at, side="right") - 1)
    d = dissimilarities(table, origin.columns[[j, edges.indices[at]]], **how)
    return float(edges.data[at] + d[0, 1])


# An edge may miss the threshold by this share of the scale, as in the engine.
_SLACK = 1e-12


def subgraph(
    net: AttributeNetwork, features: Sequence[str | int] | None, top: int | None
) -> AttributeNetwork:
    """Return the network of some features, or of the best ones."""
    if (features is None) == (top is None):
        given = Setting("features"), Setting("top")
        raise UsageError("give either {} or {}, and not both", *given)
    if top is not None:
        check_value("top", top, top >= 1, "give a number of features, at least 1")
        chosen = np.argsort(net.ranking, kind="stable")[:top]
    else:
        chosen = _positions(net, features)
    adjacency, origin = _part(net.adjacency, chosen), net._origin
    if origin is not None:
        floor = None if origin.floor is None else origin.floor[chosen]
        origin = replace(origin, columns=origin.columns[chosen], floor=floor)
    who = net.representation
    return replace(
        net,
        adjacency=adjacency,
        names=net.names[chosen],
        scores=net.scores[chosen],
        ranking=net.ranking[chosen],
        n_edges=adjacency.nnz // 2,
        representation=None if who is None else who.of(chosen),
        _origin=origin,
    )


def _positions(net: AttributeNetwork, features: Any) -> NDArray[np.intp]:
    chosen = np.array([net._index.find(feature) for feature in features], np.intp)
    check_value("features", [], len(chosen) > 0, "give at least one feature")
    found, count = np.unique(chosen, return_counts=True)
    if (count > 1).any():
        name = str(net.names[found[count > 1][0]])
        raise UsageError(f"feature {name!r} is given twice; name each feature once")
    return chosen


def at(net: AttributeNetwork, threshold: float, X: Any) -> AttributeNetwork:
    """Return the network at another threshold, from kept edges where they suffice."""
    threshold = float(threshold)
    is_finite = bool(np.isfinite(threshold))
    check_value("threshold", threshold, is_finite, "give a finite number")
    scale, origin = 1.0, net._origin
    if origin is not None and origin.comparison["similarity"] not in CORRELATIONS:
        scale = float(net.adjacency.data.max(initial=1.0))
    slack = _SLACK * scale
    missing = _what_is_missing(net, threshold, slack)
    if missing is None:
        return _sparser(net, threshold, threshold - slack)
    if X is None:
        raise DataError(f"{missing} Pass the table of the fit: at({threshold:g}, X=X).")
    return _edges_at(net, _origin_of(net, f"{missing} "), threshold, X)


def _origin_of(net: AttributeNetwork, missing: str = "") -> Origin:
    if net._origin is None:
        raise DataError(
            f"{missing}How this network was made is not known, so X does not help. "
            "Fit FRANe, and use its network_."
        )
    return net._origin


def _what_is_missing(
    net: AttributeNetwork, threshold: float, slack: float
) -> str | None:
    """Return why the stored edges do not suffice, None if they do."""
    origin = net._origin
    if net.representation is not None:
        return (
            "Features are connected with their representatives only "
            "(Cover): other edges are not stored."
        )
    if not threshold >= net.threshold - slack:  # NaN: it has no edges
        known = "no edges" if np.isnan(net.threshold) else f"those of {net.threshold:g}"
        return (
            f"threshold={threshold:g} is below that of the network, which holds "
            f"{known}: weaker edges are not stored."
        )
    if origin is not None and not origin.settings.weighted:
        if threshold <= net.threshold + slack:
            return None
        return "The edges have no weights (weighted=False) by which to choose."
    if not net.truncated_:
        return None
    floor = None if origin is None else origin.floor
    # An edge is left out only where both of its ends have enough stronger ones.
    if floor is not None and (floor >= threshold - slack).sum() < 2:
        return None
    return (
        "The network is truncated: only the strongest edges of each feature are "
        f"stored, and at threshold={threshold:g} some may be missing."
    )


def _sparser(net: AttributeNetwork, threshold: float, limit: float) -> AttributeNetwork:
    origin, adjacency = net._origin, net.adjacency
    if origin is None or origin.settings.weighted:
        coo = adjacency.tocoo()
        j, k = coo.coords
        keep = coo.data >= limit
        kept = coo.data[keep], (j[keep], k[keep])
        adjacency = sparse.csr_array(kept, adjacency.shape)
        adjacency.sort_indices()
    if origin is not None:
        origin = replace(origin, floor=None)
    return replace(
        net,
        adjacency=adjacency,
        threshold=threshold,
        n_edges=adjacency.nnz // 2,
        truncated_=False,
        _origin=origin,
    )
