"""Columns brought to one scale, where their units are arbitrary."""

from __future__ import annotations

from typing import Any

__all__ = ["standardised"]


def standardised(X: Any) -> Any:
    """Return the table, dense or sparse, with columns of unit variance.

    A table that holds infinity comes back as it is: the ranker names its column.
    """
    import numpy as np
    from scipy.sparse import issparse
    from sklearn.preprocessing import StandardScaler

    if np.isinf(X.data if issparse(X) else X).any():
        return X
    return StandardScaler(with_mean=False).fit_transform(X)
