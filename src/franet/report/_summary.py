"""A fitted ranker as a plain dict, from which the page is made."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franet._common.checked import (
    NUMBER,
    RANKER,
    SEVERAL,
    TEXT,
    WHOLE,
    checked,
    optional,
)
from franet._common.version import __version__
from franet.exceptions import UsageError
from franet.report._columns import check_columns
from franet.report._cover import cover_part, is_cover
from franet.report._features import communities_of, rows
from franet.report._heat import heat_map
from franet.report._map import network_map
from franet.report._measure import describe
from franet.report._numbers import number, numbers
from franet.report._plain import plain_part
from franet.report._warnings import data_summary, notes

__all__ = ["FORMAT", "VERSION", "summarize"]

FORMAT = "franet-report"
VERSION = 1

# Lists of parameters that are longer than this are counted only.
_FEW = 20
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "bokeh")


@checked(
    ranker=RANKER,
    top=WHOLE,
    names=optional(SEVERAL),
    title=optional(TEXT),
    seconds=optional(NUMBER),
    warnings=SEVERAL,
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
        Where `top` is not positive, or there is not one name for each feature.

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
    if top < 1:
        raise UsageError(f"top={top}: a report lists at least one feature")
    labels = _labels(ranker, names)
    table = None if X is None else check_columns(ranker, X)
    found = _part_of(ranker)(ranker, table, labels, top)
    said = [*_diagnosis(ranker), *warnings, *found["warnings"]]
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title or "Feature ranking",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ranker": type(ranker).__name__,
        "about": (getdoc(ranker) or "").partition("\n")[0].replace("``", ""),
        "n_features": int(ranker.n_features_in_),
        "n_selected": int(ranker.n_features_),
        **found,
        "warnings": list(dict.fromkeys(said)),
        "parameters": _parameters(ranker),
        "versions": _versions(),
        "seconds": None if seconds is None else round(seconds, 3),
    }


def _part_of(ranker: Any) -> Callable[..., dict[str, Any]]:
    if is_cover(ranker):
        return cover_part
    return _network_part if hasattr(ranker, "network_") else plain_part


def _labels(ranker: Any, names: Sequence[str] | None) -> list[str]:
    given = names
    if given is None:
        given = getattr(ranker, "feature_names_in_", None)
    if given is None:
        given = [f"x{j}" for j in range(ranker.n_features_in_)]
    labels = [_text(name) for name in given]
    if len(labels) != ranker.n_features_in_:
        raise UsageError(
            f"names has {len(labels)} names for {ranker.n_features_in_} features; "
            "give one for each"
        )
    return labels


def _text(name: Any) -> str:
    # Half of a surrogate pair is no text that a file can hold.
    return str(name).encode("utf-8", "replace").decode()


def _diagnosis(ranker: Any) -> list[str]:
    """Return why the ranking says little, where it does."""
    return [ranker._diagnosis] if getattr(ranker, "_diagnosis", "") else []


def _network_part(
    ranker: Any, table: Any | None, labels: list[str], top: int
) -> dict[str, Any]:
    given = ranker.similarity == "precomputed"
    communities = ranker.network_.communities()
    features = rows(ranker, None if given else table, labels, top)
    data = data_summary(ranker, table, labels)
    return {
        **_counts(ranker),
        "n_examples": None if table is None or given else int(table.shape[0]),
        "measure": describe(ranker),
        "warnings": notes(ranker, data, communities),
        "data": data,
        "features": features,
        "communities": communities_of(communities, labels),
        "map": network_map(ranker.network_, communities, len(features)),
        "thresholds": _thresholds(ranker),
        "cover": None,
        "heat": heat_map(ranker, table, len(features)),
    }


def _counts(ranker: Any) -> dict[str, Any]:
    won = ranker.winner_ is not None
    return {
        "n_edges": int(ranker.network_.n_edges),
        "n_isolated": int(ranker.n_isolated_),
        "n_constant": int(np.sum(ranker.constant_)),
        "truncated": bool(ranker.network_.truncated_),
        "threshold": number(ranker.threshold_),
        "quality": number(ranker.quality_[ranker.winner_]) if won else None,
    }


def _thresholds(ranker: Any) -> dict[str, Any]:
    return {
        "threshold": numbers(ranker.thresholds_, 7),
        "quality": numbers(ranker.quality_, 7),
        "bound": numbers(ranker.quality_bound_, 7),
        "n_edges": [int(count) for count in ranker.n_edges_],
        "too_sparse": [bool(flag) for flag in ranker.too_sparse_],
        "winner": None if ranker.winner_ is None else int(ranker.winner_),
    }


def _parameters(ranker: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _text(value)
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return number(value)
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


def _versions() -> dict[str, str]:
    found = {"franet": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
