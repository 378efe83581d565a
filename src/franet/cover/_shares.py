"""How much of a table the picked features tell, by three ways to rebuild the rest.

By the one pick that a feature resembles most, by a linear combination of all picks, and
by the examples that are nearest in the picks. Each is a share of the table, and each
says what a further pick would add to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover._arrays import (
    Array,
    at_once,
    beside,
    host,
    kernels_of,
    namespace,
    put,
)
from franet.cover._residual import products_of_columns
from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._standardize import (
    feature_rows,
    powers_of_two,
    standardize,
)
from franet.pairs.tiles import TileRunner

# Features that represent all where there are more: the coverage is theirs.
SAMPLE = 2048
# Examples that take part in the search for neighbours, and those that are rebuilt.
EXAMPLES, REBUILT = 1024, 128
# Leading components of the table, which the neighbours rebuild.
COMPONENTS = 32
N_NEIGHBOURS = 5
# Features of one product: 8 MB with all of the sample.
_BLOCK = 512
# Candidates that one thread judges at a time.
_FEW = 4


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """A table, feature by feature, in NumPy or on a torch device.

    Attributes
    ----------
    Z : array of shape (n, m)
        The features as rows, centred and of unit length.
    weights : array of shape (n,)
        What each feature counts where it is represented; the mean is 1.
    examples : ndarray of int or slice
        Examples among which neighbours are searched.
    raw : array of shape (n, n_examples)
        The features there, in their own units up to a common factor.
    """

    Z: Array
    weights: Array
    examples: NDArray[np.intp] | slice
    raw: Array


def make_table(X: NDArray[Any], ranks: bool, device: Any = None) -> FeatureTable:
    """Return a table made of columns, none of them constant.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The table.
    ranks : bool
        Whether columns are compared by their ranks.
    device : torch.device, optional
        Where the table goes; NumPy if not given.
    """
    m, n = X.shape
    every = np.arange(n)
    Z = feature_rows(rank_columns(X) if ranks else X, every, n, np.float64)
    standardize(Z)
    examples = _draw(m, EXAMPLES)
    raw = feature_rows(X[examples], every, n, np.float64)
    raw *= powers_of_two(np.abs(raw).max(initial=0.0, keepdims=True))[0]
    Z = put(Z, device)
    return FeatureTable(Z, weights_of(Z), examples, put(raw, device))


def blocks_of(rows: Array) -> list[slice]:
    """Return the parts into which products with many rows are cut."""
    size = _BLOCK * at_once(rows)
    return [slice(at, at + size) for at in range(0, len(rows), size)]


def _draw(n: int, k: int) -> NDArray[np.intp] | slice:
    """Return k of n positions, always the same ones; all if there are no more."""
    if n <= k:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(n, k, replace=False))


def weights_of(Z: Array) -> Array:
    """Return what each feature counts: less if few examples hold all its variance.

    ``min(1, 2 · MAD / σ)²`` with MAD the mean absolute deviation from the median, up to
    a common factor. It is 0.8 σ for normal values, and most features count the same. A
    word in one of a hundred documents counts 0.04: to rebuild it gains little,
    and its correlations are those of a document or two.
    """
    medians = kernels_of(Z).medians
    weights = namespace(Z).empty_like(Z[:, 0])
    for rows in blocks_of(Z):
        part = Z[rows]
        weights[rows] = abs(part - medians(part)[:, None]).mean(axis=1)
    weights = (2.0 * np.sqrt(Z.shape[1]) * weights).clip(max=1.0) ** 2
    return weights / weights.mean()


class Representatives:
    """What single picks represent: ``Σ_j w_j max_{s ∈ S} |r_js|^p``, facility location.

    Parameters
    ----------
    Z : array of shape (n, m)
        The features as rows, centred and of unit length; in float32 products round so.
    targets : array of shape (n_targets, m)
        Those of them that are to be represented.
    weights : array of shape (n_targets,)
        What each of these counts, w.
    runner : TileRunner
        The threads.
    power : float, default=2.0
        The exponent p.
    """

    def __init__(
        self,
        Z: Array,
        targets: Array,
        weights: Array,
        runner: TileRunner,
        power: float = 2.0,
    ) -> None:
        xp = namespace(Z)
        self._Z, self._targets, self._weights = Z, targets, weights
        self._runner, self._power = runner, power
        self._cover = xp.zeros_like(weights)
        self._gains = xp.zeros_like(Z[:, 0], dtype=weights.dtype)
        self._runner.map(self._first_gains(), blocks_of(Z))

    def _first_gains(self) -> Callable[[slice], None]:
        """Return what writes ``Σ_j w_j |z_i·z_j|^p``: the gains of first picks."""
        n, m = self._Z.shape
        T, w = self._targets, self._weights
        # Fewer products as a quadratic form of z_i.
        is_form = self._power == 2.0 and m * (n + len(T)) < n * len(T)
        Q = T.T @ (w[:, None] * T) if is_form else None

        def visit(rows: slice) -> None:
            Z = self._Z[rows]
            if Q is not None:
                self._gains[rows] = namespace(Z).einsum("ij,ij->i", Z @ Q, Z)
                return
            for part in _parts(len(T)):
                R = self._roots(Z @ T[part].T)
                self._gains[rows] += (R * R) @ w[part]

        return visit

    def _roots(self, R: Array) -> Array:
        """Return numbers whose squares are the weights of correlations."""
        return R if self._power == 2.0 else abs(R) ** (self._power / 2.0)

    def gains(self) -> Array:
        """Return what each feature would add."""
        return self._gains.clip(min=0.0)

    def add(self, j: int) -> None:
        """Pick feature j."""
        r = self._roots(self._targets @ self._Z[j])
        self.raise_to((r * r).clip(max=1.0))

    def raise_to(self, level: Array) -> None:
        """Let targets be represented at least so well."""
        rises = level > self._cover
        old, new = self._cover[rises], level[rises]
        targets, weights = self._targets[rises], self._weights[rises]
        self._cover[rises] = new
        subtract_falls = kernels_of(self._Z).subtract_falls

        def visit(rows: slice) -> None:
            for part in _parts(len(targets)):
                R = self._roots(self._Z[rows] @ targets[part].T)
                gains = self._gains[rows]
                subtract_falls(R, old[part], new[part], weights[part], gains=gains)

        # Gains change by what has risen, not by all: about n/t at the t-th pick.
        self._runner.map(visit, blocks_of(self._Z))


def _parts(n_targets: int) -> list[slice]:
    return [slice(at, at + SAMPLE) for at in range(0, n_targets, SAMPLE)]


def sample_of(table: FeatureTable) -> tuple[Array, Array]:
    """Return the features that take the place of all, and their share of the weight."""
    part = _draw(len(table.Z), SAMPLE)
    return table.Z[part], table.weights[part] / table.weights[part].sum()


class NearestSamples:
    """The share that the five nearest examples tell, each example left out in turn.

    The share of the leading principal components of the table, whose distances are
    those of all features without most of the noise.
    """

    def __init__(self, table: FeatureTable, runner: TileRunner) -> None:
        self._runner = runner
        self._raw = table.raw
        Z = table.Z[:, table.examples]
        U = _components(Z, table.weights)
        m = len(U)
        self.k = min(N_NEIGHBOURS, m - 1)
        rows = np.arange(m)[_draw(m, REBUILT)]
        centred = U[rows] - U.mean(axis=0)
        self._total = float(np.einsum("ij,ij->", centred, centred)) / len(rows)
        self._U, self._rows, self._D = (
            beside(array, Z) for array in (U, rows, np.zeros((len(rows), m)))
        )

    def errors(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share that is not told, were each of some features picked."""
        neighbour_errors = kernels_of(self._raw).neighbour_errors
        out = np.empty(len(features))

        def visit(part: slice) -> None:
            X = self._raw[features[part]]
            neighbour_errors(self._D, X, self._rows, self._U, self.k, out=out[part])

        few = _FEW * at_once(self._raw)
        parts = [slice(at, at + few) for at in range(0, len(features), few)]
        self._runner.map(visit, parts)
        return out / self._total if self._total > 0.0 else np.zeros(len(features))

    def add(self, j: int) -> None:
        """Pick feature j."""
        x = self._raw[j]
        self._D += (x[self._rows, None] - x) ** 2


def _components(Z: Array, weights: Array) -> NDArray[np.float64]:
    """Return the leading components of the weighted features, an example a row."""
    from scipy.linalg import eigh

    m = Z.shape[1]
    K = products_of_columns(Z, weights, blocks_of(Z))
    first = max(m - COMPONENTS, 0)
    # On the processor for all: it is small.
    values, vectors = eigh(host(K), subset_by_index=(first, m - 1))
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
