"""The features that are compared, and cells of them: near ones lie in nearby cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet._common.progress import report
from franet.pairs.similarity._correlation import rank_columns
from franet.pairs.similarity._standardize import standardize
from franet.pairs.tiles import TileRunner
from franet.search.approximate import kernels

# Columns read at a time.
_CHUNK = 1024
# With more examples than this, cells are made in a space of so many dimensions.
LATENT = 256
# Features in a cell on average; so few features are one cell, which is exact.
CELL = 256
ONE_CELL = 4096
# How cells are found: features of a sample for each cell, and rounds of k-means.
_SAMPLE = 32
_ROUNDS = 6
_PART = 2048
# Cells into which a feature looks, at least and at most, and where a dense graph may
# win; the share of its edges that it should find so, on average, and the share below
# which they are no use.
FEWEST, MOST, DEEP_MOST = 8, 64, 256
RECALL, WORTH = 0.9995, 0.995
# Features that decide on the number of cells, and edges of each.
_PILOTS = 1024
_PILOT_EDGES = 64


class Features:
    """Standardized columns as rows, so that products of rows are correlations.

    The only place that reads the table.

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
        is_work = self.latent is self.work
        self.work = self.work[order]
        self.latent = self.work if is_work else self.latent[order]
        self.exact = self.exact[order]

    def similarities(
        self, rows: NDArray[np.integer], part: slice = slice(None)
    ) -> NDArray[np.float32]:
        """Return how alike some columns and a part of all are, in float32."""
        R = np.asarray(self.work[rows] @ self.work[part].T)
        return np.abs(R, out=R) if self.absolute else R


class Looks(NamedTuple):
    """Which cells each place looks into.

    Attributes
    ----------
    sign : float
        1 if features look for those that are alike, -1 for their opposites.
    probes : ndarray of int of shape (n, n_probes)
        The cells into which each place looks, the nearest first.
    visitors : list of ndarray
        For each cell the places that look into it.
    """

    sign: float
    probes: NDArray[np.int32]
    visitors: list[NDArray[np.int32]]


