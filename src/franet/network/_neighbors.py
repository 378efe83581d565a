"""The neighbours of a feature, as a small table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import UsageError

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["Neighbor", "Neighbors", "neighbors_of", "table_of"]


class Neighbor(NamedTuple):
    """A feature that is connected with another one.

    Attributes
    ----------
    name : str
        Its name.
    index : int
        Its position in the network.
    similarity : float
        The weight of the edge.
    score : float
        Its score.
    rank : int
        Its rank, 1 is best.
    """

    name: str
    index: int  # type: ignore[assignment]  # nobody searches a neighbour
    similarity: float
    score: float
    rank: int


class Neighbors(tuple[Neighbor, ...]):
    """Neighbours of a feature, the strongest first; the columns are attributes."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [item.name for item in self]

    @property
    def indices(self) -> NDArray[np.intp]:
        """Their positions in the network."""
        return np.array([item.index for item in self], np.intp)

    @property
    def similarity(self) -> NDArray[np.float64]:
        """The weights of the edges."""
        return np.array([item.similarity for item in self], np.float64)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Their scores."""
        return np.array([item.score for item in self], np.float64)

    @property
    def ranks(self) -> NDArray[np.intp]:
        """Their ranks."""
        return np.array([item.rank for item in self], np.intp)

    def __str__(self) -> str:
        if not self:
            return "no neighbours"
        width = min(40, max(len("name"), *(len(item.name) for item in self)))
        lines = [f"{'name':<{width}}  similarity      score    rank"]
        lines += [
            f"{_shorten(item.name, width):<{width}}  {item.similarity:10.4g} "
            f"{item.score:10.4g}  {item.rank:6d}"
            for item in self
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from franet.network._html import table_html

        rows = [
            (n.name, f"{n.similarity:.4g}", f"{n.score:.4g}", str(n.rank)) for n in self
        ]
        return table_html(("feature", "similarity", "score", "rank"), rows)


def _shorten(name: str, width: int) -> str:
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def neighbors_of(net: AttributeNetwork, j: int, top: int | None) -> Neighbors:
    """Return the neighbours of feature `j`, the strongest first, ties by rank."""
    if top is not None and top < 0:
        raise UsageError(f"top={top}: give a number of neighbours, or None for all")
    found, weight = row_of(net, j)
    order = np.lexsort((net.ranking[found], -weight))[:top]
    return table_of(net, found[order], weight[order])


def row_of(
    net: AttributeNetwork, j: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the neighbours of feature `j` and the weights of the edges."""
    start, stop = net.adjacency.indptr[j : j + 2]
    return net.adjacency.indices[start:stop], net.adjacency.data[start:stop]


def table_of(
    net: AttributeNetwork, features: NDArray[np.intp], weight: Iterable[float]
) -> Neighbors:
    """Return features and the weights of their edges as a table."""
    return Neighbors(
        Neighbor(str(net.names[k]), int(k), float(w), float(net.scores[k]), int(r))
        for k, w, r in zip(features, weight, net.ranking[features], strict=True)
    )
