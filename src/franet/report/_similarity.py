"""How alike features are: what weights mean, which features are copies, a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.network._origin import total_weight, weights_in
from franet.pairs.alike import REDUNDANT, cluster_order
from franet.report._data import Listing
from franet.report._text import numbers

_SHOWN = 40
# Weights this close to that of a copy are those of copies.
_COPY = 1e-9
# The symbol, what to add to the weight of an edge for the value that people know, and
# the range of that value.
_KNOWN: dict[str, tuple[str, float, float | None, float | None]] = {
    "correlation": ("r", -1.0, -1.0, 1.0),
    "spearman": ("ρ", -1.0, -1.0, 1.0),
    "abs-correlation": ("|r|", 0.0, 0.0, 1.0),
    "mixed": ("similarity", 0.0, 0.0, 1.0),
}


def describe(listing: Listing) -> dict[str, Any]:
    """Return how weights are shown: ``symbol = weight + offset``, and their range.

    ``least`` is the correlation from which features count as alike; None if edges
    say it.
    """
    ranker, frane = listing.ranker, listing.is_frane
    name = ranker.similarity if frane or listing.is_cover else "correlation"
    name = name if isinstance(name, str) else "function"
    shown = _KNOWN.get(name, ("similarity", 0.0, None, None))
    if frane and ranker.variant == "reference":
        shown = ("weight", 0.0, None, None)
    symbol, offset, low, high = shown
    return {
        "name": name,
        "symbol": symbol,
        # The weights of other rankers are the correlations themselves.
        "offset": offset if frane else 0.0,
        "low": low,
        "high": high,
        "weighted": not frane or bool(ranker.weighted),
        "least": REDUNDANT if listing.network is None else None,
    }


def copies(listing: Listing) -> NDArray[np.intp] | None:
    """Return pairs of features that are copies, up to scale and offset if correlated.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2) or None
        None if it is not known. Rankers other than FRANe compare listed features only.
    """
    ranker = listing.ranker
    if not listing.is_frane:
        if listing.r is None:
            return None
        # Of two picks, one that moves against the other explains the same.
        strength = np.abs(listing.r) if listing.is_cover else listing.r
        return listing.order[np.argwhere(strength >= 1.0 - _COPY)]
    own = ranker.similarity == "precomputed" or callable(ranker.similarity)
    net, top = ranker.network_, None
    if ranker.weighted and not own:
        top = total_weight(net, listing.table)
    if top is None:
        return None
    edges = net.adjacency.tocoo()
    same = edges.data >= top - _COPY * max(1.0, abs(top))
    return np.stack([c[same] for c in edges.coords], axis=1)


def heat_map(listing: Listing) -> dict[str, Any] | None:
    """Return the weights between the best features, similar ones side by side.

    Returns
    -------
    dict or None
        ``row`` (of each feature, in the list of features), ``weight`` (a list of
        lists, None where it is not known) and ``source``, "data" or "network" (only
        pairs with an edge have a value). None if no weight is known, but for FRANe,
        which always has a map.
    """
    if listing.network is None and listing.r is None:
        return None
    best = listing.order[:_SHOWN]
    row = np.flatnonzero(~listing.constant[best])
    weights, source = None, "data"
    if listing.is_frane and listing.given is not None:
        weights = weights_in(listing.ranker.network_, listing.given, best[row])
    elif listing.r is not None:
        weights = listing.r[np.ix_(row, row)]
    if weights is None:
        weights, source = _edge_weights(listing.network, best[row]), "network"
    np.fill_diagonal(weights, np.nan)
    if not (listing.is_frane or np.isfinite(weights).any()):
        return None
    along = cluster_order(np.abs(weights) if listing.is_cover else weights)
    return {
        "row": row[along].tolist(),
        "weight": [numbers(line, 4) for line in weights[np.ix_(along, along)]],
        "source": source,
    }


def _edge_weights(net: Any, features: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the weights of edges between features, correlations with their sign."""
    stored = net.adjacency[features][:, features].toarray()
    weights = stored
    if net.representation is not None:
        weights = net.representation.between(features[:, None], features)
    return np.where(stored == 0.0, np.nan, weights)
