"""What ridge regression on the picks predicts, each sample left out in turn.

Letters: ``z`` a feature, centered and of unit length; ``w`` what it counts; P the
matrix that leaves of a feature what the picks do not predict; ``K = Σ_j w_j z_j z_jᵀ``.
``e = P z`` and ``f = P K P z`` are kept for every feature, ``h`` and ``D`` are the
diagonals of P and PKP. The residual of sample i when it is left out is that of the fit
divided by h_i, so that the error of all features is ``Σ_i D_i / h_i²``. With a further
feature, of ``g = zᵀPz``, ``s = zᵀPKPz`` and ``a = 1 / (λ + g)``, it is exactly

    ``Σ_i (D_i − 2a e_i f_i + a² s e_i²) / (h_i − a e_i²)²``.

There is no inverse, and no matrix of features.

A feature for which a sample would have the leverage ``a e_i² > _LEVERAGE · h_i`` is
that sample's rather than the table's: all that is left counts as its error, once more.

The penalty λ is raised when no further feature would lower the error: there are too few
samples for that number of picks then.

For all features e and f are in float32: each pick reads and writes both, and that is
bound by how fast memory is. Who is best is decided in float64. With ``e_s`` and ``f_s``
what was left of pick s when it was picked, ``P z = z − Σ_s a_s (e_sᵀz) e_s``, and f
likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.cover._arrays import Array, blocks_of, host, kernels_of, namespace
from franet.pairs.tiles import TileRunner

# The penalty at first, in samples: divided by their number it is a share of a feature's
# sum of squares.
PENALTY = 5.0
# By how much the penalty is raised, and up to where: what halves a prediction.
_TIMES, _MOST = 4.0, 1.0
# The largest share of what is left of a sample that one feature may take.
_LEVERAGE = 0.3
# Once so little of the error is left, e and f in float32 are computed anew: they carry
# the rounding of what they were.
_RENEW = 0.1
# Features whose product with K is kept, because they are judged again.
_KNOWN = 1024


class LinearPrediction:
    """The share of all features that the picks predict, each sample left out in turn.

    Parameters
    ----------
    rows : array of shape (n, m)
        The features as rows, centered and of unit length.
    weights : array of shape (n,)
        What each feature counts.
    K : array of shape (m, m) or None
        ``Σ_j w_j z_j z_jᵀ``; None where features are fewer than samples, so that their
        products with each other are cheaper.
    runner : TileRunner
        The threads.
    n_samples : int, optional
        The number of samples, if `rows` are other coordinates of them. They are too
        many then for leaving one out to change anything.
    """

    def __init__(
        self,
        rows: Array,
        weights: Array,
        K: Array | None,
        runner: TileRunner,
        n_samples: int | None = None,
    ) -> None:
        xp = namespace(rows)
        self._rows, self._weights, self._K, self._runner = rows, weights, K, runner
        self._R = rows @ rows.T if K is None else None
        self._penalty = PENALTY / (n_samples or rows.shape[1])
        self._left_out = float(n_samples is None)
        self._picked: list[int] = []
        self._known: dict[int, Array] = {}
        self._E, self._F = (xp.empty_like(rows, dtype=xp.float32) for _ in "EF")
        self._g, self._s, self._errors = (xp.empty_like(weights) for _ in "gse")
        self._begin()
        self._total = self._error()
        self._renew()

    def _begin(self) -> None:
        """Set what is left of the samples to what it is without a pick."""
        xp, rows = namespace(self._rows), self._rows
        m = rows.shape[1]
        self._D = sum(self._weights[part] @ rows[part] ** 2 for part in blocks_of(rows))
        self._h = xp.full_like(self._D, 1.0 - self._left_out / m)
        # What was left of the picks, each when it was picked.
        self._e, self._f, self._a, self._b = (
            rows[:0],
            rows[:0],
            rows[:0, 0],
            rows[:0, 0],
        )

    def _product(self, part: Any) -> Array:
        """Return ``K z`` of some features."""
        if self._R is None:
            return self._rows[part] @ self._K
        return (self._R[part] * self._weights) @ self._rows

    def _rough_product(self) -> Callable[[slice], Array]:
        """Return what does the same in float32, of features without a pick."""
        E, dtype = self._E, self._E.dtype
        if self._R is None:
            K = namespace(E).asarray(self._K, dtype=dtype)
            return lambda part: E[part] @ K
        R = namespace(E).asarray(self._R * self._weights, dtype=dtype)
        return lambda part: R[part] @ E

    def _left(self, Z: Array, KZ: Array) -> tuple[Array, Array]:
        """Return e and f of some features."""
        x, y = self._a * (Z @ self._e.T), self._a * (Z @ self._f.T)
        return Z - x @ self._e, KZ - (y - self._b * x) @ self._e - x @ self._f

    def _error(self) -> float:
        return float((self._D / self._h**2).sum())

    def _rest(self, dtype: Any) -> tuple[Any, ...]:
        """Return what the picks leave of the samples, for the kernels."""
        xp = namespace(self._rows)
        arrays = self._D, self._h, _LEVERAGE * self._h
        there = (xp.asarray(array, dtype=dtype) for array in arrays)
        return (*there, self._penalty, self._left_out, self._error())

    def _renew(self) -> None:
        """Compute what is left of all features, and the error with each further one."""
        xp = namespace(self._rows)
        self._renewed, self._is_new = self._error(), True
        rest, judge = self._rest(xp.float32), kernels_of(self._rows).judge
        parts = blocks_of(self._rows)
        rough = None
        if not self._picked:
            # Nothing was removed, and no digit is lost.
            self._E[:] = self._rows
            rough = self._rough_product()

        def visit(part: slice) -> None:
            Z, E, F = self._rows[part], self._E[part], self._F[part]
            if rough:
                F[:] = rough(part)
                e, f = Z, xp.asarray(F, dtype=Z.dtype)
            else:
                e, f = self._left(Z, self._product(part))
                E[:], F[:] = e, f
            self._g[part], self._s[part] = _dots(Z, e), _dots(Z, f)
            arrays = self._g[part], self._s[part]
            judge(E, F, *arrays, rest, errors=self._errors[part])

        self._runner.map(visit, parts)

    def gains(self) -> NDArray[np.float64]:
        """Return by how much each feature would raise the share, roughly."""
        return (self._error() - host(self._errors)) / self._total

    def exact_gains(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return by how much some features would raise the share, in float64."""
        Z = self._rows[features]
        E, F = self._left(Z, self._products(features))
        errors = namespace(Z).empty_like(Z[:, 0])
        arrays = _dots(Z, E), _dots(Z, F)
        kernels_of(Z).judge(E, F, *arrays, self._rest(E.dtype), errors=errors)
        return (self._error() - host(errors)) / self._total

    def _products(self, features: NDArray[np.intp]) -> Array:
        """Return ``K z`` of some features, of which many are asked for again."""
        new = [j for j in features.tolist() if j not in self._known]
        if len(self._known) + len(new) > _KNOWN:
            self._known, new = {}, features.tolist()
        if new:
            self._known.update(zip(new, self._product(new), strict=True))
        return namespace(self._rows).stack([self._known[j] for j in features.tolist()])

    def reconsider(self) -> bool:
        """Compute gains without rounding of old picks, or raise the penalty.

        Return whether there was anything to do.
        """
        if self._is_new:
            if self._penalty >= _MOST:
                return False
            self._penalty *= _TIMES
            self._begin()
            for j in self._picked:
                self._remove(j)
        self._renew()
        return True

    def add(self, j: int) -> None:
        """Pick feature j."""
        self._picked.append(j)
        z, e, f, a, b = self._remove(j)
        if self._error() < _RENEW * self._renewed:
            self._renew()
            return
        self._is_new = False
        xp = namespace(self._rows)
        rough = (xp.asarray(array, dtype=xp.float32) for array in (z, e, f))
        pick, rest = (*rough, a, b), self._rest(xp.float32)
        remove_pick = kernels_of(self._rows).remove_pick

        def visit(part: slice) -> None:
            g, s, errors = (each[part] for each in (self._g, self._s, self._errors))
            E, F = self._E[part], self._F[part]
            remove_pick(E, F, pick, rest, g=g, s=s, errors=errors)

        self._runner.map(visit, blocks_of(self._rows))

    def _remove(self, j: int) -> tuple[Any, ...]:
        """Remove from the samples what feature j predicts; return what it was."""
        xp = namespace(self._rows)
        z = self._rows[[j]]
        (e,), (f,) = self._left(z, self._products(np.array([j])))
        z = z[0]
        # Sums of squares round to less than 0 where nothing is left.
        a = 1.0 / (self._penalty + max(float(e @ z), 0.0))
        b = a * float(f @ z)
        self._D += a * (b * e - 2.0 * f) * e
        self._h -= self._left_out * a * e**2
        self._e, self._f = xp.vstack([self._e, e]), xp.vstack([self._f, f])
        self._a, self._b = (
            xp.hstack([old, xp.full_like(z[:1], new)])
            for old, new in ((self._a, a), (self._b, b))
        )
        return z, e, f, a, b


def _dots(A: Array, B: Array) -> Array:
    return namespace(A).einsum("ji,ji->j", A, B)
