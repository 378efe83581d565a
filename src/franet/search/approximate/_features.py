"""The columns that are compared: the only place that reads the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._standardize import standardize
from franet.pairs.tiles import TileRunner

__all__ = ["Features"]

# Columns read at a time.
_CHUNK = 1024
# With more examples than this, cells are made in a space of so many dimensions.
LATENT = 256


class Features:
    """Standardized columns as rows, so that products of rows are correlations.

    Parameters
    ----------
    table : ndarray, CSC array, or anything with a shape and ``table[:, columns]``
        The table, m examples in rows. It is read once, some columns at a time.
    columns : ndarray of int
        The columns that take part, none of them constant.
    similarity : {"correlation", "abs-correlation", "spearman"}
        What is compared.
    n_threads : int
        Number of threads; no result depends on it.
    random : RandomState
        Draws the latent space.

    Attributes
    ----------
    n : int
        Number of columns.
    exact, work : ndarray of shape (n, m)
        The rows in float64 and in float32.
    latent : ndarray of shape (n, q)
        The rows by which cells are made: `work`, or with many examples a random
        projection of it.
    absolute : bool
        Whether the sign of a correlation is dropped.
    error : float
        Bound on the rounding of a product in float32.
    """

    def __init__(
        self,
        table: Any,
        columns: NDArray[np.intp],
        similarity: str,
        n_threads: int,
        random: np.random.RandomState,
    ) -> None:
        self.n, m = len(columns), int(table.shape[0])
        self.absolute = similarity == "abs-correlation"
        self.top = 1.0 if self.absolute else 2.0
        self.error = (m + 4) * 2.0**-24
        self.runner = TileRunner(n_threads)
        self.exact = np.empty((self.n, m))
        for at in range(0, self.n, _CHUNK):
            block = table[:, columns[at : at + _CHUNK]]
            block = block.toarray() if sparse.issparse(block) else np.asarray(block)
            if similarity == "spearman":
                block = rank_columns(block)
            self.exact[at : at + _CHUNK] = block.T
        standardize(self.exact)
        self.work = self.exact.astype(np.float32)
        self.latent = self.work
        if m > LATENT:
            basis = random.normal(size=(m, LATENT)).astype(np.float32)
            self.latent = np.empty((self.n, LATENT), np.float32)
            self._project(basis)

    def _project(self, basis: NDArray[np.float32]) -> None:
        def project(part: slice) -> None:
            rows = self.work[part] @ basis
            length = np.sqrt((rows * rows).sum(axis=1))
            self.latent[part] = rows / np.where(length > 0.0, length, 1.0)[:, None]

        self.map(project, self.parts(4096))

    def parts(self, size: int) -> list[slice]:
        """Return slices of so many columns that cover all."""
        starts = range(0, self.n, size)
        return [slice(at, min(at + size, self.n)) for at in starts]

    def map(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        """Return the results for all items, computed on the threads."""
        with self.runner.one_blas_thread():
            return self.runner.map(function, items)

    def reorder(self, order: NDArray[np.intp]) -> None:
        """Put column ``order[j]`` in place j."""
        if self.latent is not self.work:
            self.latent = self.latent[order]
            self.work = self.work[order]
        else:
            self.latent = self.work = self.work[order]
        self.exact = self.exact[order]

    def similarities(
        self, rows: NDArray[np.intp], part: slice = slice(None)
    ) -> NDArray[np.float32]:
        """Return the correlations of some columns with a part of all, rough."""
        return np.asarray(self.work[rows] @ self.work[part].T)
