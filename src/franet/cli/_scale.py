"""Columns brought to one scale, where their units are arbitrary."""

from __future__ import annotations

from typing import Any

__all__ = ["standardized"]

# Beyond this power of two, and below its inverse, squares leave what a float can hold.
_FAR = 256


def standardized(X: Any) -> Any:
    """Return the table, dense or sparse, with columns of unit variance.

    A table that holds infinity comes back as it is: the ranker names its column.
    """
    import numpy as np
    from scipy.sparse import issparse
    from sklearn.preprocessing import StandardScaler

    if np.isinf(X.data if issparse(X) else X).any():
        return X
    with np.errstate(invalid="ignore"):  # the mean of a column of gaps alone
        return StandardScaler(with_mean=False).fit_transform(_brought_near(X))


def _brought_near(X: Any) -> Any:
    """Return the table with huge and tiny columns at about one, the others as is."""
    import numpy as np
    from scipy.sparse import issparse
    from sklearn.utils.sparsefuncs import inplace_column_scale

    from franet.pairs.similarity._standardize import powers_of_two

    largest = _largest(X)
    far = np.abs(np.frexp(largest)[1]) > _FAR
    if not far.any():
        return X
    factors = np.where(far, powers_of_two(largest), 1.0)
    if not issparse(X):
        return X * factors
    X = X.copy()
    inplace_column_scale(X, factors)
    return X


def _largest(X: Any) -> Any:
    """Return the largest absolute value of each column; gaps do not count."""
    import numpy as np
    from scipy.sparse import issparse
    from sklearn.utils.sparsefuncs import min_max_axis

    if issparse(X):
        ends = min_max_axis(X, 0, ignore_nan=True)
    else:
        ends = (end.reduce(X, axis=0, initial=0) for end in (np.fmin, np.fmax))
    lo, hi = (np.asarray(end, np.float64) for end in ends)
    return np.maximum(hi, -lo)
