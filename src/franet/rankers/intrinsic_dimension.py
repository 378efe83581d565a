"""How many dimensions the rows of a table really fill: the two-neighbour estimate."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from franet._common.checked import check_value
from franet.exceptions import DataError
from franet.pairs.columns._open import as_numpy


def intrinsic_dimension(
    X: Any, *, method: Literal["fit", "mle"] = "fit", discard: float = 0.1
) -> float:
    """Estimate the intrinsic dimension of a table from two nearest neighbours.

    For a point with distances r₁ ≤ r₂ to its two nearest neighbours let μ = r₂ / r₁.
    Where the density hardly changes within r₂, μ has the distribution function
    F(μ) = 1 − μ^(−d), whatever the density is: d is the intrinsic dimension. With N
    points in order, μ₁ ≤ … ≤ μ_N, and F(μᵢ) = i / N:

    - ``"fit"``: the slope of the line through the origin that fits the points
      (log μᵢ, −log(1 − i / N)) best, Σ xy / Σ x², the largest μ left out;
    - ``"mle"``: the maximum of the likelihood. With the k smallest ratios kept and of
      the others only known that they are at least μ_k,
      d = k / (Σ_{i ≤ k} log μᵢ + (N − k) log μ_k).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table. It is used as it is: standardize columns of different units first.
    method : {"fit", "mle"}, default="fit"
        The straight line of the paper, or maximum likelihood. Likelihood varies less
        from sample to sample; the line is what published values come from.
    discard : float, default=0.1
        The share of the largest ratios to leave out, from 0 to less than 1. Large
        ratios come from points whose surroundings are not evenly filled; the paper
        leaves out a tenth.

    Returns
    -------
    dimension : float
        The estimate, a positive number. Round it where a count is needed.

    Raises
    ------
    DataError
        If the table has fewer than four different rows, or if all its second
        neighbours are as far away as the first ones, as on a grid.

    Notes
    -----
    A row that occurs more than once counts once: its r₁ would be 0. The estimate is
    for the scale of the nearest neighbours: noise of that size counts as dimensions,
    and more than about exp(d) rows are needed to see a large d, so that in practice
    large values are underestimated. The standard error is about d / √N.

    Takes O(m² n) time for m rows and n columns, and O(m n) memory.

    References
    ----------
    E. Facco, M. d'Errico, A. Rodriguez, A. Laio: Estimating the intrinsic dimension of
    datasets by a minimal neighborhood information. Scientific Reports 7, 12140 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from franet.rankers.intrinsic_dimension import intrinsic_dimension
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(1000, 2)) @ rng.normal(size=(2, 50))
    >>> round(intrinsic_dimension(plane))
    2
    """
    check_value("method", method, method in ("fit", "mle"), "choose 'fit' or 'mle'.")
    is_share = 0.0 <= discard < 1.0
    check_value("discard", discard, is_share, "choose a share from 0 to below 1.")
    table = check_array(as_numpy(X), accept_sparse="csr", dtype=np.float64)
    if sparse.issparse(table):
        table = table.toarray()
    logs = np.sort(_log_ratios(table))
    kept = max(2, int(np.floor(len(logs) * (1.0 - discard))))
    return _fit(logs, kept) if method == "fit" else _likelihood(logs, kept)


def _log_ratios(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(r₂ / r₁) of all different rows."""
    X = np.unique(X, axis=0)
    if len(X) < 4:
        raise DataError(
            f"The table has {len(X)} different row(s); the intrinsic dimension needs "
            "at least 4. Pass more rows."
        )
    # Far from the origin, or at a size near the ends of the range, squares lose digits.
    X = X - X.mean(axis=0)
    X /= np.abs(X).max()
    neighbours = NearestNeighbors(n_neighbors=2).fit(X).kneighbors()[1]
    r = np.sort(_distances(X, neighbours), axis=1)
    # Rows that differ by less than rounding are one point, too.
    r = r[r[:, 0] > 0.0]
    if len(r) < 4 or np.all(r[:, 1] <= r[:, 0] * (1.0 + 1e-12)):
        raise DataError(
            "All second neighbours are as far away as the first ones, as on a grid: "
            "there is no intrinsic dimension to see. Pass rows with more variety."
        )
    return np.log(r[:, 1] / r[:, 0])


def _distances(
    X: NDArray[np.float64], neighbours: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return distances from the differences themselves.

    The search may use |x|² + |y|² − 2xy, which loses the digits of small distances.
    """
    out = np.empty(neighbours.shape)
    for k, at in enumerate(neighbours.T):
        difference = X - X[at]
        out[:, k] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return out


def _fit(logs: NDArray[np.float64], kept: int) -> float:
    """Return the slope of −log(1 − F) against log μ, through the origin."""
    total = len(logs)
    # At the last point F is 1, and its logarithm has no end.
    kept = min(kept, total - 1)
    x = logs[:kept]
    y = -np.log1p(-np.arange(1, kept + 1) / total)
    if x[-1] <= 0.0:
        return _likelihood(logs, total)
    return float(x @ y / (x @ x))


def _likelihood(logs: NDArray[np.float64], kept: int) -> float:
    """Return the maximum likelihood estimate, the largest ratios being censored."""
    if logs[kept - 1] <= 0.0:
        kept = len(logs)
    known = logs[:kept].sum()
    return float(kept / (known + (len(logs) - kept) * logs[kept - 1]))
