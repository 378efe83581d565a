"""Why a feature ranks where it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet.network._neighbors import Neighbors, row_of, table_of

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

__all__ = ["SHOWN", "Explanation", "explain", "strongest_better"]

# So many features are named in a sentence.
SHOWN = 5


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
    shown = ", ".join(f"{item.name} ({item.similarity:.3g})" for item in items[:SHOWN])
    some = "feature" if len(items) == 1 else "features"
    most = "" if len(items) <= SHOWN else ", most of all"
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
    found, weight = row_of(net, j)
    order = np.lexsort((net.ranking[found], -weight))
    found, weight = found[order], weight[order]
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
        members=table_of(net, j, found[for_whom], weight[for_whom]),
        redundant_with=table_of(net, j, found[better], weight[better]),
        isolated=not len(found),
        truncated=net.truncated_,
    )
