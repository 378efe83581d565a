"""Unsupervised discriminative feature selection: what tells neighbourhoods apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, svd

from franet.rankers._affinity import NeighborRanker, dense, neighbors, scaled, settle
from franet.rankers._base import NOT_NEGATIVE, POSITIVE

# Rows of W are never taken shorter than this when they divide.
SHORTEST = 1e-8
# So many values of neighbourhoods are handled at a time.
BLOCK = 1 << 22


class UDFS(NeighborRanker):
    """Rank features by projections that keep neighbourhoods small.

    Let X_i (n × (k + 1)) hold an example and its k neighbours, less their mean, and
    S_i say which examples those are. With ``H = I − 11ᵀ/(k + 1)`` and
    ``B_i = (X_iᵀX_i + λI)⁻¹``, [1]_ minimises over W (n × K)::

        tr(Wᵀ Xᵀ A X W) + γ Σ_j ‖w_j‖,   WᵀW = I,   A = Σ_i S_i H B_i H S_iᵀ

    with w_j the rows of W. The first term is, up to a factor, what is left of the
    local scatter when it is discriminated best. The score of feature j is ``‖w_j‖``.

    Parameters
    ----------
    {n_features_to_select}
    n_neighbors : int, default=5
        Neighbours of each example, at most all others; 5 is the paper's.
    standardize : bool, default=True
        Whether columns are brought to unit variance. Without it a column of small
        values varies little in any neighbourhood and wins. The literature takes raw
        values: False.
    n_clusters : int, default=5
        The number K of projections, at most the rank of the table. The paper takes
        the number of classes; 5 is what is usual where it is not known.
    gamma : float, default=0.1
        Weight of the lengths of the rows of W. The paper searches 1e-9 … 1e9 with
        labels. With 0.1 planted clusters are found; with 1 or more only a few of
        their columns keep a weight.
    ridge : float, default=1.0
        What keeps the local scatters invertible, λ. Searched likewise; 1 is the
        middle.
    {max_iter}
    {tol}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The length of the row of W, between 0 and 1, larger is better: how much a
        feature takes part in the projections. Constant columns score 0, rank last.
    {n_iter_}
    {constant_}
    {attributes}

    Notes
    -----
    Each iteration takes the eigenvectors of the K smallest eigenvalues of
    ``XᵀAX + γΛ`` as W, and ``Λ_jj = 1 / (2 ‖w_j‖)``, starting from Λ = I.

    W is looked for in the space that the rows of the centred table span. If that is
    all of Rⁿ (more examples than features, none of them redundant), this is the
    paper's problem. Otherwise, and always if m ≤ n, the paper's has no say in the
    data: directions outside the span have XW = 0, the first term vanishes for all of
    them, and the first iteration would return any K of them. With the singular value
    decomposition ``X = U Σ Vᵀ`` of rank r and W = VQ, what remains is an r × r
    eigenproblem, of ``ΣUᵀAUΣ + γVᵀΛV``: no n × n matrix is formed if m < n. An
    iteration takes O(r²·n + r³). A sparse table is made dense.

    On wide tables the method is fragile: if most columns are noise, neighbours are
    found by noise, and projections that separate clusters look costly.

    References
    ----------
    .. [1] Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou, "ℓ2,1-norm regularized
       discriminative feature selection for unsupervised learning", IJCAI, 2011.

    Examples
    --------
    >>> from franet.rankers import UDFS
    >>> X = [[0, 3], [1, 9], [0, 4], [9, 9], [8, 2], [9, 5]]
    >>> UDFS(n_clusters=1, n_neighbors=2).fit(X).ranking_
    array([1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [NOT_NEGATIVE],
        "ridge": [POSITIVE],
    }

    n_clusters: int = 5
    gamma: float = 0.1
    ridge: float = 1.0
    standardize: bool = True
    max_iter: int = 50
    tol: float = 1e-4

    def _score(self, X: Any) -> NDArray[np.float64]:
        X = self._begin(X)
        self.n_iter_ = 1
        if self.constant_.all():
            return np.zeros(X.shape[1])
        table = scaled(dense(X), self.constant_, self.standardize)
        near = neighbors(table, self.n_neighbors)[1]
        U, values, Vt = svd(table, full_matrices=False, check_finite=False)
        limit = max(table.shape) * np.finfo(float).eps * values[0]
        r = int(np.count_nonzero(values > limit))
        rows, V = U[:, :r] * values[:r], Vt[:r].T
        A = local_scatter(rows, near, self.ridge)
        scores = self._reweigh(rows.T @ (A @ rows), V)
        return np.where(self.constant_, 0.0, scores)

    def _reweigh(
        self, C: NDArray[np.float64], V: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the lengths of the rows of W = VQ after the iteration."""
        k = min(self.n_clusters, len(C))

        def step(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = 1 / (2 * np.maximum(lengths, SHORTEST))
            P = C + self.gamma * (V.T @ (weights[:, None] * V))
            return V @ eigh(P, subset_by_index=(0, k - 1), check_finite=False)[1]

        return settle(self, len(V), step)


def local_scatter(
    rows: NDArray[np.float64], near: NDArray[np.intp], ridge: float
) -> Any:
    """Return A = Σ_i S_i H (X_iᵀX_i + λI)⁻¹ H S_iᵀ, sparse, m × m."""
    m, r = rows.shape
    groups = np.column_stack([np.arange(m), near])
    size = groups.shape[1]
    H = np.eye(size) - 1 / size
    parts = np.empty((m, size, size))
    step = max(1, BLOCK // (size * r))
    for start in range(0, m, step):
        block = slice(start, start + step)
        local = rows[groups[block]]
        local = local - local.mean(axis=1, keepdims=True)
        scatter = local @ local.transpose(0, 2, 1) + ridge * np.eye(size)
        parts[block] = H @ np.linalg.inv(scatter) @ H
    at = np.repeat(groups, size, axis=1).ravel(), np.tile(groups, size).ravel()
    return sparse.coo_array((parts.ravel(), at), shape=(m, m)).tocsr()
