"""Genie3: features by what extra-trees that predict all features gain from them."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from franet._common.progress import report
from franet._common.threads import count_threads
from franet.estimators._validation import dense
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import feature_rows, standardize
from franet.rankers._base import COUNT, Ranker

# Trees grown together: their nodes hold a value for every target, and are dropped.
_BATCH = 10


class Genie3(Ranker):
    """Rank features by the variance that trees remove when they split on them.

    An ensemble of extremely randomised trees predicts all features from all features
    at once [1]_. The score of feature j is

        ``1/|T| Σ_t Σ_{N: t splits N on j} |N|/m · (Var(N) − Σ_c |N_c|/|N| · Var(N_c))``

    with ``N_c`` the two children of node N and ``Var`` the mean over all features of
    the variance of the standardized feature in the node. A split on j also counts
    what it removes of the variance of j itself, as in the paper: trees are not told
    which feature they predict.

    Parameters
    ----------
    {n_features_to_select}
    n_estimators : int, default=100
        Number of trees, as in the paper. With few trees many features are never
        split on, and tie at 0.
    max_features : {"log2", "sqrt"}, int, float or None, default="log2"
        Features tried at a split; a float is a share, None tries all. The paper finds
        the smallest, log2(n), best as well as fastest.
    min_samples_leaf : int, default=1
        Rows in a leaf at the least; 1 grows trees to the end, as in the paper.
    bootstrap : bool, default=True
        Whether each tree sees a bootstrap sample of the rows, as in the authors' code.
    n_components : int or None, default=256
        Targets are the principal components of the standardized features instead of
        the features: a rotation leaves all variances of a node as they are, so with
        all components (None, or a table of smaller rank) the score is the same. With
        fewer, the components of least variance are left out.
    random_state : int, RandomState instance or None, default=None
        The seed of the trees.
    {n_jobs}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The variance removed, larger is better: 1 is the variance of the table. 0 for
        features that no tree splits on; constant columns -1.
    {attributes}

    Notes
    -----
    A tree takes about O(m·log m·a·c) with a the features tried at a split and
    ``c ≤ min(m, n, n_components)`` components; the components O(m·n·min(m, n)). Trees
    come from scikit-learn, ten at a time. A sparse table is made dense.

    References
    ----------
    .. [1] M. Petković, D. Kocev, B. Škrlj, S. Džeroski. Ensemble- and distance-based
       feature ranking for unsupervised learning. International Journal of Intelligent
       Systems 36, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet.rankers import Genie3
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ranker = Genie3(n_features_to_select=3, random_state=0).fit(X)
    >>> len(ranker.get_feature_names_out())
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [COUNT],
        "max_features": [
            None,
            StrOptions({"log2", "sqrt"}),
            COUNT,
            Interval(Real, 0, 1, closed="right"),
        ],
        "min_samples_leaf": [COUNT],
        "bootstrap": ["boolean"],
        "n_components": [None, COUNT],
    }

    n_estimators: int = 100
    max_features: str | int | float | None = "log2"
    min_samples_leaf: int = 1
    bootstrap: bool = True
    n_components: int | None = 256
    random_state: Any = None
    n_jobs: int | None = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        scores = np.full(X.shape[1], -1.0)
        columns = np.flatnonzero(~constant_in(X))
        if not len(columns):
            return scores
        rows = feature_rows(dense(X), columns, len(columns), np.float64)
        standardize(rows)
        # Unit length becomes unit variance.
        Z = rows.T * np.sqrt(X.shape[0])
        Y = components(Z, self.n_components)
        importance = self._importance(Z.astype(np.float32), Y)
        scores[columns] = importance * (Y.shape[1] / len(columns))
        return scores

    def _importance(
        self, Z: NDArray[np.float32], Y: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the mean decrease over trees of the mean variance of the targets."""
        random = check_random_state(self.random_state)
        n_threads = count_threads(self.n_jobs)
        total = np.zeros(Z.shape[1])
        for done in range(0, self.n_estimators, _BATCH):
            forest = ExtraTreesRegressor(
                min(_BATCH, self.n_estimators - done),
                max_features=self.max_features,
                min_samples_leaf=self.min_samples_leaf,
                bootstrap=self.bootstrap,
                random_state=random.randint(np.iinfo(np.int32).max),
                n_jobs=n_threads,
            )
            # One target is a column for scikit-learn to flatten, with a warning.
            # The threads of scikit-learn set warning filters, and may put back those of
            # each other.
            with warnings.catch_warnings():
                forest.fit(Z, Y[:, 0] if Y.shape[1] == 1 else Y)
            for tree in forest.estimators_:
                total += tree.tree_.compute_feature_importances(normalize=False)
            report("trees", min(done + _BATCH, self.n_estimators), self.n_estimators)
        return total / self.n_estimators


def components(Z: NDArray[np.float64], limit: int | None) -> NDArray[np.float64]:
    """Return the principal components of centred columns, the largest first.

    Distances between rows, hence variances of any group of rows, are those of Z.
    """
    m, n = Z.shape
    values, vectors = eigh(Z @ Z.T if m <= n else Z.T @ Z)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = max(1, int((values > 1e-12 * values[0]).sum()))
    k = rank if limit is None else min(rank, limit)
    if m > n:
        return np.asarray(Z @ vectors[:, :k])
    return np.asarray(vectors[:, :k] * np.sqrt(values[:k]))
