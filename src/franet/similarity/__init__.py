"""Similarities between features, each a source of tiles for the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._coded import CodedTable
from franet.engine.tiles import PairSource
from franet.exceptions import DataError, UsageError
from franet.similarity._correlation import (
    CorrelationSource,
    PairwiseCorrelationSource,
    rank_columns,
)
from franet.similarity._distances import DISTANCES, DistanceSource
from franet.similarity._given import (
    CallableSource,
    PrecomputedSource,
    check_precomputed,
)
from franet.similarity._mixed import open_mixed
from franet.similarity._sparse import (
    SparseCorrelationSource,
    dense_is_better,
    rank_sparse_columns,
    sparse_constant_columns,
)
from franet.similarity._standardise import constant_columns

__all__ = ["CORRELATIONS", "SIMILARITIES", "open_source"]

CORRELATIONS = ("abs-correlation", "correlation", "spearman")
SIMILARITIES = (*CORRELATIONS, "mixed", *sorted(DISTANCES), "precomputed")

# Similarities for which the authors' code defines nothing to reproduce.
_PAPER_ONLY = {
    "mixed": "it knows numbers only",
    "precomputed": "it computes the similarities itself",
    "seuclidean": "it fails on it, for lack of the variances",
}


def open_source(
    X: Any,
    similarity: str | Callable[[NDArray[Any], NDArray[Any]], Any],
    *,
    p: float = 2.0,
    variant: str = "paper",
    pairwise: bool = False,
) -> tuple[PairSource, NDArray[np.bool_]]:
    """Return the source of a table's similarities, and which columns it leaves out.

    Parameters
    ----------
    X : ndarray, sparse array or CodedTable of shape (m, n)
        The table, float32 or float64, checked.
    similarity : str or callable
        One of `SIMILARITIES`, or a function of two blocks of columns.
    p : float, default=2
        The exponent of ``similarity="minkowski"``.
    variant : {"paper", "reference"}, default="paper"
        The definition to follow.
    pairwise : bool, default=False
        Whether NaN is missing and each pair uses the rows that both have.
    """
    if variant == "reference":
        _check_reference(similarity)
    if pairwise and similarity not in ("correlation", "abs-correlation"):
        raise UsageError(
            "missing='pairwise' works with similarity='correlation' and "
            f"'abs-correlation', not with {similarity!r}. Fill the gaps first."
        )
    none = np.zeros(X.shape[1], bool)
    if callable(similarity):
        return CallableSource(_columns_at_hand(X), similarity), none
    if similarity == "precomputed":
        W = X.toarray() if sparse.issparse(X) else X
        check_precomputed(W)
        return PrecomputedSource(W), none
    if similarity in DISTANCES:
        unit = variant == "reference"
        return DistanceSource(_columns_at_hand(X), similarity, p, unit), none
    if isinstance(X, CodedTable):
        return open_mixed(X)
    return _open_correlation(X, similarity, pairwise)


def _check_reference(similarity: Any) -> None:
    why = _PAPER_ONLY.get(similarity) if isinstance(similarity, str) else None
    if callable(similarity):
        why = "its functions are distances of two vectors"
    if why:
        name = "a callable" if callable(similarity) else repr(similarity)
        raise UsageError(
            f"similarity={name} has no reference definition in the authors' code: "
            f"{why}. Use variant='paper'."
        )


def _columns_at_hand(X: Any) -> Any:
    return X.tocsc() if sparse.issparse(X) else X


def _open_correlation(
    X: Any, similarity: str, pairwise: bool
) -> tuple[PairSource, NDArray[np.bool_]]:
    # Between numbers alone the mixed similarity is the absolute correlation.
    absolute = similarity in ("abs-correlation", "mixed")
    is_sparse = sparse.issparse(X)
    constant = sparse_constant_columns(X) if is_sparse else constant_columns(X)
    if constant.all():
        raise DataError(
            "All columns are constant: there is nothing to correlate. Drop them, or "
            "use a distance such as similarity='euclidean'."
        )
    columns = np.flatnonzero(~constant)
    if is_sparse:
        X = X.tocsc()[:, columns].astype(np.float64)
        X.sum_duplicates()
        if similarity == "spearman":
            X = rank_sparse_columns(X)
        if not dense_is_better(X):
            return SparseCorrelationSource(X, absolute), constant
        X, columns = X.toarray(), np.arange(len(columns))
    elif similarity == "spearman":
        X = rank_columns(X)
    if pairwise:
        return PairwiseCorrelationSource(X, columns, absolute), constant
    return CorrelationSource(X, columns, absolute), constant
