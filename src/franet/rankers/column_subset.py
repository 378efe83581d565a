"""Greedy column subset selection: the features that explain all the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.progress import report
from franet.cover._residual import Residual
from franet.estimators._validation import dense, how_many
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.rankers._base import Ranker, falling, first_best


class ColumnSubset(Ranker):
    """Rank features by how much of the whole table they explain, one after another.

    Each pick maximises the decrease of ``‖Z − P_S Z‖²_F``, where Z is the table with
    centred columns of unit length, S the features picked so far and ``P_S`` the
    projection on them: the error of the best linear reconstruction of *all* features
    from the picked ones. A feature that repeats an earlier pick explains nothing more
    and comes late.

    Parameters
    ----------
    {n_features_to_select}
    standardize : bool, default=True
        Whether all features weigh the same, whatever their units. False: columns are
        centred only, and those of large variance weigh more.
    {n_ranked}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The gain of a pick: the decrease of the error when it was picked. With
        ``standardize`` a feature contains 1, the table n. A gain may exceed the one
        before it; the score then is as large as that. Others: what the feature would
        add after the last pick. Where that is nothing (the picks explain the feature)
        the score is negative: the share of the table that the feature would explain
        alone, less 1. Constant columns: -1.
    n_ranked_ : int
        How many features were picked, one after another; no more than the rank of
        the table.
    gains_ : ndarray
        The gain of each pick, as it was.
    explained_ : ndarray
        The share of the table that the first pick, the first two, … explain.
    {attributes}

    Notes
    -----
    With E the residual ``Z − P_S Z`` and ``G = EᵀE``, the gain of feature j is
    ``‖G_j‖² / G_jj`` [1]_. Neither E nor G is formed. Let q be the residual of the
    pick, scaled to unit length, and ``S = E Eᵀ``; then with ``c = Zᵀq``, ``v = Zᵀ(Sq)``
    and ``θ = qᵀSq``, which is the gain,

        ``f_j ← f_j − 2·c_j·v_j + θ·c_j²``  and  ``g_j ← g_j − c_j²``

    keep ``f_j = ‖G_j‖²`` and ``g_j = G_jj`` up to date. The first ``f`` takes
    O(m·n·min(m, n)), each pick O(m·n): one pass over the table if m ≤ n, else three.
    Memory is one float64 copy of the table; a sparse table is made dense. Sums are
    taken anew whenever the residual has shrunk a hundredfold, so that late gains are
    not rounding errors. A pick is the first column among equal gains.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection
       for unsupervised learning. Knowledge and Information Systems 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet.rankers import ColumnSubset
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ranker = ColumnSubset(n_features_to_select=3).fit(X)
    >>> list(X.columns[ranker.order_[:3]])
    ['mean concave points', 'mean fractal dimension', 'worst texture']
    >>> ranker.explained_[:3].round(3)
    array([0.403, 0.563, 0.631])
    """

    standardize: bool = True
    n_ranked: int | None = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[1]
        columns = np.flatnonzero(~constant_in(X))
        rows = feature_rows(dense(X), columns, len(columns), np.float64)
        scale = 1.0
        if self.standardize:
            standardize(rows)
        else:
            scale = _centre(rows)
        residual = Residual(rows)
        first = residual.gains()
        k = min(how_many(self.n_ranked, self.n_features_to_select, n), len(columns))
        order, gains = _pick(residual, k)
        scores = np.full(n, -1.0)
        scores[columns] = _all_scores(order, gains, residual, first, scale)
        self.n_ranked_ = len(order)
        self.gains_ = gains * scale
        self.explained_ = np.minimum(np.cumsum(gains) / (residual.total or 1.0), 1.0)
        return scores


def _centre(rows: NDArray[np.float64]) -> float:
    """Centre rows in place and scale them alike; return what squares are then worth."""
    largest = np.abs(rows).max(initial=0.0)
    factor = powers_of_two(np.array([largest]))[0]
    rows *= factor
    for _ in range(2):
        rows -= rows.mean(axis=1)[:, None]
    with np.errstate(over="ignore"):
        return float(min((1.0 / factor) ** 2, np.finfo(np.float64).max / 2**64))


def _pick(residual: Residual, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Pick up to `k` features; return them and their gains."""
    order: list[int] = []
    gains: list[float] = []
    while len(order) < k:
        values = residual.gains()
        if not len(values) or values.max() <= 0.0:
            break
        j = first_best(values)
        gain = residual.remove(j, float(values[j]))
        if gain > 0.0:
            order.append(j)
            gains.append(gain)
            report("picks", len(order), k)
    return np.array(order, np.intp), np.array(gains)


def _all_scores(
    order: NDArray[np.intp],
    gains: NDArray[np.float64],
    residual: Residual,
    first: NDArray[np.float64],
    scale: float,
) -> NDArray[np.float64]:
    """Return scores that fall along the picks, and are lower for all others."""
    if not len(order):
        return np.zeros(len(first))
    fallen = falling(np.append(gains, gains[-1]))
    scores = np.minimum(residual.gains(), fallen[-1])
    scores[order] = fallen[:-1]
    scores *= scale
    explained = scores <= 0.0
    scores[explained] = np.minimum(first[explained] / residual.total, 1.0) - 1.0
    return scores
