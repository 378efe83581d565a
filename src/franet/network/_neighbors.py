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
    correlation : float or None
        In a network of representatives, the correlation with its sign, of which the
        weight is the absolute value; None otherwise.
    """

    name: str
    index: int  # type: ignore[assignment]  # nobody searches a neighbour
    similarity: float
    score: float
    rank: int
    correlation: float | None = None


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

    @property
    def correlation(self) -> NDArray[np.float64]:
        """In a network of representatives, the correlations; NaN otherwise."""
        return np.array([item.correlation for item in self], np.float64)

    def __str__(self) -> str:
        if not self:
            return "no neighbours"
        width = min(40, max(len("name"), *(len(item.name) for item in self)))
        title = "similarity" if self[0].correlation is None else "r"
        lines = [f"{'name':<{width}}  {title:>10}      score    rank"]
        lines += [
            f"{_shorten(item.name, width):<{width}}  {_shown(item):10.4g} "
            f"{item.score:10.4g}  {item.rank:6d}"
            for item in self
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from franet.network._html import table_html

        rows = [
            (n.name, f"{_shown(n):.4g}", f"{n.score:.4g}", str(n.rank)) for n in self
        ]
        signs = bool(self) and self[0].correlation is not None
        title = "r" if signs else "similarity"
        return table_html(("feature", title, "score", "rank"), rows)


def _shown(item: Neighbor) -> float:
    return item.similarity if item.correlation is None else item.correlation


def _shorten(name: str, width: int) -> str:
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def neighbors_of(net: AttributeNetwork, j: int, top: int | None) -> Neighbors:
    """Return the neighbours of feature `j`, the strongest first, ties by rank."""
    if top is not None and top < 0:
        raise UsageError(f"top={top}: give a number of neighbours, or None for all")
    found, weight = row_of(net, j)
    order = np.lexsort((net.ranking[found], -weight))[:top]
    return table_of(net, j, found[order], weight[order])


def row_of(
    net: AttributeNetwork, j: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the neighbours of feature `j` and the weights of the edges."""
    start, stop = net.adjacency.indptr[j : j + 2]
    return net.adjacency.indices[start:stop], net.adjacency.data[start:stop]


def table_of(
    net: AttributeNetwork, j: int, features: NDArray[np.intp], weight: Iterable[float]
) -> Neighbors:
    """Return features and the weights of their edges with `j` as a table."""
    signs: list[float | None] = [None] * len(features)
    if net.representation is not None:
        signs = net.representation.between(j, features).tolist()
    return Neighbors(
        Neighbor(
            name=str(net.names[k]),
            index=int(k),
            similarity=float(w),
            score=float(net.scores[k]),
            rank=int(net.ranking[k]),
            correlation=sign,
        )
        for k, w, sign in zip(features, weight, signs, strict=True)
    )
