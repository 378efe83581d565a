"""Multi-cluster feature selection: sparse regression on a spectral embedding."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from franet.estimators._validation import number_to_select
from franet.rankers._affinity import (
    GraphRanker,
    dense,
    embedding,
    inverse_roots,
    scaled,
)
from franet.rankers._base import COUNT


class MCFS(GraphRanker):
    """Rank features by their part in sparse regressions on a spectral embedding.

    Let W hold the weights of a graph of the examples, D its degrees and L = D − W.
    The K eigenvectors of smallest eigenvalues of ``L y = λ D y``, without the trivial
    one, tell the clusters apart. For each of them the regression::

        min ‖y_k − X a_k‖²   with at most d coefficients that are not zero

    is followed by d steps of least angle regression, with the lasso's modification:
    each takes up a feature, or drops one whose coefficient reaches zero.
    The score of feature j is ``max_k |a_kj|`` [1]_.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors}
        5 is the paper's.
    standardize : bool, default=True
        Whether columns are brought to unit variance, for distances and regressions.
        A coefficient grows as the unit of its column shrinks, so that without it the
        score says more about units than about clusters. The literature takes raw
        values: False.
    {affinity}
    {width}
        All features tie then.
    n_clusters : int, default=5
        The number K of eigenvectors. The paper takes the number of clusters; 5 is
        what is usual where it is not known.
    n_nonzero : int, default=None
        Steps of each regression, d, at most m − 1 and n. None is the number of
        features to select, as in the paper, but at most m / 2: with as many features
        as examples the regression repeats y exactly, whatever the features.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The largest coefficient in absolute value, larger is better. At most K·d
        features have one; all others tie at 0, constant columns last.
    {width_}
    {constant_}
    {attributes}

    Notes
    -----
    Columns and eigenvectors are centred (the regression has an intercept), and the
    eigenvectors brought to unit length. Components of the graph give eigenvectors of
    equal eigenvalues, of which any rotation would do: one that depends on the graph
    alone is taken. Public code drops the absolute value of the score.

    Time is O(m²·n) for the neighbours, O(m³) for the eigenvectors of up to 2,000
    examples (Lanczos iterations above) and O(K·d·m·n + K·d³) for the regressions. A
    sparse table is made dense.

    References
    ----------
    .. [1] D. Cai, C. Zhang, X. He, "Unsupervised feature selection for multi-cluster
       data", KDD, 2010.

    Examples
    --------
    >>> from franet.rankers import MCFS
    >>> X = [[0, 3], [1, 9], [0, 4], [9, 9], [8, 2], [9, 5]]
    >>> MCFS(1, n_clusters=1, n_neighbors=2).fit(X).scores_.round(2)
    array([0.33, 0.  ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_nonzero": [None, COUNT],
    }

    n_clusters: int = 5
    n_nonzero: int | None = None
    standardize: bool = True

    def _score(self, X: Any) -> NDArray[np.float64]:
        X = self._begin(X)
        graph = self._affinity(X)
        scores = np.zeros(X.shape[1])
        varied = ~self.constant_
        if graph.collapsed or not varied.any():
            return scores
        vectors = embedding(graph, self.n_clusters)[1]
        Y = vectors * inverse_roots(graph.degrees)[:, None]
        Y -= Y.mean(axis=0)
        lengths = np.linalg.norm(Y, axis=0)
        Y /= np.where(lengths > 0, lengths, 1.0)
        table = scaled(dense(X), self.constant_, self.standardize)
        table = np.asfortranarray(table[:, varied])
        coefficients = _lars(table, Y, self._cardinality(X.shape))
        scores[varied] = np.abs(coefficients).max(axis=1)
        return scores

    def _cardinality(self, shape: tuple[int, int]) -> int:
        m, n = shape
        if self.n_nonzero is not None:
            return min(int(self.n_nonzero), n, m - 1)
        wanted = number_to_select(self.n_features_to_select, n)
        return max(1, min(wanted, m // 2))


def _lars(
    X: NDArray[np.float64], Y: NDArray[np.float64], d: int
) -> NDArray[np.float64]:
    """Return the coefficients after d steps for each column of Y, n × K."""
    # What counts as a copy of a column is an absolute number in scikit-learn, and
    # right for columns of unit length.
    length = np.sqrt(np.einsum("ij,ij->j", X, X).max())
    X = X / length
    out = np.empty((X.shape[1], Y.shape[1]))
    for k, y in enumerate(Y.T):
        with warnings.catch_warnings():
            # Copies of a feature that is in add nothing and stay out: as it should be.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Not method="lar": scikit-learn's loses the equal angles as soon as a
            # coefficient changes its sign.
            out[:, k] = lars_path(
                X, y.copy(), method="lasso", max_iter=d, copy_X=True, return_path=False
            )[2]
    return out / length
