"""The ranker of a call: which one, how many features, and its fit."""

from __future__ import annotations

import warnings
from typing import Any

from franet.exceptions import UsageError

__all__ = ["fit", "prepare"]


def prepare(ranker: Any, n_top: Any) -> Any:
    """Return a copy of the ranker that selects as many features as are asked for."""
    from sklearn.base import clone

    from franet.estimators._base import FeatureRanker
    from franet.estimators._cover import Cover

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
