"""What ridge regression on the picks predicts, each sample left out in turn.

Letters: ``z`` a feature, centered and of unit length; ``w`` what it counts; P the
matrix that leaves of a feature what the picks do not predict; ``K = Σ_j w_j z_j z_jᵀ``.
``e = P z`` and ``f = P K P z`` are kept for every feature, ``h`` and ``D`` are the
diagonals of P and PKP. The residual of sample i when it is left out is that of the fit
divided by h_i, so that the error of all features is ``Σ_i D_i / h_i²``. With a further
feature, of ``g = zᵀPz``, ``s = zᵀPKPz`` and ``a = 1 / (λ + g)``, it is exactly

    ``Σ_i (D_i − 2a e_i f_i + a² s e_i²) / (h_i − a e_i²)²``.

There is no inverse, and no matrix of features or samples but for the first f.

A feature for which a sample would have the leverage ``a e_i² > _LEVERAGE · h_i`` is
that sample's rather than the table's: all that is left counts as its error, once more.

The penalty λ is raised when no further feature would lower the error: there are too few
samples for that number of picks then.
"""

from __future__ import annotations

from typing import Any

from franet.cover._arrays import Array, blocks_of, kernels_of, namespace
from franet.cover._residual import products_of_columns
from franet.pairs.tiles import TileRunner

# The penalty at first, in samples: divided by their number it is a share of a feature's
# sum of squares.
PENALTY = 5.0
# By how much the penalty is raised, and up to where: what halves a prediction.
_TIMES, _MOST = 4.0, 1.0
# The largest share of what is left of a sample that one feature may take.
_LEVERAGE = 0.3


class LinearPrediction:
    """The share of all features that the picks predict, each sample left out in turn.

    Parameters
    ----------
    rows : array of shape (n, m)
        The features as rows, centered and of unit length.
    weights : array of shape (n,)
        What each feature counts.
    penalty : float
        The penalty λ of the regression, at first.
    runner : TileRunner
        The threads.
    leave_out : bool, default=True
        Whether samples are left out. If not, `rows` may be other coordinates of them.
    """

    def __init__(
        self,
        rows: Array,
        weights: Array,
        penalty: float,
        runner: TileRunner,
        leave_out: bool = True,
    ) -> None:
        self._rows, self._weights, self._runner = rows, weights, runner
        self._penalty, self._left_out = penalty, float(leave_out)
        self._picked: list[int] = []
        self._begin()
        self._total = self._error()

    def _begin(self) -> None:
        """Set all to what it is without a pick."""
        xp, rows = namespace(self._rows), self._rows
        self._E, self._F = xp.asarray(rows, copy=True), xp.empty_like(rows)
        self._D = xp.zeros_like(rows[0])
        self._set_products()
        self._h = xp.full_like(self._D, 1.0 - self._left_out / rows.shape[1])
        self._g = xp.einsum("ji,ji->j", rows, rows)
        self._s = xp.einsum("ji,ji->j", rows, self._F)
        self._errors = xp.empty_like(self._g)
        nothing = xp.zeros_like(self._D)
        self._update((nothing, nothing, nothing, 0.0, 0.0))

    def _set_products(self) -> None:
        """Set ``f = K z`` of all features, and the diagonal of K."""
        Z, weights = self._rows, self._weights
        parts = blocks_of(Z)
        n, m = Z.shape
        for part in parts:
            self._D += weights[part] @ Z[part] ** 2
        # Products of rows or of columns, whichever are fewer.
        if m <= n:
            K = products_of_columns(Z, weights, parts)
            for part in parts:
                self._F[part] = Z[part] @ K
        else:
            for part in parts:
                self._F[part] = ((Z[part] @ Z.T) * weights) @ Z

    def _error(self) -> float:
        return float((self._D / self._h**2).sum())

    def _update(self, pick: tuple[Any, ...]) -> None:
        """Remove a pick from all features, and compute the error with each further one.

        In one visit of each feature: this is bound by how fast memory is.
        """
        rest = self._D, self._h, _LEVERAGE * self._h, self._penalty, self._left_out
        rest = (*rest, self._error())
        remove_pick = kernels_of(self._rows).remove_pick

        def visit(part: slice) -> None:
            g, s, errors = (each[part] for each in (self._g, self._s, self._errors))
            E, F = self._E[part], self._F[part]
            remove_pick(E, F, pick, rest, g=g, s=s, errors=errors)

        self._runner.map(visit, blocks_of(self._rows))

    def gains(self) -> Array:
        """Return by how much each feature would raise the share."""
        return (self._error() - self._errors) / self._total

    def raise_penalty(self) -> bool:
        """Raise the penalty, with all picks; return whether it could be raised."""
        if self._penalty >= _MOST:
            return False
        self._penalty *= _TIMES
        self._begin()
        for j in self._picked:
            self._remove(j)
        return True

    def add(self, j: int) -> None:
        """Pick feature j."""
        self._picked.append(j)
        self._remove(j)

    def _remove(self, j: int) -> None:
        """Remove from all features what feature j predicts."""
        xp = namespace(self._rows)
        # Sums of squares round to less than 0 where nothing is left.
        a = 1.0 / (self._penalty + max(float(self._g[j]), 0.0))
        b = a * float(self._s[j])
        e, f = (xp.asarray(array[j], copy=True) for array in (self._E, self._F))
        self._D += a * (b * e - 2.0 * f) * e
        self._h -= self._left_out * a * e**2
        self._update((self._rows[j], e, f, a, b))
