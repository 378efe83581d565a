"""What a user writes, held to the types that franet ships: ``make dist`` runs mypy."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import franet
from franet import AttributeNetwork, Cover, FRANe
from franet.exceptions import DataError
from franet.io import Table, read_table, write_table
from franet.rankers import NAMES, get


def look(X: NDArray[np.float64]) -> list[int]:
    """Return the best columns; the types of attributes are known."""
    ranker = Cover(n_features_to_select=3, similarity="spearman")
    assert_type(ranker.fit(X), Cover)
    assert_type(ranker.scores_, NDArray[np.float64])
    assert_type(ranker.ranking_, NDArray[np.intp])
    assert_type(ranker.support_, NDArray[np.bool_])
    assert_type(ranker.network_, AttributeNetwork)
    assert_type(ranker.n_features_, int)
    assert_type(franet.__version__, str)
    best: list[int] = ranker.order_[:3].tolist()
    return best


def rank_file(path: str) -> list[str]:
    """Return the names of the features of a file, best first."""
    try:
        table: Table = read_table(path)
    except DataError:
        return []
    fitted = FRANe().fit(table.X)
    names: list[str] = table.names or []
    write_table({"feature": names, "score": fitted.scores_}, "scores.csv", force=True)
    return [names[j] for j in np.argsort(fitted.ranking_)]


def fit_all(table: NDArray[np.float64]) -> dict[str, Any]:
    """Return every ranker, fitted."""
    return {name: get(name)().fit(table) for name in NAMES}


def mistakes() -> None:
    """Do what mypy must complain of: an ignore that is not needed is an error."""
    FRANe(n_thresholds="many")  # type: ignore[arg-type]
    FRANe(threshold=0.5)  # type: ignore[call-arg]
    Cover(n_select=3)  # type: ignore[call-arg]
    read_table(3)  # type: ignore[arg-type]
