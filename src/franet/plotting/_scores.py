"""The scores of the best features."""

from __future__ import annotations

from typing import Any

import numpy as np

from franet._common.checked import AXES, NETWORK, WHOLE, checked, optional
from franet.network import AttributeNetwork
from franet.plotting._style import (
    INK,
    MUTED,
    OTHER,
    best_of,
    colours_of,
    network_of,
    new_axes,
    short,
    tidy,
)

__all__ = ["plot_scores"]


@checked(ranker=NETWORK, top=WHOLE, ax=optional(AXES))
def plot_scores(ranker: Any, *, top: int = 25, ax: Any = None) -> Any:
    """Draw the scores of the best features, coloured by community.

    Parameters
    ----------
    ranker : FRANe or AttributeNetwork
        A fitted ranker, or a network.
    top : int, default=25
        How many features.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from franet.plotting import plot_scores
    >>> ax = plot_scores(ranker, top=40)  # doctest: +SKIP
    """
    net = network_of(ranker)
    best = best_of(net, top)
    ax = new_axes(ax, (6.5, max(2.0, 0.6 + 0.22 * len(best))))
    found = net.communities()
    label = found.labels[best]
    # The communities of the best features come first in the palette.
    seen = {c: i for i, c in enumerate(dict.fromkeys(label[label >= 0].tolist()))}
    place = np.array([seen.get(c, -1) for c in label.tolist()])
    colours = colours_of(place)
    at = np.arange(len(best))
    scores = net.scores[best]
    ax.barh(at, scores, color=colours, height=0.72)
    ax.set_yticks(at, [short(net.names[j], 32) for j in best], fontsize=8)
    ax.set_ylim(len(best) - 0.4, -0.6)
    ax.set_xlim(0.0, float(scores.max()) * 1.12 or 1.0)
    for y, score in zip(at, scores, strict=True):
        ax.annotate(
            f"{score:.3g}",
            (score, y),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=MUTED,
        )
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("score", color=INK)
    even = 1.0 / len(net)
    if even <= ax.get_xlim()[1] and np.isclose(net.scores.sum(), 1.0):
        ax.axvline(even, color=MUTED, lw=0.8, ls=(0, (3, 3)))
        ax.annotate(
            "equal shares",
            (even, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=7,
            color=MUTED,
        )
    _legend(ax, net, found, seen, colours)
    return ax


def _legend(
    ax: Any, net: AttributeNetwork, found: Any, seen: dict[int, int], colours: list[str]
) -> None:
    from matplotlib.patches import Patch

    order = [c for c, i in seen.items() if colours_of(np.array([i])) != [OTHER]]
    entries = [
        Patch(
            color=colours_of(np.array([seen[c]]))[0],
            label=f"{short(net.names[found.hub[c]], 18)} ({found.size[c]:,})",
        )
        for c in order
    ]
    if OTHER in colours:
        entries.append(Patch(color=OTHER, label="other or none"))
    ax.legend(
        handles=entries,
        title="Community: best feature (size)",
        frameon=False,
        fontsize=7,
        title_fontsize=7,
        loc="lower right",
        alignment="left",
    )
