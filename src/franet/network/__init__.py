"""The attribute network: features as nodes, similarities as edges."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import NUMBER, SEED, SEVERAL, TEXT, WHOLE, checked, optional
from franet._common.features import FeatureIndex
from franet.network import _export
from franet.network._communities import Communities, find_communities
from franet.network._explain import (
    CoverExplanation,
    Explanation,
    Neighbor,
    Neighbors,
    Representation,
    explain,
    explain_cover,
    neighbors_of,
    strongest_better,
)
from franet.network._html import network_html
from franet.network._layout import layout

if TYPE_CHECKING:
    from franet.network._origin import Origin

__all__ = [
    "AttributeNetwork",
    "Communities",
    "CoverExplanation",
    "Explanation",
    "Neighbor",
    "Neighbors",
    "Representation",
    "layout",
]

Feature = str | int


@dataclass(frozen=True, eq=False)
class AttributeNetwork:
    """The network behind a ranking.

    Wherever a feature is asked for, its name or its position will do.

    Attributes
    ----------
    adjacency : CSR array of shape (n, n)
        Symmetric edge weights, float64; no self-loops.
    names : ndarray of str
        The names of the features.
    scores : ndarray of shape (n,)
        The score of each feature.
    ranking : ndarray of shape (n,)
        The rank of each feature, 1 is best.
    threshold : float
        The smallest similarity that makes an edge; NaN if no threshold won.
    n_edges : int
        Number of edges of the network, those left out included.
    truncated_ : bool
        Whether only the strongest edges of each feature are stored.
    representation : Representation or None
        After `Cover` edges connect features with the pick that stands
        for them: which one (``by``) and the correlation with its sign (``r``), whose
        absolute value is the weight. None for other networks.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from franet import FRANe
    >>> X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> net = FRANe().fit(X).network_
    >>> net.neighbors("mean radius", top=2).names
    ['mean perimeter', 'mean area']
    >>> net.explain("mean area").members.names
    ['mean perimeter']
    """

    adjacency: Any = field(repr=False)
    names: NDArray[Any] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)
    ranking: NDArray[np.intp] = field(repr=False)
    threshold: float
    n_edges: int
    truncated_: bool = False
    representation: Representation | None = field(default=None, repr=False)
    _origin: Origin | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _index(self) -> FeatureIndex:
        return FeatureIndex(self.names)

    @cached_property
    def _partitions(self) -> dict[tuple[str, float, int], Communities]:
        return {}

    @cached_property
    def _better(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        return strongest_better(self.adjacency, self.ranking)

    @checked(top=optional(WHOLE))
    def neighbors(self, feature: Feature, top: int | None = 10) -> Neighbors:
        """Return the features that are connected with one, the strongest first.

        Parameters
        ----------
        feature : str or int
            The feature.
        top : int or None, default=10
            How many at the most; None means all.

        Returns
        -------
        neighbors : Neighbors
            A sequence of ``Neighbor(name, index, similarity, score, rank)``, equal
            similarities by rank; its columns are ``names``, ``similarity``,
            ``scores`` and ``ranks``.
        """
        return neighbors_of(self, self._index.find(feature), top)

    def redundant_with(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return, for each feature, the better one that it repeats most.

        Returns
        -------
        feature : ndarray of shape (n,)
            Of the neighbours with a better rank, the one with the strongest edge
            (ties by rank); -1 where there is none.
        weight : ndarray of shape (n,)
            The weight of that edge, NaN where there is none.
        """
        feature, weight = self._better
        return feature.copy(), weight.copy()

    @checked(method=TEXT, resolution=NUMBER, random_state=SEED)
    def communities(
        self, method: str = "auto", resolution: float = 1.0, random_state: int = 0
    ) -> Communities:
        """Return groups of features that are closely connected.

        Parameters
        ----------
        method : {"auto", "leiden", "louvain", "components"}, default="auto"
            ``"leiden"`` and ``"louvain"`` maximise the modularity and need the extra
            ``network``; ``"components"`` takes everything that is connected as one
            group. ``"auto"`` is Leiden where the extra is installed, otherwise
            components; also components where features are connected with their
            representatives, which are groups already.
        resolution : float, default=1.0
            Larger values give more and smaller communities; it means nothing for
            components.
        random_state : int, default=0
            The seed. No result depends on the number of threads.

        Returns
        -------
        communities : Communities
            A label for each feature and, for each community, its size, its hub and
            its mean similarity; computed once for the same arguments.
        """
        return find_communities(self, method, resolution, random_state)

    def explain(self, feature: Feature) -> Explanation:
        """Tell why a feature ranks where it does.

        Parameters
        ----------
        feature : str or int
            The feature.

        Returns
        -------
        explanation : Explanation
            Its rank, score and community, the lower-ranked features that it stands
            for, and the higher-ranked ones that are redundant with it; as text, a
            few sentences. After `Cover` a `CoverExplanation`, which
            also says what represents it and with what correlation.
        """
        j = self._index.find(feature)
        if self.representation is not None:
            return explain_cover(self, self.representation, j)
        return explain(self, j)

    @checked(features=optional(SEVERAL), top=optional(WHOLE))
    def subgraph(
        self,
        features: Sequence[Feature] | None = None,
        *,
        top: int | None = None,
    ) -> AttributeNetwork:
        """Return the network of some features.

        Parameters
        ----------
        features : sequence of str or int, optional
            The features, in the order that they will have.
        top : int, optional
            Instead, the so many best features, the best one first.

        Returns
        -------
        network : AttributeNetwork
            The features and the edges between them. Scores and ranks are those in
            this network: the best of the chosen features need not have rank 1.
        """
        from franet.network._origin import subgraph

        return subgraph(self, features, top)

    @checked(threshold=NUMBER)
    def at(self, threshold: float, X: Any = None) -> AttributeNetwork:
        """Return the network at another threshold.

        Parameters
        ----------
        threshold : float
            An edge needs at least this similarity (up to rounding, 1e-12).
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            The table of the fit. It is needed for more edges than are stored: for a
            lower threshold, where edges have no weights, or where the network is
            truncated and would be incomplete.

        Returns
        -------
        network : AttributeNetwork
            The same features with other edges. Scores and ranks stay as they are.
            After `Cover`, the network of absolute correlations.

        Raises
        ------
        DataError
            Where X is needed, or is not the table of the fit.
        """
        from franet.network._origin import at

        return at(self, threshold, X)

    def to_scipy(self) -> Any:
        """Return a copy of the adjacency matrix.

        Returns
        -------
        matrix : CSR array of shape (n, n)
            The symmetric weights.
        """
        return self.adjacency.copy()

    def to_pandas_edges(self) -> Any:
        """Return the edges as a table.

        Returns
        -------
        edges : pandas.DataFrame
            The columns ``source``, ``target`` (names) and ``weight``; every edge
            once. Where features are connected with their representatives, also
            ``correlation``, which has a sign.
        """
        return _export.to_pandas_edges(self)

    def to_networkx(self) -> Any:
        """Return the network for networkx.

        Returns
        -------
        graph : networkx.Graph
            Its nodes are the names, with ``score``, ``rank`` and ``community``; its
            edges have a ``weight`` and, where features are connected with their
            representatives, a ``correlation``, which has a sign.
        """
        return _export.to_networkx(self)

    def to_igraph(self) -> Any:
        """Return the network for igraph.

        Returns
        -------
        graph : igraph.Graph
            Vertices in the order of the features with ``name``, ``score``, ``rank``
            and ``community``; edges with ``weight``, and ``correlation`` where
            features are connected with their representatives.
        """
        return _export.to_igraph(self)

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the network to a file for another tool.

        Parameters
        ----------
        path : path-like
            The file. Its ending says the format: ``.graphml`` and ``.gexf`` (Gephi),
            which need the extra ``network``, ``.json`` (node-link data, as networkx
            reads it) or ``.csv`` (source, target, weight; features without an edge are
            not in it). Where features are connected with their representatives, edges
            also have a ``correlation``, which has a sign.
        force : bool, default=False
            Whether a file that is there may be replaced.

        Raises
        ------
        DataError
            Where the file exists and `force` is False, or cannot be written.
        UsageError
            Where the ending is not one of these.
        MissingExtraError
            Where networkx, which writes graphml and gexf, is not installed.

        Notes
        -----
        networkx builds a graphml or gexf file in memory. With 50,000 features and a
        million edges ``python benchmarks/network.py`` took 23 s and 2 GB for graphml,
        2 s and 0.3 GB for csv, on two cores that were also busy with other work.
        """
        _export.write_network(self, path, force=force)

    def _repr_html_(self) -> str:
        return network_html(self)


def __dir__() -> list[str]:
    return sorted(__all__)
