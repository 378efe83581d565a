"""Greedy column subset selection: the features that explain all the others."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from franet._common.progress import report
from franet.cover._constraints import Choice
from franet.cover._exchange import exchange
from franet.cover._residual import Residual
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.rankers._base import NOT_NEGATIVE
from franet.rankers._greedy import GreedyRanker, Picked, first_best


class ColumnSubset(GreedyRanker):
    """Rank features by how much of the whole table they explain, one after another.

    Each pick maximises the decrease of ``‖Z − P_S Z‖²_F``, where Z is the table with
    centred columns of unit length, S the features picked so far and ``P_S`` the
    projection on them: the error of the best linear reconstruction of *all* features
    from the picked ones. A feature that repeats an earlier pick explains nothing more
    and comes late.

    Parameters
    ----------
    {n_features_to_select}
    {include}
    {exclude}
    {cost}
    {groups}
    {n_ranked}
    standardize : bool, default=True
        Whether all features weigh the same, whatever their units. False: columns are
        centred only, and those of large variance weigh more.
    noise : float, default=0
        The noise of a picked column, as a share of its standard deviation: 0.1 if it
        will be measured with an error of 10 %. What picks explain is then what noisy
        measurements of them explain. Picks that differ by little only are not made, and
        a second measurement of what a pick shows is worth something.
    exchanges : int, default=0
        How many picks are exchanged at the most, after the last one, for a feature that
        explains more beside the other picks. With costs it also gains no less for its
        cost. Features of `include` stay. More exchanges than it takes make no
        difference: the search ends where no single one explains more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The gain of a pick: the decrease of the error when it was picked. With
        ``standardize`` a feature contains 1, the table n. A gain may exceed the one
        before it; the earlier pick has a score as large then. Others: what the feature
        would add after the last pick. Where that is nothing (the picks explain the
        feature) the score is negative: the share of the table that the feature would
        explain alone, less 1. Constant columns and features that may not be picked:
        -1.
    {n_ranked_}
    {gains_}
    explained_ : ndarray of shape (n_ranked_,)
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

    With `noise` ν, pick j has the penalty ``d_j = ν²‖Z_j‖²`` in the regression, which
    is that of columns with independent errors [2]_, and the gain is
    ``‖G_j‖² / (G_jj + d_j)``. A second copy of the table has a number more for each
    pick and column.

    An exchange is the best of all pairs of a pick and another feature; what is left
    without a pick follows from what is left with it, so that it takes O(k·m·n) for k
    picks. In the end the picks are put into the order in which they would be picked if
    there were no other features. Rankings are no longer nested: the best 8 are not the
    first of the best 16, and `n_features_to_select` should be the number of features
    that will be used. Exchanges keep a second copy of the table.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection
       for unsupervised learning. Knowledge and Information Systems 35, 2013.
    .. [2] K. Chaloner, I. Verdinelli. Bayesian experimental design: a review.
       Statistical Science 10, 1995 (A-optimality).

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
    noise: float = 0.0
    exchanges: int = 0
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "noise": [NOT_NEGATIVE],
        "exchanges": [Interval(Integral, 0, None, closed="left")],
    }

    def _pick(
        self, X: NDArray[Any], columns: NDArray[np.intp], choice: Choice, k: int
    ) -> Picked:
        rows = feature_rows(X, columns, len(columns), np.float64)
        unit = 1.0
        if self.standardize:
            standardize(rows)
        else:
            unit = _centre(rows)
        noise = None
        if self.noise:
            noise = self.noise**2 * np.einsum("ji,ji->j", rows, rows)
        before = rows.copy() if self.exchanges and noise is None else rows
        residual = Residual(rows, noise, k)
        first, total = residual.gains(), residual.total
        gains = _picks(residual, choice, k)
        if self.exchanges and exchange(before, residual, choice, self.exchanges):
            choice.restart()
            residual = Residual(before, noise, k)
            gains = _picks(residual, choice, k)
            choice.replace(choice.order)
        remaining = residual.gains()
        explained = remaining <= 0.0
        remaining[explained] = np.minimum(first[explained] / (total or 1.0), 1.0) - 1.0
        return Picked(gains, remaining, total or 1.0, unit)

    def _set_shares(self, shares: NDArray[np.float64]) -> None:
        self.explained_ = shares


def _centre(rows: NDArray[np.float64]) -> float:
    """Centre rows in place and scale them alike; return what squares are then worth."""
    largest = np.abs(rows).max(initial=0.0)
    factor = powers_of_two(np.array([largest]))[0]
    rows *= factor
    for _ in range(2):
        rows -= rows.mean(axis=1)[:, None]
    # Scores of other squares would be infinite, or all zero.
    known = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return float(
            np.clip((1.0 / factor) ** 2, known.tiny * 2**64, known.max / 2**64)
        )


def _picks(residual: Residual, choice: Choice, k: int) -> NDArray[np.float64]:
    """Pick up to `k` features; return their gains."""
    gains: list[float] = []
    while len(gains) < k:
        j, promised = choice.forced(), 0.0
        if j is None:
            values = np.where(choice.open, residual.gains(), 0.0)
            if values.max() <= 0.0:
                break
            j = first_best(values / choice.cost)
            promised = float(values[j])
        gain = residual.remove(j, promised)
        # What is to be picked in any case is, though earlier picks may explain it.
        if gain > 0.0 or promised == 0.0:
            choice.pick(j)
            gains.append(gain)
            report("picks", len(gains), k)
    return np.array(gains)
