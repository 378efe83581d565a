"""The table behind a report: values of each feature, and how alike features are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.network import AttributeNetwork
from franet.network._origin import total_weight, weights_in
from franet.pairs.alike import REDUNDANT, cluster_order, correlations
from franet.pairs.coded import CodedTable
from franet.pairs.similarity._sparse import constant_in
from franet.report._text import number, numbers

_BINS = 24
_NO_VALUES: dict[str, Any] = {
    "counts": [],
    "low": None,
    "high": None,
    "median": None,
    "missing": 0,
}
# Features in the heat map.
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


@dataclass(frozen=True, eq=False)
class Listing:
    """A fitted ranker, its table, and the features that a report lists.

    Attributes
    ----------
    ranker : FeatureRanker
        The fitted ranker.
    given : ndarray, CSC array, CodedTable or None
        The table of the fit, or the similarities where those were fitted.
    names : sequence of str
        The names of all features.
    order : ndarray of int
        The listed features, best first.
    """

    ranker: Any
    given: Any | None
    names: Sequence[str]
    order: NDArray[np.intp]

    @property
    def is_frane(self) -> bool:
        """Whether there are thresholds, one of which won."""
        return self.ranker._finds == "network"

    @property
    def is_cover(self) -> bool:
        """Whether features were picked that represent the others."""
        return self.ranker._finds == "representatives"

    @property
    def network(self) -> AttributeNetwork | None:
        """The network of a ranker that has one."""
        return None if self.ranker._finds == "ranking" else self.ranker.network_

    @property
    def table(self) -> Any | None:
        """The values of the features, None if they are not known."""
        similarities = self.is_frane and self.ranker.similarity == "precomputed"
        return None if similarities else self.given

    @cached_property
    def constant(self) -> Any:
        """Which features are constant, None if that is not known."""
        if self.network is None and self.table is not None:
            return constant_in(self.table)
        return getattr(self.ranker, "constant_", None)

    @cached_property
    def r(self) -> NDArray[np.float64] | None:
        """The correlations of the listed features, None without the table."""
        if self.table is None:
            return None
        kind = self.ranker.similarity if self.is_cover else "correlation"
        return correlations(self.table, self.order, kind)


def distribution(table: Any, feature: int) -> dict[str, Any]:
    """Return the histogram of a feature and its main numbers.

    Parameters
    ----------
    table : ndarray, CSC array or CodedTable of shape (m, n)
        The table.
    feature : int
        The column.

    Returns
    -------
    dict
        ``counts`` (per bin), ``low``, ``high``, ``median``, ``missing`` (cells). Of a
        category ``counts`` are those of the commonest levels, the next three None,
        and there are ``levels`` (how many) and ``commonest``.
    """
    if isinstance(table, CodedTable):
        if table.is_category[feature]:
            return _levels(table, feature)
        table = table.values
    column = table[:, [feature]]
    values = np.ravel(column.toarray() if sparse.issparse(column) else column)
    there = values[~np.isnan(values)].astype(np.float64)
    n_missing = len(values) - len(there)
    if not len(there):
        return _NO_VALUES | {"missing": n_missing}
    low, high = float(there.min()), float(there.max())
    width, counts = high / 2 - low / 2, np.array([len(there)])
    if width > 0:
        # Scaled first: numpy refuses ranges that overflow or vanish next to the values.
        share = (there / 2 - low / 2) / width
        bins = np.minimum((share * _BINS).astype(np.intp), _BINS - 1)
        counts = np.bincount(bins, minlength=_BINS)
    return {
        "counts": counts.tolist(),
        "low": number(low, 4),
        "high": number(high, 4),
        "median": number(np.median(there), 4),
        "missing": n_missing,
    }


def _levels(table: CodedTable, feature: int) -> dict[str, Any]:
    """Return how often the levels of a category occur, the commonest first."""
    counts = np.bincount(table.values[:, feature].astype(np.intp))
    order = np.argsort(-counts, kind="stable")
    names = table.levels[feature]
    assert names is not None
    return _NO_VALUES | {
        "counts": counts[order[:_BINS]].tolist(),
        "levels": int(np.count_nonzero(counts)),
        "commonest": str(names[order[0]]),
    }


def missing(table: Any) -> NDArray[np.intp]:
    """Return how many values of each feature are missing."""
    counts = np.zeros(table.shape[1], np.intp)
    if isinstance(table, CodedTable):  # a gap would have been an error
        return counts
    if sparse.issparse(table):
        column = np.repeat(np.arange(len(counts)), np.diff(table.indptr))
        return np.bincount(column[np.isnan(table.data)], minlength=len(counts))
    # A sum is NaN as soon as one value is: one pass and no mask for whole tables.
    with np.errstate(over="ignore", invalid="ignore"):
        some = np.flatnonzero(np.isnan(table.sum(axis=0, dtype=np.float64)))
    counts[some] = np.isnan(table[:, some]).sum(axis=0)
    return counts


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
