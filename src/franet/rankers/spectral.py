"""Features against the spectrum of a graph of examples: Laplacian score and SPEC."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Options

from franet.estimators._base import Need
from franet.rankers._affinity import Affinity, GraphRanker, autocorrelation, embedding


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
    {n_features_to_select}
    {n_neighbors}
        5 is the paper's.
    standardize : bool, default=False
        Whether distances are those of columns of unit variance. By default they are
        those of the table, as in the paper. The score of a column itself does not
        depend on its unit.
    {affinity}
    {width}
        All features tie then.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        ``1 − L_f``, larger is better: the correlation of a feature with itself across
        the edges, between −1 and 1. Constant columns score −1 and rank last.
    {width_}
    {constant_}
    {attributes}

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

    def _score(self, X: Any) -> NDArray[np.float64]:
        return _spectral_score(self, X, style=2)


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
    {n_features_to_select}
    {n_neighbors}
        The paper leaves the graph open.
    standardize : bool, default=False
        Whether distances are those of columns of unit variance. By default they are
        those of the table. The score of a column itself does not depend on its unit.
    {affinity}
    {width}
        All features tie then.
    style : {1, 2, 3}, default=3
        Which score: φ1, φ2 or φ3. 3 is the default because 1 favours columns that
        hardly vary, and 2 is `LaplacianScore`.
    n_clusters : int, default=5
        Number of clusters, K of φ3; 1 is taken as 2.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Larger is better: ``1 − φ1`` or ``1 − φ2``, between −1 and 1, or ``φ3``,
        between 0 and 2. Constant columns score −1, or 0 in style 3, and rank last.
    {width_}
    {constant_}
    {attributes}

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
        "style": [Options(Integral, {1, 2, 3})],
    }
    _needs: ClassVar[dict[str, Need]] = {
        **GraphRanker._needs,
        "n_clusters": Need(5, "style", (3,)),
    }

    style: int = 3
    n_clusters: int = 5

    def _score(self, X: Any) -> NDArray[np.float64]:
        return _spectral_score(self, X, self.style, self.n_clusters)


def _spectral_score(
    ranker: GraphRanker, X: Any, style: int, n_clusters: int = 0
) -> NDArray[np.float64]:
    """Return 1 − φ1, 1 − φ2 or φ3 of each column."""
    X = ranker._begin(X)
    graph = ranker._affinity(X)
    if graph.collapsed:
        scores = np.zeros(X.shape[1])
    elif style == 3:
        scores = _cluster_score(graph, X, n_clusters)
    else:
        scores = autocorrelation(graph, X, centre=style == 2)
    # Constant columns rank last in a graph that collapsed, too.
    return np.where(ranker.constant_, 0.0 if style == 3 else -1.0, scores)


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
