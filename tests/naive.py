"""FRANe written down line by line: the oracle that every fast path is held to.

Dense float64 matrices, one linear solve per threshold, nothing shared with the
library. Slow on purpose: whoever doubts a number should be able to read this file
next to the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.stats import rankdata
from threadpoolctl import ThreadpoolController

# Between numbers, mixed is the absolute correlation.
CORRELATIONS = ("correlation", "abs-correlation", "spearman", "mixed")
DISTANCES = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "canberra",
    "minkowski",
    "sqeuclidean",
    "seuclidean",
)
PROGRESSIONS = (
    "geometric",
    "linear",
    "linear-mean",
    "linear-median",
    "quantile",
    "logspace",
)
ZERO = 1e-9  # a distance or gap up to this (times the scale) is zero
AT_THRESHOLD = 1e-12  # a pair this close (times the scale) is at the threshold
EQUAL = 1e-9  # scores, and qualities, this close (relative) are equal
SCORE_FLOOR = 1e-10  # inside RQH

# On matrices as small as these several threads wait for each other more than they
# work, and on a busy machine many times as long.
_blas = ThreadpoolController()


@dataclass
class NaiveResult:
    scores: np.ndarray  # n; 0.0 for constant columns
    ranking: np.ndarray  # n; 1 = best
    thresholds: np.ndarray  # I, similarity units, descending
    quality: np.ndarray  # I; NaN where too sparse
    too_sparse: np.ndarray  # I
    all_scores: np.ndarray  # I x n
    winner: int | None
    constant: np.ndarray  # n
    adjacency: np.ndarray  # n x n weights of the winning graph


@_blas.wrap(limits=1, user_api="blas")
def naive_frane(
    X,
    *,
    similarity: str | Callable = "correlation",
    thresholds: str | Callable = "geometric",
    n_thresholds: int = 100,
    min_mean_degree: float = 1.0,
    damping: float = 0.85,
    weighted: bool = True,
    variant: str = "paper",
    p: float = 2.0,
    centrality: str = "pagerank",
    quality: str = "rqh",
) -> NaiveResult:
    X = np.array(X, dtype=np.float64)
    _check(X, similarity, thresholds, variant)

    # Constant columns have no correlation and leave before anything is counted.
    constant = np.zeros(X.shape[1], dtype=bool)
    if similarity in CORRELATIONS:
        constant = X.max(axis=0) == X.min(axis=0)
    live = np.flatnonzero(~constant)
    n = live.size
    result = _all_equal(constant, variant)
    if n < 2:
        return result

    # Line 1: similarities, and the thresholds laid over them.
    if similarity == "precomputed":
        w, scale = _paper_similarity_given(X)
    elif callable(similarity):
        w, scale = _paper_similarity_given(similarity(X, X))
    else:
        d, top, scale = dissimilarity(X[:, live], similarity, p, variant)
        d[d <= ZERO * scale] = 0.0
        w = (
            _paper_similarity(d, top, scale)
            if variant == "paper"
            else _extremes(d)[0] - d
        )
    # A weight this small is rounding; a degree must not be a sum of such.
    w = np.where(w <= AT_THRESHOLD * scale, 0.0, w)
    if _spread(w) <= (0.0 if variant == "paper" else ZERO * scale):
        return result
    if variant == "paper":
        t = paper_grid(w, thresholds, n_thresholds)
    else:
        t = reference_grid(d, thresholds, n_thresholds)

    # Lines 2 to 8: one graph, one ranking and one quality for each threshold.
    result.thresholds = t
    result.quality = np.full(t.size, np.nan)
    result.too_sparse = np.zeros(t.size, dtype=bool)
    result.all_scores = np.zeros((t.size, constant.size))
    for i in range(t.size):
        edges, weights = graph(w, t[i], scale, weighted)
        counted = weights > 0 if variant == "reference" else edges
        scores = CENTRALITIES[centrality](weights, damping)
        result.all_scores[i, live] = scores
        result.too_sparse[i] = counted.sum() / n < min_mean_degree
        if not result.too_sparse[i]:
            result.quality[i] = QUALITIES[quality](scores)

    # Line 9: the best candidate; among equals the sparsest.
    if result.too_sparse.all():
        return result
    best = np.nanmax(result.quality)
    good_enough = ~result.too_sparse & (result.quality >= (1 - EQUAL) * best)
    result.winner = int(np.flatnonzero(good_enough)[0])
    result.scores = result.all_scores[result.winner].copy()
    result.ranking = rank(result.scores, constant)
    _, weights = graph(w, t[result.winner], scale, weighted)
    result.adjacency[np.ix_(live, live)] = weights
    return result


def _check(X, similarity, thresholds, variant) -> None:
    if variant not in ("paper", "reference"):
        raise ValueError(f"unknown variant {variant!r}")
    named = (*CORRELATIONS, *DISTANCES, "precomputed")
    if not callable(similarity) and similarity not in named:
        raise ValueError(f"unknown similarity {similarity!r}")
    if not callable(thresholds) and thresholds not in PROGRESSIONS:
        raise ValueError(f"unknown thresholds {thresholds!r}")
    if X.ndim != 2 or X.shape[1] < 2 or (similarity != "precomputed" and len(X) < 2):
        raise ValueError("at least two examples and two features are needed")
    if variant == "reference":
        paper_only = ("mixed", "precomputed", "seuclidean")
        if callable(similarity) or similarity in paper_only:
            raise ValueError(f"no reference definition of similarity {similarity!r}")
        if callable(thresholds) or thresholds == "quantile":
            raise ValueError(f"no reference definition of thresholds {thresholds!r}")


def _all_equal(constant, variant) -> NaiveResult:
    """What is returned when there is no pair to tell apart, or no candidate."""
    n_all, n = constant.size, (~constant).sum()
    scores = np.zeros(n_all)
    scores[~constant] = 1.0 / max(n, 1) if variant == "paper" else 1.0
    return NaiveResult(
        scores=scores,
        ranking=rank(scores, constant),
        thresholds=np.zeros(0),
        quality=np.zeros(0),
        too_sparse=np.zeros(0, dtype=bool),
        all_scores=np.zeros((0, n_all)),
        winner=None,
        constant=constant,
        adjacency=np.zeros((n_all, n_all)),
    )


# Similarities.


def _pairs(a):
    """Every off-diagonal entry, so each pair twice."""
    return a[~np.eye(len(a), dtype=bool)]


def _extremes(a):
    """Largest and smallest off-diagonal entry."""
    return _pairs(a).max(), _pairs(a).min()


def _spread(a):
    return _extremes(a)[0] - _extremes(a)[1]


def dissimilarity(X, similarity, p, variant):
    """Return d (zero diagonal), the similarity of d = 0, and the scale."""
    if similarity in CORRELATIONS:
        r = pearson(rankdata(X, axis=0) if similarity == "spearman" else X)
        if similarity in ("abs-correlation", "mixed"):
            d, top = 1.0 - np.abs(r), 1.0
        else:
            d, top = 1.0 - r, 2.0
        np.fill_diagonal(d, 0.0)
        return d, top, 1.0
    if variant == "reference":
        own = distance_to(np.zeros(len(X)), X, similarity, p)
        X = X / np.where(own == 0, 1.0, own)
    n = X.shape[1]
    variance = X.var(axis=1, ddof=1)  # of each example over the features
    d = np.zeros((n, n))
    for j in range(n):
        d[j] = distance_to(X[:, j], X, similarity, p, variance)
        d[j, j] = 0.0
    d = np.triu(d) + np.triu(d).T  # both orders of a pair: the same rounding
    largest = _extremes(d)[0]
    return d, largest, largest


def pearson(X):
    X = X - X.mean(axis=0)
    X = X - X.mean(axis=0)  # what rounding left of the mean
    X = X / np.abs(X).max(axis=0)  # tiny and huge columns: squares stay in range
    X = X / np.sqrt((X**2).sum(axis=0))
    r = np.triu(X.T @ X, 1)
    return np.clip(r + r.T, -1.0, 1.0)


def distance_to(x, X, metric, p, variance=None):
    """Distance of the vector x to each column of X."""
    diff = np.abs(X - x[:, None])
    if metric == "euclidean":
        return np.sqrt((diff**2).sum(axis=0))
    if metric == "sqeuclidean":
        return (diff**2).sum(axis=0)
    if metric == "manhattan":
        return diff.sum(axis=0)
    if metric == "chebyshev":
        return diff.max(axis=0)
    if metric == "minkowski":
        return (diff**p).sum(axis=0) ** (1.0 / p)
    if metric == "canberra":
        size = np.abs(X) + np.abs(x)[:, None]
        return np.divide(diff, size, out=np.zeros_like(diff), where=size > 0).sum(0)
    if metric == "seuclidean":
        rows = variance > 0
        return np.sqrt((diff[rows] ** 2 / variance[rows, None]).sum(axis=0))
    raise ValueError(metric)


def _paper_similarity(d, top, scale):
    """w = top - d, the pairs next to the closest one made exactly as close."""
    closest = _extremes(d)[1]
    d = np.where(d - closest <= ZERO * scale, closest, d)
    return top - d


def _paper_similarity_given(w):
    w = np.array(w, dtype=np.float64)
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise ValueError("the similarity is not square")
    largest, smallest = _extremes(w)
    scale = np.abs(_pairs(w)).max()
    if smallest < 0:
        raise ValueError("the similarity has negative entries")
    if np.abs(_pairs(w) - _pairs(w.T)).max() > ZERO * scale:
        raise ValueError("the similarity is not symmetric")
    w = np.triu(w, 1) + np.triu(w, 1).T
    return np.where(largest - w <= ZERO * scale, largest, w), scale


# Thresholds, in similarity units, descending: from sparse to dense.


def _with_ends(t, first, last):
    """Formulas miss the data by a rounding error; the ends may not."""
    t[-1] = last
    t[0] = first
    return t


def paper_grid(w, progression, count):
    level = np.arange(count) / max(count - 1, 1)  # 0 to 1
    values = _pairs(w)
    largest, smallest = values.max(), values.min()
    if callable(progression):
        t = np.array(progression(smallest, largest, count), dtype=np.float64)
        if t.shape != (count,):
            raise ValueError("the progression has another number of thresholds")
        return np.sort(t)[::-1]
    gaps = (largest - values)[values < largest]
    if progression == "geometric":
        t = largest - gaps.min() * (gaps.max() / gaps.min()) ** level
        return _with_ends(t, values[values < largest].max(), smallest)
    if progression == "logspace":
        with np.errstate(over="ignore"):  # -inf is a threshold too
            return largest - 10.0 ** np.linspace(gaps.min(), gaps.max(), count)
    if progression == "quantile":
        return np.quantile(values, 1.0 - level)
    last = {
        "linear": smallest,
        "linear-mean": values.mean(),
        "linear-median": np.median(values),
    }[progression]
    return _with_ends(largest + (last - largest) * level, largest, last)


def reference_grid(d, progression, count):
    largest = _extremes(d)[0]
    smallest = d[d > 0].min()
    if progression == "geometric":
        t = np.geomspace(smallest, largest, count)
        t = _with_ends(t, smallest, largest)
    elif progression == "logspace":
        with np.errstate(over="ignore"):
            t = np.logspace(smallest, largest, count)
    else:
        # The whole matrix, with its zero diagonal, as the authors take it.
        last = {
            "linear": largest,
            "linear-mean": d.mean(),
            "linear-median": np.median(d),
        }[progression]
        t = _with_ends(np.linspace(smallest, last, count), smallest, last)
    # A median of zero (many duplicates) is below the smallest non-zero distance.
    return largest - np.sort(t)


def graph(w, t, scale, weighted):
    edges = w >= t - AT_THRESHOLD * scale
    np.fill_diagonal(edges, False)
    if weighted:
        return edges, np.where(edges, w, 0.0)
    return edges, edges.astype(np.float64)


# Centralities of a weighted graph.


def pagerank(w, damping):
    n = len(w)
    degree = w.sum(axis=0)
    step = np.zeros_like(w)  # W D^-1, columns of isolated nodes zero
    step[:, degree > 0] = w[:, degree > 0] / degree[degree > 0]
    return np.linalg.solve(np.eye(n) - damping * step, np.full(n, (1 - damping) / n))


def degree_centrality(w, damping):
    degree = w.sum(axis=0)
    return _share(degree)


def eigenvector_centrality(w, damping):
    # Several components can share the largest eigenvalue: project, don't pick.
    values, vectors = np.linalg.eigh(w)
    space = vectors[:, values >= values[-1] - EQUAL * abs(values[-1])]
    v = np.abs(space @ (space.T @ np.ones(len(w))))
    # Other components have no part in the vector: what is left there is rounding.
    return _share(np.where(v < 1e-12 * v.max(), 0.0, v))


def _distances(w):
    # Zero means "no edge" to SciPy, and an edge of weight zero is infinitely long.
    length = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0)
    return shortest_path(length, method="D", directed=False)


def closeness_centrality(w, damping):
    n = len(w)
    scores = np.zeros(n)
    for j, distance in enumerate(_distances(w)):
        reached = distance[np.isfinite(distance)]  # the node itself is among them
        if reached.size > 1:
            scores[j] = (reached.size - 1) ** 2 / ((n - 1) * reached.sum())
    return scores


def harmonic_centrality(w, damping):
    n = len(w)
    scores = np.zeros(n)
    for j, distance in enumerate(_distances(w)):
        others = np.delete(distance, j)
        scores[j] = (1.0 / others).sum() / (n - 1)  # 1 / inf = 0
    return scores


def _share(x):
    return x / x.sum() if x.sum() > 0 else x


CENTRALITIES = {
    "pagerank": pagerank,
    "degree": degree_centrality,
    "eigenvector": eigenvector_centrality,
    "closeness": closeness_centrality,
    "harmonic": harmonic_centrality,
}


# Qualities of a vector of scores.


def rqh(scores):
    s = np.sort(np.maximum(scores, SCORE_FLOOR))
    return s[-1] / s[0] if s.size <= 2 else s[-2] / s[1]


def gini(scores):
    if scores.sum() == 0:
        return 0.0
    differences = np.abs(scores[:, None] - scores[None, :])
    return differences.mean() / (2 * scores.mean())


def cv(scores):
    return scores.std() / scores.mean() if scores.sum() > 0 else 0.0


def entropy(scores):
    if scores.sum() == 0:
        return 0.0
    share = scores[scores > 0] / scores.sum()
    return np.log(scores.size) + (share * np.log(share)).sum()


QUALITIES = {"rqh": rqh, "gini": gini, "cv": cv, "entropy": entropy}


def rank(scores, constant):
    """Ranks from 1; scores equal up to rounding, and constants, by column."""
    order: list[int] = []
    group: list[int] = []
    previous = None
    for j in sorted(np.flatnonzero(~constant), key=lambda j: (-scores[j], j)):
        if previous is not None and previous - scores[j] > EQUAL * previous:
            order += sorted(group)
            group = []
        group.append(j)
        previous = scores[j]
    order += sorted(group)
    order += list(np.flatnonzero(constant))
    ranking = np.zeros(len(scores), dtype=int)
    ranking[order] = np.arange(1, len(scores) + 1)
    return ranking
