"""How good the first k features of a ranking are, by several measures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import check_value
from franet.evaluation._weights import (
    Array,
    neighbour_weights,
    nested_distances,
    ridge_prediction,
    ridge_weights,
    sizes_of,
)
from franet.evaluation.folds import Fold
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.similarity._standardize import powers_of_two

# Clusters of more features than this take long and say little of a ranking.
CLUSTER_LIMIT = 256
# Distances that are in memory at a time; some arrays of the same size come with them.
_DISTANCES = 2**21
# Deviations from the mean beyond this count as this: squares of more may overflow.
_FAR = 1e100


@dataclass(frozen=True)
class MeasureInfo:
    """What a measure is.

    Attributes
    ----------
    title : str
        For tables and pictures.
    lower_is_better : bool
        Whether small values are good.
    needs_labels : bool
        Whether it compares with classes that no ranker saw.
    limit : int or None
        The largest number of features at which it is measured; None: all.
    """

    title: str
    lower_is_better: bool
    needs_labels: bool = False
    limit: int | None = None

    def covers(self, count: int) -> bool:
        """Return whether it is measured at this number of features."""
        return self.limit is None or count <= self.limit


MEASURES = {
    "rmae": MeasureInfo("RMAE of 5-NN", True),
    "rmae_shared": MeasureInfo("RMAE of 5-NN, ties shared", True),
    "rmae_scaled": MeasureInfo("RMAE of 5-NN on scaled features", True),
    "r2": MeasureInfo("R² of ridge regression", False),
    "knn_accuracy": MeasureInfo("Accuracy of 5-NN for hidden classes", False, True),
    "nmi": MeasureInfo(
        "NMI of clusters and hidden classes", False, True, CLUSTER_LIMIT
    ),
    "cluster_accuracy": MeasureInfo("Accuracy of clusters", False, True, CLUSTER_LIMIT),
}
_SHARED = {"rmae_shared", "knn_accuracy"}
_CLUSTERS = {"nmi", "cluster_accuracy"}


def check_measures(measures: Any, labeled: bool) -> list[str]:
    """Return the names of measures; None stands for all that need no labels.

    Parameters
    ----------
    measures : sequence of str or None
        Names from `MEASURES`.
    labeled : bool
        Whether there are classes.

    Returns
    -------
    names : list of str
        The same, checked.
    """
    if measures is None:
        return [n for n, measure in MEASURES.items() if not measure.needs_labels]
    names = [measures] if isinstance(measures, str) else list(measures)
    check_value("measures", ..., bool(names), "name at least one")
    for name in names:
        remedy = f"there is no {name!r}. Choose from: {', '.join(MEASURES)}"
        check_value("measures", ..., name in MEASURES, remedy)
        if MEASURES[name].needs_labels and not labeled:
            fields = (Setting("measures"), name, Setting("y"))
            raise UsageError("{}: {!r} needs the classes of the examples, {}", *fields)
    return names


def feature_counts(wanted: Any, n_features: int) -> list[int]:
    """Return at how many features rankings are judged, in rising order.

    Parameters
    ----------
    wanted : "powers", int or sequence of int
        ``"powers"``: 1, 2, 4, … and all, as in the paper. Numbers beyond
        `n_features` are left out; if none is left, it is all features.
    n_features : int
        Number of features.

    Returns
    -------
    counts : list of int
        Rising, without repetition.

    Examples
    --------
    >>> feature_counts("powers", 10)
    [1, 2, 4, 8, 10]
    """
    if isinstance(wanted, str) and wanted == "powers":
        return [*(2**i for i in range((n_features - 1).bit_length())), n_features]
    numbers = np.atleast_1d(np.asarray(wanted))
    is_fine = numbers.dtype.kind in "iu" and numbers.ndim == 1 and numbers.size > 0
    check_value("n_features", wanted, is_fine, "give 'powers' or numbers")
    is_fine = bool(numbers.min() >= 1)
    check_value("n_features", wanted, is_fine, "give numbers of at least 1")
    counts = sorted({int(k) for k in numbers if k <= n_features})
    return counts or [n_features]


class FoldScorer:
    """Judges rankings of one fold; what rankings share is computed once.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The whole table, without missing values.
    fold : Fold
        Its division.
    y : ndarray of shape (m,), optional
        Hidden classes.
    seed : int, default=0
        Seed of the clusterings.
    """

    def __init__(
        self, X: Array, fold: Fold, y: NDArray[Any] | None = None, seed: int = 0
    ) -> None:
        self.train = X[fold.train]
        self.test = X[fold.test]
        if y is not None:
            classes, labels = np.unique(y, return_inverse=True)
            self._labels = labels[fold.train], labels[fold.test], len(classes)
        # Of the whole table, as in the paper; peak-to-peak, because the deviation of
        # a constant column may come out as rounding.
        lo, hi = X.min(axis=0), X.max(axis=0)
        varied = hi > lo
        if not varied.any():
            raise DataError("Every feature is constant: there is nothing to rebuild.")
        self._sizes = sizes_of(X)
        # Squares of huge or tiny values do not fit into a double.
        goals = X * powers_of_two(np.maximum(hi, -lo))
        goals /= np.where(varied, goals.std(axis=0), 1.0)
        self._goal_train = np.ascontiguousarray(goals[fold.train][:, varied])
        self._goal_test = np.ascontiguousarray(goals[fold.test][:, varied])
        self._seed = seed

    def score(
        self,
        order: NDArray[np.intp],
        counts: Sequence[int],
        measures: Collection[str],
    ) -> dict[str, dict[int, float]]:
        """Return the value of each measure at each number of features.

        Parameters
        ----------
        order : ndarray of int
            Features, the best first.
        counts : sequence of int
            Rising numbers of features.
        measures : collection of str
            Names from `MEASURES`.

        Returns
        -------
        values : dict of dict
            By measure and count. Clusterings stop at 256 features.
        """
        names = check_measures(measures, hasattr(self, "_labels"))
        found: dict[str, dict[int, float]] = {name: {} for name in names}
        for name, k, value in self._each(order, counts, set(names)):
            if name in found:
                found[name][k] = found[name].get(k, 0.0) + value
        return found

    def _each(
        self, order: NDArray[np.intp], counts: Sequence[int], wanted: set[str]
    ) -> Iterator[tuple[str, int, float]]:
        """Yield values at a count; those of neighbours in parts, to be added up."""
        size = max(1, _DISTANCES // len(self.train))
        for at in range(0, len(self.test), size):
            yield from self._neighbours(order, counts, wanted, slice(at, at + size))
        for k in counts:
            if "r2" in wanted:
                yield "r2", k, self._explained(order[:k])
            if wanted & _CLUSTERS and k <= CLUSTER_LIMIT:
                nmi, accuracy = self._clusters(order[:k])
                yield "nmi", k, nmi
                yield "cluster_accuracy", k, accuracy

    def _neighbours(
        self,
        order: NDArray[np.intp],
        counts: Sequence[int],
        wanted: set[str],
        rows: slice,
    ) -> Iterator[tuple[str, int, float]]:
        """Yield what some examples of the test part add to the values."""
        if wanted & {"rmae", *_SHARED}:
            for k, D in nested_distances(
                self.test[rows], self.train, order, counts, self._sizes
            ):
                if "rmae" in wanted:
                    weights = neighbour_weights(D, "position")
                    yield "rmae", k, self._error(weights, rows)
                if wanted & _SHARED:
                    weights = neighbour_weights(D, "shared")
                if "rmae_shared" in wanted:
                    yield "rmae_shared", k, self._error(weights, rows)
                if "knn_accuracy" in wanted:
                    yield "knn_accuracy", k, self._accuracy(weights, rows)
        if "rmae_scaled" in wanted:
            train, test = self._scaled
            for k, D in nested_distances(test[rows], train, order, counts):
                weights = neighbour_weights(D, "shared")
                yield "rmae_scaled", k, self._error(weights, rows)

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """Both parts, standardized by the training part."""
        factors = powers_of_two(np.abs(self.train).max(axis=0))
        train = self.train * factors
        mean, σ = train.mean(axis=0), train.std(axis=0)
        σ[train.max(axis=0) == train.min(axis=0)] = np.inf
        with np.errstate(over="ignore"):
            test = np.clip(self.test * factors, -_FAR, _FAR)
        return (train - mean) / σ, np.clip((test - mean) / σ, -_FAR, _FAR)

    def _centred(self) -> tuple[Array, Array]:
        """Return the goals of both parts, less the mean of the training part."""
        mean = self._goal_train.mean(axis=0)
        return self._goal_train - mean, self._goal_test - mean

    @cached_property
    def _goal_gram(self) -> Array:
        """Inner products of the training examples over all goals."""
        goals, _ = self._centred()
        return np.asarray(goals @ goals.T)

    @cached_property
    def _spread(self) -> float:
        """What the mean of the training part leaves unexplained."""
        return float(np.sum(self._centred()[1] ** 2))

    def _error(self, weights: Any, rows: slice) -> float:
        missed = np.abs(weights @ self._goal_train - self._goal_test[rows])
        return float(missed.sum() / self._goal_test.size)

    def _explained(self, chosen: NDArray[np.intp]) -> float:
        train, test = (part[:, chosen] for part in self._scaled)
        if self._goal_train.shape[1] < len(train):
            goals, truth = self._centred()
            left = ridge_prediction(test, train, goals) - truth
        else:
            weights = ridge_weights(test, train, self._goal_gram)
            left = weights @ self._goal_train - self._goal_test
        missed = np.sum(left**2)
        if self._spread == 0:  # as in scikit-learn
            return float(missed == 0)
        return float(1 - missed / self._spread)

    def _accuracy(self, weights: Any, rows: slice) -> float:
        train, test, n_classes = self._labels
        votes = weights @ np.eye(n_classes)[train]
        # Equal votes come out unequal by rounding: the first class takes them.
        best = votes >= votes.max(axis=1, keepdims=True) - 1e-9
        return float(np.sum(best.argmax(axis=1) == test[rows]) / len(test))

    def _clusters(self, chosen: NDArray[np.intp]) -> tuple[float, float]:
        """Return the NMI of clusters and classes, and the accuracy of clusters."""
        from scipy.optimize import linear_sum_assignment
        from sklearn.cluster import KMeans
        from sklearn.metrics import normalized_mutual_info_score
        from sklearn.metrics.cluster import contingency_matrix

        truth, _, n_classes = self._labels
        columns = np.ascontiguousarray(self._scaled[0][:, chosen])
        # Fewer different examples than clusters: as many clusters as examples.
        n_clusters = min(n_classes, len(np.unique(columns, axis=0)))
        model = KMeans(n_clusters, n_init=5, random_state=self._seed)
        clusters = model.fit_predict(columns)
        table = contingency_matrix(truth, clusters)
        rows, across = linear_sum_assignment(-table)
        nmi = float(normalized_mutual_info_score(truth, clusters))
        return nmi, float(table[rows, across].sum() / len(truth))
