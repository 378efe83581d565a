"""What to know about the data before one believes the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from franet.network import AttributeNetwork
from franet.report._data import Listing, copies, missing
from franet.report._text import clip, words

_NAMED = 8
# What else may be the reason where there are categories.
_MIXED = {
    "constant": "constant or like an identifier",
    "duplicates": "a copy, or one determines the other",
}


def data_summary(listing: Listing) -> dict[str, Any]:
    """Return counts and a few names of what is odd in the data.

    Returns
    -------
    dict
        ``constant``, ``isolated``, ``duplicates`` and ``missing``, each with
        ``count`` (of features; None if it is not known) and ``features`` (the
        first names); duplicates also have ``groups``, missing values ``cells``. With
        ``FRANe(similarity="mixed")`` the first and the third have ``word``, what
        they are.
    """
    names, constant, net = listing.names, listing.constant, listing.network
    alone = None
    if net is not None and constant is not None:
        alone = (np.diff(net.adjacency.indptr) == 0) & ~constant
    gaps = None if listing.table is None else missing(listing.table)
    cells = None if gaps is None else int(gaps.sum())
    found = {
        "constant": _some(constant, names),
        "isolated": _some(alone, names),
        "duplicates": _duplicates(copies(listing), names),
        "missing": _some(gaps, names) | {"cells": cells},
    }
    if listing.is_frane and listing.ranker.similarity == "mixed":
        for what, word in _MIXED.items():
            found[what]["word"] = word
    return found


def _some(which: NDArray[Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """Return how many features are marked, and the first names."""
    if which is None:
        return {"count": None, "features": []}
    features = np.flatnonzero(which)
    return {"count": len(features), "features": [names[j] for j in features[:_NAMED]]}


def _duplicates(pairs: NDArray[np.intp] | None, names: Sequence[str]) -> dict[str, Any]:
    """Return the features of pairs of copies, and in how many groups they are."""
    if pairs is None:
        return _some(None, names) | {"groups": None}
    n = len(names)
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    copied = np.zeros(n, bool)
    copied[pairs] = True
    return _some(copied, names) | {"groups": len(np.unique(part[copied]))}


def notes(listing: Listing, data: dict[str, Any]) -> list[str]:
    """Return what a reader should know, a sentence or two each."""
    ranker, found = listing.ranker, []
    if listing.is_cover:
        found += _cover_notes(ranker)
    elif listing.is_frane and ranker.winner_ is None:
        found.append("No threshold won: all features score the same.")
    if (approximation := getattr(ranker, "approximation_", None)) is not None:
        found.append(str(approximation))
    found += _odd_features(data)
    if listing.is_frane:
        found += _network_notes(ranker.network_, data)
    return found


def _cover_notes(ranker: Any) -> list[str]:
    """Return why the ranking says little, or how far it was picked."""
    found, n_picked = ranker.suggestion_, ranker.n_ranked_
    said = []
    if found.count is None:
        left = ranker.scores_[ranker.order_[n_picked:]]
        can_pick = found.more and (left > 0.0).any()
        advice = " More can be picked: set n_ranked." if can_pick else ""
        said.append(f"{found}.{advice}")
    if ranker.n_features_ > n_picked:
        said.append(
            f"{words(ranker.n_features_, 'feature is', 'features are')} selected, of "
            f"which the first {n_picked:,} were picked one after another. The others "
            "follow by what each alone would add. To pick more, set n_ranked."
        )
    return said


def _odd_features(data: dict[str, Any]) -> list[str]:
    constant, twice, found = data["constant"], data["duplicates"], []
    if count := constant["count"]:
        found.append(
            f"{words(count, 'feature is', 'features are')} "
            f"{constant.get('word', 'constant')} and "
            f"{'ranks' if count == 1 else 'rank'} last: {_list(constant)}."
        )
    if count := twice["count"]:
        what = "are copies of each other, as far as the similarity can tell"
        if "word" in twice:
            what = "have similarity 1: they are copies, or one determines the other"
        found.append(
            f"{words(count, 'feature')} in {words(twice['groups'], 'group')} {what}: "
            f"{_list(twice)}."
        )
    return found


def _network_notes(net: AttributeNetwork, data: dict[str, Any]) -> list[str]:
    n, communities, gaps, found = len(net), net.communities(), data["missing"], []
    if gaps["cells"]:
        found.append(
            f"{words(gaps['cells'], 'value is', 'values are')} missing, in "
            f"{words(gaps['count'], 'feature')}: {_list(gaps)}."
        )
    if count := data["isolated"]["count"]:
        share = f" ({count / n:.0%})" if n >= 50 else ""
        found.append(
            f"{words(count, 'feature')}{share} without an edge at the winning "
            "threshold: isolated features share one score, and their order among "
            "themselves says little."
        )
    if net.truncated_:
        found.append(
            f"The network has {net.n_edges:,} edges; only the strongest of each "
            "feature are kept here."
        )
    if communities.method == "components" and len(communities.size):
        found.append(
            "Communities are connected components: the library that finds finer "
            "ones is not installed."
        )
    return found


def _list(found: dict[str, Any]) -> str:
    shown = ", ".join(clip(name, 40) for name in found["features"])
    return shown + (" and others" if found["count"] > len(found["features"]) else "")
