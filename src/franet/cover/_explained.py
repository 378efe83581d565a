"""How much of a table its picks explain, each sample left out in turn.

Letters: ``z`` a feature, centered and of unit length, and ``w`` what it counts; A the
picks as rows; λ the strength of the ridge regression of all features on them; P the
matrix that leaves of a feature what the regression misses; ``K = Σ_j w_j z_j z_jᵀ``
over all features but the picks, whose own residuals are 0. The residual of sample i
when it is left out is that of the fit divided by ``h_i``, the diagonal of P less 1/m
for the mean, so that the squared errors of all features are ``Σ_i D_i / h_i²``, with D
the diagonal of PKP.

With ``AAᵀ + λI = LLᵀ`` and ``G = L⁻¹A``, ``P = I − GᵀG``. L is triangular: its first k
rows, and those of G, are those of the first k picks. So one decomposition serves every
number of picks, and what a pick z changes is known for all of them at a time: with
``e = Pz``, ``f = PKe``, ``s = eᵀKe`` and ``a = 1 / (λ + zᵀe)``, D changes by
``−w e² − 2a e f + a² s e²`` and h by ``−a e²``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from franet.cover._arrays import Array, beside, blocks_of, host
from franet.pairs.tiles import TileRunner

Floats = NDArray[np.float64]

# The strengths that are tried, the strongest first, as shares of the sum of squares of
# a feature.
PENALTIES = np.geomspace(1e3, 1e-6, 19)
# By chance a pick explains up to 0.17 times as much of other features as of itself, in
# tables of 30 samples of 800 independent columns; less in others.
_WORTH = 0.2
# Where a regression leaves less of a sample, it fits each sample by itself, and errors
# are those of rounding.
_LEFT = 1e-4
# Picks that are decomposed at a time.
_PICKS = 128
# Samples of one product: with those the table is read by parts.
_WIDE = 512


@dataclass(frozen=True, eq=False)
class Curve:
    """What the first pick, the first two, … explain, each sample left out in turn.

    Attributes
    ----------
    explained : ndarray
        The share of the table, that of the picks themselves included.
    others : ndarray
        The share of the table that is explained of other features.
    penalties : ndarray
        The strength of the regression on so many picks.
    n_samples : int
        How many samples were left out.
    """

    explained: Floats
    others: Floats
    penalties: Floats
    n_samples: int

    @property
    def best(self) -> int:
        """The number of picks worth their place; 0 if none explains another feature.

        A pick is worth it if it explains _WORTH times as much of others as of itself:
        chance lets it explain nearly that, as it is chosen among many.
        """
        worth = self.others - _WORTH * (self.explained - self.others)
        at = int(np.argmax(worth)) if len(worth) else 0
        return at + 1 if len(worth) and self.others[at] > 0.0 else 0

    def reaching(self, share: float) -> int:
        """Return how many picks explain a share of what those explain of others."""
        if not self.best:
            return 0
        return int(np.argmax(self.others >= share * self.others[self.best - 1])) + 1


def explain(
    rows: Array,
    weights: Array,
    order: NDArray[np.intp],
    runner: TileRunner,
) -> Curve:
    """Return how much of a table its picks explain, each sample left out in turn.

    Parameters
    ----------
    rows : ndarray or tensor of shape (n, m)
        The features as rows, centered and of unit length; of length 0 where all that
        was drawn of a feature is one value.
    weights : ndarray or tensor of shape (n,)
        What each feature counts.
    order : ndarray of int
        The picks, first to last.
    runner : TileRunner
        The threads; no result depends on their number.
    """
    m = rows.shape[1]
    with runner.one_blas_thread():
        A, KA, diagonal = _products(rows, weights, order, runner)
        w = host(weights[order])

        def errors_of(penalty: float) -> Floats:
            return _errors(A, KA, diagonal, w, penalty)

        errors = np.array(runner.map(errors_of, list(PENALTIES)))
    errors = errors.reshape(len(PENALTIES), len(order))
    best = errors.argmin(axis=0)
    total = float(diagonal.sum())
    if not total > 0.0:  # what counts is constant where samples were drawn
        nothing = np.zeros(len(order))
        return Curve(nothing, nothing, PENALTIES[best], m)
    own = np.cumsum(w * np.einsum("ki,ki->k", A, A)) / total
    explained = 1.0 - errors.min(axis=0, initial=np.inf) / (total * (m / (m - 1)) ** 2)
    return Curve(explained, explained - own, PENALTIES[best], m)


def _products(
    rows: Array, weights: Array, order: NDArray[np.intp], runner: TileRunner
) -> tuple[Floats, Floats, Floats]:
    """Return the picks, their products with K of all features, and its diagonal."""
    A = rows[order]
    m = rows.shape[1]
    T = np.empty((len(order), len(rows)))
    diagonal, KA = np.zeros(m), np.empty((len(order), m))

    def correlate(part: slice) -> None:
        T[:, part] = host((A @ rows[part].T) * weights[part])

    runner.map(correlate, blocks_of(rows))
    weighted = beside(T, rows)

    def multiply(part: slice) -> None:
        KA[:, part] = host(weighted @ rows[:, part])
        diagonal[part] = host(weights @ rows[:, part] ** 2)

    runner.map(multiply, [slice(at, at + _WIDE) for at in range(0, m, _WIDE)])
    return host(A), KA, diagonal


def _errors(
    A: Floats, KA: Floats, diagonal: Floats, w: Floats, penalty: float
) -> Floats:
    """Return the squared errors of all features but the picks, for 1, 2, … picks."""
    n_picks, m = A.shape
    G, KG = np.empty_like(A), np.empty_like(A)
    D, h = diagonal.copy(), np.full(m, 1.0 - 1.0 / m)
    errors = np.empty(n_picks)
    for at in range(0, n_picks, _PICKS):
        end = min(at + _PICKS, n_picks)
        new = slice(at, end)
        before = A[new] @ G[:at].T
        E, KE = A[new] - before @ G[:at], KA[new] - before @ KG[:at]
        products = E @ A[new].T
        products = (products + products.T) / 2 + penalty * np.eye(end - at)
        L = cholesky(products, lower=True)
        G[new], KG[new] = (solve_triangular(L, rows, lower=True) for rows in (E, KE))
        scale = np.diag(L)[:, None]
        e, Ke = scale * G[new], scale * KG[new]
        # K without the picks so far, that of the row included.
        Ke -= np.tril((e @ A[:end].T) * w[:end], at) @ A[:end]
        f = Ke - np.tril(Ke @ G[:end].T, at - 1) @ G[:end]
        s = np.einsum("ki,ki->k", e, Ke)[:, None]
        a = scale**-2
        D_of = D + np.cumsum(e * ((a * a * s - w[new, None]) * e - 2.0 * a * f), axis=0)
        h_of = h - np.cumsum(a * e * e, axis=0)
        # What is left of an explained table rounds to less than nothing.
        found = (D_of.clip(min=0.0) / h_of**2).sum(axis=1)
        errors[new] = np.where(h_of.min(axis=1) < _LEFT, np.inf, found)
        D, h = D_of[-1], h_of[-1]
    return errors
