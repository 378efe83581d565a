"""Spectral feature selection: features against the spectrum of a graph."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, Options

from franet.estimators._base import Need
from franet.rankers._affinity import (
    AFFINITY_CONSTRAINTS,
    Affinity,
    GraphRanker,
    autocorrelation,
)
from franet.rankers._embedding import embedding

__all__ = ["SPEC"]


class SPEC(GraphRanker):
    """Rank features by how well they agree with the clusters of a graph of examples.

    Let W hold the weights of a graph of the examples, D its degrees, and
    ``0 = λ_1 ≤ … ≤ λ_m ≤ 2`` the eigenvalues of the normalised Laplacian
    ``ℒ = I − D^(−1/2) W D^(−1/2)``, ξ_j its eigenvectors. ξ_1 ∝ D^(1/2)·1 is trivial.
    With f a column, ``f̂ = D^(1/2) f / ‖D^(1/2) f‖`` and ``α_j = f̂ᵀξ_j`` [1]_ defines
    three scores::

        φ1 = f̂ᵀ ℒ f̂ = Σ_j α_j² λ_j                         small is good
        φ2 = Σ_{j ≥ 2} α_j² λ_j / Σ_{j ≥ 2} α_j²             small is good
        φ3 = Σ_{j = 2 … K} (2 − λ_j) α_j²                    large is good

    φ1 sees the trivial eigenvector too, so that a large mean makes any column good;
    φ2 takes it out, and is the Laplacian score; φ3 keeps only the K − 1 eigenvectors
    that tell K clusters apart.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features `transform` keeps; a float is a share, None keeps half.
    style : {1, 2, 3}, default=3
        Which score: φ1, φ2 or φ3. 3 is the default because 1 favours columns that
        hardly vary, and 2 is `LaplacianScore`.
    n_clusters : int, default=5
        Number of clusters, K of φ3; 1 is taken as 2.
    n_neighbors : int, default=5
        Neighbours of each example, at most all others. The paper leaves the graph
        open. Two examples are connected if either is a neighbour of the other.
    affinity : {"heat", "binary", "cosine"}, default="heat"
        The weight of an edge: ``exp(-d² / width)``, 1, or the cosine of the angle
        between two examples (zero if negative).
    width : float or "auto", default="auto"
        The width of the heat kernel. ``"auto"`` is the median of d² over neighbours
        that differ. With a fixed width, such as the literature's 1, all weights may
        be zero: then all features tie, and a warning says so.
    standardize : bool, default=False
        Whether distances are those of columns of unit variance. By default they are
        those of the table. The score of a column itself does not depend on its unit.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Larger is better: ``1 − φ1`` or ``1 − φ2``, between −1 and 1, or ``φ3``,
        between 0 and 2. Constant columns score −1, or 0 in style 3, and rank last.
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
    franet.rankers.LaplacianScore : The same as style 2.

    Notes
    -----
    Time is O(m²·n) for the neighbours of m examples, O(k·m·n) for φ1 and φ2, and
    O(K·m·n) for φ3 with its eigenvectors: dense, O(m³), up to 2,000 examples, Lanczos
    iterations above. A sparse table stays sparse, but for cosines of standardized
    columns. If more than half of the examples lost all their weight, all scores are 0
    and a `DegenerateRankingWarning` says why.

    References
    ----------
    .. [1] Z. Zhao, H. Liu, "Spectral feature selection for supervised and unsupervised
       learning", ICML, 2007.

    Examples
    --------
    >>> from franet.rankers import SPEC
    >>> X = [[0, 3], [1, 9], [0, 4], [9, 9], [8, 2], [9, 5]]
    >>> SPEC(n_clusters=2, n_neighbors=2).fit(X).scores_.round(2)
    array([1.04, 0.01])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        **AFFINITY_CONSTRAINTS,
        "style": [Options(Integral, {1, 2, 3})],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }
    _needs: ClassVar[dict[str, Need]] = {
        **GraphRanker._needs,
        "n_clusters": Need(5, "style", (3,)),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        style: int = 3,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        affinity: str = "heat",
        width: float | str = "auto",
        standardize: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.style = style
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.width = width
        self.standardize = standardize

    def _score(self, X: Any) -> NDArray[np.float64]:
        X = self._begin(X)
        graph = self._affinity(X)
        worst = 0.0 if self.style == 3 else -1.0
        if graph.collapsed:
            # Constant columns rank last nonetheless.
            return np.where(self.constant_, worst, 0.0)
        if self.style == 3:
            scores = _cluster_score(graph, X, self.n_clusters)
        else:
            scores = autocorrelation(graph, X, centre=self.style == 2)
        return np.where(self.constant_, worst, scores)


def _cluster_score(graph: Affinity, X: Any, k: int) -> NDArray[np.float64]:
    """Return φ3 of each column; 0 for a column without weight."""
    values, vectors = embedding(graph, max(k - 1, 1))
    roots = np.sqrt(graph.degrees)
    projections = np.asarray((vectors * roots[:, None]).T @ X)
    if sparse.issparse(X):
        lengths = np.ravel(X.multiply(X).T @ graph.degrees)
    else:
        lengths = np.einsum("i,ij,ij->j", graph.degrees, X, X)
    total = (2.0 - values) @ projections**2
    return np.divide(total, lengths, where=lengths > 0, out=np.zeros(len(total)))