class Cells:
    """Features in cells around centres.

    The columns are put into the order of the cells.

    Parameters
    ----------
    columns : Features
        What is compared.
    random : RandomState
        Draws the samples.

    Attributes
    ----------
    order : ndarray of int
        The feature at each place.
    start : ndarray of int of shape (n_cells + 1,)
        The first place of each cell.
    cell : ndarray of int of shape (n,)
        The cell of each place.
    """

    def __init__(self, columns: Features, random: np.random.RandomState) -> None:
        self.columns = columns
        n = columns.n
        self.n_cells = 1 if n <= ONE_CELL else n // CELL
        self.centres = self._centres(random)
        cell = np.concatenate(columns.map(self._nearest, columns.parts(_PART)))
        self.order = np.argsort(cell, kind="stable")
        self.cell = cell[self.order]
        self.start = np.searchsorted(self.cell, np.arange(self.n_cells + 1))
        columns.reorder(self.order)
        self.pilots = np.sort(random.permutation(n)[:_PILOTS])

    def _products(self, rows: Any, sign: float = 1.0) -> NDArray[np.float32]:
        """Return how near features, or their opposites, are to all centres."""
        S = np.asarray(self.columns.latent[rows] @ self.centres.T)
        if self.columns.absolute:
            np.abs(S, out=S)
        return S if sign > 0.0 else np.negative(S, out=S)

    def _nearest(self, rows: Any) -> NDArray[np.int32]:
        return self._products(rows).argmax(axis=1).astype(np.int32)

    def _centres(self, random: np.random.RandomState) -> NDArray[np.float32]:
        """Return the centres that k-means finds on a sample."""
        columns = self.columns
        drawn = random.permutation(columns.n)[: _SAMPLE * self.n_cells]
        # Centres begin as features that were drawn.
        self.centres = columns.latent[drawn[: self.n_cells]]
        parts = [drawn[at : at + _PART] for at in range(0, len(drawn), _PART)]
        for done in range(_ROUNDS if self.n_cells > 1 else 0):
            sums = np.zeros(self.centres.shape)
            found = columns.map(self._nearest, parts)
            for rows, cell in zip(parts, found, strict=True):
                Z = columns.latent[rows]
                towards = np.einsum("ji,ji->j", Z, self.centres[cell])
                absolute = columns.absolute
                kernels.add_to_centres(Z, towards, cell, absolute, centres=sums)
            length = np.sqrt((sums * sums).sum(axis=1))
            sums[length > 0.0] /= length[length > 0.0, None]
            # An empty cell begins again at a feature.
            empty = np.flatnonzero(length == 0.0)
            sums[empty] = columns.latent[random.choice(drawn, len(empty))]
            self.centres = sums.astype(np.float32)
            report("cells", done + 1, _ROUNDS)
        return self.centres

    def look(
        self, limit: float, deep: bool = False, sign: float = 1.0
    ) -> tuple[Looks, float]:
        """Choose how many cells each feature looks into, for edges ``d <= limit``.

        With `deep` they may be many. With a sign of -1 dissimilarities are those from
        the opposite of a feature, ``2 - d``. The second value is the limit; a smaller
        one if so many edges would be missed that only those below it are worth
        looking for.
        """
        n_probes, most = FEWEST, min(DEEP_MOST if deep else MOST, self.n_cells)
        if self.n_cells > 1:
            d, rank, share = self._edges_of_pilots(limit, sign)
            order = np.argsort(d, kind="stable")
            d, rank, share = d[order], rank[order], share[order]
            found = np.cumsum(share * (rank < most))
            good = np.flatnonzero(found >= WORTH * np.cumsum(share))
            last = int(good[-1]) + 1 if len(good) else 0
            if last < len(d):
                limit = float(d[last]) - self.columns.error
            needed = np.bincount(rank[:last], share[:last], minlength=most)[:most]
            enough = np.cumsum(needed) >= RECALL * share[:last].sum()
            n_probes = 1 + int(np.argmax(enough)) if enough.any() else most
        return self.look_into(max(n_probes, FEWEST), sign), limit

    def look_into(self, n_probes: int, sign: float = 1.0) -> Looks:
        """Return so many cells for each feature: those nearest to it, its own first.

        With a sign of -1 those nearest to its opposite.
        """
        columns = self.columns
        probes = np.empty((columns.n, min(n_probes, self.n_cells)), np.int32)

        def look(part: slice) -> None:
            S = self._products(part, sign)
            own = self.cell[part] if sign > 0.0 else S.argmax(axis=1)
            kernels.best_cells(S, own.astype(np.int32), cells=probes[part])

        columns.map(look, columns.parts(_PART))
        rows = np.arange(0, probes.size + 1, probes.shape[1])
        ones, shape = np.ones(probes.size, np.int8), (columns.n, self.n_cells)
        visits = sparse.csr_array((ones, probes.ravel(), rows), shape).tocsc()
        return Looks(sign, probes, np.split(visits.indices, visits.indptr[1:-1]))

    def _edges_of_pilots(self, limit: float, sign: float) -> tuple[Any, Any, Any]:
        """Return the edges of the pilots: dissimilarity, rank and share of each.

        The rank says how near the one's cell is to the other, 0 for the nearest of
        all; either end may find the other. Every pilot has a share of 1, whether it
        has many edges or few.
        """
        columns = self.columns

        def edges(rows: NDArray[np.intp]) -> list[Any]:
            R = columns.similarities(rows)
            R *= np.float32(sign)
            R[np.arange(len(rows)), rows] = -2.0
            return [self._some(x, r, limit) for x, r in zip(rows, R, strict=True)]

        parts = np.array_split(self.pilots, max(1, len(self.pilots) // 16))
        found = [some for part in columns.map(edges, parts) for some in part]
        x, y, d, share = (np.concatenate(ends) for ends in zip(*found, strict=True))
        slices = [slice(at, at + _PART) for at in range(0, len(x), _PART)]

        def ranks(part: slice) -> NDArray[np.int64]:
            one = self._rank(x[part], self.cell[y[part]], sign)
            return np.minimum(one, self._rank(y[part], self.cell[x[part]], sign))

        rank = np.concatenate([np.empty(0, np.int64), *columns.map(ranks, slices)])
        return d, rank, share

    @staticmethod
    def _some(x: int, r: NDArray[np.float32], limit: float) -> tuple[Any, ...]:
        """Return some edges of a pilot: evenly from the weakest to the strongest."""
        y = np.flatnonzero(r >= 1.0 - limit)
        y = y[np.argsort(r[y], kind="stable")]
        y = y[:: max(1, len(y) // _PILOT_EDGES)]
        share = np.full(len(y), 1.0 / max(len(y), 1))
        return np.full(len(y), x), y, 1.0 - r[y].astype(np.float64), share

    def _rank(
        self, places: NDArray[np.intp], cells: NDArray[np.int32], sign: float
    ) -> NDArray[np.int64]:
        S = self._products(places, sign)
        at = S[np.arange(len(S)), cells]
        return np.asarray((at[:, None] < S).sum(axis=1))
