"""Pairs of features that are kept, and what one pass over the tiles brings in."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from franet.engine.measure import Measure
from franet.engine.memory import Store

__all__ = ["Harvest", "PairSink", "Pairs", "adjacency"]


@dataclass(frozen=True)
class Pairs:
    """Pairs of features and their dissimilarities, in the order of the tiles."""

    j: NDArray[np.int32]
    k: NDArray[np.int32]
    d: NDArray[np.float64]


class PairSink:
    """Takes in the pairs of tiles, in any order, and gives them out in one order.

    Parameters
    ----------
    store : Store
        Says whether the pairs wait in memory or in a file.
    """

    _RECORD = np.dtype([("j", np.int32), ("k", np.int32), ("d", np.float64)])

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts: dict[tuple[int, int], Any] = {}
        self._file = store.file()
        self._lock = threading.Lock()
        self._size = 0

    def add(self, at: tuple[int, int], pairs: Pairs) -> None:
        """Take in the pairs of the tile of two blocks."""
        size = len(pairs.j)
        if self._file is None or not size:
            self._parts[at] = pairs
            return
        records = np.empty(size, self._RECORD)
        records["j"], records["k"], records["d"] = pairs.j, pairs.k, pairs.d
        with self._lock:
            self._parts[at] = slice(self._size, self._size + size)
            self._size += size
            records.tofile(self._file)

    def joined(self) -> Pairs:
        """Return all pairs, in the order of the tiles, and forget them."""
        parts = [self._parts.pop(at) for at in sorted(self._parts)]
        waiting: Any = None
        if self._file is not None and self._size:
            self._file.flush()
            waiting = np.memmap(self._file, self._RECORD, "r")
        found = [p if isinstance(p, Pairs) else waiting[p] for p in parts]
        sizes = [len(p.j) if isinstance(p, Pairs) else len(p) for p in found]
        columns = {
            name: self._store.empty(sum(sizes), self._RECORD[name])
            for name in ("j", "k", "d")
        }
        end = 0
        for at, (part, size) in enumerate(zip(found, sizes, strict=True)):
            for name, column in columns.items():
                values = getattr(part, name) if isinstance(part, Pairs) else part[name]
                column[end : end + size] = values
            end += size
            found[at] = None
        return Pairs(**columns)


def adjacency(pairs: Pairs, weights: NDArray[np.float64], n: int) -> sparse.csr_array:
    """Return the symmetric sparse matrix of some pairs, columns sorted."""
    j = np.concatenate([pairs.j, pairs.k])
    k = np.concatenate([pairs.k, pairs.j])
    matrix = sparse.coo_array((np.concatenate([weights, weights]), (j, k)), (n, n))
    matrix = matrix.tocsr()
    matrix.sort_indices()
    return matrix


@dataclass
class Harvest:
    """What one pass over the tiles brings in.

    Attributes
    ----------
    pairs : Pairs
        The pairs up to the limit.
    count : ndarray of int of shape (n_graphs, n)
        Number of edges of each feature in each dense graph; exact.
    weight : ndarray of shape (n_graphs, n)
        Their weights added up, each off by `error` at the most.
    corrections : list of CSR arrays
        For each dense graph the weights of edges that rough tiles would miss, and
        the negative ones of those that they would add; empty where tiles are exact.
    error : float
        Bound on the error of a weight.
    """

    pairs: Pairs
    count: NDArray[np.int64]
    weight: NDArray[np.float64]
    corrections: list[Any]
    error: float

    def correct(
        self,
        near: Pairs,
        rough: NDArray[np.float64],
        dense: NDArray[np.float64],
        measure: Measure,
        error: float,
    ) -> None:
        """Decide the pairs near a limit by their exact values."""
        n = self.count.shape[1]
        self.error = error
        for i, limit in enumerate(dense):
            sign = (near.d <= limit).astype(np.int8) - (rough <= limit)
            wrong = sign != 0
            j, k, d = near.j[wrong], near.k[wrong], near.d[wrong]
            signed = sign[wrong] * measure.weights(d)
            self.corrections.append(adjacency(Pairs(j, k, d), signed, n))
            for end in (j, k):
                np.add.at(self.count[i], end, sign[wrong])
                np.add.at(self.weight[i], end, signed)
