"""The ranker of a call: which one, how many features, and its fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from franet.exceptions import DataError, UsageError
from franet.network._select import FeatureIndex

__all__ = ["by_position", "fit", "prepare"]

_LISTS, _MAPPINGS = ("include", "exclude"), ("cost", "groups")


def prepare(ranker: Any, n_top: Any) -> Any:
    """Return a copy of the ranker that selects as many features as are asked for."""
    from sklearn.base import clone

    from franet._base import FeatureRanker
    from franet._cover import Cover

    if ranker is None:
        ranker = Cover()
    if not isinstance(ranker, FeatureRanker):
        raise UsageError(
            f"ranker={ranker!r} is not an instance of a franet ranker. Pass one, such "
            "as Cover()."
        )
    if _value(ranker, "similarity") == "precomputed":
        raise UsageError(
            "ranker: similarity='precomputed' is for a matrix of similarities, which "
            "adata does not hold. Choose another similarity."
        )
    copy = clone(ranker)
    if n_top is not None:
        asked = ranker.n_features_to_select
        if asked != type(ranker)().n_features_to_select:
            raise UsageError(
                f"n_top={n_top}, but ranker has n_features_to_select={asked!r}. Leave "
                "out one of them."
            )
        copy.set_params(n_features_to_select=n_top)
    return copy


def _value(ranker: Any, name: str) -> Any:
    """Return a parameter if it is text: others may not compare with text."""
    value = getattr(ranker, name, None)
    return value if isinstance(value, str) else None


def by_position(ranker: Any, names: Any) -> Any:
    """Return a copy in which features that parameters name are given by position.

    A matrix has no names of columns, and a frame cannot be sparse.
    """
    from sklearn.base import clone

    copy = clone(ranker)
    index = FeatureIndex(names)
    for parameter in _LISTS:
        given = getattr(ranker, parameter, None)
        # A single feature has an error of its own, which the ranker raises.
        if given is not None and not isinstance(given, str | int):
            found = [_find(index, feature, parameter) for feature in given]
            copy.set_params(**{parameter: found})
    for parameter in _MAPPINGS:
        given = getattr(ranker, parameter, None)
        if isinstance(given, Mapping):
            pairs = {_find(index, name, parameter): given[name] for name in given}
            copy.set_params(**{parameter: pairs})
    return copy


def _find(index: FeatureIndex, feature: Any, parameter: str) -> int:
    try:
        return index.find(feature)
    except DataError as err:
        raise UsageError(f"{parameter}: {err}") from None


def fit(ranker: Any, X: Any, names: Any, n_top: Any) -> None:
    """Fit the ranker; errors speak of `n_top` where it was given.

    The names go with the matrix, so that what the ranker says names genes.
    """
    from anndata import AnnData
    from pandas import DataFrame

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata sets options that pandas deprecates
        named = AnnData(X, var=DataFrame(index=names))
    try:
        ranker.fit(named)
    except UsageError as err:
        if n_top is None:
            raise
        said = str(err).replace("n_features_to_select", "n_top")
        raise UsageError(said) from None
