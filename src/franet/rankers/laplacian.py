"""Features that vary little between neighbouring examples: the Laplacian score."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from franet.rankers._affinity import (
    AFFINITY_CONSTRAINTS,
    GraphRanker,
    autocorrelation,
)

__all__ = ["LaplacianScore"]


class LaplacianScore(GraphRanker):
    """Rank features by how little they vary between neighbouring examples.

    Let W hold the weights of a graph of nearest neighbours of the examples, D its
    degrees and L = D − W. With f a column and f̃ the column less its mean weighted by
    the degrees, the Laplacian score [1]_ is::

        L_f = Σ_ij W_ij (f_i − f_j)² / (2 Σ_i D_ii f̃_i²) = f̃ᵀ L f̃ / f̃ᵀ D f̃

    It is small for a feature that respects the graph: near examples have near values,
    while the feature varies over the whole.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    n_neighbors : int, default=5
        Neighbours of each example, at most all others; 5 is the paper's. Two examples
        are connected if either is a neighbour of the other.
    affinity : {"heat", "binary", "cosine"}, default="heat"
        The weight of an edge: ``exp(-d² / width)``, 1, or the cosine of the angle
        between two examples (zero if negative).
    width : float or "auto", default="auto"
        The width of the heat kernel. ``"auto"`` is the median of d² over neighbours
        that differ. The literature's 1 makes all weights zero unless distances
        happen to be about 1: then all features tie, and a warning says so.
    standardize : bool, default=False
        Whether distances are those of columns of unit variance. By default they are
        those of the table, as in the paper. The score of a column itself does not
        depend on its unit.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        ``1 − L_f``, larger is better: the correlation of a feature with itself across
        the edges, between −1 and 1. Constant columns score −1 and rank last.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, under scikit-learn's name.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is best. Scores within 1e-9 of each other are equal.
    order_ : ndarray of int of shape (n_features_in_,)
        All features, best first.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features that `transform` keeps.
    n_features_ : int
        How many those are.
    width_ : float
        The width of the heat kernel that was used; NaN without one.
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    See Also
    --------
    franet.rankers.SPEC : Spectral scores; its style 2 is this one.

    Notes
    -----
    Time is O(m²·n) for the neighbours and O(k·m·n) for the scores of m examples, n
    features and k neighbours. A sparse table stays sparse, but for cosines of
    standardized columns. If more than half of the examples lost all their weight, all
    scores are 0 and a `DegenerateRankingWarning` says why.

    References
    ----------
    .. [1] X. He, D. Cai, P. Niyogi, "Laplacian score for feature selection", NIPS,
       2005.

    Examples
    --------
    >>> from franet.rankers import LaplacianScore
    >>> X = [[0, 3], [1, 9], [0, 4], [9, 9], [8, 2], [9, 5]]
    >>> LaplacianScore(n_neighbors=2).fit(X).scores_.round(2)
    array([ 0.99, -0.14])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        **AFFINITY_CONSTRAINTS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        affinity: str = "heat",
        width: float | str = "auto",
        standardize: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.width = width
        self.standardize = standardize

    def _score(self, X: Any) -> NDArray[np.float64]:
        X = self._begin(X)
        graph = self._affinity(X)
        if graph.collapsed:
            return np.where(self.constant_, -1.0, 0.0)
        scores = autocorrelation(graph, X, centre=True)
        return np.where(self.constant_, -1.0, scores)
