"""Why a feature ranks where it does: its neighbors, and what represents it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import check_value
from franet.network._html import shorten, table_html

if TYPE_CHECKING:
    from franet.network import AttributeNetwork


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

    def _shown(self) -> float:
        return self.similarity if self.correlation is None else self.correlation


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
        lines = [f"{'name':<{width}}  {self._title():>10}      score    rank"]
        lines += [
            f"{shorten(item.name, width):<{width}}  {item._shown():10.4g} "
            f"{item.score:10.4g}  {item.rank:6d}"
            for item in self
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (n.name, f"{n._shown():.4g}", f"{n.score:.4g}", str(n.rank)) for n in self
        ]
        return table_html(("feature", self._title(), "score", "rank"), rows)

    def _title(self) -> str:
        """Return what `Neighbor._shown` returns, as the title of a column."""
        return "r" if self and self[0].correlation is not None else "similarity"


def neighbors_of(net: AttributeNetwork, j: int, top: int | None) -> Neighbors:
    """Return the neighbours of feature `j`, the strongest first, ties by rank."""
    is_fine = top is None or top >= 0
    check_value("top", top, is_fine, "give a number of neighbours, or None for all")
    found, weight = _row_of(net, j)
    return _table_of(net, j, found[:top], weight[:top])


def _row_of(
    net: AttributeNetwork, j: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the neighbours of feature `j` and the weights, the strongest first."""
    row = slice(*net.adjacency.indptr[j : j + 2])
    found, weight = net.adjacency.indices[row], net.adjacency.data[row]
    order = np.lexsort((net.ranking[found], -weight))
    return found[order], weight[order]


