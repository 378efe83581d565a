"""How alike the best features are, as a clustered heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import AXES, NETWORK, WHOLE, checked, optional
from franet.network._origin import similarities
from franet.plotting._style import MUTED, best_of, network_of, new_axes, short

__all__ = ["plot_similarity"]

# Names of more features than this would lie on each other.
_MOST_NAMED = 60


@checked(ranker=NETWORK, top=WHOLE, ax=optional(AXES))
def plot_similarity(
    ranker: Any, X: Any = None, *, top: int = 40, ax: Any = None
) -> Any:
    """Draw the similarities of the best features, similar ones side by side.

    Parameters
    ----------
    ranker : FRANe or AttributeNetwork
        A fitted ranker, or a network.
    X : array-like or sparse matrix, optional
        The table of the fit. Without it, pairs that make no edge are left blank.
    top : int, default=40
        How many features.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from franet.plotting import plot_similarity
    >>> ax = plot_similarity(ranker, X, top=60)  # doctest: +SKIP
    """
    net = network_of(ranker)
    best = best_of(net, top)
    values = similarities(net, best, X)
    order = cluster_order(values)
    values, best = values[np.ix_(order, order)], best[order]
    ax = new_axes(ax, (7.0, 6.0))
    ax.set_facecolor("#eef0f2")
    image = ax.imshow(
        np.ma.masked_invalid(values), cmap="YlGnBu", interpolation="nearest"
    )
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02)
    bar.outline.set_visible(False)
    what = "similarity" if net.representation is None else "|r|"
    bar.set_label(what if X is not None else f"{what}; blank: no edge")
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0)
    if len(best) <= _MOST_NAMED:
        names = [short(net.names[j]) for j in best]
        size = 8 if len(best) <= 30 else 6
        ax.set_xticks(range(len(best)), names, rotation=90, fontsize=size)
        ax.set_yticks(range(len(best)), names, fontsize=size)
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.set_title(
        f"the {len(best):,} best features, similar ones side by side",
        fontsize=10,
        color=MUTED,
        loc="left",
    )
    return ax


def cluster_order(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order in which similar features are neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Similarities; NaN where nothing is known, which counts as least similar.
    """
    n = len(values)
    if n < 3 or np.isnan(values).all():
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage

    low, high = np.nanmin(values), np.nanmax(values)
    floor = low - 0.5 * max(high - low, abs(high) * 0.1)
    distance = high - np.where(np.isnan(values), floor, values)
    pairs = distance[np.triu_indices(n, 1)]
    tree = linkage(pairs, "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), np.intp)
