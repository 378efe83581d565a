"""What is to know about the data before one believes the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from franet.report._columns import missing
from franet.report._measure import top_weight
from franet.report._numbers import words

__all__ = [
    "data_summary",
    "duplicates",
    "missing_values",
    "notes",
    "plain_notes",
    "some",
]

_NAMED = 8
# What else may be the reason where there are categories.
_MIXED = {
    "constant": "constant or like an identifier",
    "duplicates": "a copy, or one determines the other",
}


def data_summary(
    ranker: Any, table: Any | None, names: Sequence[str]
) -> dict[str, Any]:
    """Return counts and a few names of what is odd in the data.

    Returns
    -------
    dict
        ``constant``, ``isolated``, ``duplicates`` and ``missing``, each with
        ``count`` (of features; None where it cannot be told) and ``features`` (the
        first names); duplicates also have ``groups``, missing values ``cells``. With
        ``similarity="mixed"`` the first and the third have ``word``, what they are.
    """
    net = ranker.network_
    alone = (np.diff(net.adjacency.indptr) == 0) & ~ranker.constant_
    given = ranker.similarity == "precomputed"
    found = {
        "constant": some(np.flatnonzero(ranker.constant_), names),
        "isolated": some(np.flatnonzero(alone), names),
        "duplicates": _duplicates(ranker, table, names),
        "missing": missing_values(None if given else table, names),
    }
    if ranker.similarity == "mixed":
        for what, word in _MIXED.items():
            found[what]["word"] = word
    return found


def missing_values(table: Any | None, names: Sequence[str]) -> dict[str, Any]:
    """Return how many values are missing and where; None where it is not known."""
    if table is None:
        return {"count": None, "features": [], "cells": None}
    cells, columns = missing(table)
    return some(columns, names) | {"cells": cells}


def some(features: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return how many features there are, and the first names."""
    return {
        "count": len(features),
        "features": [names[int(j)] for j in features[:_NAMED]],
    }


def _duplicates(ranker: Any, table: Any | None, names: Sequence[str]) -> dict[str, Any]:
    """Return the features that have copies, up to scale and offset if correlated."""
    top = top_weight(ranker, table)
    if top is None:
        return {"count": None, "features": [], "groups": None}
    edges = ranker.network_.adjacency.tocoo()
    same = edges.data >= top - 1e-9 * max(1.0, abs(top))
    pairs = np.stack([c[same] for c in edges.coords], axis=1)
    return duplicates(pairs, names)


def duplicates(pairs: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the features of pairs of copies, and in how many groups they are."""
    n = len(names)
    features = np.unique(pairs)
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    groups = len(np.unique(part[features]))
    return some(features, names) | {"groups": groups}


def plain_notes(ranker: Any, data: dict[str, Any]) -> list[str]:
    """Return what a reader should know of any ranking: errors, constants, copies."""
    found = []
    if (approximation := getattr(ranker, "approximation_", None)) is not None:
        found.append(str(approximation))
    if count := data["constant"]["count"]:
        word = data["constant"].get("word", "constant")
        found.append(
            f"{words(count, 'feature is', 'features are')} {word} and "
            f"{'ranks' if count == 1 else 'rank'} last: {_list(data['constant'])}."
        )
    if count := data["duplicates"]["count"]:
        groups = data["duplicates"]["groups"]
        copies = "are copies of each other, as far as the similarity can tell"
        if "word" in data["duplicates"]:
            copies = "have similarity 1: they are copies, or one determines the other"
        found.append(
            f"{words(count, 'feature')} in {words(groups, 'group')} {copies}: "
            f"{_list(data['duplicates'])}."
        )
    return found


def notes(ranker: Any, data: dict[str, Any], communities: Any) -> list[str]:
    """Return what a reader should know, a sentence or two each."""
    n, net = len(ranker.ranking_), ranker.network_
    found = []
    if ranker.winner_ is None:
        found.append("No threshold won: all features score the same.")
    found += plain_notes(ranker, data)
    if cells := data["missing"]["cells"]:
        found.append(
            f"{words(cells, 'value is', 'values are')} missing, in "
            f"{words(data['missing']['count'], 'feature')}: {_list(data['missing'])}."
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
    shown = ", ".join(_short(name) for name in found["features"])
    return shown + (" and others" if found["count"] > len(found["features"]) else "")


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
