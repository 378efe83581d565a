"""Whether rankings of different folds agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from franet._common.checked import check_value


def jaccard(tops: Sequence[Sequence[int]]) -> float:
    """Return the mean share of features that two selections have in common.

    Parameters
    ----------
    tops : sequence of sequences of int
        The features that each fold selected.

    Returns
    -------
    similarity : float
        ``|A ∩ B| / |A ∪ B|``, the mean over all pairs: 1 if all are the same.
    """
    return float(np.mean([len(a & b) / len(a | b) for a, b in _pairs(tops)]))


def kuncheva(tops: Sequence[Sequence[int]], n_features: int) -> float:
    """Return Kuncheva's consistency of selections of the same size.

    Parameters
    ----------
    tops : sequence of sequences of int
        The k features that each fold selected.
    n_features : int
        From how many they were selected.

    Returns
    -------
    consistency : float
        ``(|A ∩ B| − k²/n) / (k − k²/n)``, the mean over all pairs: 1 if all are the
        same, 0 as by chance [1]_. It is 1 where everything is selected.

    References
    ----------
    .. [1] L. I. Kuncheva (2007), A stability index for feature selection.
    """
    sizes = {len(top) for top in tops}
    problem = f"the selections have different sizes, {sorted(sizes)}"
    check_value("tops", ..., len(sizes) <= 1, problem)
    k = sizes.pop() if sizes else 0
    if k == n_features:
        return 1.0
    chance = k * k / n_features
    shared = [(len(a & b) - chance) / (k - chance) for a, b in _pairs(tops)]
    return float(np.mean(shared))


def rank_correlation(tops: Sequence[Sequence[int]], n_features: int) -> float:
    """Return the mean correlation of the ranks in two lists of first features.

    Parameters
    ----------
    tops : sequence of sequences of int
        The first features of each fold, the best first.
    n_features : int
        Number of all features. One that is not in a list has the mean rank of those
        that are not in it.

    Returns
    -------
    correlation : float
        Of the ranks of all features, the mean over all pairs: 1 if all are the same.
    """
    ranks = []
    for top in tops:
        rank = np.full(n_features, (len(top) + 1 + n_features) / 2)
        rank[np.asarray(top, np.intp)] = np.arange(1, len(top) + 1)
        ranks.append(rank)
    _several(tops)
    if n_features < 2:
        return 1.0
    R = np.corrcoef(ranks)
    return float(np.mean(R[np.triu_indices(len(ranks), 1)]))


def _pairs(tops: Sequence[Sequence[int]]) -> list[tuple[set[int], set[int]]]:
    _several(tops)
    return list(combinations([set(top) for top in tops], 2))


def _several(tops: Sequence[Sequence[int]]) -> None:
    check_value("tops", ..., len(tops) > 1, "stability needs at least two folds")
