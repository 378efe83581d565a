"""A measure as the number of features grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve"]


@dataclass(frozen=True)
class Curve:
    """A measure as the number of features grows.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of features.
    values : ndarray of shape (n_folds, n_counts)
        Fold by fold.
    """

    counts: NDArray[np.intp]
    values: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the folds."""
        return self.values.mean(axis=0)

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of the mean; 0 where there is one fold.

        The training parts of folds overlap, so the true error is larger.
        """
        n_folds = len(self.values)
        if n_folds < 2:
            return np.zeros(self.values.shape[1])
        return self.values.std(axis=0, ddof=1) / np.sqrt(n_folds)
