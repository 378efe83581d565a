"""Groups of features that are closely connected."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from franet._common.checked import check_value
from franet._common.features import Edges, edges_of
from franet._common.optional import require
from franet.exceptions import MissingExtraError, Setting, UsageError

if TYPE_CHECKING:
    from franet.network import AttributeNetwork

METHODS = ("auto", "leiden", "louvain", "components")
_LEIDEN_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Communities:
    """Groups of features; the first is the largest.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
        The community of each feature, -1 for a feature without an edge.
    size : ndarray of int
        How many features each community has, descending.
    hub : ndarray of int
        The position of the best-ranked feature of each community.
    mean_similarity : ndarray
        The mean weight of the edges inside each community; NaN without any.
    method : {"leiden", "louvain", "components"}
        How they were found.
    """

    labels: NDArray[np.intp] = field(repr=False)
    size: NDArray[np.intp]
    hub: NDArray[np.intp] = field(repr=False)
    mean_similarity: NDArray[np.float64] = field(repr=False)
    method: str

    def __len__(self) -> int:
        return len(self.size)

    def members(self, community: int) -> NDArray[np.intp]:
        """Return the positions of the features of a community.

        Parameters
        ----------
        community : int
            The label of the community.

        Returns
        -------
        features : ndarray of int
            The positions, ascending.
        """
        return np.flatnonzero(self.labels == community)


def find_communities(
    net: AttributeNetwork, method: str, resolution: float, random_state: int
) -> Communities:
    """Return the communities of a network, from its cache if they are there."""
    if method == "auto" and net.representation is not None:
        method = "components"  # each is a representative and what it represents
    choices = f"choose from {', '.join(METHODS)}"
    check_value("method", method, method in METHODS, choices)
    there = method == "components" or find_spec("networkit") is not None
    if method == "auto":
        method = "leiden" if there else "components"
    elif not there:
        raise MissingExtraError(f"Communities by {method.capitalize()}", "network")
    is_fine = bool(np.isfinite(resolution) and resolution > 0)
    check_value("resolution", resolution, is_fine, "give a number above 0")
    if method == "components":
        if resolution != 1.0:
            raise UsageError(
                "{} applies with {} or 'louvain' only, not with {}.",
                Setting("resolution", resolution),
                Setting("method", "leiden"),
                Setting("method", method),
                Setting("resolution"),
                remedy="Leave out {3}.",
            )
        random_state = 0
    key = (method, float(resolution), int(random_state))
    if key not in net._partitions:
        j, k, w = edges_of(net.adjacency)
        # What has no similarity does not hold a group together.
        j, k, w = j[w > 0.0], k[w > 0.0], w[w > 0.0]
        labels = np.zeros(len(net), np.intp)
        if method != "components" and len(w):
            labels = _modular((j, k, w), len(net), *key)
        net._partitions[key] = _describe(net, (j, k, w), labels, method)
    return net._partitions[key]


def _modular(
    edges: Edges, n: int, method: str, resolution: float, random_state: int
) -> NDArray[np.intp]:
    """Return labels of large modularity.

    The seed decides in which order the features come. The library's own chance is
    left alone, because its generator is shared by the whole process.
    """
    # What joblib sets in the environment, for processes that are forked, stays.
    import joblib  # noqa: F401

    networkit = require("networkit", f"Communities by {method.capitalize()}", "network")

    j, k, w = edges
    place = np.random.default_rng(random_state).permutation(n).astype(np.uint64)
    # The order of the edges, too, is that of the table, not of how they were stored.
    graph = networkit.GraphFromCoo((w, (place[j], place[k])), n=n, weighted=True)
    community = networkit.community
    if method == "leiden":
        search = community.ParallelLeiden(
            graph, randomize=False, iterations=_LEIDEN_ROUNDS, gamma=resolution
        )
    else:
        search = community.PLM(graph, refine=True, gamma=resolution, par="none")
    # On several threads, moves would depend on who comes first.
    threads = networkit.getMaxNumberOfThreads()
    networkit.setNumberOfThreads(1)
    try:
        search.run()
    finally:
        networkit.setNumberOfThreads(threads)
    return np.array(search.getPartition().getVector(), np.intp)[place]


def _describe(
    net: AttributeNetwork, edges: Edges, labels: NDArray[np.intp], method: str
) -> Communities:
    """Split what is not connected, order by size, and add the numbers."""
    n, (j, k, w) = len(net), edges
    inside = labels[j] == labels[k]
    j_in, k_in, w_in = j[inside], k[inside], w[inside]
    graph = sparse.coo_array((np.ones(len(w_in)), (j_in, k_in)), (n, n))
    _, pieces = connected_components(graph, directed=False)
    has_edge = np.zeros(n, bool)
    has_edge[j] = has_edge[k] = True
    # By rank, so that the first of each piece is its hub.
    features = np.argsort(net.ranking, kind="stable")
    features = features[has_edge[features]]
    _, first, part, size = np.unique(
        pieces[features], return_index=True, return_inverse=True, return_counts=True
    )
    n_parts, hub = len(size), features[first]
    order = np.lexsort((net.ranking[hub], -size))
    out = np.full(n, -1, np.intp)
    out[features] = np.argsort(order)[part]
    label = out[j_in]
    count = np.bincount(label, minlength=n_parts)
    total = np.bincount(label, w_in, minlength=n_parts)
    mean = np.full(n_parts, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    values = (out, size[order].astype(np.intp), hub[order], mean)
    for value in values:
        value.flags.writeable = False  # it is kept and given out again
    return Communities(*values, method=method)
