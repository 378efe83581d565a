"""How a network was made, so that it can be made again with other edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.engine.place import portable

__all__ = ["Recipe", "complete_above", "cover_recipe", "make_recipe"]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a network was made.

    Attributes
    ----------
    parameters : mapping
        The parameters of the ranker.
    n_columns : int
        How many columns its table had.
    names : ndarray of str or None
        Their names, None where they had none.
    columns : ndarray of int
        Which columns of the table the features are.
    floor : ndarray or None
        For a truncated network: edges of a feature that are stronger than this are
        all there.
    ranks : bool
        Whether the columns are replaced by their ranks first.
    """

    parameters: Mapping[str, Any]
    n_columns: int
    names: NDArray[Any] | None
    columns: NDArray[np.intp]
    floor: NDArray[np.float64] | None = None
    ranks: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "parameters": portable(self.parameters)}


def _parameters(ranker: Any) -> dict[str, Any]:
    """Return all parameters of FRANe, of which a subclass may take fewer."""
    return {name: getattr(ranker, name) for name in ranker._parameter_constraints}


def complete_above(adjacency: Any, per_feature: int) -> NDArray[np.float64]:
    """Return, for each feature, the weight above which no edge is missing.

    Parameters
    ----------
    adjacency : CSR array
        The `per_feature` strongest edges of each feature, at least.
    per_feature : int
        How many of each feature are certain.
    """
    n = adjacency.shape[0]
    floor = np.full(n, -np.inf)
    for j in range(n):
        weights = adjacency.data[adjacency.indptr[j] : adjacency.indptr[j + 1]]
        if len(weights) >= per_feature:
            at = len(weights) - per_feature
            floor[j] = np.partition(weights, at)[at]
    return floor


def make_recipe(ranker: Any, outcome: Any, constant: NDArray[np.bool_]) -> Recipe:
    """Return how a ranker made its network.

    Parameters
    ----------
    ranker : FRANe
        The ranker, whose table is known.
    outcome : Outcome
        What its search found.
    constant : ndarray of bool
        Columns that were left out.
    """
    floor = None
    if outcome.truncated:
        per_feature = max(1, ranker.max_edges // outcome.network.shape[0])
        floor = np.full(len(constant), -np.inf)
        floor[~constant] = complete_above(outcome.network, per_feature)
    return Recipe(
        parameters=_parameters(ranker),
        n_columns=len(constant),
        names=getattr(ranker, "feature_names_in_", None),
        columns=np.arange(len(constant)),
        floor=floor,
    )


def cover_recipe(ranker: Any) -> Recipe:
    """Return how to make the network of absolute correlations behind a cover.

    Parameters
    ----------
    ranker : Cover
        The ranker, whose table is known.
    """
    from franet.estimators._frane import FRANe

    n = ranker.n_features_in_
    network = FRANe(similarity="abs-correlation", n_jobs=ranker.n_jobs)
    return Recipe(
        parameters=_parameters(network),
        n_columns=n,
        names=getattr(ranker, "feature_names_in_", None),
        columns=np.arange(n),
        ranks=ranker.similarity == "spearman",
    )