def _table_of(
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


# So many features are named in a sentence.
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Explanation:
    """What the network says about a feature; as text, a few sentences.

    Attributes
    ----------
    name : str
        The name of the feature.
    index : int
        Its position.
    rank : int
        Its rank, 1 is best.
    score : float
        Its score.
    n_features : int
        Number of features in the network.
    n_neighbors : int
        Number of features it is connected with.
    community : int
        The label of its community, -1 if it has none.
    community_size : int
        How many features that community has.
    community_hub : str or None
        The name of the best-ranked feature of that community.
    members : Neighbors
        The lower-ranked neighbours of which it is the strongest better-ranked
        neighbour, the strongest first.
    redundant_with : Neighbors
        The higher-ranked neighbours, the strongest first.
    isolated : bool
        Whether it has no edge.
    truncated : bool
        Whether weaker edges were left out.
    """

    name: str
    index: int
    rank: int
    score: float
    n_features: int
    n_neighbors: int
    community: int
    community_size: int
    community_hub: str | None
    members: Neighbors
    redundant_with: Neighbors
    isolated: bool
    truncated: bool = False

    def __str__(self) -> str:
        of = f"{self.name} ranks {self.rank} (score {self.score:.4g})."
        if self.isolated:
            return (
                f"{of} No other feature is similar enough to be connected with it: it "
                "stands for itself alone, and nothing is redundant with it."
            )
        return " ".join([of, self._place(), self._below(), self._above()])

    def _place(self) -> str:
        some = "feature" if self.n_neighbors == 1 else "features"
        least = "at least " if self.truncated else ""
        text = f"It is connected with {least}{self.n_neighbors} {some}"
        if self.community < 0:
            return f"{text}."
        if self.community_hub == self.name:
            return f"{text} and is the hub of a community of {self.community_size}."
        return (
            f"{text} and belongs to a community of {self.community_size} around "
            f"{self.community_hub}."
        )

    def _below(self) -> str:
        if not self.members:
            return "It stands for no lower-ranked feature."
        return f"It stands for {_listed(self.members, 'lower-ranked')}."

    def _above(self) -> str:
        if not self.redundant_with:
            return "No higher-ranked feature is redundant with it."
        return f"It is redundant with {_listed(self.redundant_with, 'higher-ranked')}."


def _listed(items: Neighbors, which: str) -> str:
    shown = ", ".join(f"{item.name} ({item.similarity:.3g})" for item in items[:_SHOWN])
    some = "feature" if len(items) == 1 else "features"
    most = "" if len(items) <= _SHOWN else ", most of all"
    return f"{len(items)} {which} {some}{most or ':'} {shown}"


def strongest_better(
    adjacency: Any, ranking: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return each feature's strongest neighbour of a better rank, and the weight."""
    n = len(ranking)
    edges = adjacency.tocoo()
    j, k = edges.coords
    better = ranking[k] < ranking[j]
    j, k, w = j[better], k[better], edges.data[better]
    order = np.lexsort((ranking[k], -w, j))
    rows, first = np.unique(j[order], return_index=True)
    feature = np.full(n, -1, np.intp)
    weight = np.full(n, np.nan)
    feature[rows] = k[order][first]
    weight[rows] = w[order][first]
    return feature, weight


def explain(net: AttributeNetwork, j: int) -> Explanation:
    """Return what the network says about feature `j`."""
    found, weight = _row_of(net, j)
    better = net.ranking[found] < net.ranking[j]
    for_whom = net._better[0][found] == j
    groups = net.communities()
    label = int(groups.labels[j])
    return Explanation(
        name=str(net.names[j]),
        index=j,
        rank=int(net.ranking[j]),
        score=float(net.scores[j]),
        n_features=len(net),
        n_neighbors=len(found),
        community=label,
        community_size=int(groups.size[label]) if label >= 0 else 0,
        community_hub=str(net.names[groups.hub[label]]) if label >= 0 else None,
        members=_table_of(net, j, found[for_whom], weight[for_whom]),
        redundant_with=_table_of(net, j, found[better], weight[better]),
        isolated=not len(found),
        truncated=net.truncated_,
    )


@dataclass(frozen=True, eq=False)
class Representation:
    """Which feature represents which, and with what correlation.

    Attributes
    ----------
    by : ndarray of int of shape (n,)
        The position of the feature that represents each; its own for representatives,
        -1 where there is none, or where it is not in the network.
    r : ndarray of shape (n,)
        The correlation with it, with its sign; NaN where there is none.
    names : ndarray of str of shape (n,)
        Its name, also where it is not in the network; empty where there is none.
    """

    by: NDArray[np.intp]
    r: NDArray[np.float64]
    names: NDArray[Any]

    def __len__(self) -> int:
        return len(self.by)

    @property
    def representatives(self) -> NDArray[np.intp]:
        """The positions of the features that represent themselves, ascending."""
        return np.flatnonzero(self.by == np.arange(len(self.by)))

    def represented_by(self, j: int) -> NDArray[np.intp]:
        """Return the features that `j` represents, itself aside, the closest first."""
        found = np.flatnonzero(self.by == j)
        found = found[found != j]
        # Copies are as close as each other, up to rounding.
        return found[np.argsort(-np.abs(self.r[found]).round(12), kind="stable")]

    def between(
        self, j: NDArray[np.intp] | int, k: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the correlations at edges, of which one end represents the other."""
        return np.where(self.by[k] == j, self.r[k], self.r[j])

    def of(self, chosen: NDArray[np.intp]) -> Representation:
        """Return the same of some features, by their positions among themselves."""
        # The last place is that of nobody, -1.
        place = np.full(len(self.by) + 1, -1, np.intp)
        place[chosen] = np.arange(len(chosen))
        return Representation(
            place[self.by[chosen]], self.r[chosen], self.names[chosen]
        )


def signed(value: float) -> str:
    """Return a correlation as people write it.

    Examples
    --------
    >>> signed(-0.8349), signed(-0.001)
    ('−0.83', '0.00')
    """
    return f"{value:z.2f}".replace("-", "−")


@dataclass(frozen=True, eq=False)
class CoverExplanation(Explanation):
    """What a network of representatives says about a feature.

    It has the attributes of `Explanation`, and these.

    Attributes
    ----------
    representative : str or None
        The name of the feature that represents it, its own if it is one of those;
        None where there is none.
    correlation : float or None
        The correlation with that feature, with its sign.
    is_representative : bool
        Whether it represents itself.
    mean_correlation : float or None
        The mean absolute correlation with the features that it represents.
    is_apart : bool
        Whether the feature that represents it is not in this part of the network.
    """

    representative: str | None = None
    correlation: float | None = None
    is_representative: bool = False
    mean_correlation: float | None = None
    is_apart: bool = False

    def __str__(self) -> str:
        return f"{self.name} ranks {self.rank}. {self._role()}"

    def _role(self) -> str:
        if self.is_representative:
            return self._many() if self.members else "It represents itself alone."
        if self.representative is None or self.correlation is None:
            return "No representative resembles it more than chance would let it."
        apart = ", which is not in this part of the network" if self.is_apart else ""
        return (
            f"It is represented by {self.representative} "
            f"(r = {signed(self.correlation)}){apart}."
        )

    def _many(self) -> str:
        items = self.members
        shown = ", ".join(
            f"{k.name} (r = {signed(k._shown())})" for k in items[:_SHOWN]
        )
        some = "feature" if len(items) == 1 else "features"
        most = ", most of all" if len(items) > _SHOWN else ""
        return (
            f"It represents {len(items):,} {some}, mean |r| "
            f"{signed(self.mean_correlation or 0.0)}{most}: {shown}."
        )


def explain_cover(
    net: AttributeNetwork, found: Representation, j: int
) -> CoverExplanation:
    """Return what a network of representatives says about feature `j`."""
    own = bool(found.by[j] == j)
    below = found.represented_by(j) if own else np.empty(0, np.intp)
    strength = np.abs(found.r[below])
    known = np.isfinite(found.r[j])
    # Not by edges: a correlation of 0 makes none.
    members = _table_of(net, j, below, strength)
    return CoverExplanation(
        **{**vars(explain(net, j)), "members": members},
        representative=str(found.names[j]) if known else None,
        correlation=float(found.r[j]) if known else None,
        is_representative=own,
        mean_correlation=float(strength.mean()) if len(below) else None,
        is_apart=bool(known and found.by[j] < 0),
    )
