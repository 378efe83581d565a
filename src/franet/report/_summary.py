"""A fitted ranker as a plain dict, from which the page is made."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from franet._common import checked as kinds
from franet._common import sentences
from franet._common.version import __version__
from franet.estimators._validation import TableOfFit, names_of
from franet.exceptions import Setting, UsageError
from franet.network import AttributeNetwork
from franet.report._data import Listing, copies, describe, heat_map, missing
from franet.report._features import communities_of, network_map, rows
from franet.report._sure import of_feature, of_ranking
from franet.report._text import clip, number, numbers, words

FORMAT = "franet-report"
VERSION = 1

# Lists of parameters that are longer than this are counted only.
_FEW = 20
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "bokeh")
_NAMED = 8
# What else may be the reason where there are categories.
_MIXED = {
    "constant": "constant or like an identifier",
    "duplicates": "a copy, or one determines the other",
}


@kinds.checked(
    ranker=kinds.RANKER,
    top=kinds.WHOLE,
    names=kinds.optional(kinds.SEVERAL),
    title=kinds.optional(kinds.TEXT),
    seconds=kinds.optional(kinds.NUMBER),
    warnings=kinds.SEVERAL,
    stability=kinds.optional(kinds.STABILITY),
)
def summarize(
    ranker: Any,
    X: Any = None,
    *,
    top: int = 500,
    names: Sequence[str] | None = None,
    title: str | None = None,
    seconds: float | None = None,
    warnings: Sequence[str] = (),
    stability: Any = None,
) -> dict[str, Any]:
    """Return what a report says about a ranking, as a plain dict.

    Parameters
    ----------
    ranker : FRANe or another ranker of `franet.rankers`
        The fitted ranker.
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        The table it was fitted to. Without it there are no distributions, and the
        similarities between features are those of the network's edges, or none if
        the ranker has no network.
    top : int, default=500
        How many features, best first, are listed; the rest is counted.
    names : sequence of str, optional
        The names of the features, where the table had none.
    title : str, optional
        What was ranked, such as the name of a file.
    seconds : float, optional
        How long the ranking took.
    warnings : sequence of str, optional
        What else the reader should know.
    stability : Stability, optional
        How sure the ranking is: what ``ranker.stability(X)`` returned. Without it the
        page says that this was not measured.

    Returns
    -------
    summary : dict
        Fit for JSON; docs/report.md lists its keys. What needs a network is None for
        rankers without one. Why a ranking says little comes first in ``warnings``.

    Raises
    ------
    DataError
        Where X is not the table that was fitted.
    UsageError
        Where `top` is not positive, there is not one name for each feature, or
        `stability` is that of another ranking.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import FRANe
    >>> from franet.report import summarize
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> summary = summarize(FRANe().fit(X), X, title="Tumours")
    >>> summary["features"][0]["name"]
    'mean compactness'
    """
    check_is_fitted(ranker)
    kinds.check_value("top", top, top >= 1, "a report lists at least one feature.")
    labels = _labels(ranker, names)
    given: Any = None if X is None else TableOfFit(ranker)(X, lazy=False)
    given = given.tocsc() if sparse.issparse(given) else given
    listing = Listing(ranker, given, labels, ranker.order_[:top])
    net, table, data = listing.network, listing.table, data_summary(listing)
    found = [getattr(ranker, "_diagnosis", ""), *warnings, *notes(listing, data)]
    won = listing.is_frane and ranker.winner_ is not None
    isolated = ranker.n_isolated_ if listing.is_frane else data["isolated"]["count"]
    # Every key is always there; a part that the ranker does not have is None.
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title or "Feature ranking",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ranker": type(ranker).__name__,
        "about": (getdoc(ranker) or "").partition("\n")[0].replace("``", ""),
        "n_features": int(ranker.n_features_in_),
        "n_selected": int(ranker.n_features_),
        "n_edges": None if net is None else int(net.n_edges),
        "n_isolated": isolated,
        "n_constant": data["constant"]["count"],
        "truncated": None if net is None else bool(net.truncated_),
        "threshold": None if net is None else number(net.threshold),
        "quality": number(ranker.quality_[ranker.winner_]) if won else None,
        "n_examples": None if table is None else int(table.shape[0]),
        "measure": describe(listing),
        "warnings": [note for note in dict.fromkeys(found) if note],
        "data": data,
        "stability": of_ranking(ranker, stability, labels),
        "features": [
            row | {"stability": of_feature(stability, row["index"], labels)}
            for row in rows(listing)
        ],
        "communities": communities_of(listing),
        "map": network_map(listing),
        "thresholds": _thresholds(ranker) if listing.is_frane else None,
        "cover": _cover(listing) if listing.is_cover else None,
        "heat": heat_map(listing),
        "parameters": _parameters(ranker),
        "versions": versions(),
        "seconds": None if seconds is None else round(seconds, 3),
    }


def _labels(ranker: Any, names: Sequence[str] | None) -> list[str]:
    labels = [_text(name) for name in (names_of(ranker) if names is None else names)]
    if len(labels) != ranker.n_features_in_:
        raise UsageError(
            f"{{}} has {len(labels)} names for {ranker.n_features_in_} features.",
            Setting("names"),
            remedy="Give one for each.",
        )
    return labels


def _text(name: Any) -> str:
    # Half of a surrogate pair is no text that a file can hold.
    return str(name).encode("utf-8", "replace").decode()


def _thresholds(ranker: Any) -> dict[str, Any]:
    return {
        "threshold": numbers(ranker.thresholds_, 7),
        "quality": numbers(ranker.quality_, 7),
        "bound": numbers(ranker.quality_bound_, 7),
        "n_edges": ranker.n_edges_.tolist(),
        "too_sparse": ranker.too_sparse_.tolist(),
        "winner": None if ranker.winner_ is None else int(ranker.winner_),
    }


def _cover(listing: Listing) -> dict[str, Any]:
    """Return what the picks explain, and how many are enough."""
    ranker, names = listing.ranker, listing.names
    n_picked = ranker.n_ranked_
    counted = min(ranker.n_features_, n_picked)
    left = _some((ranker.representative_ < 0) & ~ranker.constant_, names)
    components = None
    if listing.table is not None:
        components = numbers(ranker.explained_by_components(listing.table), 5)
    return {
        "text": ranker.summary(),
        "n_suggested": ranker.n_features_suggested_,
        "n_picked": n_picked,
        "n_representatives": len(ranker.members_),
        "n_alone": sum(not len(others) for others in ranker.members_.values()),
        "not_represented": left | {"text": ranker._represented()},
        "by_selected": {
            "count": counted,
            "share": number(ranker.explained_[counted - 1], 5),
        },
        "pick": [names[j] for j in ranker.order_[:n_picked]],
        "explained": numbers(ranker.explained_, 5),
        "increase": sentences.increases(ranker.explained_),
        "components": components,
        "sampled": sentences.sampled(ranker.n_samples_explained_, ranker._n_samples),
    }


def _parameters(ranker: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return number(value)
        if isinstance(value, str):
            return _text(value)
        if isinstance(value, Collection):
            few = len(value) <= _FEW and not isinstance(value, Mapping)
            kind = type(value).__name__
            return [plain(v) for v in value] if few else f"{kind} of {len(value)}"
        # Not repr: it holds addresses in memory, which differ from run to run.
        return getattr(value, "__qualname__", type(value).__name__)

    given = ranker.get_params()
    # A subclass may take fewer of them.
    for name in ranker._parameter_constraints:
        if name not in given and hasattr(ranker, name):
            given[name] = getattr(ranker, name)
    return {name: plain(value) for name, value in given.items()}


def versions() -> dict[str, str]:
    """Return the versions of what a report was made with."""
    found = {"franet": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


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
    n_picked, said = ranker.n_ranked_, []
    if ranker.n_features_suggested_ is None:
        said.append(ranker.summary())
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
