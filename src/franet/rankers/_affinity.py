"""Graphs of neighbouring examples, and what the spectral rankers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from franet.estimators._base import Need
from franet.pairs.similarity._sparse import constant_in
from franet.pairs.similarity._standardize import powers_of_two
from franet.rankers._base import Ranker

# A row whose weights sum to less than this share of its number of edges has none.
NO_WEIGHT = 1e-12
# If more than this share of the rows has none, the affinity has collapsed.
COLLAPSED_SHARE = 0.5
# A weighted variance below this share of the second moment is rounding.
NO_VARIANCE = 1e-28
# Squares of values between the inverse of this and this are safe.
LARGE = 1e100
TINY = np.finfo(np.float64).tiny
# So many values of a block of columns stay in the cache.
BLOCK = 1 << 18
# Neighbours whose squared distances differ by this share are equally far; of the
# squares from which they are computed, this share is rounding.
EQUAL, ROUNDING = 1e-9, 1e-12
# So many neighbours more are looked at for such ones, and then so many values at once.
SPARE, BATCH = 8, 1 << 21

# Up to so many examples a dense solver finds eigenvectors.
DENSE_ROWS = 2000
# Eigenvalues that are closer count as one.
SAME_VALUE = 1e-8
# So many more are computed, to see where a group of equal eigenvalues ends.
MORE = 8


class Affinity(NamedTuple):
    """A weighted graph of the examples.

    Attributes
    ----------
    weights : csr_array of shape (m, m)
        Symmetric, without loops.
    degrees : ndarray of shape (m,)
        The sums of its rows.
    width : float
        The width of the heat kernel; NaN without one.
    collapsed : str
        Why the weights say nothing, and the remedy; empty if they say something.
    """

    weights: Any
    degrees: NDArray[np.float64]
    width: float
    collapsed: str


def dense(X: Any) -> NDArray[np.float64]:
    """Return the table as a dense array of float64, maybe the table itself."""
    values = X.toarray() if sparse.issparse(X) else X
    return np.asarray(values, dtype=np.float64)


def scaled(X: Any, constant: NDArray[np.bool_], standardize: bool) -> Any:
    """Return a copy, centred if it is dense, and of unit variance if asked for.

    Distances do not see the centring, but their rounding does: a common offset would
    cancel. A sparse table stays sparse and is not centred.
    """
    if sparse.issparse(X):
        X = X.astype(np.float64)
        if not standardize:
            return X
        variance = mean_variance_axis(X, axis=0)[1]
        scale = np.sqrt(np.where(constant | (variance <= 0), 1.0, variance))
        return X @ sparse.diags_array(1 / scale)
    centred = X - X.mean(axis=0, dtype=np.float64)
    centred[:, constant] = 0.0
    if standardize:
        scale = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
        centred /= np.where(scale > 0, scale, 1.0)
    return centred


def neighbors(
    X: Any, n_neighbors: int, metric: str = "euclidean"
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return distances and positions of the nearest other rows, m × k.

    There are never more than m − 1 neighbours. Of rows that are equally far the first
    ones are taken: rounding, which differs between dense and sparse, decides nothing.
    """
    m = X.shape[0]
    k = min(n_neighbors, m - 1)
    X = (X.tocsr() if sparse.issparse(X) else X).astype(np.float64, copy=False)
    found = NearestNeighbors(n_neighbors=k, metric=metric).fit(X)
    more, at = found.kneighbors(n_neighbors=min(k + SPARE, m - 1))
    lowest, highest = _around(more[:, k - 1], X, metric)
    # Where those that are equally far go on, all rows are looked at.
    some = np.flatnonzero((more[:, -1] <= highest) & (more.shape[1] < m - 1))
    distances, rows = _first(more, at, lowest, highest, k)
    step = max(1, BATCH // m)
    for start in range(0, len(some), step):
        part = some[start : start + step]
        every = pairwise_distances(X[part], X, metric=metric)
        every[np.arange(len(part)), part] = np.inf
        at = np.broadcast_to(np.arange(m), every.shape)
        distances[part], rows[part] = _first(every, at, lowest[part], highest[part], k)
    return distances, rows


def _around(
    distances: NDArray[np.float64], X: Any, metric: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the range in which distances from the rows of X equal those given."""
    if metric == "cosine":
        slack = EQUAL * distances + ROUNDING
        return distances - slack, distances + slack
    slack = EQUAL * distances**2 + ROUNDING * row_norms(X, squared=True)
    lowest = np.sqrt(np.maximum(distances**2 - slack, 0.0))
    return lowest, np.sqrt(distances**2 + slack)


def _first(
    distances: NDArray[np.float64],
    rows: NDArray[np.intp],
    lowest: NDArray[np.float64],
    highest: NDArray[np.float64],
    k: int,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the k nearest, nearest first; the first rows of those in the range."""
    order = np.where(distances <= highest[:, None], rows, np.iinfo(np.intp).max)
    order[distances < lowest[:, None]] = -1
    kept = np.argpartition(order, k - 1, axis=1)[:, :k]
    near = np.take_along_axis(distances, kept, axis=1)
    kept = np.take_along_axis(kept, np.argsort(near, axis=1), axis=1)
    return (
        np.take_along_axis(distances, kept, axis=1),
        np.take_along_axis(rows, kept, axis=1),
    )


def affinity(
    X: Any, n_neighbors: int, mode: str = "heat", width: float | str = "auto"
) -> Affinity:
    """Connect each row with its nearest rows, in either direction, and weigh the edges.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        The rows to connect.
    n_neighbors : int
        Number of neighbours, at most m − 1 are used.
    mode : {"heat", "binary", "cosine"}
        The weight of an edge: ``exp(-d² / width)``, 1, or the cosine of the angle
        between the rows, zero if negative; then neighbours are those of largest
        cosine.
    width : float or "auto"
        The width of the heat kernel. ``"auto"`` is the median of d² over all pairs of
        neighbours that differ, so that half of the weights are at least 1/e.
    """
    m = X.shape[0]
    metric = "cosine" if mode == "cosine" else "euclidean"
    distances, near = neighbors(X, n_neighbors, metric)
    i, j = np.repeat(np.arange(m), near.shape[1]), near.ravel()
    # Each pair once, whichever row named the other.
    pairs, first = np.unique(np.minimum(i, j) * m + np.maximum(i, j), return_index=True)
    squares = distances.ravel()[first] ** 2
    used = np.nan
    if mode == "heat":
        used = _auto_width(squares) if isinstance(width, str) else float(width)
        values = np.exp(-squares / used)
    elif mode == "cosine":
        values = np.clip(1.0 - np.sqrt(squares), 0.0, 1.0)
    else:
        values = np.ones(len(pairs))
    i, j = pairs // m, pairs % m
    i, j = np.append(i, j), np.append(j, i)
    weights = sparse.csr_array((np.tile(values, 2), (i, j)), shape=(m, m))
    degrees = np.asarray(weights.sum(axis=1), np.float64)
    edges = np.bincount(i, minlength=m)
    lost = float(np.mean(degrees < NO_WEIGHT * edges))
    reason = _reason(mode, used, squares, lost) if lost > COLLAPSED_SHARE else ""
    return Affinity(weights, degrees, used, reason)


def _auto_width(squares: NDArray[np.float64]) -> float:
    # Rows that are copies of each other say nothing about the scale.
    different = squares[squares > NO_WEIGHT * squares.max()]
    return float(np.median(different)) if len(different) else 1.0


def _reason(mode: str, width: float, squares: NDArray[np.float64], lost: float) -> str:
    if mode == "heat":
        return (
            f"The affinity collapsed: the heat kernel of width {width:g} is zero for "
            f"{lost:.0%} of the examples (median squared distance of neighbours: "
            f"{np.median(squares):.3g}). Set width='auto'."
        )
    return (
        f"The affinity collapsed: {lost:.0%} of the examples have no neighbour of "
        "positive cosine. Set affinity='heat'."
    )


def autocorrelation(graph: Affinity, X: Any, *, centre: bool) -> NDArray[np.float64]:
    """Return fᵀWf / fᵀDf of each column f, in [−1, 1]; −1 where fᵀDf is zero.

    With ``centre``, f is first centred by its mean weighted by the degrees.
    """
    W, degrees = graph.weights, graph.degrees
    total = max(degrees.sum(), TINY)
    if sparse.issparse(X):
        X = X.astype(np.float64)
        raw = own = np.ravel(X.multiply(X).T @ degrees)
        shared = np.ravel((W @ X).multiply(X).sum(axis=0))
        if centre:
            mean_square = np.ravel(X.T @ degrees) ** 2 / total
            own, shared = own - mean_square, shared - mean_square
        return _ratio(shared, own, raw)
    out = np.empty(X.shape[1])
    width = max(1, BLOCK // X.shape[0])
    for start in range(0, X.shape[1], width):
        F = np.array(X[:, start : start + width], dtype=np.float64, order="C")
        raw = degrees @ (F * F)
        if centre:
            F -= (degrees @ F) / total
        own = degrees @ (F * F)
        shared = np.einsum("ij,ij->j", F, W @ F)
        out[start : start + width] = _ratio(shared, own, raw)
    return out


def _ratio(
    shared: NDArray[np.float64], own: NDArray[np.float64], raw: NDArray[np.float64]
) -> NDArray[np.float64]:
    there = own > NO_VARIANCE * raw
    ratio = np.divide(shared, own, where=there, out=np.full(len(own), -1.0))
    return np.clip(ratio, -1.0, 1.0)


def inverse_roots(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return D^(−1/2), zero for a row without an edge."""
    there = degrees > 0
    return np.where(there, 1 / np.sqrt(np.where(there, degrees, 1.0)), 0.0)


def normalised(graph: Affinity) -> Any:
    """Return N = D^(−1/2) W D^(−1/2), sparse; the normalised Laplacian is I − N."""
    roots = sparse.diags_array(inverse_roots(graph.degrees))
    return sparse.csr_array(roots @ graph.weights @ roots)


def embedding(
    graph: Affinity, k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the k smallest eigenvalues of I − N, with their eigenvectors, m × k.

    The trivial eigenvector D^(1/2)·1 is taken out, by moving its eigenvalue from 0 to
    the other end: in a graph of several components no solver would name it first.
    There are never more than m − 1.
    """
    N = normalised(graph)
    m = N.shape[0]
    k = min(k, m - 1)
    trivial = np.sqrt(graph.degrees)
    length = np.linalg.norm(trivial)
    trivial = trivial / length if length > 0 else trivial
    wanted = min(k + MORE, m)
    if m <= DENSE_ROWS or wanted >= m:
        values, vectors = _dense(N, trivial, wanted)
    else:
        values, vectors = _iterative(N, trivial, wanted)
    order = np.argsort(-values, kind="stable")
    values, vectors = 1.0 - values[order], vectors[:, order]
    return values[:k], _fix_basis(values, vectors)[:, :k]


def _dense(
    N: Any, trivial: NDArray[np.float64], wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = len(trivial)
    A = N.toarray()
    A -= 2 * np.outer(trivial, trivial)
    values, vectors = eigh(A, subset_by_index=(m - wanted, m - 1))
    return values, vectors


def _iterative(
    N: Any, trivial: NDArray[np.float64], wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = len(trivial)

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        v = np.ravel(v)
        return np.asarray(N @ v - 2 * trivial * (trivial @ v))

    operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
    # The same start in every run: the result must not depend on chance.
    start = np.random.default_rng(0).normal(size=m)
    try:
        values, vectors = eigsh(
            operator, k=wanted, which="LA", v0=start, ncv=min(m, 4 * wanted + 20)
        )
    except ArpackNoConvergence:
        return _dense(N, trivial, wanted)
    return values, vectors


def _fix_basis(
    values: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Choose a basis that depends only on the space, where eigenvalues are equal.

    Components of the graph give equal eigenvalues, of which a solver returns any
    rotation. QR with pivoting sees the space alone.
    """
    vectors = vectors.copy()
    ends = np.flatnonzero(np.diff(values) > SAME_VALUE) + 1
    for group in np.split(np.arange(len(values)), ends):
        if len(group) > 1:
            Q = qr(vectors[:, group].T, pivoting=True)[0]
            vectors[:, group] = vectors[:, group] @ Q
    return vectors


class NeighborRanker(Ranker):
    """A base for rankers that look at the neighbours of each example.

    It finds the constant columns, which rank last whatever their score.

    Attributes
    ----------
    constant_ : ndarray of bool of shape (n_features_in_,)
        Constant columns.
    n_iter_ : int
        Number of iterations; `max_iter` if the tolerance was not reached.
    """

    n_neighbors: int = 5
    standardize: bool = False

    def _begin(self, X: Any) -> Any:
        """Find the constant columns; return the table, where squares do not overflow.

        A table of extreme values is multiplied by a power of two.
        """
        self.constant_ = constant_in(X)
        values = X.data if sparse.issparse(X) else X
        largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
        self._unit = 1.0
        if 0.0 < largest < 1 / LARGE or largest > LARGE:
            self._unit = float(powers_of_two(np.array([largest]))[0])
            return X * self._unit
        return X


class GraphRanker(NeighborRanker):
    """A base for rankers that look at a weighted graph of the examples.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of each example, at most all others. Two examples are connected if
        either is a neighbour of the other.
    affinity : {"heat", "binary", "cosine"}, default="heat"
        The weight of an edge: ``exp(-d² / width)``, 1, or the cosine of the angle
        between two examples (zero if negative).
    width : float or "auto", default="auto"
        The width of the heat kernel. ``"auto"`` is the median of d² over neighbours
        that differ. With a fixed width, such as the literature's 1, all weights may
        be zero: then the graph says nothing, and a warning says so.

    Attributes
    ----------
    width_ : float
        The width of the heat kernel that was used; NaN without one.
    """

    _needs: ClassVar[dict[str, Need]] = {"width": Need("auto", "affinity", ("heat",))}

    affinity: str = "heat"
    width: float | str = "auto"

    def _affinity(self, X: Any) -> Affinity:
        """Return the graph of the rows of X; note it if it collapsed."""
        cosine = self.affinity == "cosine"
        if cosine and not self.standardize:
            table = X  # Centring would change the angles.
        else:
            # … which are those of centred columns here, also of a sparse table.
            table = dense(X) if cosine else X
            table = scaled(table, self.constant_, self.standardize)
        # A width that is given, and the one that is reported, are the user's.
        unit = 1.0 if self.standardize else self._unit
        width = self.width
        if not isinstance(width, str):
            width = float(np.clip(width * unit * unit, TINY, 1 / TINY))
        graph = affinity(table, self.n_neighbors, self.affinity, width)
        self.width_ = graph.width / unit / unit
        if graph.collapsed:
            self._collapsed = graph.collapsed
        return graph


def settle(
    ranker: Any, n: int, step: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Let ``W = step(lengths of its n rows)`` settle; return these lengths.

    The ranker's `max_iter` and `tol` say how long, its `n_iter_` is set.
    """
    lengths, before = np.full(n, 0.5), np.zeros(n)
    for iteration in range(1, ranker.max_iter + 1):
        ranker.n_iter_ = iteration
        W = step(lengths)
        lengths = np.sqrt(np.einsum("jk,jk->j", W, W))
        if np.linalg.norm(lengths - before) <= ranker.tol * np.linalg.norm(lengths):
            break
        before = lengths
    return lengths
