"""URelief: Relief with the features themselves as the target."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from franet._common.jit import kernel
from franet._common.progress import report
from franet.estimators._validation import dense
from franet.pairs.similarity._sparse import constant_in
from franet.rankers._base import COUNT, Ranker

# Distances computed at a time, 32 MB of them.
_DISTANCES = 4_000_000


class URelief(Ranker):
    """Rank features by how well they tell near neighbours that differ from those alike.

    The unsupervised member of the Relief family [1]_: the space of all features is
    also the target. For rows r and their nearest neighbours s let
    ``d_j(r, s) = |x_rj − x_sj| / (max_j − min_j)`` and ``d(r, s) = 1/n Σ_j d_j(r, s)``.
    With means over all such pairs, ``P_j = mean d_j``, ``P = mean d`` and
    ``P_j∧ = mean d_j·d``, the score is

        ``w_j = P_j∧ / P − (P_j − P_j∧) / (1 − P)``,

    an estimate of P(differ in j | differ) − P(differ in j | alike). It is large for a
    feature that differs just where neighbours differ as a whole.

    Parameters
    ----------
    {n_features_to_select}
    n_neighbors : int, default=20
        Neighbours of each row, as in the authors' code; all others if there are fewer.
    n_references : int or float, default=None
        How many rows are drawn, without replacement, whose neighbours are looked at;
        a float is a share, None takes all rows in order, as the paper does.
    random_state : int, RandomState instance or None, default=None
        The seed of the draw.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        ``w_j``, between -1 and 1, larger is better; -1 for constant columns.
    {attributes}

    Notes
    -----
    Neighbours are nearest by ``d``, ties by position. Time is O(m²·n), with all rows
    as references; memory is one float64 copy of the table. A sparse table is made
    dense.

    References
    ----------
    .. [1] M. Petković, D. Kocev, B. Škrlj, S. Džeroski. Ensemble- and distance-based
       feature ranking for unsupervised learning. International Journal of Intelligent
       Systems 36, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet.rankers import URelief
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ranker = URelief(n_features_to_select=2).fit(X)
    >>> list(ranker.get_feature_names_out())
    ['mean concavity', 'compactness error']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_references": [None, COUNT, Interval(Real, 0, 1, closed="neither")],
    }

    n_neighbors: int = 20
    n_references: int | float | None = None
    random_state: Any = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        scores = np.full(X.shape[1], -1.0)
        columns = np.flatnonzero(~constant_in(X))
        if len(columns):
            Z = _unit_range(dense(X), columns)
            references = self._references(len(Z))
            scores[columns] = _weights(Z, X.shape[1], references, self.n_neighbors)
        return scores

    def _references(self, m: int) -> NDArray[np.intp]:
        wanted = self.n_references
        if wanted is None:
            return np.arange(m)
        share = isinstance(wanted, float | np.floating)
        k = min(m, max(1, int(m * wanted if share else wanted)))
        random = check_random_state(self.random_state)
        return np.asarray(random.permutation(m)[:k])


def _unit_range(X: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return columns, none of them constant, divided by their range."""
    Z = X[:, columns].astype(np.float64)
    # Halves, because a range may be more than a double can hold.
    Z *= 0.5
    Z -= Z.min(axis=0)
    Z /= Z.max(axis=0)
    return np.asarray(Z)


def _weights(
    Z: NDArray[np.float64], n: int, references: NDArray[np.intp], n_neighbors: int
) -> NDArray[np.float64]:
    m = len(Z)
    k = min(n_neighbors, m - 1)
    own, joint = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    P = 0.0
    step = max(1, _DISTANCES // m)
    for at in range(0, len(references), step):
        part = references[at : at + step]
        d = cdist(Z[part], Z, "cityblock") / n
        d[np.arange(len(part)), part] = np.inf
        near = np.argsort(d, axis=1, kind="stable")[:, :k]
        d = np.take_along_axis(d, near, axis=1)
        P += d.sum()
        relief_sums(Z, part, near, d, own=own, joint=joint)
        report("neighbours", at + len(part), len(references))
    pairs = len(references) * k
    own, joint, P = own / pairs, joint / pairs, P / pairs
    alike = (own - joint) / (1.0 - P) if P < 1.0 else 0.0
    return np.asarray((joint / P if P > 0.0 else 0.0) - alike + np.zeros(len(own)))


@kernel
def relief_sums(
    X: Any, rows: Any, neighbours: Any, distances: Any, *, own: Any, joint: Any
) -> None:
    """Sum differences of rows and their neighbours, plain and times the distance."""
    for r in range(rows.size):
        for q in range(neighbours.shape[1]):
            s = neighbours[r, q]
            t = distances[r, q]
            for i in range(X.shape[1]):
                d = abs(X[rows[r], i] - X[s, i])
                own[i] += d
                joint[i] += d * t
