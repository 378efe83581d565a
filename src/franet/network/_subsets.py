"""Other networks from one: of some features, or at another threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.exceptions import DataError, UsageError
from franet.network._origin import edges_at
from franet.pairs.similarity import CORRELATIONS

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["at", "subgraph"]

# An edge may miss the threshold by this share of the scale, as in the engine.
_SLACK = 1e-12


def subgraph(
    net: AttributeNetwork, features: Sequence[str | int] | None, top: int | None
) -> AttributeNetwork:
    """Return the network of some features, or of the best ones."""
    if (features is None) == (top is None):
        raise UsageError("give either features=[...] or top=..., and not both")
    if top is not None:
        if top < 1:
            raise UsageError(f"top={top}: give a number of features, at least 1")
        chosen = np.argsort(net.ranking, kind="stable")[:top]
    else:
        chosen = _positions(net, features)
    adjacency = net.adjacency[chosen][:, chosen].tocsr()
    adjacency.sort_indices()
    origin = net._origin
    if origin is not None:
        floor = None if origin.floor is None else origin.floor[chosen]
        origin = replace(origin, columns=origin.columns[chosen], floor=floor)
    who = net.representation
    if who is not None:
        who = who.of(chosen)
    return replace(
        net,
        adjacency=adjacency,
        names=net.names[chosen],
        scores=net.scores[chosen],
        ranking=net.ranking[chosen],
        n_edges=adjacency.nnz // 2,
        representation=who,
        _origin=origin,
    )


def _positions(net: AttributeNetwork, features: Any) -> NDArray[np.intp]:
    if isinstance(features, str):
        raise UsageError(f"features={features!r}: give a list of features")
    chosen = np.array([net._index.find(feature) for feature in features], np.intp)
    if not len(chosen):
        raise UsageError("features=[]: give at least one feature")
    found, count = np.unique(chosen, return_counts=True)
    if (count > 1).any():
        name = str(net.names[found[count > 1][0]])
        raise UsageError(f"feature {name!r} is given twice; name each feature once")
    return chosen


def at(net: AttributeNetwork, threshold: float, X: Any) -> AttributeNetwork:
    """Return the network at another threshold, from kept edges where they suffice."""
    threshold = float(threshold)
    if not np.isfinite(threshold):
        raise UsageError(f"threshold={threshold}: give a finite number")
    slack = _SLACK * _scale(net)
    missing = _what_is_missing(net, threshold, slack)
    if missing is None:
        return _sparser(net, threshold, threshold - slack)
    if X is None:
        raise DataError(f"{missing} Pass the table of the fit: at({threshold:g}, X=X).")
    if net._origin is None:
        raise DataError(
            f"{missing} How this network was made is not known, so X does not help. "
            "Fit FRANe, and use its network_."
        )
    return edges_at(net, net._origin, threshold, X)


def _scale(net: AttributeNetwork) -> float:
    by = "correlation" if net._origin is None else net._origin.comparison["similarity"]
    if by in CORRELATIONS:
        return 1.0
    return float(net.adjacency.data.max(initial=1.0))


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
    origin = net._origin
    weighted = origin is None or origin.settings.weighted
    coo = net.adjacency.tocoo()
    j, k = coo.coords
    keep = coo.data >= limit if weighted else np.ones(coo.nnz, bool)
    adjacency = sparse.csr_array(
        (coo.data[keep], (j[keep], k[keep])), net.adjacency.shape
    )
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
