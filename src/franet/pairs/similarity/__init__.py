"""Similarities between features, each a source of tiles for the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.supports import Supports
from franet.exceptions import Setting
from franet.pairs.coded import CodedTable
from franet.pairs.columns._base import Columns, check_finite
from franet.pairs.columns._kinds import ArrayColumns, FilledColumns, SparseColumns
from franet.pairs.similarity._correlation import PairwiseCorrelationSource
from franet.pairs.similarity._dense import Budget, Opened, check_not_all, open_dense
from franet.pairs.similarity._distances import (
    DISTANCES,
    CallableSource,
    DistanceSource,
    PrecomputedSource,
    check_precomputed,
)
from franet.pairs.similarity._mixed import open_mixed
from franet.pairs.similarity._sparse import (
    SparseCorrelationSource,
    constant_in,
    rank_sparse_columns,
)
from franet.pairs.similarity._standardize import constant_columns

__all__ = ["CORRELATIONS", "GAPS", "REFERENCE", "open_source"]

CORRELATIONS = ("abs-correlation", "correlation", "spearman")
# With more than this share filled, the product of dense blocks is faster.
_MAX_DENSITY = 0.1

# Similarities for which the authors' code defines nothing to reproduce.
_PAPER_ONLY = {
    "mixed": "the authors' code knows numbers only",
    "precomputed": "the authors' code computes the similarities itself",
    "seuclidean": "the authors' code fails on it, for lack of the variances",
}
GAPS = Supports(
    Setting("missing", "pairwise"),
    Setting("missing", "error"),
    {"similarity": ("correlation", "abs-correlation")},
    tables=("dense",),
)
REFERENCE = Supports(
    Setting("variant", "reference"),
    Setting("variant", "paper"),
    {"similarity": (*CORRELATIONS, *sorted(DISTANCES.keys() - _PAPER_ONLY.keys()))},
    stored=CORRELATIONS,
    because={
        **_PAPER_ONLY,
        "similarity": "functions of the authors' code are distances of two vectors",
    },
)


def open_source(
    X: Any,
    similarity: str | Callable[[NDArray[Any], NDArray[Any]], Any],
    *,
    p: float = 2.0,
    variant: str = "paper",
    pairwise: bool = False,
    max_memory: int | None = None,
    n_thresholds: int = 100,
    n_threads: int = 1,
    rough: bool = False,
) -> Opened:
    """Return the source of a table's similarities, and which columns it leaves out.

    Parameters
    ----------
    X : ndarray, sparse array, CodedTable or Columns of shape (m, n)
        The table, float32 or float64, checked. Of `Columns`, values are checked here;
        they have no other similarity than the correlations.
    similarity : str or callable
        Its name, or a function of two blocks of columns.
    p : float, default=2
        The exponent of ``similarity="minkowski"``.
    variant : {"paper", "reference"}, default="paper"
        The definition to follow.
    pairwise : bool, default=False
        Whether NaN is missing and each pair uses the rows that both have.
    max_memory : int, optional
        Bytes that source and search may take; None is half of what is free. Where
        standardized features take more, they lie in a temporary file.
    n_thresholds, n_threads : int
        What the search will need depends on them. No result does.
    rough : bool, default=False
        Whether tiles of dense correlations are float32, with a bound on their error,
        whatever the type of the table.
    """
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
    budget = Budget.of(max_memory, n_thresholds, n_threads)
    return _open_correlation(X, similarity, pairwise, budget, rough)


def _columns_at_hand(X: Any) -> Any:
    return X.tocsc() if sparse.issparse(X) else X


def _open_correlation(
    X: Any, similarity: str, pairwise: bool, budget: Budget, rough: bool
) -> Opened:
    # Between numbers alone the mixed similarity is the absolute correlation.
    absolute = similarity in ("abs-correlation", "mixed")
    ranks = similarity == "spearman"
    if sparse.issparse(X):
        return _open_sparse(X, absolute, ranks, budget)
    if pairwise:
        constant = constant_columns(X)
        check_not_all(constant)
        columns = np.flatnonzero(~constant)
        return PairwiseCorrelationSource(X, columns, absolute), constant
    table = X if isinstance(X, Columns) else ArrayColumns(X)
    if isinstance(table, SparseColumns) and _fits(table, budget):
        X = table.load()
        X.sum_duplicates()
        check_finite(X, table.names, False, table.for_gaps)
        return _open_sparse(X, absolute, ranks, budget)
    return open_dense(table, absolute, ranks, budget, rough)


def _fits(table: SparseColumns, budget: Budget) -> bool:
    """Return whether a sparse matrix and its copies fit into memory."""
    m, n = table.shape
    copies = 64 * table.n_filled + 8 * m * -(-n // 256)
    return copies + budget.reserved(n, 256) <= budget.most


def _open_sparse(X: Any, absolute: bool, ranks: bool, budget: Budget) -> Opened:
    constant = constant_in(X)
    check_not_all(constant)
    X = X.tocsc()[:, np.flatnonzero(~constant)].astype(np.float64)
    X.sum_duplicates()
    if X.nnz > _MAX_DENSITY * X.shape[0] * X.shape[1]:
        source, _ = open_dense(FilledColumns(X), absolute, ranks, budget)
        return source, constant
    if ranks:
        X = rank_sparse_columns(X)
    return SparseCorrelationSource(X, absolute), constant
