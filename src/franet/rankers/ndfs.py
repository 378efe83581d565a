"""Nonnegative discriminative feature selection: clusters and weights at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from franet.rankers._affinity import GraphRanker, dense, normalised, scaled, settle
from franet.rankers._base import POSITIVE

# Rows of W are never taken shorter than this when they divide.
SHORTEST = 1e-12
# What k-means leaves out gets this much, so that an entry of F can grow.
SOFTENED = 0.2


class NDFS(GraphRanker):
    """Rank features by a sparse regression on clusters that are found along with it.

    Let ``ℒ = I − D^(−1/2) S D^(−1/2)`` be the normalised Laplacian of a graph of the
    m examples, F (m × K) say to which cluster an example belongs, and W (n × K) how
    a cluster follows from the features. [1]_ minimises::

        tr(Fᵀ ℒ F) + α (‖X W − F‖² + β Σ_j ‖w_j‖) + γ/2 ‖FᵀF − I‖²,   F ≥ 0

    with w_j the rows of W. The score of feature j is ``‖w_j‖``.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors}
        5 is the paper's.
    standardize : bool, default=True
        Whether columns are centred and brought to unit variance, for distances and
        for the regression. Rows of W grow as the unit of their column shrinks, so
        that without it the score says more about units than about clusters. The
        literature takes raw values: False.
    {affinity}
    {width}
    n_clusters : int, default=5
        Number of clusters, K, at most m. The paper takes the number of classes; 5 is
        what is usual where it is not known.
    alpha : float, default=1.0
        Weight of the regression. The paper searches 1e-6 … 1e6 with labels; 1 is the
        middle.
    beta : float, default=1.0
        Weight of the lengths of the rows of W in it, searched likewise.
    gamma : float, default=1e8
        Weight of the orthogonality of F: the paper's.
    {max_iter}
    {tol}
    random_state : int, RandomState instance or None, default=None
        The seed of k-means, from which F starts.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The length of the row of W, larger is better: how much a feature takes part
        in telling the clusters apart. Constant columns score 0 and rank last.
    {n_iter_}
    {width_}
    {constant_}
    {attributes}

    Notes
    -----
    F starts from k-means (1 in its cluster, and 0.2 everywhere, columns of unit
    length) and ``Λ = I``. Each iteration takes, with Λ fixed, one multiplicative step
    on F and the best W, and then reweighs::

        F ← F ∘ γF / (M F + γ F FᵀF),  M = ℒ + α (I − X (XᵀX + βΛ)⁻¹ Xᵀ)
        W ← (XᵀX + βΛ)⁻¹ Xᵀ F,         Λ_jj = 1 / (2 ‖w_j‖)

    with the columns of F brought to unit length. Where MF is negative, which a small γ
    would not make up for, it is added above instead of subtracted below: F stays
    nonnegative and moves the same way. If m < n, no n × n matrix is formed:
    ``(XᵀX + βΛ)⁻¹Xᵀ = Λ⁻¹Xᵀ(βI + XΛ⁻¹Xᵀ)⁻¹`` needs a factor of an m × m matrix only,
    and M is never formed at all. An iteration takes O(m²·n + m³), or
    O(m·n² + n³) if n ≤ m. With γ = 1e8 the graph moves F very little away from
    k-means; a smaller γ lets it speak. A sparse table is made dense.

    References
    ----------
    .. [1] Z. Li, Y. Yang, J. Liu, X. Zhou, H. Lu, "Unsupervised feature selection
       using nonnegative spectral analysis", AAAI, 2012.

    Examples
    --------
    >>> from franet.rankers import NDFS
    >>> X = [[0, 3], [1, 9], [0, 4], [9, 9], [8, 2], [9, 5]]
    >>> NDFS(n_clusters=2, n_neighbors=2, random_state=0).fit(X).ranking_
    array([1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [POSITIVE],
        "beta": [POSITIVE],
        "gamma": [POSITIVE],
    }

    n_clusters: int = 5
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1e8
    standardize: bool = True
    max_iter: int = 50
    tol: float = 1e-4
    random_state: Any = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        X = self._begin(X)
        N = normalised(self._affinity(X))
        scores = np.zeros(X.shape[1])
        varied = ~self.constant_
        self.n_iter_ = 1
        if varied.any():
            table = dense(X)
            if self.standardize:
                table = scaled(table, self.constant_, standardize=True)
            table = np.ascontiguousarray(table[:, varied])
            scores[varied] = self._alternate(table, N)
        return scores

    def _alternate(self, X: NDArray[np.float64], N: Any) -> NDArray[np.float64]:
        """Return the lengths of the rows of W after the iteration."""
        F = self._start(X)
        gram = X.T @ X if X.shape[1] <= X.shape[0] else None

        def step(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
            nonlocal F
            inverse = 2 * np.maximum(lengths, SHORTEST)  # of the diagonal Λ
            regress = _regression(X, gram, inverse, self.beta)
            F = self._step(F, F - N @ F + self.alpha * regress(F)[1])
            return regress(F)[0]

        return settle(self, X.shape[1], step)

    def _start(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        k = min(int(self.n_clusters), len(X))
        means = KMeans(k, n_init=10, random_state=check_random_state(self.random_state))
        with warnings.catch_warnings():
            # Fewer different examples than clusters: some stay empty.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = means.fit(X).labels_
        F = np.full((len(X), k), SOFTENED)
        F[np.arange(len(X)), labels] += 1.0
        return F / np.linalg.norm(F, axis=0)

    def _step(
        self, F: NDArray[np.float64], MF: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return F after one multiplicative update, columns of unit length."""
        above = self.gamma * F + np.maximum(-MF, 0.0)
        below = self.gamma * (F @ (F.T @ F)) + np.maximum(MF, 0.0)
        F = F * (above / np.maximum(below, np.finfo(float).tiny))
        lengths = np.linalg.norm(F, axis=0)
        return np.asarray(F / np.where(lengths > 0, lengths, 1.0))


def _regression(
    X: NDArray[np.float64],
    gram: NDArray[np.float64] | None,
    inverse: NDArray[np.float64],
    beta: float,
) -> Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return F → W = (XᵀX + βΛ)⁻¹XᵀF, F − XW, through the smaller of two factors."""
    A = (X * inverse) @ X.T if gram is None else gram.copy()
    A[np.diag_indices_from(A)] += beta if gram is None else beta / inverse
    factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def regress(
        F: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if gram is None:
            A = cho_solve(factor, F, check_finite=False)
            return inverse[:, None] * (X.T @ A), beta * A
        W = cho_solve(factor, X.T @ F, check_finite=False)
        return W, F - X @ W

    return regress
